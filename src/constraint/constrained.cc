#include "kansetsu/constraint/constrained.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "constraint/constrained_impl.h"
#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

/// Axes are those of a rotation to this; rows of others would measure scaled or skewed directions.
constexpr double kRightAngled = 1e-9;

bool is_rotation(const Mat3<>& R) {
  const Vec3<> x = R.column_x(), y = R.column_y(), z = R.column_z();
  const Vec3<> rest = cross(x, y) - z;
  return std::abs(dot(x, x) - 1) < kRightAngled && std::abs(dot(y, y) - 1) < kRightAngled &&
         std::abs(dot(x, y)) < kRightAngled && dot(rest, rest) < kRightAngled * kRightAngled;
}

void check_frame(const char* function, const Model& model, const FrameConstraint& c, int i) {
  const auto fail = [&](const std::string& what) {
    throw Error(fmt::format("{}: frame constraint {} {}", function, i, what));
  };
  const auto exists = [&](LinkId link) { return link.value() >= 0 && link.value() < model.link_count(); };
  if (!exists(c.b) || (c.a && !exists(*c.a)))
    fail(fmt::format("names link {}, but '{}' has {} links", exists(c.b) ? c.a->value() : c.b.value(), model.name(),
                     model.link_count()));
  if (c.mask == 0 || c.mask > kWeldMask)
    fail(fmt::format("has mask {}, expected 1 to 63: some of [turn x y z, shift x y z]", int(c.mask)));
  if (!is_rotation(c.axes)) fail("has axes that are not three unit vectors at right angles, right-handed");
  bool finite = std::isfinite(dot(c.point, c.point));
  for (int k = 0; k < 6; ++k)
    finite &= std::isfinite(c.acceleration[size_t(k)]) && std::isfinite(c.restitution[size_t(k)]);
  if (!finite) fail("has a point, acceleration or restitution that is not finite");
}

void check_coordinates(const char* function, const Model& model, const CoordinateConstraint& c, int i) {
  const auto fail = [&](const std::string& what) {
    throw Error(fmt::format("{}: coordinate constraint {} {}", function, i, what));
  };
  if (c.terms.empty()) fail("has no term");
  for (const CoordinateConstraint::Term& t : c.terms) {
    if (t.column < 0 || t.column >= model.nv())
      fail(fmt::format("names coordinate {} of v, but '{}' has {}", t.column, model.name(), model.nv()));
    if (!std::isfinite(t.ratio)) fail("has a ratio that is not finite");
  }
  if (!std::isfinite(c.acceleration) || !std::isfinite(c.restitution))
    fail("has an acceleration or restitution that is not finite");
}

/// Turns and shifts change places between a mask of [turns; shifts] and one of [shifts; turns].
unsigned swapped(ConstraintMask mask) { return unsigned(mask >> 3) | unsigned(mask & 7u) << 3; }
int turns(ConstraintMask mask) { return std::popcount(unsigned(mask & 7u)); }
int rows_of(ConstraintMask mask) { return std::popcount(unsigned(mask)); }

}  // namespace

int Constraints::rows() const {
  int rows = int(coordinates.size());
  for (const FrameConstraint& c : frames) rows += rows_of(c.mask);
  return rows;
}

FrameConstraint constraint_on(const Model& model, std::string_view name, const Vec3<>& point, ConstraintMask mask) {
  if (const auto link = model.find_link(name)) return {.b = *link, .point = point, .mask = mask};
  const FrameId frame = model.frame_id(name);
  return {.b = model.frame_link(frame), .point = to_transform(model.frame(frame).origin) * point, .mask = mask};
}

ConstrainedWorkspace::ConstrainedWorkspace(const Model& model, const Constraints& constraints)
    : impl_(std::make_unique<Impl>(model)) {
  const int rows = constraints.rows();
  Mechanics* figures[] = {&impl_->mechanics};
  impl_->island.begin(figures, rows, 0);
  impl_->frames.reserve(constraints.frames.size());
  impl_->row_of.reserve(size_t(rows));
}
ConstrainedWorkspace::ConstrainedWorkspace(ConstrainedWorkspace&&) noexcept = default;
ConstrainedWorkspace& ConstrainedWorkspace::operator=(ConstrainedWorkspace&&) noexcept = default;
ConstrainedWorkspace::~ConstrainedWorkspace() = default;

