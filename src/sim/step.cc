#include <algorithm>
#include <cmath>

#include "kansetsu/model/configuration.h"
#include "sim/impl.h"

/// One semi-implicit step with contacts: spec/rotations_ik_contact.md §6. Velocities first, then positions with them.
namespace kansetsu {
namespace {

bool is_held_motion(const Controller& c) { return c.state.active && c.description.kind == ControlKind::kMotion; }
bool holds(const IslandWork& w, int figure) {
  return std::find(w.figures.begin(), w.figures.end(), figure) != w.figures.end();
}

}  // namespace

void World::Impl::prepare_torques(double h) {
  for (const std::unique_ptr<FigureData>& f : figures) {
    f->tau = f->torque + f->external + f->spring_torque;
    f->extra.setZero();
    f->stored = f->spring_torque;
    f->stored_inertia.setZero();
    f->has_extra = false;
    const JointSwitches& on = f->options.switches;
    for (const DriveCoordinate& d : f->drives) {
      const double damping = on.damping ? d.dof.damping : 0, stiffness = on.springs ? d.dof.stiffness : 0;
      if (damping == 0 && stiffness == 0) continue;
      // At the end of the step: −k·(q + h·v⁺ − rest) − d·v⁺ with v⁺ = v + h·v̇.
      const double v = d.velocity(f->v);
      const double spring = stiffness == 0 ? 0 : -stiffness * (d.position(f->q) + h * v - d.dof.rest);
      for (const auto& [column, ratio] : d.terms) {
        f->tau[column] += ratio * (spring - damping * v);
        f->extra[column] += ratio * ratio * (h * damping + h * h * stiffness);
        f->stored[column] += ratio * spring;
        f->stored_inertia[column] += ratio * ratio * h * h * stiffness;
      }
      f->has_extra = true;
    }
  }
  for (Controller& c : controllers) add_control(c, *figures[size_t(c.figure)], time, h);
}

void World::Impl::contact_step() {
  const double h = options.time_step;
  contacts.find(figures, time, options.contact_margin, options.contact.tol_gap);
  for (ConnectionData& c : connections) {
    if (c.active) place_connection(figures, time, c);
  }
  find_islands();
  begin_reports();
  step_taken = h;
  for (Controller& c : controllers) std::fill(c.saturated.begin(), c.saturated.end(), false);
  for_each(int(figures.size()), [&](int i) {
    FigureData& f = *figures[size_t(i)];
    f.mechanics.set_motion(f.v.data());
    f.spring_torque.setZero();
  });
  add_spring_forces();
  constexpr int kMostCuts = 4;  // of torques that come out above their limit
  for (int pass = 0;; ++pass) {
    prepare_torques(h);
    for_each(island_count, [&](int i) {
      for (const int k : works[size_t(i)]->figures) {
        FigureData& f = *figures[size_t(k)];
        f.mechanics.factorise(f.has_extra ? f.extra.data() : nullptr);
        f.mechanics.set_torque(f.tau.data());
      }
      solve_island(*works[size_t(i)]);
    });
    bool again = false;
    for (Controller& c : controllers) again |= saturates(c, *figures[size_t(c.figure)], time, h);
    if (!again || pass == kMostCuts) break;
  }
  integrate_figures(h);
}

int World::Impl::root(int figure) {
  while (group[size_t(figure)] != figure) figure = group[size_t(figure)] = group[size_t(group[size_t(figure)])];
  return figure;
}

void World::Impl::find_islands() {
  const int n = int(figures.size());
  group.resize(size_t(n));
  for (int i = 0; i < n; ++i) group[size_t(i)] = i;
  const auto join = [&](int a, int b) {
    if (a < 0 || b < 0) return;
    a = root(a), b = root(b);
    group[size_t(std::max(a, b))] = std::min(a, b);
  };
  for (const ConnectionData& c : connections) {
    if (c.active) join(c.a.figure.value(), c.b.figure.value());
  }
  const std::vector<WorldShape>& shapes = contacts.shapes();
  for (const Touch& t : contacts.touches()) join(shapes[size_t(t.parent)].figure, shapes[size_t(t.real)].figure);

  island_count = 0;
  static thread_local std::vector<int> number;
  number.assign(size_t(n), -1);
  for (int i = 0; i < n; ++i) {
    if (root(i) == i) number[size_t(i)] = island_count++;
  }
  while (int(works.size()) < island_count) {
    works.push_back(std::make_unique<IslandWork>());
    works.back()->solver.options = options.contact;
  }
  for (int k = 0; k < island_count; ++k) {
    IslandWork& w = *works[size_t(k)];
    w.figures.clear(), w.connections.clear(), w.touches.clear(), w.mechanics.clear();
    w.inconsistency = w.residual = w.impact_energy = 0;
    w.work = {0, 0};
    w.rank_deficiency = 0;
    w.impact = false;
  }
  for (int i = 0; i < n; ++i) {
    IslandWork& w = *works[size_t(number[size_t(root(i))])];
    w.figures.push_back(i);
    w.mechanics.push_back(&figures[size_t(i)]->mechanics);
  }
  const auto work_of = [&](int a, int b) -> IslandWork& {
    return *works[size_t(number[size_t(root(a >= 0 ? a : b))])];
  };
  for (size_t i = 0; i < connections.size(); ++i) {
    const ConnectionData& c = connections[i];
    if (c.active) work_of(c.a.figure.value(), c.b.figure.value()).connections.push_back(int(i));
  }
  for (size_t i = 0; i < contacts.touches().size(); ++i) {
    const Touch& t = contacts.touches()[i];
    work_of(shapes[size_t(t.parent)].figure, shapes[size_t(t.real)].figure).touches.push_back(int(i));
  }
}

constexpr double kNear = 1e-3;  // limits closer than this, or than two steps, have a row

/// Limits that may be reached within the step, and dry friction.
void World::Impl::add_bounded(IslandWork& w, int figure) {
  const FigureData& f = *figures[size_t(figure)];
  const JointSwitches& on = f.options.switches;
  const auto add = [&](const BoundedRow& row, int drive, double sign) {
    w.bounded.push_back(row);
    w.bounded_origin.push_back({.figure = figure, .drive = drive, .sign = sign});
  };
  for (size_t i = 0; i < f.drives.size(); ++i) {
    const DriveCoordinate& d = f.drives[i];
    if (d.terms.empty()) continue;
    if (on.limits && !d.positions.empty() && (d.dof.lower > -kInfinity || d.dof.upper < kInfinity)) {
      const double q = d.position(f.q), reach = kNear + 2 * options.time_step * std::abs(d.velocity(f.v));
      if (q - d.dof.lower < reach) add(BoundedRow::limit(0, q - d.dof.lower), int(i), 1);
      if (d.dof.upper - q < reach) add(BoundedRow::limit(0, d.dof.upper - q), int(i), -1);
    }
    if (on.friction && d.dof.friction > 0) add(BoundedRow::friction(0, d.dof.friction), int(i), 1);
  }
  if (on.limits) add_ball_limits(w, figure);
}

/// Swing θ: cos θ = z·R·z. Twist τ = 2·atan2(z, w) of the quaternion. Their rates are linear in ω of the plug's own axes.
void World::Impl::add_ball_limits(IslandWork& w, int figure) {
  const FigureData& f = *figures[size_t(figure)];
  for (const BallLimit& b : f.balls) {
    const double x = f.q[b.q], y = f.q[b.q + 1], z = f.q[b.q + 2], s = f.q[b.q + 3];
    const auto add = [&](double gap, double cx, double cy, double cz) {
      const double rate = cx * f.v[b.v] + cy * f.v[b.v + 1] + cz * f.v[b.v + 2];
      if (gap > kNear + 2 * options.time_step * std::abs(rate)) return;
      w.bounded.push_back(BoundedRow::limit(0, gap));
      w.bounded_origin.push_back({.figure = figure, .column = b.v, .ball = {cx, cy, cz}});
    };
    const double lateral = std::hypot(x, y), upright = std::hypot(z, s), swing = 2 * std::atan2(lateral, upright);
    const Vec3<> up{2 * (x * z - y * s), 2 * (y * z + x * s), 1 - 2 * (x * x + y * y)};  // the socket's z in the plug
    const double sine = std::hypot(up.x, up.y);
    if (b.limit.swing < kInfinity && sine > 1e-9) add(b.limit.swing - swing, -up.y / sine, up.x / sine, 0);
    if (upright < 1e-9) continue;  // upside down: no twist to speak of
    const double twist = 2 * std::atan2(s < 0 ? -z : z, std::abs(s)), n = upright * upright;
    const double cx = (z * x - s * y) / n, cy = (s * x + z * y) / n;
    if (b.limit.twist_lower > -kInfinity) add(twist - b.limit.twist_lower, cx, cy, 1);
    if (b.limit.twist_upper < kInfinity) add(b.limit.twist_upper - twist, -cx, -cy, -1);
  }
}

int World::Impl::count_bilateral(const IslandWork& w) const {
  int rows = 0;
  for (const int i : w.connections) rows += connections[size_t(i)].rows;
  for (const Controller& c : controllers) {
    if (is_held_motion(c) && holds(w, c.figure)) rows += int(c.drives.size());
  }
  for (const CouplingData& c : couplings) rows += holds(w, c.figure);
  return rows;
}

void World::Impl::count_rows(IslandWork& w, int& bilateral, int& others) {
  bilateral = count_bilateral(w);
  w.bounded.clear(), w.bounded_origin.clear();
  for (const int i : w.figures) add_bounded(w, i);
  others = int(w.bounded.size());
  for (const int i : w.touches) others += contacts.touches()[size_t(i)].patch.row_count;
}

void World::Impl::fill_bilateral(IslandWork& w) {
  int row = 0;
  for (const int i : w.connections) {
    add_connection_rows(connections[size_t(i)], row, w.island);
    row += connections[size_t(i)].rows;
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
      for (const auto& [column, ratio] : f.drives[size_t(drive)].terms) {
        w.island.add_dof(row, f.mechanics, column, scale * ratio, f.v[column]);
      }
    };
    add(c.dependent, 1);
    if (c.driver >= 0) {
      add(c.driver, -value.slope);
      const double rate = f.drives[size_t(c.driver)].velocity(f.v);
      w.island.a()[row] -= value.curvature * rate * rate;
    }
    ++row;
  }
}

