#include "constraint/loops.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/aligned_memory.h"
#include "base/isa_table.h"
#include "constraint/bilateral.h"

namespace kansetsu {
namespace kernel {

KANSETSU_TABLE(LoopKernels, loops, loop_table)

}  // namespace kernel

namespace {

/// Rows that are met to this share need no refinement.
constexpr double kExact = 1e-12;

void grow(Eigen::VectorXd& x, long size) {
  if (x.size() < size) x = Eigen::VectorXd::Zero(size);
}
/// First cache line in a block that has one to spare.

}  // namespace

void LoopElimination::begin(std::span<Mechanics* const> figures, int bilateral, int others) {
  figures_.assign(figures.begin(), figures.end());
  bilateral_ = bilateral, others_ = others;
  column_.assign(1, 0);
  body_.assign(1, 0);
  for (size_t f = 0; f < figures_.size(); ++f) {
    figures_[f]->number = int(f);
    column_.push_back(column_.back() + figures_[f]->nv());
    body_.push_back(body_.back() + figures_[f]->tree().body_count);
  }
  wrenches_.clear(), torques_.clear();
}

void LoopElimination::add_wrenches(int row, const Mechanics& figure, int body, std::span<const Force<>> F) {
  for (const Force<>& f : F) wrenches_.push_back({row++, figure.number, body, f});
}
void LoopElimination::add_torque(int row, const Mechanics& figure, int column, double scale) {
  torques_.push_back({row, figure.number, column, scale});
}

/// Memory of the fronts, after the plan has changed.
void LoopElimination::bind() {
  constexpr long kLine = 8;
  grow(memory_, plan_.numbers + kLine);
  for (int i = 0; i < 2; ++i) grow(stack_[i], plan_.stack_size[i] + kLine);
  grow(x_, plan_.widest + kLine);
  order_.resize(plan_.rows.size());
  fronts_.resize(plan_.nodes.size());
  grow(carried_, 6 * long(plan_.nodes.size()));
  double *memory = aligned(memory_.data()), *stack[2] = {aligned(stack_[0].data()), aligned(stack_[1].data())};
  for (size_t n = 0; n < plan_.nodes.size(); ++n) {
    const LoopPlan::Node& node = plan_.nodes[n];
    kernel::LoopFront& f = fronts_[n];
    f.head = node.head, f.kept = node.kept(), f.closed = node.closed(), f.columns = node.columns;
    f.ld = LoopPlan::padded(f.kept);
    f.closed_ld = f.ld + LoopPlan::padded(f.closed);
    f.rank = 0;
    double* next = memory + node.numbers;
    const auto take = [&](int count) { return std::exchange(next, next + count); };
    f.F = stack[node.stack] + node.F;
    f.W = take(f.closed * f.closed_ld);
    f.z = take(f.columns * f.ld);
    f.S = take(f.columns * 8);
    f.r = take(f.closed_ld);
    f.scale = take(f.closed_ld);
    f.D_inv = take(LoopPlan::padded(f.columns));
    f.drive = take(LoopPlan::padded(f.columns));
    f.order = order_.data() + node.closed_begin;
  }
}

/// Inertia of the body, wrenches of rows on it, torques on its columns.
void LoopElimination::load(const LoopPlan::Node& node, const kernel::LoopFront& f) {
  const Mechanics& figure = *figures_[size_t(node.figure)];
  const Body& body = figure.tree().bodies[node.body];
  if (!body.massless) {
    Transform<> X = figure.body_pose(node.body);
    X.p = X.p - figure.origin();
    const Inertia<> M = X * body.M_B;
    const Vec3<>& h = M.h;
    const double P[6][6] = {{M.I.xx, M.I.xy, M.I.xz, 0, -h.z, h.y},
                            {M.I.xy, M.I.yy, M.I.yz, h.z, 0, -h.x},
                            {M.I.xz, M.I.yz, M.I.zz, -h.y, h.x, 0},
                            {0, h.z, -h.y, M.m, 0, 0},
                            {-h.z, 0, h.x, 0, M.m, 0},
                            {h.y, -h.x, 0, 0, 0, M.m}};
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) f.F[i * f.ld + j] -= P[i][j];
    }
  }
  for (int k = node.wrench_begin; k < node.wrench_end; ++k) {
    const LoopPlan::Placed& at = plan_.wrenches[size_t(k)];
    const Force<>& F = wrenches_[size_t(at.index)].F;
    const double K[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
    double* row = at.column < f.ld ? f.F + at.column * f.ld : f.W + (at.column - f.ld) * f.closed_ld;
    for (int i = 0; i < 6; ++i) {
      row[i] += K[i];
      if (at.column < f.ld) f.F[i * f.ld + at.column] += K[i];
    }
  }
  std::fill(f.z, f.z + f.columns * f.ld, 0.0);
  for (int k = node.torque_begin; k < node.torque_end; ++k) {
    const LoopPlan::Placed& at = plan_.torques[size_t(k)];
    const RowTorque& t = torques_[size_t(at.index)];
    f.z[(t.column - body.u) * f.ld + at.column] += t.scale;
  }
  for (int k = 0; k < f.columns; ++k) {
    std::copy_n(figure.column_motion(body.u + k), 8, f.S + 8 * k);
    f.D_inv[k] = figure.column_inertia(body.u + k);
  }
}

