#include "constraint/mechanics.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/pack.h"
#include "model/scratch.h"

namespace kansetsu {
namespace {

constexpr int kPoseRecord = 16, kMotionRecord = 8, kSubtreeRecord = 16, kMassLanes = 12, kLine = 8;

/// First cache line in a block that has one to spare.
double* aligned(double* block) {
  constexpr std::uintptr_t kBytes = 64;
  return reinterpret_cast<double*>((reinterpret_cast<std::uintptr_t>(block) + kBytes - 1) / kBytes * kBytes);
}

Vec3<> load3(const double* at) { return {at[0], at[1], at[2]}; }
Motion<> load_motion(const double* at) { return {load3(at), load3(at + 4)}; }

}  // namespace

Mechanics::Mechanics(const Model& model) : model_(model), tree_(&model_.tree().view()), nv_(model.nv()) {
  const int bodies = tree_->columns.bodies, columns = tree_->columns.columns;
  const int stride = padded_columns(std::max(nv_, 1));
  const long numbers = long(kPoseRecord + 2 * kMotionRecord + kSubtreeRecord) * bodies +
                       long(kMotionRecord + kMassLanes) * columns + 2L * stride * stride + 4L * (stride + columns) +
                       16L * kLine;
  memory_ = Eigen::VectorXd::Zero(numbers);
  pose_scratch_ = Eigen::VectorXd::Zero(long(tree_->body_count + kLine) * 14 + 8L * kLine);
  double* next = aligned(memory_.data());
  const auto take = [&](int count) {
    double* at = next;
    next += (count + kLine - 1) / kLine * kLine;
    return at;
  };
  block_.X = take(kPoseRecord * bodies);
  block_.V = take(kMotionRecord * bodies);
  block_.A = take(kMotionRecord * bodies);
  block_.S = take(kMotionRecord * columns);
  block_.subtree = take(kSubtreeRecord * bodies);
  block_.lanes = take(kMassLanes * columns);
  block_.H = take(stride * stride);
  block_.L = take(stride * stride);
  block_.D_inv = take(stride);
  block_.bias = take(std::max(stride, columns));
  block_.scratch = take(std::max(stride, columns));
  block_.stride = stride;
  drive_ = Eigen::VectorXd::Zero(nv_);
  make_pattern();
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
  kernel::mechanics().poses(*tree_, q, aligned(pose_scratch_.data()), block_);
  if (tree_->free_base) origin_ = load3(q);
}
void Mechanics::set_motion(const double* v) { kernel::mechanics().motions(*tree_, v, block_); }
int Mechanics::factorise(const double* extra_inertia) {
  return kernel::mechanics().factorise(*tree_, extra_inertia, block_);
}
void Mechanics::set_torque(const double* tau) {
  for (int k = 0; k < nv_; ++k) drive_[k] = tau[k] - block_.bias[k];
}
void Mechanics::free_acceleration(double* out) const {
  std::copy(drive_.data(), drive_.data() + nv_, out);
  solve(out);
}
void Mechanics::solve(double* x) const { kernel::mechanics().solve(block_, nv_, x); }

int Mechanics::body_of(LinkId link) const { return model_.tree().links[size_t(link.value())].body; }

Transform<> Mechanics::body_pose(int body) const {
  if (body < 0) return {};
  const double* X = block_.X + body * kPoseRecord;
  const Mat3<> R{{X[0], X[4], X[8]}, {X[1], X[5], X[9]}, {X[2], X[6], X[10]}};
  return {R, origin_ + load3(X + 12)};
}
Transform<> Mechanics::link_pose(LinkId link) const {
  const LinkPlacement& place = model_.tree().links[size_t(link.value())];
  return body_pose(place.body) * place.X_BL;
}
Motion<> Mechanics::velocity(int body) const {
  return body < 0 ? Motion<>{} : load_motion(block_.V + body * kMotionRecord);
}
Motion<> Mechanics::drift(int body) const {
  return body < 0 ? Motion<>{} : load_motion(block_.A + body * kMotionRecord);
}

void Mechanics::reserve_rows(int rows) {
  const long stride = kernel::padded_rows(rows);
  const long needed = stride * nv_ + kLine;
  if (rows_memory_.size() < needed) rows_memory_.resize(needed);
  Z_ = aligned(rows_memory_.data());
}

void Mechanics::begin_rows(int rows) {
  rows_ = rows;
  stride_ = kernel::padded_rows(rows);
  if (long(stride_) * nv_ + kLine > rows_memory_.size()) reserve_rows(rows);
  std::memset(Z_, 0, sizeof(double) * size_t(stride_) * size_t(nv_));
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
  visit_columns(body,
                [&](int column, double ratio, const double* S) { out[column] += ratio * dot(load_motion(S), F); });
}

void Mechanics::add_wrench(int row, int body, const Force<>& F) {
  visit_columns(body, [&](int column, double ratio, const double* S) {
    Z_[column * stride_ + row] += ratio * dot(load_motion(S), F);
  });
}

void Mechanics::add_frame(int row, int body, const Mat3<>& E, const Vec3<>& p_O, double sign) {
  const Vec3<> axes[3] = {E.column_x(), E.column_y(), E.column_z()};
  using Four = Pack<double, 4>;
  Four f[3], g[3], h[3];  // the numbers of the wrenches on w: moments of the forces, and the moments; on v: the forces
  for (int k = 0; k < 3; ++k) {
    const Vec3<> moment = cross(p_O, axes[k]);
    const double m[3] = {moment.x, moment.y, moment.z}, a[3] = {axes[k].x, axes[k].y, axes[k].z};
    for (int c = 0; c < 3; ++c) f[c].set(k, sign * m[c]), g[c].set(k, sign * a[c]);
  }
  for (int c = 0; c < 3; ++c) h[c] = g[c], f[c].set(3, 0.0), g[c].set(3, 0.0), h[c].set(3, 0.0);
  visit_columns(body, [&](int column, double ratio, const double* S) {
    Four force(0.0), moment(0.0);
    for (int c = 0; c < 3; ++c) {
      force = madd(f[c], Four(ratio * S[c]), madd(h[c], Four(ratio * S[4 + c]), force));
      moment = madd(g[c], Four(ratio * S[c]), moment);
    }
    double* to = Z_ + column * stride_ + row;
    for (int k = 0; k < 3; ++k) to[k] += force[k], to[3 + k] += moment[k];
  });
}

void Mechanics::write_frame(int body, const Mat3<>& E, const Vec3<>& p_O, double sign, int count, double* J) const {
  const Vec3<> axes[3] = {sign * E.column_x(), sign * E.column_y(), sign * E.column_z()};
  visit_columns(body, [&](int column, double ratio, const double* S) {
    const Motion<> s = load_motion(S);
    const Vec3<> v = s.v + cross(s.w, p_O);
    for (int k = 0; k < 3; ++k) J[k * nv_ + column] += ratio * dot(axes[k], v);
    for (int k = 3; k < count; ++k) J[k * nv_ + column] += ratio * dot(axes[k - 3], s.w);
  });
}

void Mechanics::add_torque(int row, int column, double scale) { Z_[column * stride_ + row] += scale; }

void Mechanics::add_row_velocities(const double* v, double* out) const {
  for (int k = 0; k < nv_; ++k) {
    for (int r = 0; r < rows_; ++r) out[r] += Z_[k * stride_ + r] * v[k];
  }
}

void Mechanics::finish_rows() {
  for (int k = 0; k < nv_; ++k) Z_[k * stride_ + rows_] = drive_[k];
  kernel::mechanics().half_solve(block_, nv_, Z_, stride_);
}
void Mechanics::add_delassus(double* G) const { kernel::mechanics().delassus(block_, nv_, Z_, stride_, G); }
void Mechanics::respond(const double* lambda, double* out) const {
  kernel::mechanics().respond(block_, nv_, Z_, stride_, lambda, out);
}

}  // namespace kansetsu