void World::Impl::fill_rows(IslandWork& w) {
  fill_bilateral(w);
  const int first = w.island.bilateral();
  int row = first;
  for (size_t i = 0; i < w.bounded.size(); ++i, ++row) {
    FigureData& f = *figures[size_t(w.bounded_origin[i].figure)];
    w.bounded[i].row = row - first;
    for_each_term(w.bounded_origin[i], [&](int column, double coefficient) {
      w.island.add_dof(row, f.mechanics, column, coefficient, f.v[column]);
    });
  }
  w.patches.clear();
  w.memories.clear();
  for (const int i : w.touches) {
    Touch& t = contacts.touches()[size_t(i)];
    const unsigned mask = t.patch.row_count == 6 ? 0b111111 : 0b111;
    w.island.add_frame(row, mask, t.parent_end, t.real_end, t.E, t.origin);
    t.patch.row = row - first;
    row += t.patch.row_count;
    w.patches.push_back(t.patch);
    w.memories.push_back(t.memory);
  }
}

/// What bilateral rows are to do. In an impact they keep their velocity unless they are new. A step ends at the velocity
/// that closes a share of their gap. Between the stages of a smooth step the motion itself counts.
void World::Impl::set_targets(IslandWork& w, Target kind) {
  const double h = options.time_step;
  constexpr double kShare = 0.2, kFastest = 0.5;  // of the gap per step; [m/s, rad/s]
  double* target = w.island.target();
  const double* u = w.island.u();
  int row = 0;
  /// @param now, next  wanted velocity at the beginning and the end of the step
  const auto put = [&](double gap, double now, double next, double acceleration, bool jumps, double restitution) {
    const double closing = std::clamp(-kShare / h * gap, -kFastest, kFastest);
    switch (kind) {
      case Target::kImpact:
        target[row] = jumps ? now - restitution * (u[row] - now) : u[row];
        break;
      case Target::kStep:
        target[row] = (next + closing - u[row]) / h;
        break;
      case Target::kAcceleration:
        target[row] = acceleration;
        break;
      case Target::kVelocity:
        target[row] = now;
        break;
      case Target::kPosition:
        w.island.u()[row] = gap;
        break;
    }
    ++row;
  };
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    const unsigned mask = row_mask(c.options.mask);
    for (int k = 0; k < 6; ++k) {
      if (!(mask >> k & 1)) continue;
      put(c.phi[k], c.velocity[k], c.velocity[k] + h * c.acceleration[k], c.acceleration[k], c.is_new,
          c.options.restitution);
    }
  }
  for (const Controller& c : controllers) {
    if (!is_held_motion(c) || !holds(w, c.figure)) continue;
    const FigureData& f = *figures[size_t(c.figure)];
    for (size_t i = 0; i < c.drives.size(); ++i) {
      const Signal now = signal(c, i, time), next = signal(c, i, time + h);
      const double q = f.drives[size_t(c.drives[i])].position(f.q);
      const bool step = kind == Target::kStep;  // there the gap is what the step would leave
      put(step ? q + h * next.rate - next.value : q - now.value, now.rate, next.rate, now.acceleration, false, 0);
    }
  }
  for (const CouplingData& c : couplings) {
    if (holds(w, c.figure)) put(c.value(*figures[size_t(c.figure)]).gap, 0, 0, 0, false, 0);
  }
}