/// A figure with gears: its rows by themselves, answered by its mass matrix.
void LoopElimination::load_whole(const LoopPlan::Node& node, const kernel::LoopFront& f) {
  Mechanics& figure = *figures_[size_t(node.figure)];
  figure.begin_rows(f.kept);
  if (f.kept == 0) return;
  for (int k = node.wrench_begin; k < node.wrench_end; ++k) {
    const LoopPlan::Placed& at = plan_.wrenches[size_t(k)];
    figure.add_wrenches(at.column, wrenches_[size_t(at.index)].body, {&wrenches_[size_t(at.index)].F, 1});
  }
  for (int k = node.torque_begin; k < node.torque_end; ++k) {
    const LoopPlan::Placed& at = plan_.torques[size_t(k)];
    figure.add_torque(at.column, torques_[size_t(at.index)].column, torques_[size_t(at.index)].scale);
  }
  figure.finish_rows();
  figure.add_delassus(f.F, f.r, true);
  for (int r = 0; r < f.kept; ++r) {
    for (int c = 0; c < r / kernel::kRowBlock * kernel::kRowBlock; ++c) f.F[r * f.ld + c] = f.F[c * f.ld + r];
    f.scale[r] = f.F[r * f.ld + r];
  }
}

void LoopElimination::eliminate(double* a, double* G, int stride, double least, const double* firmness) {
  constexpr double kNothing = 1e30;  // 1/firmness of rows that carry no force: it stays below all others by rounding
  give_.resize(firmness ? bilateral_ : 0);
  for (int r = 0; r < give_.size(); ++r) give_[r] = firmness[r] > 0 ? 1 / firmness[r] : kNothing;
  if (plan_.make(figures_, wrenches_, torques_, bilateral_, bilateral_ + others_)) bind();
  for (Eigen::VectorXd* x : {&free_, &response_, &change_}) grow(*x, column_.back());
  if (motions_.size() < size_t(body_.back())) motions_.resize(size_t(body_.back()));
  for (size_t f = 0; f < figures_.size(); ++f) figures_[f]->free_acceleration(free_.data() + column_[f]);
  add_row_rates(free_, a);

  const kernel::LoopKernels& kernels = kernel::loops();
  rank_ = 0;
  for (const int n : plan_.order) {
    const LoopPlan::Node& node = plan_.nodes[size_t(n)];
    kernel::LoopFront& f = fronts_[size_t(n)];
    kernels.clear(f);
    for (int c = node.first_child; c >= 0; c = plan_.nodes[size_t(c)].next_sibling) {
      const LoopPlan::Node& child = plan_.nodes[size_t(c)];
      kernels.add_child(fronts_[size_t(c)], plan_.runs.data() + child.run_begin, child.run_end - child.run_begin, f);
    }
    if (node.body >= 0)
      load(node, f);
    else if (node.figure >= 0)
      load_whole(node, f);
    for (int k = 0; k < f.closed && give_.size() > 0; ++k) {
      const double give = give_[plan_.rows[size_t(node.closed_begin + k)]];
      f.W[k * f.closed_ld + f.ld + k] += give;
      f.scale[f.ld + k] += give;
    }
    if (f.closed > 0) kernels.close(f, least);
    if (f.columns > 0) kernels.free_columns(f);
    rank_ += f.rank;
  }
  const kernel::LoopFront& root = fronts_[size_t(plan_.order.back())];
  for (int r = 0; r < others_; ++r) {
    double* row = G + r * stride;
    std::copy_n(root.F + r * root.ld, others_, row);
    std::fill(row + others_, row + stride, 0.0);
  }
  for (int r = 0; r < others_; ++r) {  // what is left of rows that cannot move is rounding errors
    if (root.scale[r] >= least && G[r * stride + r] > kHeld * root.scale[r]) continue;
    for (int c = 0; c < others_; ++c) G[r * stride + c] = G[c * stride + r] = 0;
  }
}

