#include "constraint/tree_rows.h"

#include <algorithm>
#include <utility>

#include "base/aligned_memory.h"
#include "base/isa_table.h"

namespace kansetsu {
namespace kernel {

KANSETSU_TABLE(TreeRowsKernels, tree_rows_kernels, tree_rows_table)

}  // namespace kernel

namespace {

constexpr int kTreeRecord = 48, kTreeLine = 8;

/// Bodies that wait for nobody follow one another: the deepest first.
std::vector<kernel::TreeBody> order_bodies(const TreeView& tree) {
  std::vector<int> depth(size_t(tree.body_count), 0);
  std::vector<kernel::TreeBody> out;
  for (int i = 0; i < tree.body_count; ++i) {
    const Body& b = tree.bodies[i];
    depth[size_t(i)] = b.parent < 0 ? 0 : depth[size_t(b.parent)] + 1;
    out.push_back({i, b.parent, b.u, b.nu});
  }
  std::stable_sort(out.begin(), out.end(), [&](const kernel::TreeBody& a, const kernel::TreeBody& b) {
    return depth[size_t(a.body)] > depth[size_t(b.body)];
  });
  return out;
}

/// Memory that only grows, aligned.
double* grow_aligned(Eigen::VectorXd& block, long numbers) {
  if (block.size() < numbers + kTreeLine) block = Eigen::VectorXd::Zero(numbers + kTreeLine);
  return aligned(block.data());
}

long whole_lines(long numbers) { return (numbers + kTreeLine - 1) / kTreeLine * kTreeLine; }

}  // namespace

void TreeRows::begin(std::span<Mechanics* const> figures, int rows) {
  view_ = {};
  view_.rows = rows;
  if (memory_.size() < figures.size()) memory_.resize(figures.size());
  figures_.resize(figures.size());
  for (size_t i = 0; i < figures.size(); ++i) {
    figures[i]->number = int(i);
    figures_[i] = {};
    figures_[i].tree = &figures[i]->tree();
    figures_[i].m = &figures[i]->block();
    figures_[i].rotor = figures[i]->tree().rotor_inertia;
    figures_[i].extra = figures[i]->extra_inertia();
  }
  ends_.clear(), torques_.clear();
}

void TreeRows::add_wrenches(int row, const Mechanics& figure, int body, std::span<const Force<>> F) {
  kernel::TreeEnd& e = ends_.emplace_back();
  e.row = row, e.count = int(F.size()), e.figure = figure.number, e.body = body;
  for (size_t a = 0; a < F.size(); ++a) {
    const double numbers[6] = {F[a].t.x, F[a].t.y, F[a].t.z, F[a].f.x, F[a].f.y, F[a].f.z};
    for (int c = 0; c < 6; ++c) e.N[c][a] = e.F[a][c < 3 ? c : c + 1] = numbers[c];
  }
}

void TreeRows::add_torque(int row, const Mechanics& figure, int column, double scale) {
  torques_.push_back({row, figure.number, column, scale});
}

/// Rows on which more than one body or coordinate acts.
void TreeRows::find_joining() {
  const size_t rows = size_t(view_.rows);
  end_of_.assign(rows, -1), torque_of_.assign(rows, -1), joins_.assign(rows, 0), place_.assign(rows, -1);
  row_of_.resize(rows), order_.resize(rows);
  const auto note = [&](int row, std::vector<int>& of, size_t index) {
    joins_[size_t(row)] = end_of_[size_t(row)] >= 0 || torque_of_[size_t(row)] >= 0;
    of[size_t(row)] = int(index);
  };
  for (size_t i = 0; i < ends_.size(); ++i) {
    for (int a = 0; a < ends_[i].count; ++a) note(ends_[i].row + a, end_of_, i);
  }
  for (size_t i = 0; i < torques_.size(); ++i) note(torques_[i].row, torque_of_, i);
}

void TreeRows::place_figure(Memory& memory, kernel::TreeFigure& f) const {
  if (memory.tree != f.tree) memory.tree = f.tree, memory.bodies = order_bodies(*f.tree);
  memory.state.resize(memory.bodies.size());
  f.state = memory.state.data();
  f.bodies = memory.bodies.data(), f.body_count = f.tree->body_count, f.nv = f.tree->nv;
  const long records = long(kTreeRecord) * std::max(f.body_count, f.m->heavy_stride), columns = whole_lines(f.nv);
  const long joined = long(f.nv) * view_.stride + kTreeLine;
  double* next =
      grow_aligned(memory.numbers, 4 * records + 2 * kTreeLine * (columns + f.body_count) + 5 * columns + 2 * joined);
  const auto take = [&next](long numbers) { return std::exchange(next, next + whole_lines(numbers)); };
  for (double** x : {&f.rigid, &f.P, &f.T, &f.compliance}) *x = take(records);
  for (double** x : {&f.U, &f.W}) *x = take(kTreeLine * columns);
  for (double** x : {&f.F, &f.A}) *x = take(long(kTreeLine) * f.body_count);
  for (double** x : {&f.D_inv, &f.added, &f.y, &f.x, &f.own}) *x = take(columns);
  for (double** x : {&f.right, &f.left}) *x = take(joined);
}

void TreeRows::finish(double* a) {
  find_joining();
  const int n = int(std::ranges::count(joins_, 1));
  view_.joined = n, view_.stride = n > 0 ? int(whole_lines(n + kTreeLine)) : 0;
  for (size_t i = 0; i < figures_.size(); ++i) place_figure(memory_[i], figures_[i]);
  view_.figures = figures_.data(), view_.figure_count = int(figures_.size());
  view_.ends = ends_.data(), view_.end_count = int(ends_.size());
  view_.torques = torques_.data(), view_.torque_count = int(torques_.size());
  view_.end_of = end_of_.data(), view_.torque_of = torque_of_.data();
  view_.joins = joins_.data(), view_.place = place_.data(), view_.row_of = row_of_.data();
  view_.order = order_.data();
  view_.own = grow_aligned(own_, long(kTreeLine) * view_.rows + kTreeLine);
  std::fill_n(view_.own, kTreeLine * view_.rows, 0.0);
  double* next = grow_aligned(system_, long(2 * n + 3) * view_.stride);
  for (double** x : {&view_.G, &view_.A}) *x = std::exchange(next, next + long(n) * view_.stride);
  for (double** x : {&view_.right, &view_.solution, &view_.weight}) *x = std::exchange(next, next + view_.stride);
  kernels_->begin(view_, a);
}

}  // namespace kansetsu