ConstraintRows::ConstraintRows(const Model& model, const Constraints& constraints)
    : J(Eigen::MatrixXd::Zero(constraints.rows(), model.nv())),
      velocity(Eigen::VectorXd::Zero(constraints.rows())),
      drift(velocity) {}
ConstrainedMotion::ConstrainedMotion(const Model& model, const Constraints& constraints)
    : vdot(Eigen::VectorXd::Zero(model.nv())),
      lambda(Eigen::VectorXd::Zero(constraints.rows())),
      singular(Eigen::VectorXd::Zero(model.nv())) {}
ConstrainedImpulse::ConstrainedImpulse(const Model& model, const Constraints& constraints)
    : v(Eigen::VectorXd::Zero(model.nv())),
      lambda(Eigen::VectorXd::Zero(constraints.rows())),
      singular(Eigen::VectorXd::Zero(model.nv())) {}

void ConstrainedWorkspace::Impl::place(const char* function, const Model& model, const State& state,
                                       const Constraints& constraints) {
  check_size(function, "q", state.q.size(), model.nq());
  check_size(function, "v", state.v.size(), model.nv());
  if (&model.tree() != &mechanics.model().tree())
    throw Error(fmt::format("{}: the workspace was made for another model than '{}'", function, model.name()));
  for (size_t i = 0; i < constraints.frames.size(); ++i) check_frame(function, model, constraints.frames[i], int(i));
  for (size_t i = 0; i < constraints.coordinates.size(); ++i)
    check_coordinates(function, model, constraints.coordinates[i], int(i));

  mechanics.set_pose(state.q.data());
  mechanics.set_motion(state.v.data());
  frames.clear();
  int row = 0;
  for (const FrameConstraint& c : constraints.frames) {
    PlacedFrame& f = frames.emplace_back();
    f.a.rests = !c.a || mechanics.body_of(*c.a) < 0;
    if (!f.a.rests) f.a.figure = &mechanics, f.a.body = mechanics.body_of(*c.a);
    f.b.figure = &mechanics, f.b.body = mechanics.body_of(c.b);
    f.E = c.a ? mechanics.link_pose(*c.a).R * c.axes : c.axes;
    f.along_world = f.E == Mat3<>::identity();
    f.p_W = mechanics.link_pose(c.b) * c.point;
    f.row = row;
    f.mask = c.mask;
    row += rows_of(c.mask);
  }
}

void ConstrainedWorkspace::Impl::assemble(const State& state, const Constraints& constraints, int most_dense) {
  const int rows = constraints.rows();
  Mechanics* figures[] = {&mechanics};
  island.most_dense = most_dense;
  island.order = RowOrder::kAsGiven;
  island.begin(figures, rows, 0);
  row_of.resize(size_t(rows));
  for (const PlacedFrame& f : frames) {
    island.add_frame(f.row, swapped(f.mask), f.a, f.b, f.E, f.p_W);
    const int count = rows_of(f.mask), turning = turns(f.mask), shifting = count - turning;
    for (int k = 0; k < count; ++k) row_of[size_t(f.row + k)] = f.row + (k < shifting ? k + turning : k - shifting);
  }
  int row = rows - int(constraints.coordinates.size());
  for (const CoordinateConstraint& c : constraints.coordinates) {
    for (const CoordinateConstraint::Term& t : c.terms)
      island.add_dof(row, mechanics, t.column, t.ratio, state.v[t.column]);
    row_of[size_t(row)] = row;
    ++row;
  }
  island.assemble();
}

Status ConstrainedWorkspace::Impl::factorise(const char* function, const double* tau, const ExternalForces* external,
                                             Eigen::VectorXd& singular) {
  const double* driving = tau;
  if (external) {
    const Model& model = mechanics.model();
    check_size(function, "external wrenches", long(external->wrenches().size()), model.link_count());
    torque = Eigen::Map<const Eigen::VectorXd>(tau, model.nv());
    for (int i = 0; i < model.link_count(); ++i) {
      const Force<>& F = (*external)[LinkId(i)];
      const Vec3<> r = mechanics.link_pose(LinkId(i)).p - mechanics.origin();
      mechanics.add_generalised(mechanics.body_of(LinkId(i)), {F.t + cross(r, F.f), F.f}, torque.data());
    }
    driving = torque.data();
  }
  const int count = mechanics.factorise(nullptr, driving);
  singular.setZero();
  if (count == 0) return Status::kOk;
  for (int k = 0; k < mechanics.nv(); ++k)
    singular[k] = mechanics.column_inertia(k) == -std::numeric_limits<double>::infinity();
  return Status::kSingular;
}