CouplingData::Value CouplingData::value(const FigureData& f) const {
  double p = 0, slope = 0, curvature = 0;
  if (driver >= 0) {
    const double x = f.drives[size_t(driver)].position(f.q) - coupling.driver_reference;
    for (size_t k = coupling.coefficient.size(); k-- > 0;) {  // Horner's scheme for all three
      curvature = curvature * x + 2 * slope;
      slope = slope * x + p;
      p = p * x + coupling.coefficient[k];
    }
  } else {
    p = coupling.coefficient[0];
  }
  return {f.drives[size_t(dependent)].position(f.q) - coupling.reference - p, slope, curvature};
}

/// Whether something new comes in: a vertex that begins to touch, or a connection that is made while its ends move.
bool World::Impl::approaches(IslandWork& w) {
  for (const int i : w.connections) {
    if (connections[size_t(i)].is_new) return true;
  }
  const double* u = w.island.u() + w.island.bilateral();
  for (size_t i = 0; i < w.patches.size(); ++i) {
    const ContactPatch& p = w.patches[i];
    if (!contacts.touches()[size_t(w.touches[i])].is_new) continue;
    const double* s = u + p.row;
    for (int k = 0; k < p.vertex_count; ++k) {
      const ContactVertex& x = p.vertices[size_t(k)];
      const double turn = p.row_count == 6 ? s[3] * x.y - s[4] * x.x : 0;
      if (x.gap <= options.contact.tol_gap && s[2] + turn < -options.contact.v_impact) return true;
    }
  }
  return false;
}

