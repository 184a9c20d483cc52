#include "constraint/mechanics.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/aligned_memory.h"
#include "constraint/column_elimination.h"
#include "constraint/column_steps.h"
#include "kansetsu/base/error.h"
#include "kansetsu/spatial/pack.h"
#include "model/scratch.h"

namespace kansetsu {
namespace {

constexpr int kSubtreeRecord = 16, kMassLanes = 12, kBodyRecord = 48, kLine = 8, kTotalNumbers = kernel::kTotalNumbers;

}  // namespace

Mechanics::Mechanics(const Model& model)
    : kernels_(&kernel::mechanics()), model_(model), tree_(&model_.tree().view()), nv_(model.nv()) {
  const int bodies = tree_->columns.bodies, columns = tree_->columns.columns;
  mass_ = model.mass();
  const int stride = padded_columns(std::max(nv_, 1));
  block_.recursive = tree_->columns.ordered;
  block_.words = (nv_ + 63) / 64;
  any_.assign(size_t(block_.words), 0);
  none_ = any_;
  list_heavy();
  if (block_.recursive) make_recursion();
  const long square = block_.recursive ? 0 : long(stride) * stride;
  const long records = long(kBodyRecord) * (long(heavy_.size()) + tree_->body_count);
  const long numbers = long(kPoseRecord + 2 * kMotionRecord + kSubtreeRecord) * bodies +
                       long(3 * kMotionRecord + kMassLanes) * columns + 2 * square + records +
                       long(kTotalNumbers) * long(heavy_.size()) + 10L * (stride + columns) + 20L * kLine;
  memory_ = Eigen::VectorXd::Zero(numbers);
  pose_scratch_ = Eigen::VectorXd::Zero(long(tree_->body_count + kLine) * 14 + 8L * kLine);
  double* next = aligned(memory_.data());
  const auto take = [&](long count) {
    double* at = next;
    next += (count + kLine - 1) / kLine * kLine;
    return at;
  };
  block_.X = take(kPoseRecord * bodies);
  block_.V = take(kMotionRecord * bodies);
  block_.A = take(kMotionRecord * bodies);
  block_.S = take(kMotionRecord * columns);
  block_.D_inv = take(stride);
  block_.drive = take(stride);
  block_.scratch = take(std::max(stride, columns));
  block_.stride = stride;
  block_.whole = take(kTotalNumbers * long(heavy_.size()));
  if (block_.recursive) {
    block_.U = take(kMotionRecord * columns);
    block_.along = take(kMotionRecord * columns);
    block_.articulated = take(records);
    block_.share = take(4L * columns);
    return;
  }
  block_.subtree = take(kSubtreeRecord * bodies);
  block_.lanes = take(kMassLanes * columns);
  block_.H = take(square);
  block_.L = take(square);
  block_.bias = take(std::max(stride, columns));
  make_pattern();
}

/// Which bodies have a mass.
void Mechanics::list_heavy() {
  for (int i = 0; i < tree_->body_count; ++i) {
    if (!tree_->bodies[i].massless) heavy_.push_back(i);
  }
  const int heavy = int(heavy_.size()), padded = padded_columns(heavy);
  heavy_.resize(size_t(padded), 0);
  heavy_inertia_ = Eigen::VectorXd::Zero(10L * padded + kLine);
  double* inertia = aligned(heavy_inertia_.data());
  for (int k = 0; k < heavy; ++k) {
    const Inertia<>& M = tree_->bodies[heavy_[size_t(k)]].M_B;
    const double n[10] = {M.m, M.h.x, M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.xz, M.I.yy, M.I.yz, M.I.zz};
    for (int c = 0; c < 10; ++c) inertia[c * padded + k] = n[c];
  }
  block_.heavy = heavy_.data();
  block_.heavy_count = heavy;
  block_.heavy_stride = padded;
  block_.heavy_inertia = inertia;
}

/// The order of the recursion, and the ways to the base.
void Mechanics::make_recursion() {
  const int bodies = tree_->body_count;
  order_steps(block_.heavy_count, block_.heavy_stride);

  const size_t words = size_t(block_.words);
  up_.assign(size_t(nv_), -1);
  to_base_.assign(size_t(nv_) * words, 0);
  for (int i = 0; i < bodies; ++i) {
    const Body& b = tree_->bodies[i];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      const int before = k > b.u ? k - 1 : b.parent < 0 ? -1 : last_column(b.parent);
      up_[size_t(k)] = before;
      std::uint64_t* set = to_base_.data() + size_t(k) * words;
      if (before >= 0) std::copy_n(to_base_.data() + size_t(before) * words, words, set);
      set[k / 64] |= std::uint64_t(1) << (k % 64);
    }
  }
  block_.up = up_.data();
}