void LoopElimination::add_row_rates(const Eigen::VectorXd& rates, double* y) const {
  for (size_t f = 0; f < figures_.size(); ++f)
    figures_[f]->body_motions(rates.data() + column_[f], motions_.data() + body_[f]);
  for (const RowWrench& w : wrenches_) y[w.row] += dot(motions_[size_t(body_[size_t(w.figure)] + w.body)], w.F);
  for (const RowTorque& t : torques_) y[t.row] += t.scale * rates[column_[size_t(t.figure)] + t.column];
}
void LoopElimination::add_rates(double* y) const { add_row_rates(response_, y); }

/// Right sides from the parts to the root.
void LoopElimination::sweep_in(const double* y_b) {
  const kernel::LoopKernels& kernels = kernel::loops();
  inconsistency_ = 0;
  for (const int n : plan_.order) {
    const LoopPlan::Node& node = plan_.nodes[size_t(n)];
    const kernel::LoopFront& f = fronts_[size_t(n)];
    std::fill(f.r, f.r + f.closed_ld, 0.0);
    for (int c = node.first_child; c >= 0; c = plan_.nodes[size_t(c)].next_sibling) {
      const LoopPlan::Node& child = plan_.nodes[size_t(c)];
      const double* from = fronts_[size_t(c)].r;
      for (int k = child.run_begin; k < child.run_end; ++k) {
        const kernel::FrontRun& run = plan_.runs[size_t(k)];
        for (int i = 0; i < run.count; ++i) f.r[run.to + i] += from[run.from + i];
      }
    }
    for (int k = 0; k < f.closed; ++k) f.r[f.ld + k] += y_b[plan_.rows[size_t(node.closed_begin + k)]];
    inconsistency_ = std::max(inconsistency_, kernels.reduce(f));
  }
}

/// Forces of the closed rows and rates of all columns, from the root to the parts.
void LoopElimination::sweep_out(double* force, double* response) {
  const kernel::LoopKernels& kernels = kernel::loops();
  double* x = aligned(x_.data());
  for (auto n = plan_.order.rbegin(); n != plan_.order.rend(); ++n) {
    const LoopPlan::Node& node = plan_.nodes[size_t(*n)];
    const kernel::LoopFront& f = fronts_[size_t(*n)];
    std::fill(x, x + f.closed_ld, 0.0);
    if (node.parent >= 0 && f.head > 0) std::copy_n(carried_.data() + 6L * node.parent, 6, x);
    for (int k = f.head; k < f.kept; ++k) x[k] = force[plan_.rows[size_t(node.kept_begin + k - f.head)]];
    if (node.figure >= 0 && node.body < 0) {
      double* out = response + column_[size_t(node.figure)];
      std::fill(out, out + figures_[size_t(node.figure)]->nv(), 0.0);
      figures_[size_t(node.figure)]->respond(x, 0, out);
      continue;
    }
    double* rates = nullptr;
    if (node.body >= 0) {
      rates = response + column_[size_t(node.figure)] + figures_[size_t(node.figure)]->tree().bodies[node.body].u;
    }
    kernels.substitute(f, x, rates);
    double* carried = carried_.data() + 6L * *n;
    if (f.head > 0)
      std::copy_n(x, 6, carried);
    else
      std::fill(carried, carried + 6, 0.0);
    for (int k = 0; k < f.closed; ++k) force[plan_.rows[size_t(node.closed_begin + k)]] = x[f.ld + k];
  }
}

double LoopElimination::hold(const double* y_b, double* y_r) {
  grow(y_, bilateral_);
  std::copy_n(y_b, bilateral_, y_.data());
  sweep_in(y_b);
  const kernel::LoopFront& root = fronts_[size_t(plan_.order.back())];
  for (int r = 0; r < others_; ++r) y_r[r] += root.r[r];
  return inconsistency_;
}

void LoopElimination::forces(double* force) {
  sweep_out(force, response_.data());
  grow(rest_, bilateral_ + others_);
  rest_.setZero();
  add_row_rates(response_, rest_.data());
  double left = 0, whole = 0;
  for (int r = 0; r < give_.size(); ++r) rest_[r] += give_[r] * force[r];
  for (int r = 0; r < bilateral_; ++r) {
    whole = std::max({whole, std::abs(rest_[r]), std::abs(y_[r])});
    left = std::max(left, std::abs(rest_[r] += y_[r]));
  }
  if (left <= kExact * whole) return;
  sweep_in(rest_.data());  // once more for what the first solution has left
  rest_.setZero();
  sweep_out(rest_.data(), change_.data());
  for (int r = 0; r < bilateral_; ++r) force[r] += rest_[r];
  response_ += change_;
}

void LoopElimination::respond(int figure, double drive, double* out) const {
  const long at = column_[size_t(figure)];
  for (int k = 0; k < figures_[size_t(figure)]->nv(); ++k) out[k] += response_[at + k] + drive * free_[at + k];
}

}  // namespace kansetsu
