#include "constraint/island.h"

#include <algorithm>
#include <cmath>

#include "base/aligned_memory.h"
#include "constraint/contact_thresholds.h"

namespace kansetsu {

namespace {

[[gnu::always_inline]] inline PointMotion motion_at(const RowEnd& end, const Vec3<>& p_W, Rate rate) {
  if (!end.figure || end.body < 0) {
    const Vec3<> r = p_W - end.p, spin = cross(end.V.w, r);
    return {end.V.v + spin, end.A.v + cross(end.A.w, r) + cross(end.V.w, spin), end.V.w, end.A.w};
  }
  const Motion<> V = end.figure->velocity(end.body), A = end.figure->drift(end.body);
  const Vec3<> r = p_W - end.figure->origin(), v = V.v + cross(V.w, r);
  if (rate == Rate::kPlace) return {v, end.figure->base_turning(), V.w, {}};
  return {v, A.v + cross(A.w, r) + cross(V.w, v), V.w, A.w};
}

}  // namespace

PointMotion point_motion(const RowEnd& end, const Vec3<>& p_W, Rate rate) { return motion_at(end, p_W, rate); }

/// With x the place of p in the axes of a: ẋ = Eᵀ·(v_b − v_a), ẍ = Eᵀ·(a_b − a_a − 2·ω_a×(v_b − v_a)), where v_a and a_a are
/// those of a's own point at p. docs/theory/constrained.md, with the second ω_a× of a point that is b's.
FrameMotion6 frame_motion(const RowEnd& a, const RowEnd& b, const Mat3<>& E, const Vec3<>& p_W, Rate rate) {
  const PointMotion B = motion_at(b, p_W, rate);
  if (a.rests) {
    const Vec3<> u = transpose_times(E, B.v), n = transpose_times(E, B.w);
    const Vec3<> du = transpose_times(E, B.a), dn = transpose_times(E, B.alpha);
    return {{u.x, u.y, u.z, n.x, n.y, n.z}, {du.x, du.y, du.z, dn.x, dn.y, dn.z}};
  }
  const PointMotion A = point_motion(a, p_W, rate);
  const Vec3<> v = B.v - A.v, w = B.w - A.w, turn = rate == Rate::kPlace && a.figure ? Vec3<>{} : A.w;
  const Vec3<> vdot = B.a - A.a - 2.0 * cross(turn, v), wdot = B.alpha - A.alpha - cross(turn, w);
  const Vec3<> u = transpose_times(E, v), n = transpose_times(E, w);
  const Vec3<> du = transpose_times(E, vdot), dn = transpose_times(E, wdot);
  return {{u.x, u.y, u.z, n.x, n.y, n.z}, {du.x, du.y, du.z, dn.x, dn.y, dn.z}};
}

void Island::reserve(int figures, int rows) {
  figures_.reserve(size_t(figures));
  const long size = kernel::padded_rows(rows);
  if (size <= u_.size()) return;
  for (Eigen::VectorXd* x : {&u_, &a_, &place_, &drift_, &target_, &reduced_u_, &reduced_a_, &force_, &y_, &answer_})
    *x = Eigen::VectorXd::Zero(size);
}

void Island::reserve_matrix(int rows) {
  const long stride = kernel::padded_rows(rows);
  if (stride * stride + 8 <= memory_.size()) return;
  memory_.resize(stride * stride + 8);
  G_ = aligned(memory_.data());
}

void Island::begin(std::span<Mechanics* const> figures, int bilateral, int others, int alone) {
  rows_ = bilateral + others;
  bilateral_ = bilateral;
  const bool tree = bilateral == 0 && alone >= least_tree &&
                    std::ranges::all_of(figures, [](const Mechanics* f) { return f->recursive(); });
  form_ = bilateral > most_dense ? Form::kLoops : tree ? Form::kTree : Form::kMatrix;
  reserve(int(figures.size()), rows_);
  figures_.assign(figures.begin(), figures.end());
  const int padded = kernel::padded_rows(rows_);
  stride_ = kernel::padded_rows(form_ == Form::kLoops ? others : rows_);
  if (form_ != Form::kTree) reserve_matrix(stride_);
  if (form_ == Form::kLoops) {
    loops_.begin(figures, bilateral, others);
  } else if (form_ == Form::kTree) {
    trees_.begin(figures, rows_);
  } else {
    if (long(stride_) * stride_ > full_.size()) full_.resize(long(stride_) * stride_);
    elimination_.reserve(rows_, rows_);
    for (Mechanics* figure : figures_) figure->begin_rows(rows_);
  }
  u_.head(padded).setZero();
  a_.head(padded).setZero();
  place_.head(padded).setZero();
  target_.head(bilateral_).setZero();
  soft_ = false;
}

void Island::set_firmness(int row, double firmness) {
  if (!soft_) {
    if (firmness_.size() < u_.size()) firmness_.resize(u_.size()), share_.resize(u_.size());
    firmness_.head(bilateral_).setConstant(kInfinity);
    share_.head(bilateral_).setOnes();
    soft_ = true;
  }
  firmness_[row] = firmness;
}

/// A row that gives way adds 1/firmness to its diagonal. Row and column are scaled so that the diagonal stays as it was: then soft
/// rows beside rigid ones leave the factor as well conditioned as it is without them, and a firmness of 0 is a share of 0.
/// @param least  a diagonal that rows which cannot move have at least, for they push as well
void Island::soften(double least) {
  for (int r = 0; r < bilateral_; ++r) {
    if (firmness_[r] == kInfinity) continue;
    double& own = G_[r * stride_ + r];
    const double diagonal = std::max(own, least);
    const double share = std::sqrt(diagonal * firmness_[r] / (1 + own * firmness_[r]));
    share_[r] = share, own = diagonal;
    for (int c = 0; c < rows_; ++c) {
      if (c != r) G_[r * stride_ + c] *= share, G_[c * stride_ + r] *= share;
    }
  }
}

/// How far bilateral rows are from what is wanted of them.
void Island::take_gaps(const Eigen::VectorXd& now) {
  y_.head(bilateral_) = now.head(bilateral_) - target_.head(bilateral_);
  if (!soft_) return;
  for (int r = 0; r < bilateral_; ++r) {
    if (firmness_[r] == 0) y_[r] = 0;
    if (form_ == Form::kMatrix) y_[r] *= share_[r];
  }
}

void Island::add_rows(int row, Mechanics& figure, int body, std::span<const Force<>> F) {
  switch (form_) {
    case Form::kMatrix:
      return figure.add_wrenches(row, body, F);
    case Form::kLoops:
      return loops_.add_wrenches(row, figure, body, F);
    case Form::kTree:
      return trees_.add_wrenches(row, figure, body, F);
  }
}

void Island::add_frame(int row, unsigned mask, const RowEnd& a, const RowEnd& b, const Mat3<>& E, const Vec3<>& p_W,
                       Rate rate) {
  const FrameMotion6 motion = frame_motion(a, b, E, p_W, rate);
  const FrameMotion6 place = rate == Rate::kPlace ? motion : frame_motion(a, b, E, p_W, Rate::kPlace);
  int next = row;
  for (int k = 0; k < 6; ++k) {
    if (!(mask >> k & 1)) continue;
    u_[next] += motion.u[k];
    place_[next] += place.drift[k];
    a_[next++] += motion.drift[k];
  }
  const bool whole = mask == 0b111111 || mask == 0b111;
  const auto add_end = [&](const RowEnd& end, double sign) {
    if (!end.figure || end.body < 0) return;
    const Vec3<> p = p_W - end.figure->origin();
    if (whole && form_ == Form::kMatrix) return end.figure->add_axes(row, end.body, E, p, sign, next - row);
    const Vec3<> axes[3] = {sign * E.column_x(), sign * E.column_y(), sign * E.column_z()};
    Force<> F[6];
    size_t count = 0;
    for (int k = 0; k < 6; ++k) {
      if (mask >> k & 1) F[count++] = k < 3 ? Force<>{cross(p, axes[k]), axes[k]} : Force<>{axes[k - 3], {}};
    }
    add_rows(row, *end.figure, end.body, {F, count});
  };
  add_end(a, -1);
  add_end(b, 1);
}

void Island::add_turn(int row, const RowEnd& a, const RowEnd& b, const Vec3<>& axis_W) {
  const PointMotion A = point_motion(a, {}), B = point_motion(b, {});
  u_[row] += dot(axis_W, B.w - A.w);
  a_[row] += dot(axis_W, B.alpha - A.alpha - cross(A.w, B.w - A.w));
  const auto add_end = [&](const RowEnd& end, const Vec3<>& moment) {
    const Force<> F{moment, {}};
    if (!end.figure || end.body < 0) return;
    add_rows(row, *end.figure, end.body, {&F, 1});
  };
  add_end(a, -axis_W);
  add_end(b, axis_W);
}

void Island::add_dof(int row, Mechanics& figure, int column, double scale, double velocity) {
  if (form_ == Form::kLoops)
    loops_.add_torque(row, figure, column, scale);
  else if (form_ == Form::kTree)
    trees_.add_torque(row, figure, column, scale);
  else
    figure.add_torque(row, column, scale);
  u_[row] += scale * velocity;
}

void Island::assemble() {
  drift_.head(rows_) = a_.head(rows_) - place_.head(rows_);
  // Two points of one figure that cannot part, a hinge's for instance: their rows are differences of equal numbers.
  double mass = 0;
  for (const Mechanics* figure : figures_) mass += figure->mass();
  const double least = mass > 0 ? kernel::threshold::kInseparable / mass : 0;
  if (form_ == Form::kTree) return trees_.finish(a_.data());
  if (form_ == Form::kLoops) return loops_.eliminate(a_.data(), G_, stride_, least, soft_ ? firmness_.data() : nullptr);

  const long size = long(stride_) * stride_;
  for (Mechanics* figure : figures_) {
    figure->finish_rows();
    figure->add_delassus(G_, a_.data(), figure == figures_.front());
  }
  kernel::mechanics().mirror(G_, stride_);
  for (int r = bilateral_; r < rows_; ++r) {
    const double own = G_[r * stride_ + r];
    if (own >= least || own == 0) continue;  // of a row between those of two contacts everything is zero
    for (int c = 0; c < rows_; ++c) G_[r * stride_ + c] = G_[c * stride_ + r] = 0;
  }
  if (bilateral_ == 0) return;
  std::copy_n(G_, size, full_.data());
  if (soft_) soften(mass > 0 ? 1 / mass : 1);
  elimination_.eliminate(G_, stride_, bilateral_, rows_, least, order);
}

void Island::add_drive(int figure, double* torques) {
  Mechanics& mechanics = *figures_[size_t(figure)];
  mechanics.add_drive(torques);
  if (form_ == Form::kTree)
    trees_.add_rates(figure, torques, a_.data());
  else
    mechanics.add_rates(torques, a_.data());
}

double Island::hold_velocities() {
  reduced_u_.head(others()) = u_.segment(bilateral_, others());
  if (bilateral_ == 0) return 0;
  take_gaps(u_);
  return is_sparse() ? loops_.hold(y_.data(), reduced_u_.data()) : elimination_.hold(y_.data(), reduced_u_.data());
}
double Island::hold_accelerations() {
  reduced_u_.head(others()) = u_.segment(bilateral_, others());
  reduced_a_.head(others()) = a_.segment(bilateral_, others());
  if (bilateral_ == 0) return 0;
  take_gaps(a_);
  return is_sparse() ? loops_.hold(y_.data(), reduced_a_.data()) : elimination_.hold(y_.data(), reduced_a_.data());
}

void Island::complete(const double* others_force, double drive) {
  force_.head(kernel::padded_rows(rows_)).setZero();
  drive_ = drive;
  std::copy(others_force, others_force + others(), force_.data() + bilateral_);
  if (is_sparse())
    loops_.forces(force_.data());
  else if (bilateral_ > 0)
    elimination_.forces(others_force, force_.data());
  if (soft_ && !is_sparse()) force_.head(bilateral_).array() *= share_.head(bilateral_).array();
}

void Island::add_response(double* y) {
  if (form_ == Form::kLoops) return loops_.add_rates(y);
  if (form_ == Form::kTree) {
    trees_.answer(force_.data(), answer_.data());
    for (int r = 0; r < rows_; ++r) y[r] += answer_[r];
    return;
  }
  kernel::mechanics().add_product(bilateral_ > 0 ? full_.data() : G_, rows_, stride_, force_.data(), y);
}

double Island::impulse_energy() {
  double* jump = y_.data();
  std::fill(jump, jump + kernel::padded_rows(rows_), 0.0);
  add_response(jump);
  double sum = 0;
  for (int r = 0; r < rows_; ++r) sum += force_[r] * (u_[r] + 0.5 * jump[r]);
  return sum;
}

Island::Work Island::work(double h) {
  Work out{0, 0};
  double* y = y_.data();  // accelerations of the rows
  std::copy_n(a_.data(), kernel::padded_rows(rows_), y);
  add_response(y);
  for (int r = 0; r < rows_; ++r) {
    const double work = h * force_[r] * (u_[r] + 0.5 * h * (y[r] - drift_[r]));
    (r < bilateral_ ? out.bilateral : out.others) += work;
    if (r < bilateral_) out.turned -= 0.5 * h * h * force_[r] * drift_[r];
  }
  return out;
}

}  // namespace kansetsu