void Mechanics::order_steps(int heavy, int padded) {
  const int bodies = tree_->body_count;
  std::vector<int> place(size_t(bodies), -1);
  std::vector<bool> filled(static_cast<size_t>(bodies));
  for (int k = 0; k < heavy; ++k) place[size_t(heavy_[size_t(k)])] = k;
  for (int i = 0, next = padded; i < bodies; ++i) {
    if (place[size_t(i)] < 0) place[size_t(i)] = next++;
    filled[size_t(i)] = !tree_->bodies[i].massless;
  }
  group_.assign(size_t(nv_), 1);
  for (const ColumnStep& step : order_column_steps(*tree_)) {
    const Body& b = tree_->bodies[step.top];
    const bool root = b.parent < 0;
    const int first = b.u, last = last_column(step.tip);
    steps_.push_back({.first = first,
                      .last = last,
                      .before = root ? -1 : last_column(b.parent),
                      .record = kBodyRecord * place[size_t(step.tip)],
                      .parent_record = root ? -1 : kBodyRecord * place[size_t(b.parent)],
                      .opens = !root && !filled[size_t(b.parent)]});
    if (!root) filled[size_t(b.parent)] = true;
    kernel::visit_groups_inward(first, last,
                                [&]<int kCount>(int k, detail::Constant<kCount>) { group_[size_t(k)] = kCount; });
  }
  block_.group = group_.data();
  block_.steps = steps_.data();
  block_.step_count = int(steps_.size());
}

/// Which entries of L are not zero. On a tree without gears these are M's; else what elimination fills in is added.
void Mechanics::make_pattern() {
  const SparseMassMatrix M(model_);
  std::vector<std::vector<int>> lower(static_cast<size_t>(nv_));
  for (int i = 0; i < nv_; ++i) {
    lower[size_t(i)].assign(M.column.begin() + M.row_start[size_t(i)],
                            M.column.begin() + M.row_start[size_t(i) + 1] - 1);
  }
  for (int i = nv_ - 1; i >= 0; --i) {
    const std::vector<int> row = lower[size_t(i)];
    for (size_t p = 0; p < row.size(); ++p) {
      std::vector<int>& to = lower[size_t(row[p])];
      std::vector<int> merged;
      std::set_union(to.begin(), to.end(), row.begin(), row.begin() + long(p), std::back_inserter(merged));
      to.swap(merged);
    }
  }
  path_begin_.assign(1, 0);
  for (const std::vector<int>& row : lower) {
    path_.insert(path_.end(), row.begin(), row.end());
    path_begin_.push_back(int(path_.size()));
  }
  std::vector<std::vector<int>> below(static_cast<size_t>(nv_));
  for (int i = 0; i < nv_; ++i) {
    for (const int j : lower[size_t(i)]) below[size_t(j)].push_back(i);
  }
  below_begin_.assign(1, 0);
  for (const std::vector<int>& column : below) {
    below_.insert(below_.end(), column.begin(), column.end());
    below_begin_.push_back(int(below_.size()));
  }
  block_.path = path_.data();
  block_.path_begin = path_begin_.data();
  block_.below = below_.data();
  block_.below_begin = below_begin_.data();
}

void Mechanics::set_pose(const double* q) {
  kernels_->poses(*tree_, q, aligned(pose_scratch_.data()), block_);
  if (tree_->free_base) origin_ = {q[0], q[1], q[2]};
}
void Mechanics::set_motion(const double* v) { kernels_->motions(*tree_, v, block_); }
int Mechanics::factorise(const double* extra_inertia, const double* tau) {
  extra_ = extra_inertia;
  return kernels_->factorise(*tree_, extra_inertia, tau, block_);
}
void Mechanics::free_acceleration(double* out) const {
  std::fill(out, out + nv_, 0.0);
  kernels_->respond(block_, nv_, none_.data(), nullptr, 0, nullptr, 1, out);
}
void Mechanics::solve(double* x) const { kernels_->solve(block_, nv_, x); }

int Mechanics::body_of(LinkId link) const { return model_.tree().links[size_t(link.value())].body; }

Transform<> Mechanics::link_pose(LinkId link) const {
  const LinkPlacement& place = model_.tree().links[size_t(link.value())];
  return body_pose(place.body) * place.X_BL;
}

void Mechanics::reserve_rows(int rows) {
  const long stride = kernel::padded_rows(rows);
  const long needed = stride * nv_ + 2 * kLine;  // wrenches are written eight rows at a time
  if (rows_memory_.size() >= needed) return;
  rows_memory_.resize(needed);
  clear_stride_ = 0;
  touched_.reserve(size_t(stride / kernel::kRowBlock * block_.words));
  used_.reserve(size_t(stride / kernel::kRowBlock));
  pending_.reserve(2 * size_t(rows)), torques_.reserve(2 * size_t(rows));
  Z_ = aligned(rows_memory_.data());
}