void World::Impl::resolve_impact(IslandWork& w) {
  set_targets(w, Target::kImpact);
  w.inconsistency = std::max(w.inconsistency, w.island.hold_velocities());
  ContactProblem problem{.rows = w.island.others(),
                         .G = w.island.G(),
                         .stride = w.island.stride(),
                         .a = w.island.reduced_a(),
                         .u = w.island.reduced_u(),
                         .h = options.time_step,
                         .gravity = norm(options.gravity),
                         .patches = w.patches,
                         .bounded = w.bounded};
  w.solver.solve_impact(problem, w.result);
  w.island.complete(w.result.force.data(), 0);
  for (size_t i = 0; i < w.figures.size(); ++i) {
    FigureData& f = *figures[size_t(w.figures[i])];
    w.island.respond(int(i), f.v.data());
    f.mechanics.set_motion(f.v.data());
  }
  w.impact = true;
  w.impact_energy += w.island.impulse_energy();
  int row = 0;
  for (const int i : w.connections) {
    ConnectionData& c = connections[size_t(i)];
    c.impulse = connection_wrench(c, w.island.force() + row);
    c.is_new = false;
    row += c.rows;
  }
  report_contacts(w, true);
  for (const int i : w.touches) contacts.touches()[size_t(i)].is_new = false;
}