void ConstrainedWorkspace::Impl::copy_rows(const double* island_rows, Eigen::VectorXd& out) const {
  for (size_t r = 0; r < row_of.size(); ++r) out[row_of[r]] = island_rows[r];
}

void ConstrainedWorkspace::Impl::write_jacobian(const Constraints& constraints, Eigen::Ref<Eigen::MatrixXd> out) const {
  out.setZero();
  for (const PlacedFrame& f : frames) {
    const Vec3<> p = f.p_W - mechanics.origin();
    visit_bodies(f, [&](int body, double sign) {
      const Body& b = mechanics.tree().bodies[body];
      for (int k = b.u; k < b.u + b.nu; ++k) {
        const Motion<> S = column(k);
        visit_terms(k, [&](int to, double ratio) {
          take_rows(f, S.w, S.v + cross(S.w, p), [&](int n, double x) { out(f.row + n, to) += sign * ratio * x; });
        });
      }
    });
  }
  write_coordinate_rows(constraints, out);
}

void ConstrainedWorkspace::Impl::write_coordinate_rows(const Constraints& constraints,
                                                       Eigen::Ref<Eigen::MatrixXd> out) {
  int row = constraints.rows() - int(constraints.coordinates.size());
  for (const CoordinateConstraint& c : constraints.coordinates) {
    for (const CoordinateConstraint::Term& t : c.terms) out(row, t.column) += t.ratio;
    ++row;
  }
}

void constraint_rows(const Model& model, const State& state, const Constraints& constraints, ConstrainedWorkspace& work,
                     ConstraintRows& out) {
  auto& w = work.impl();
  check_size("constraint_rows", "the result", out.J.rows(), constraints.rows());
  check_size("constraint_rows", "the result", out.J.cols(), model.nv());
  w.place("constraint_rows", model, state, constraints);
  w.write_jacobian(constraints, out.J);
  out.velocity.noalias() = out.J * state.v;
  out.drift.setZero();
  for (const PlacedFrame& f : w.frames) {
    const FrameMotion6 motion = frame_motion(f.a, f.b, f.E, f.p_W);
    int row = f.row;
    for (int k = 0; k < 6; ++k) {
      if (f.mask >> k & 1) out.drift[row++] = motion.drift[(k + 3) % 6];
    }
  }
}
ConstraintRows constraint_rows(const Model& model, const State& state, const Constraints& constraints) {
  ConstrainedWorkspace work(model, constraints);
  ConstraintRows out(model, constraints);
  constraint_rows(model, state, constraints, work, out);
  return out;
}

namespace {

/// member(constraint, direction) for every row, in the order of the constraints.
template <class Frames, class Coordinates, class Put>
void each_row(const Constraints& constraints, Frames&& of_frame, Coordinates&& of_coordinates, Put&& put) {
  int row = 0;
  for (const FrameConstraint& c : constraints.frames) {
    for (int k = 0; k < 6; ++k) {
      if (c.mask >> k & 1) put(row++, of_frame(c, size_t(k)));
    }
  }
  for (const CoordinateConstraint& c : constraints.coordinates) put(row++, of_coordinates(c));
}

}  // namespace

void ConstrainedWorkspace::Impl::solve(const Constraints& constraints, ConstrainedMotion& out) {
  wanted.resize(row_of.size());
  each_row(
      constraints, [](const FrameConstraint& c, size_t k) { return c.acceleration[k]; },
      [](const CoordinateConstraint& c) { return c.acceleration; },
      [&](int row, double x) { wanted[size_t(row)] = x; });
  for (size_t r = 0; r < row_of.size(); ++r) island.target()[r] = wanted[size_t(row_of[r])];
  out.inconsistency = island.hold_accelerations();
  out.rank = row_of.empty() ? 0 : island.rank();
  island.complete(nullptr, 1);
  out.vdot.setZero();
  island.respond(0, out.vdot.data());
  copy_rows(island.force(), out.lambda);
  if (out.vdot.allFinite() && out.lambda.allFinite()) return;
  out.status = Status::kNotFinite;
  mechanics.forget_rows();
}