void Mechanics::begin_rows(int rows) {
  rows_ = rows;
  stride_ = kernel::padded_rows(rows);
  if (long(stride_) * nv_ + 2 * kLine > rows_memory_.size()) reserve_rows(rows);
  const int words = block_.words, blocks = stride_ / kernel::kRowBlock;
  if (clear_stride_ == stride_) {  // only what the last rows have left there
    kernels_->clear(touched_.data(), blocks, words, Z_, stride_);
  } else {
    std::memset(Z_, 0, sizeof(double) * (size_t(stride_) * size_t(nv_) + kLine));
    touched_.assign(size_t(blocks * words), 0);
    clear_stride_ = stride_;
  }
  for (std::uint64_t& set : any_) set = 0;
  used_.assign(size_t(blocks), 0);
  pending_.clear(), torques_.clear();
}

void Mechanics::touch(int row, int count, const std::uint64_t* columns) {
  for (int b = row / kernel::kRowBlock; b <= (row + count - 1) / kernel::kRowBlock; ++b) {
    for (int w = 0; w < block_.words; ++w) touched_[size_t(b * block_.words + w)] |= columns[w];
    used_[size_t(b)] = std::max(used_[size_t(b)], std::min(row + count - b * kernel::kRowBlock, kernel::kRowBlock));
  }
  for (int w = 0; w < block_.words; ++w) any_[size_t(w)] |= columns[w];
}

/// visit(column of v, ratio, S record) for everything that moves the body.
template <class Visit>
void Mechanics::visit_columns(int body, Visit&& visit) const {
  for (int i = body; i >= 0; i = tree_->bodies[i].parent) {
    const Body& b = tree_->bodies[i];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      const double* S = block_.S + k * kMotionRecord;
      if (tree_->columns.ordered) {
        visit(k, 1.0, S);
        continue;
      }
      for (int t = tree_->rows[k].begin; t < tree_->rows[k].end; ++t) {
        visit(tree_->terms[t].column, tree_->terms[t].ratio, S);
      }
    }
  }
}

void Mechanics::add_generalised(int body, const Force<>& F, double* out) const {
  visit_columns(body, [&](int column, double ratio, const double* S) { out[column] += ratio * dot(motion_at(S), F); });
}

void Mechanics::body_motions(const double* x, Motion<>* out) const {
  for (int i = 0; i < tree_->body_count; ++i) {
    const Body& b = tree_->bodies[i];
    Motion<> V = b.parent < 0 ? Motion<>{} : out[b.parent];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      double rate = tree_->columns.ordered ? x[k] : 0;
      for (int t = tree_->rows[k].begin; !tree_->columns.ordered && t < tree_->rows[k].end; ++t)
        rate += tree_->terms[t].ratio * x[tree_->terms[t].column];
      V += rate * motion_at(block_.S + k * kMotionRecord);
    }
    out[i] = V;
  }
}

void Mechanics::add_wrenches(int row, int body, std::span<const Force<>> F) {
  if (!block_.recursive) {
    for (const Force<>& f : F) {
      visit_columns(body, [&](int column, double ratio, const double* S) {
        Z_[column * stride_ + row] += ratio * dot(motion_at(S), f);
      });
      ++row;
    }
    return;
  }
  kernel::Wrenches& w = pending_.emplace_back();
  for (size_t i = 0; i < F.size(); ++i) {
    const Force<>& f = F[i];
    w.numbers[0][i] = f.t.x, w.numbers[1][i] = f.t.y, w.numbers[2][i] = f.t.z;
    w.numbers[3][i] = f.f.x, w.numbers[4][i] = f.f.y, w.numbers[5][i] = f.f.z;
  }
  w.k = last_column(body);
  w.row = row;
  touch(row, int(F.size()), to_base_.data() + size_t(w.k * block_.words));
}

void Mechanics::add_axes(int row, int body, const Mat3<>& E, const Vec3<>& p_O, double sign, int count) {
  const Vec3<> axes[3] = {sign * E.column_x(), sign * E.column_y(), sign * E.column_z()};
  if (!block_.recursive) {
    Force<> F[6];
    for (int k = 0; k < count; ++k) F[k] = k < 3 ? Force<>{cross(p_O, axes[k]), axes[k]} : Force<>{axes[k - 3], {}};
    return add_wrenches(row, body, {F, size_t(count)});
  }
  kernel::Wrenches& w = pending_.emplace_back();
  auto& n = w.numbers;
  for (int k = 0; k < 3; ++k) {
    const Vec3<> moment = cross(p_O, axes[k]);
    n[0][k] = moment.x, n[1][k] = moment.y, n[2][k] = moment.z;
    n[3][k] = axes[k].x, n[4][k] = axes[k].y, n[5][k] = axes[k].z;
  }
  for (int k = 3; k < count; ++k) n[0][k] = axes[k - 3].x, n[1][k] = axes[k - 3].y, n[2][k] = axes[k - 3].z;
  w.k = last_column(body);
  w.row = row;
  touch(row, count, to_base_.data() + size_t(w.k * block_.words));
}

