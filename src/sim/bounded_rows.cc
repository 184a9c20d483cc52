#include <algorithm>
#include <cmath>

#include "actuation/plan.h"
#include "sim/rows.h"

/// Bounded rows of an island: limits, dry friction and rolling friction.
namespace kansetsu {

void RowBuilder::add_bounded(IslandWork& w, int figure, double h, double ahead) const {
  const FigureData& f = world_.figure(figure);
  const auto add = [&](BoundedRow row, int drive, double sign, int memory) {
    if (memory >= 0) row.last_force = f.bound_force[memory];
    w.bounded.push_back(row);
    w.bounded_origin.push_back({.figure = figure, .drive = drive, .sign = sign, .memory = memory});
  };
  for (const PassiveDrive& p : f.bounds) {
    const DriveCoordinate& d = f.drives[size_t(p.drive)];
    const int memory = FigureData::kBoundKinds * p.drive;
    if (p.limited) {
      const double q = d.position(f.q), reach = threshold::limit_reach(h, d.velocity(f.v));
      if (q - d.dof.lower < reach) add(BoundedRow::limit(0, q - d.dof.lower), p.drive, 1, memory + FigureData::kLower);
      if (d.dof.upper - q < reach) add(BoundedRow::limit(0, d.dof.upper - q), p.drive, -1, memory + FigureData::kUpper);
    }
    if (p.friction > 0) add(BoundedRow::friction(0, p.friction), p.drive, 1, memory + FigureData::kFriction);
  }
  const double fastest = threshold::kMostHingeTurn / world_.options.time_step;
  const double in_sight = threshold::kHingeTurnInSight * fastest;
  const bool fast = world_.options.integrator == Integrator::kSemiImplicit &&
                    kernel::figures().fastest(int(f.v.size()), 0, f.v.data(), f.v.data()) > in_sight;
  for (size_t k = 0; fast && k < f.turns.size(); ++k) {  // what such a hinge would turn faster is taken away
    const FigureData::Turn& t = f.turns[k];
    const double v = f.v[t.column];
    if (std::abs(v) > in_sight) add(BoundedRow::limit(0, fastest * h), t.drive, v > 0 ? -1 : 1, -1);
  }
  if (f.options.switches.limits) add_ball_limits(w, figure, h, ahead);
  add_tendon_bounds(w, figure, h);
}

/// Swing θ: cos θ = z·R·z. Twist τ = 2·atan2(z, w) of the quaternion. Their rates are linear in ω of the plug's own axes.
/// Rows belong to the posture in which the velocities that they hold are reached: with those of the middle of the step a motion
/// along the limit would leave it by h²·κ·v²/2 in every step.
void RowBuilder::add_ball_limits(IslandWork& w, int figure, double h, double ahead) const {
  const FigureData& f = world_.figure(figure);
  for (size_t i = 0; i < f.balls.size(); ++i) {
    const BallLimit& b = f.balls[i];
    const Quaternion<> now = b.ball.rotation(f.q);
    const double swing = 2 * std::atan2(std::hypot(now.x, now.y), std::hypot(now.z, now.w));
    const double twist = 2 * std::atan2(now.w < 0 ? -now.z : now.z, std::abs(now.w));
    const BallJoint::Posture then = b.ball.posture(f.q, f.v, ahead);
    const auto [x, y, z, s] = then.rotation;
    const auto add = [&](double gap, double cx, double cy, double cz) {
      const Vec3<> rate_row = b.ball.rate_row(then, {cx, cy, cz});
      double rate = 0;
      b.ball.for_each_term(rate_row, [&](int column, double value) { rate += value * f.v[column]; });
      if (gap > threshold::limit_reach(h, rate)) return;
      w.bounded.push_back(BoundedRow::limit(0, gap));
      w.bounded_origin.push_back({.figure = figure, .ball = int(i), .rate_row = rate_row});
    };
    const double upright = std::hypot(z, s);
    const Vec3<> up{2 * (x * z - y * s), 2 * (y * z + x * s), 1 - 2 * (x * x + y * y)};  // the socket's z in the plug
    const double sine = std::hypot(up.x, up.y);
    if (b.limit.swing < kInfinity && sine > 1e-9) add(b.limit.swing - swing, -up.y / sine, up.x / sine, 0);
    if (upright < 1e-9) continue;  // upside down: no twist to speak of
    const double n = upright * upright;
    const double cx = (z * x - s * y) / n, cy = (s * x + z * y) / n;
    if (b.limit.twist_lower > -kInfinity) add(twist - b.limit.twist_lower, cx, cy, 1);
    if (b.limit.twist_upper < kInfinity) add(b.limit.twist_upper - twist, -cx, -cy, -1);
  }
}

/// Limits of lengths that may be reached within the step, and dry friction along tendons.
void RowBuilder::add_tendon_bounds(IslandWork& w, int figure, double h) const {
  const FigureData& f = world_.figure(figure);
  const JointSwitches& on = f.options.switches;
  const Actuation& all = f.actuators.actuation;
  for (const int i : all.plan().bounded_tendons) {
    const TendonDescription& t = all.tendon(i);
    const double l = all.tendon_length(i), reach = threshold::limit_reach(h, all.tendon_velocity(i));
    const int memory = FigureData::kBoundKinds * (int(f.drives.size()) + i);
    const auto add = [&](BoundedRow row, double sign, int kind) {
      row.last_force = f.bound_force[memory + kind];
      w.bounded.push_back(row);
      w.bounded_origin.push_back({.figure = figure, .sign = sign, .tendon = i, .memory = memory + kind});
    };
    if (on.limits && l - t.limit.lower < reach) add(BoundedRow::limit(0, l - t.limit.lower), 1, FigureData::kLower);
    if (on.limits && t.limit.upper - l < reach) add(BoundedRow::limit(0, t.limit.upper - l), -1, FigureData::kUpper);
    if (on.friction && t.friction > 0) add(BoundedRow::friction(0, t.friction), 1, FigureData::kFriction);
  }
}

/// A moment of at most rolling_radius times the pressure of the contact resists rolling, as if the pressure acted that much ahead:
/// rows of dry friction on the relative rotation of the two bodies, with the pressure of the last step. In motion there is one row
/// about the axis of rolling, as nothing resists across it; at rest there are two about axes of the plane.
void RowBuilder::add_rolling(IslandWork& w) const {
  for (const int i : w.touches) {
    const Touch& t = world_.contacts.touches()[size_t(i)];
    const double most = t.rolling * t.pressure;
    if (!(most > 0)) continue;
    const Vec3<> n = t.E.column_z();
    const Vec3<> turn = point_motion(*t.real_end, t.origin).w - point_motion(*t.parent_end, t.origin).w;
    const Vec3<> rolling = turn - dot(n, turn) * n;
    const double speed = norm(rolling);
    const bool rolls = speed > world_.options.contact.w_eps;
    const auto add = [&](const Vec3<>& axis) {
      const int figure = world_.contacts.shapes()[size_t(t.real)].figure;
      w.bounded.push_back(BoundedRow::friction(0, most));
      w.bounded_origin.push_back({.figure = figure, .drive = -1, .touch = i, .axis = axis});
    };
    add(rolls ? (1 / speed) * rolling : t.E.column_x());
    if (!rolls) add(t.E.column_y());
  }
}

void RowBuilder::remember_bounds(const IslandWork& w) const {
  for (FigureData& f : w.members) {
    if (f.bound_force.size() > 0) f.bound_force.setZero();
  }
  for (size_t i = 0; i < w.bounded.size(); ++i) {
    const BoundedOrigin& o = w.bounded_origin[i];
    if (o.memory >= 0) world_.figure(o.figure).bound_force[o.memory] = w.result.force[size_t(w.bounded[i].row)];
  }
}

}  // namespace kansetsu