void World::Impl::resolve_forces(IslandWork& w) {
  set_targets(w, Target::kStep);
  w.inconsistency = std::max(w.inconsistency, w.island.hold_accelerations());
  w.rank_deficiency = w.island.bilateral() > 0 ? w.island.bilateral() - w.island.rank() : 0;
  const bool inequalities = w.island.others() > 0;
  if (inequalities) {
    ContactProblem problem{.rows = w.island.others(),
                           .G = w.island.G(),
                           .stride = w.island.stride(),
                           .a = w.island.reduced_a(),
                           .u = w.island.reduced_u(),
                           .h = options.time_step,
                           .gravity = norm(options.gravity),
                           .patches = w.patches,
                           .bounded = w.bounded};
    w.solver.solve_contact(problem, w.memories, w.result);
    w.residual = w.result.residual;
  }
  w.island.complete(w.result.force.data(), 1);
  w.work = w.island.work(options.time_step);
  for (size_t i = 0; i < w.figures.size(); ++i) {
    FigureData& f = *figures[size_t(w.figures[i])];
    f.vdot.setZero();
    w.island.respond(int(i), f.vdot.data());
  }
  int row = 0;
  for (const int i : w.connections) {
    connections[size_t(i)].wrench = connection_wrench(connections[size_t(i)], w.island.force() + row);
    row += connections[size_t(i)].rows;
  }
  if (inequalities) report_contacts(w, false);
  for (const int i : w.touches) {  // rows move with the surface: what a platform or a conveyor does is work, too
    const Touch& t = contacts.touches()[size_t(i)];
    if (t.parent_end.figure) continue;
    const PointMotion surface = point_motion(t.parent_end, t.origin);
    const Force<>& F = contact_reports[size_t(i)].wrench;
    w.work.others += options.time_step * (dot(F.f, surface.v) + dot(F.t, surface.w));
  }
  for (size_t k = 0; k < w.touches.size(); ++k) contacts.touches()[size_t(w.touches[k])].memory = w.memories[k];
}

void World::Impl::solve_island(IslandWork& w) {
  int bilateral = 0, others = 0;
  count_rows(w, bilateral, others);
  if (bilateral + others == 0) {
    for (const int i : w.figures) {
      FigureData& f = *figures[size_t(i)];
      f.mechanics.free_acceleration(f.vdot.data());
    }
    return;
  }
  if (is_large(w, bilateral, others)) return solve_large(w, others);
  const auto build = [&] {
    w.island.begin(w.mechanics, bilateral, others);
    fill_rows(w);
    w.island.assemble();
  };
  build();
  if (approaches(w)) {
    resolve_impact(w);
    for (const int i : w.figures) {  // bias torques of the new velocities
      FigureData& f = *figures[size_t(i)];
      f.mechanics.factorise(f.has_extra ? f.extra.data() : nullptr);
      f.mechanics.set_torque(f.tau.data());
    }
    count_rows(w, bilateral, others);
    build();
  }
  resolve_forces(w);
}

void World::Impl::begin_reports() {
  const std::vector<WorldShape>& shapes = contacts.shapes();
  const auto body = [&](int shape) {
    const WorldShape& s = shapes[size_t(shape)];
    return s.figure < 0 ? kWorldBody : BodyRef{FigureId(s.figure), s.link};
  };
  contact_reports.clear();
  for (const Touch& t : contacts.touches()) {
    ContactReport& r = contact_reports.emplace_back();
    r.a = body(t.parent), r.b = body(t.real);
    r.shape_a = t.parent, r.shape_b = t.real;
    r.id = t.slot;
    r.p = t.origin;
    r.normal = t.E.column_z();
    r.gap = t.patch.vertices[0].gap;
    for (int k = 1; k < t.patch.vertex_count; ++k) r.gap = std::min(r.gap, t.patch.vertices[size_t(k)].gap);
  }
}