void constrained_aba(const Model& model, const State& state, const VectorRef& tau, const Constraints& constraints,
                     ConstrainedWorkspace& work, ConstrainedMotion& out, const ExternalForces* external) {
  const char* function = "constrained_aba";
  auto& w = work.impl();
  check_size(function, "tau", tau.size(), model.nv());
  check_size(function, "the result's vdot", out.vdot.size(), model.nv());
  check_size(function, "the result's lambda", out.lambda.size(), constraints.rows());
  w.place(function, model, state, constraints);
  out.status = w.factorise(function, tau.data(), external, out.singular);
  w.assemble(state, constraints);
  w.solve(constraints, out);
}
ConstrainedMotion constrained_aba(const Model& model, const State& state, const VectorRef& tau,
                                  const Constraints& constraints, const ExternalForces* external) {
  ConstrainedWorkspace work(model, constraints);
  ConstrainedMotion out(model, constraints);
  constrained_aba(model, state, tau, constraints, work, out, external);
  return out;
}

void constrained_impulse(const Model& model, const State& before, const Constraints& constraints,
                         ConstrainedWorkspace& work, ConstrainedImpulse& out) {
  const char* function = "constrained_impulse";
  auto& w = work.impl();
  check_size(function, "the result's v", out.v.size(), model.nv());
  check_size(function, "the result's lambda", out.lambda.size(), constraints.rows());
  w.place(function, model, before, constraints);
  out.status = w.factorise(function, nullptr, nullptr, out.singular);
  w.assemble(before, constraints);
  Island& island = w.island;
  w.wanted.resize(w.row_of.size());
  each_row(
      constraints, [](const FrameConstraint& c, size_t k) { return c.restitution[k]; },
      [](const CoordinateConstraint& c) { return c.restitution; },
      [&](int row, double x) { w.wanted[size_t(row)] = x; });
  for (size_t r = 0; r < w.row_of.size(); ++r) island.target()[r] = -w.wanted[size_t(w.row_of[r])] * island.u()[r];
  out.inconsistency = island.hold_velocities();
  out.rank = w.row_of.empty() ? 0 : island.rank();
  island.complete(nullptr, 0);
  out.v = before.v;
  island.respond(0, out.v.data());
  w.copy_rows(island.force(), out.lambda);
  out.energy = island.impulse_energy();
  if (out.v.allFinite() && out.lambda.allFinite()) return;
  out.status = Status::kNotFinite;
  w.mechanics.forget_rows();
}
ConstrainedImpulse constrained_impulse(const Model& model, const State& before, const Constraints& constraints) {
  ConstrainedWorkspace work(model, constraints);
  ConstrainedImpulse out(model, constraints);
  constrained_impulse(model, before, constraints, work, out);
  return out;
}

Force<> constraint_wrench(const Model& model, const LinkPoses& poses, const Constraints& constraints, int i,
                          const VectorRef& lambda) {
  check_size("constraint_wrench", "lambda", lambda.size(), constraints.rows());
  if (i < 0 || size_t(i) >= constraints.frames.size())
    throw Error(
        fmt::format("constraint_wrench: there is no frame constraint {}, there are {}", i, constraints.frames.size()));
  const FrameConstraint& c = constraints.frames[size_t(i)];
  check_frame("constraint_wrench", model, c, i);
  int row = 0;
  for (int n = 0; n < i; ++n) row += rows_of(constraints.frames[size_t(n)].mask);
  double along[6] = {};
  for (int k = 0; k < 6; ++k) {
    if (c.mask >> k & 1) along[k] = lambda[row++];
  }
  const Mat3<> E = c.a ? poses[*c.a].R * c.axes : c.axes;
  return {E * Vec3<>{along[0], along[1], along[2]}, E * Vec3<>{along[3], along[4], along[5]}};
}

}  // namespace kansetsu
