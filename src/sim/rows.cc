#include <algorithm>
#include <cmath>

#include "sim/impl.h"

/// The constraint rows of an island and what they are to do: connections, held motions and couplings (bilateral); limits,
/// joint friction and contacts (bounded).
namespace kansetsu {
namespace {

bool is_held_motion(const Controller& c) { return c.state.active && c.description.kind == ControlKind::kMotion; }

/// Where the rows of a contact begin, `row` or later. Of few contacts none goes across a block of eight, so that those of two
/// limbs meet only where the limbs do; the rows between them are zero.
int first_row(const IslandWork& w, int row, int count) {
  const int left = kernel::kRowBlock - row % kernel::kRowBlock;
  return w.touches.size() <= threshold::kFewContacts && count > left ? row + left : row;
}

}  // namespace

/// Limits that may be reached within the step, dry friction, and hinges that turn too fast.
void World::Impl::add_bounded(IslandWork& w, int figure, double ahead) {
  const FigureData& f = *figures[size_t(figure)];
  const auto add = [&](BoundedRow row, int drive, double sign, int memory) {
    if (memory >= 0) row.last_force = f.bound_force[memory];
    w.bounded.push_back(row);
    w.bounded_origin.push_back({.figure = figure, .drive = drive, .sign = sign, .memory = memory});
  };
  for (const PassiveDrive& p : f.bounds) {
    const DriveCoordinate& d = f.drives[size_t(p.drive)];
    const int memory = FigureData::kBoundKinds * p.drive;
    if (p.limited) {
      const double q = d.position(f.q), reach = threshold::limit_reach(step_length, d.velocity(f.v));
      if (q - d.dof.lower < reach) add(BoundedRow::limit(0, q - d.dof.lower), p.drive, 1, memory + FigureData::kLower);
      if (d.dof.upper - q < reach) add(BoundedRow::limit(0, d.dof.upper - q), p.drive, -1, memory + FigureData::kUpper);
    }
    if (p.friction > 0) add(BoundedRow::friction(0, p.friction), p.drive, 1, memory + FigureData::kFriction);
  }
  const double fastest = threshold::kMostHingeTurn / options.time_step;
  const double in_sight = threshold::kHingeTurnInSight * fastest;
  const bool fast = options.integrator == Integrator::kSemiImplicit &&
                    kernel::figures().fastest(int(f.v.size()), 0, f.v.data(), f.v.data()) > in_sight;
  for (size_t k = 0; fast && k < f.turns.size(); ++k) {  // what such a hinge would turn faster is taken away
    const FigureData::Turn& t = f.turns[k];
    const double v = f.v[t.column];
    if (std::abs(v) > in_sight) add(BoundedRow::limit(0, fastest * step_length), t.drive, v > 0 ? -1 : 1, -1);
  }
  if (f.options.switches.limits) add_ball_limits(w, figure, ahead);
  add_tendon_bounds(w, figure);
}

/// Swing θ: cos θ = z·R·z. Twist τ = 2·atan2(z, w) of the quaternion. Their rates are linear in ω of the plug's own axes.
/// Rows are those of where the ball is when the velocities they hold are reached: held in the middle of the step, what goes round
/// along a limit would leave it by h²·κ·v²/2 in every step.
void World::Impl::add_ball_limits(IslandWork& w, int figure, double ahead) {
  const FigureData& f = *figures[size_t(figure)];
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
      if (gap > threshold::limit_reach(step_length, rate)) return;
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

/// Keeps the forces of bounded rows for the next step; what has no row now has none to begin with.
void World::Impl::remember_bounds(const IslandWork& w) {
  for (const int i : w.figures) {
    if (figures[size_t(i)]->bound_force.size() > 0) figures[size_t(i)]->bound_force.setZero();
  }
  for (size_t i = 0; i < w.bounded.size(); ++i) {
    const IslandWork::BoundedOrigin& o = w.bounded_origin[i];
    if (o.memory >= 0) figures[size_t(o.figure)]->bound_force[o.memory] = w.result.force[size_t(w.bounded[i].row)];
  }
}

/// Rows of motions that controllers hold.
int World::Impl::count_held(const IslandWork& w) const {
  int rows = 0;
  for (const Controller& c : controllers) {
    if (is_held_motion(c) && holds(w, c.figure)) rows += int(c.drives.size());
  }
  return rows;
}

int World::Impl::count_bilateral(const IslandWork& w) const {
  int rows = count_held(w);
  for (const int i : w.connections) rows += connections[size_t(i)].rows;
  for (const CouplingData& c : couplings) rows += holds(w, c.figure);
  return rows;
}

World::Impl::RowCount World::Impl::count_rows(IslandWork& w, double ahead) {
  RowCount out{.bilateral = count_bilateral(w)};
  w.bounded.clear(), w.bounded_origin.clear();
  for (const int i : w.figures) add_bounded(w, i, ahead);
  add_rolling(w);
  int row = out.bilateral + int(w.bounded.size());
  bool join = false;
  for (const int i : w.touches) {
    const Touch& t = contacts.touches()[size_t(i)];
    const int count = t.patch.row_count;
    row = first_row(w, row, count) + count;
    join = join || (t.parent_end->figure && t.real_end->figure);
  }
  out.others = row - out.bilateral;
  out.alone = join ? 0 : out.others;
  return out;
}

void World::Impl::fill_bilateral(IslandWork& w, Springs soft) {
  int row = 0;
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    add_connection_rows(c, row, w.island);
    int next = row;
    for_each_direction(c, [&](int k, int bit) {
      if (c.soft >> bit & 1)
        w.island.set_firmness(next, soft == Springs::kAct ? give_of(c, k, 0, step_length).firmness : 0);
      ++next;
    });
    row = next;
  }
  for (const Controller& c : controllers) {
    if (!is_held_motion(c) || !holds(w, c.figure)) continue;
    FigureData& f = *figures[size_t(c.figure)];
    for (const int drive : c.drives) {
      for (const auto& [column, ratio] : f.drives[size_t(drive)].terms) {
        w.island.add_dof(row, f.mechanics, column, ratio, f.v[column]);
      }
      ++row;
    }
  }
  for (const CouplingData& c : couplings) {
    if (!holds(w, c.figure)) continue;
    FigureData& f = *figures[size_t(c.figure)];
    const CouplingData::Value value = c.value(f);
    const auto add = [&](int drive, double scale) {
      c.for_each_term(f, drive, [&](int column, double ratio) {
        w.island.add_dof(row, f.mechanics, column, scale * ratio, f.v[column]);
      });
    };
    add(c.dependent, 1);
    if (c.driver >= 0) {
      add(c.driver, -value.slope);
      const double rate = c.velocity(f, c.driver);
      w.island.a()[row] -= value.curvature * rate * rate;
    }
    ++row;
  }
}

void World::Impl::fill_rows(IslandWork& w, Springs soft) {
  fill_bilateral(w, soft);
  const int first = w.island.bilateral();
  int row = first;
  for (size_t i = 0; i < w.bounded.size(); ++i, ++row) {
    const IslandWork::BoundedOrigin& origin = w.bounded_origin[i];
    w.bounded[i].row = row - first;
    if (origin.touch >= 0) {
      const Touch& t = contacts.touches()[size_t(origin.touch)];
      w.island.add_turn(row, *t.parent_end, *t.real_end, origin.axis);
      continue;
    }
    FigureData& f = *figures[size_t(origin.figure)];
    for_each_term(w.bounded_origin[i], [&](int column, double coefficient) {
      w.island.add_dof(row, f.mechanics, column, coefficient, f.v[column]);
    });
  }
  w.patches.clear();
  w.memories.clear();
  for (const int i : w.touches) {
    Touch& t = contacts.touches()[size_t(i)];
    const unsigned mask = t.patch.row_count == 6 ? 0b111111 : 0b111;
    row = first_row(w, row, t.patch.row_count);
    w.island.add_frame(row, mask, *t.parent_end, *t.real_end, t.E, t.origin, Rate::kPlace);
    t.patch.row = row - first;
    row += t.patch.row_count;
    w.patches.push_back(t.patch);
    w.memories.push_back(t.memory);
  }
}

/// What bilateral rows are to do (kStepAcross: see turning_strains()). An impact leaves them at the velocity that is wanted, or that new ones rebound with: impulses on
/// rows that were to keep any other would do work. So it is with the end of a step: gaps are closed by positions alone, large ones by a share
/// in each step, see project(). Between the stages of a smooth step the motion itself counts.
void World::Impl::set_targets(IslandWork& w, Target kind) {
  const double h = step_length;
  using namespace threshold;
  double* target = w.island.target();
  const bool step = kind == Target::kStep || kind == Target::kStepAcross;
  if (step) w.leave.assign(size_t(w.island.bilateral()), 0.0), w.driven.assign(size_t(w.island.bilateral()), 0.0);
  const double* u = w.island.u();
  const double rest = options.contact.rest_speed(norm(options.gravity), h);
  int row = 0;
  /// @param now, next  wanted velocity at the beginning and the end of the step
  /// @param projected  project() closes its gap; else the velocity of the step does
  const auto put = [&](double gap, double now, double next, double acceleration, bool jumps, double restitution,
                       bool projected) {
    const double closing = std::clamp(-kClosingShare / h * gap, -kClosingSpeed, kClosingSpeed);
    if (step) w.driven[size_t(row)] = 0.5 * (now + next) + (projected ? 0 : closing);
    if (step && std::abs(gap) > kLargeGap) w.leave[size_t(row)] = gap + (kind == Target::kStep ? h * closing : 0.0);
    switch (kind) {
      case Target::kImpact:
        target[row] = jumps ? now - w.rebound_share * restitution * (u[row] - now) : now;
        break;
      case Target::kStep:
        target[row] = (next + (projected ? 0 : closing) - u[row]) / h + 0.5 * w.island.drift(row);
        break;
      case Target::kStepAcross:
        target[row] = (next - u[row]) / h + w.island.drift(row);
        break;
      case Target::kAcceleration:
        target[row] = acceleration;
        break;
      case Target::kVelocity:  // what is to rebound is left to the impact that makes the connection
        target[row] = jumps && restitution > 0 ? u[row] : now;
        break;
      case Target::kPosition:
        w.island.u()[row] = gap;
        break;
    }
    ++row;
  };
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    for_each_direction(c, [&](int k, int bit) {
      if (c.soft >> bit & 1) {  // it has no target but its own law, and no part in what is held
        const Give give = give_of(c, k, u[row], h);
        target[row] = step ? w.island.drift(row) + c.acceleration[k] - give.force_now / give.firmness : 0;
        if (kind == Target::kPosition) w.island.u()[row] = 0;
        ++row;
        return;
      }
      const bool jumps = c.is_new && std::abs(u[row] - c.velocity[k]) > rest;
      put(c.phi[k], c.velocity[k], c.velocity[k] + 0.5 * h * c.acceleration[k], c.acceleration[k], jumps,
          c.options.restitution[bit], true);
    });
  }
  for (const Controller& c : controllers) {
    if (!is_held_motion(c) || !holds(w, c.figure)) continue;
    const FigureData& f = *figures[size_t(c.figure)];
    for (size_t i = 0; i < c.drives.size(); ++i) {
      const Signal now = signal(c, i, time), next = signal(c, i, time + h);
      const double q = f.drives[size_t(c.drives[i])].position(f.q);  // in a step the gap is what it would leave
      put(step ? q + 0.5 * h * next.rate - next.value : q - now.value, now.rate, next.rate, now.acceleration, false, 0,
          false);
    }
  }
  for (const CouplingData& c : couplings) {
    if (holds(w, c.figure)) put(c.value(*figures[size_t(c.figure)]).gap, 0, 0, 0, false, 0, true);
  }
}

CouplingData::Value CouplingData::value(const FigureData& f) const {
  double p = 0, slope = 0, curvature = 0;
  if (driver >= 0) {
    const double x = position(f, driver) - coupling.driver_reference;
    for (size_t k = coupling.coefficient.size(); k-- > 0;) {  // Horner's scheme for all three
      curvature = curvature * x + 2 * slope;
      slope = slope * x + p;
      p = p * x + coupling.coefficient[k];
    }
  } else {
    p = coupling.coefficient[0];
  }
  return {position(f, dependent) - coupling.reference - p, slope, curvature};
}

double CouplingData::position(const FigureData& f, int index) const {
  return coupling.tendons ? f.actuators.actuation.tendon_length(index) : f.drives[size_t(index)].position(f.q);
}
double CouplingData::velocity(const FigureData& f, int index) const {
  return coupling.tendons ? f.actuators.actuation.tendon_velocity(index) : f.drives[size_t(index)].velocity(f.v);
}

}  // namespace kansetsu