kernel::BodyBefore Mechanics::remember(int body, double axes_weight) const {
  kernel::BodyBefore out{};
  std::copy_n(body_axes(body), kPoseRecord, out.X);
  out.weight = axes_weight;
  out.body = body;
  return out;
}

Mechanics::Totals Mechanics::totals() const {
  alignas(64) double n[kernel::kTotalNumbers];
  kernels_->totals(block_, n);
  return {{n[0], {n[1], n[2], n[3]}, {n[4], n[5], n[6], n[7], n[8], n[9]}},
          {{n[10], n[11], n[12]}, {n[13], n[14], n[15]}}};
}

double Mechanics::largest_change(std::span<const kernel::BodyBefore> bodies, const Vec3<>& origin_before,
                                 double little) const {
  const Vec3<> shift = origin_ - origin_before;
  alignas(64) const double numbers[8] = {0, 0, 0, 0, shift.x, shift.y, shift.z, 0};
  return kernels_->largest_change(block_, bodies.data(), int(bodies.size()), numbers, little);
}

void Mechanics::write_frame(int body, const Mat3<>& E, const Vec3<>& p_O, double sign, int count, double* J) const {
  const Vec3<> axes[3] = {sign * E.column_x(), sign * E.column_y(), sign * E.column_z()};
  visit_columns(body, [&](int column, double ratio, const double* S) {
    const Motion<> s = motion_at(S);
    const Vec3<> v = s.v + cross(s.w, p_O);
    for (int k = 0; k < 3; ++k) J[k * nv_ + column] += ratio * dot(axes[k], v);
    for (int k = 3; k < count; ++k) J[k * nv_ + column] += ratio * dot(axes[k - 3], s.w);
  });
}

void Mechanics::write_turn(int body, const Vec3<>& axis_W, double* J) const {
  visit_columns(body,
                [&](int column, double ratio, const double* S) { J[column] += ratio * dot(axis_W, motion_at(S).w); });
}

void Mechanics::add_torque(int row, int column, double scale) {
  if (!block_.recursive) {
    Z_[column * stride_ + row] += scale;
    return;
  }
  touch(row, 1, to_base_.data() + size_t(column * block_.words));
  const int first = row / kernel::kRowBlock * kernel::kRowBlock;
  const size_t lane = size_t(row - first);
  const auto leads_to = [&](int from, int to) {
    return to_base_[size_t(from * block_.words + to / 64)] >> (to % 64) & 1;
  };
  for (size_t i = torques_.size(); i-- > 0 && torques_[i].row == first;) {  // on the way of another row of its block
    kernel::Torques& set = torques_[i];
    const bool beyond = leads_to(column, set.last);
    if (set.column[lane] >= 0 || (!beyond && !leads_to(set.last, column))) continue;
    set.column[lane] = column, set.scale[lane] = scale;
    if (beyond) set.last = column;
    return;
  }
  kernel::Torques& set = torques_.emplace_back();
  std::fill_n(set.column, kernel::kRowBlock, -1);
  set.column[lane] = column, set.scale[lane] = scale;
  set.last = column, set.row = first;
}

void Mechanics::finish_rows() {
  if (block_.recursive) {
    kernels_->climb(block_, pending_.data(), int(pending_.size()), Z_, stride_);
    kernels_->climb_torques(block_, torques_.data(), int(torques_.size()), Z_, stride_);
    pending_.clear(), torques_.clear();
    return;
  }
  kernels_->half_solve(block_, nv_, Z_, stride_);
  for (size_t b = 0; b < touched_.size(); b += size_t(block_.words)) {
    for (int k = 0; k < nv_; ++k) touched_[b + size_t(k / 64)] |= std::uint64_t(1) << (k % 64);
  }
  std::fill(used_.begin(), used_.end(), kernel::kRowBlock);
  for (int k = 0; k < nv_; ++k) any_[size_t(k / 64)] |= std::uint64_t(1) << (k % 64);
}
void Mechanics::add_delassus(double* G, double* a, bool first) const {
  kernels_->delassus(block_, touched_.data(), used_.data(), Z_, stride_, first, G, a);
}
void Mechanics::respond(const double* lambda, double share, double* out) const {
  kernels_->respond(block_, nv_, any_.data(), Z_, stride_, lambda, share, out);
}

}  // namespace kansetsu