void World::Impl::report_contacts(IslandWork& w, bool impact) {
  for (size_t k = 0; k < w.touches.size(); ++k) {
    const size_t i = size_t(w.touches[k]);
    const Touch& t = contacts.touches()[i];
    const PatchReport& p = w.result.patches[k];
    ContactReport& out = contact_reports[i];
    const Force<> wrench{t.E * Vec3<>{p.wrench[3], p.wrench[4], p.wrench[5]},
                         t.E * Vec3<>{p.wrench[0], p.wrench[1], p.wrench[2]}};
    if (impact) {
      out.impulse = wrench;
      out.impact_energy = p.energy;
      continue;
    }
    out.wrench = wrench;
    out.pressure = t.origin + t.E * Vec3<>{p.pressure_x, p.pressure_y, 0};
    out.mode = p.mode, out.slip = p.slip, out.tier = p.tier;
    out.solves = p.solves, out.sweeps = p.sweeps, out.residual = p.residual;
  }
}

/// v⁺ = v + h·v̇, then positions with v⁺.
void World::Impl::integrate_figures(double h) {
  for_each(int(figures.size()), [&](int i) {
    FigureData& f = *figures[size_t(i)];
    f.effort = f.tau;
    if (f.has_extra) f.effort -= f.extra.cwiseProduct(f.vdot);
    f.work_step = f.effort - f.stored + f.stored_inertia.cwiseProduct(f.vdot);
    f.work_done = h * f.work_step.dot(f.v + 0.5 * h * f.vdot);
    f.advance(h);
  });
}

/// Largest gap of an island's bilateral rows at the present poses; places its connections.
double World::Impl::largest_gap(IslandWork& w, double t) {
  double worst = 0;
  for (const int k : w.figures) figures[size_t(k)]->mechanics.set_pose(figures[size_t(k)]->q.data());
  for (const int k : w.connections) {
    ConnectionData& c = connections[size_t(k)];
    place_connection(figures, t, c);
    for (const double gap : c.phi) worst = std::max(worst, std::abs(gap));
  }
  for (const CouplingData& c : couplings) {
    if (holds(w, c.figure)) worst = std::max(worst, std::abs(c.value(*figures[size_t(c.figure)]).gap));
  }
  return worst;
}

/// Moves the figures of an island so that the gaps of its bilateral rows close, the way that costs least in the metric of
/// the factorised M. @param share  of the gaps
void World::Impl::close_gaps(IslandWork& w, double share) {
  w.island.begin(w.mechanics, count_bilateral(w), 0);
  fill_bilateral(w);
  set_targets(w, Target::kPosition);
  for (int k = 0; k < w.island.rows(); ++k) w.island.target()[k] = (1 - share) * w.island.u()[k];
  w.island.assemble();
  w.island.hold_velocities();
  w.island.complete(nullptr, 0);
  for (size_t k = 0; k < w.figures.size(); ++k) {
    FigureData& f = *figures[size_t(w.figures[k])];
    f.work_step.setZero();
    w.island.respond(int(k), f.work_step.data());
    integrate(f.model, f.q, f.work_step, f.q);
  }
}

/// Small gaps are closed at once, after the step that made them.
void World::Impl::project() {
  constexpr double kTiny = 1e-11, kLarge = 1e-3;
  constexpr int kMost = 3;
  const double now = time;
  time += step_taken;
  for (int i = 0; i < island_count; ++i) {
    IslandWork& w = *works[size_t(i)];
    if (w.connections.empty() && couplings.empty()) continue;
    for (int pass = 0; pass < kMost; ++pass) {
      const double worst = largest_gap(w, time);
      if (worst < kTiny || worst > kLarge || count_bilateral(w) == 0) break;
      close_gaps(w, 1);
    }
  }
  time = now;
}

}  // namespace kansetsu
