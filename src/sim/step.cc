#include <algorithm>
#include <cmath>

#include "actuation/plan.h"
#include "kansetsu/model/configuration.h"
#include "sim/impl.h"

/// One step with contacts, docs/theory/contact.md "The step": half of the way with v, all forces there, the other half with v⁺.
namespace kansetsu {

void World::Impl::prepare_torques(double h) {
  const bool sprung = !springs.empty() || has_soft_connections();
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap >= 0) continue;
    if (f->has_extra) f->extra.setZero();
    f->has_extra = false;
    f->has_stored = sprung || !f->springs.empty() || !f->actuators.actuation.plan().sprung.empty();
    if (f->has_stored) {
      f->tau = f->torque + f->external + f->spring_torque;
      f->stored = f->spring_torque;
      f->stored_inertia.setZero();
    } else {
      kernel::figures().add(int(f->tau.size()), f->torque.data(), f->external.data(), f->tau.data());
    }
    if (!f->medium_parts.empty()) f->tau += f->medium_torque;
    for (const PassiveDrive& p : f->springs) {
      const DriveCoordinate& d = f->drives[size_t(p.drive)];
      const double damping = p.damping, stiffness = p.stiffness;
      // A spring at the mean of its beginning and end, which keeps its energy, a damper at the end of the step, which never
      // overshoots: −k·(q + h·(v⁺ − v)/4 − rest) − d·v⁺ with v⁺ = v + h·v̇ and q of the middle.
      const double v = d.velocity(f->v), spring = stiffness == 0 ? 0 : -stiffness * (d.position(f->q) - d.dof.rest);
      const double implicit = 0.25 * h * h * stiffness;
      for (const auto& [column, ratio] : d.terms) {
        f->tau[column] += ratio * (spring - damping * v);
        f->extra[column] += ratio * ratio * (h * damping + implicit);
        f->stored[column] += ratio * spring;
        f->stored_inertia[column] += ratio * ratio * implicit;
      }
      f->has_extra = true;
    }
  }
  for (Controller& c : controllers) add_control(c, *figures[size_t(c.figure)], time, h);
  for (size_t i = 0; i < figures.size(); ++i) {
    if (figures[i]->nap >= 0 || !figures[i]->actuators.any()) continue;
    add_actuators(*figures[i], h);
    add_adhesion(int(i));
  }
}

/// Contacts, connections and islands at the present poses; velocities are known.
void World::Impl::find_rows(double t) {
  place_actuators();
  contacts.find(figures, t, options.contact_margin, options.contact.tol_gap, ahead(step_length));
  wake_touched();
  meet_impacts();
  for (ConnectionData& c : connections) {
    if (c.active) place_connection(figures, t, c);
  }
  find_islands();
  begin_reports();
  report_sleepers();
  if (!springs.empty() || has_soft_connections()) {
    for (const std::unique_ptr<FigureData>& f : figures) f->spring_torque.setZero();
    add_spring_forces();
  }
  add_medium_forces();
}

/// The impulses of connections that have just been made, in the poses in which they were.
void World::Impl::make_connections() {
  const auto is_new = [](const ConnectionData& c) { return c.active && c.is_new; };
  if (std::ranges::none_of(connections, is_new)) return;
  for_each(int(figures.size()), [&](int i) {
    if (figures[size_t(i)]->nap < 0) figures[size_t(i)]->set_mechanics();
  });
  find_rows(time);
  prepare_torques(step_length);
  for (int i = 0; i < island_count; ++i) {
    IslandWork& w = *works[size_t(i)];
    if (std::ranges::none_of(w.connections, [&](int k) { return is_new(connections[size_t(k)]); })) continue;
    for (const int k : w.figures) figures[size_t(k)]->factorise(step_length);
    build_island(w, count_rows(w, 0), Springs::kRest);
    resolve_impact(w, 0);
    report.impacts += 1;
    report.impact_energy += w.impact_energy;
  }
  made = contact_reports;
}

void World::Impl::contact_step() {
  make_connections();
  keep_place();
  while (!try_step()) {
    go_back();
    set_ticks(ticks / 2);
  }
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->actuators.any()) finish_actuators(*f, step_length);
  }
  for (int i = 0; i < island_count; ++i) {
    IslandWork& w = *works[size_t(i)];
    if (std::ranges::none_of(w.figures, [&](int k) { return figures[size_t(k)]->has_shift; })) continue;
    leave_place(w);
    for (const int k : w.figures) {
      FigureData& f = *figures[size_t(k)];
      if (f.has_shift) integrate(f.model, f.q, f.shift, f.q);
      f.has_shift = false;
    }
  }
  made.clear();
  step_taken = step_length;
}

/// What try_step() changes.
void World::Impl::keep_place() {
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap >= 0) continue;
    f->q_begin = f->q, f->v_begin = f->v, f->vdot_begin = f->vdot;
  }
  contacts.keep();
}

void World::Impl::go_back() {
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap < 0) f->q = f->q_begin, f->v = f->v_begin, f->vdot = f->vdot_begin, f->has_shift = false;
  }
  contacts.go_back();
}

/// What rows take from the last step stays as it is, however often this one is solved.
void World::Impl::keep_pressures() {
  for (Touch& t : contacts.touches()) {
    t.pressure = t.memory.known ? std::max(t.memory.wrench[2], 0.0) : 0.0;
  }
}

/// Forces of a step of length h: half of the way with the velocity of the beginning, then all of them in the middle.
/// @return whether it can be gone on with; else it is too long for how its velocity products change
bool World::Impl::try_step() {
  const double h = step_length;
  for_each(int(figures.size()), [&](int i) {
    FigureData& f = *figures[size_t(i)];
    if (f.nap >= 0) return;
    f.begins_far = f.is_far(h);
    f.drift(0.5 * h);
    f.set_mechanics();
    f.set_products(h);
    f.products_next.setZero();
  });
  find_rows(time + 0.5 * h);
  keep_pressures();
  for (const ContactReport& before : made) {
    for (ContactReport& now : contact_reports) {
      if (now.id == before.id) now.impulse = before.impulse, now.impact_energy = before.impact_energy;
    }
  }
  for (Controller& c : controllers) std::fill(c.saturated.begin(), c.saturated.end(), false);
  for (const std::unique_ptr<FigureData>& f : figures) {
    for (ActuatorsData::Acting& a : f->actuators.acting) a.saturated = false;
  }
  for (int pass = 0; pass <= threshold::kMostTorqueCuts; ++pass) {
    prepare_torques(h);
    for_each(island_count, [&](int i) {
      works[size_t(i)]->large = false;
      settle_island(*works[size_t(i)]);
    });
    for (int i = 0; i < island_count; ++i) {  // heaps one after the other, each on all threads
      if (works[size_t(i)]->large) settle_island(*works[size_t(i)]);
    }
    bool again = false;
    for (Controller& c : controllers) again |= saturates(c, *figures[size_t(c.figure)], time, h);
    for (const std::unique_ptr<FigureData>& f : figures) again |= actuators_saturate(*f);
    if (!again) break;
  }
  for_each(int(figures.size()), [&](int i) {
    if (figures[size_t(i)]->nap < 0) integrate_figure(*figures[size_t(i)], h);
  });
  const bool last = ticks == 1;  // it is taken as it comes out
  for (int i = 0; i < island_count; ++i) {
    IslandWork& w = *works[size_t(i)];
    if (!last && !w.settled) return false;
    keep_momentum(w, h);
    w.kept = true;
    if (!last && is_far(w) && count_bilateral(w) > 0 && largest_gap(w, time + h) > threshold::kLargeGap) return false;
    if (!gain(w).is_excess()) continue;
    if (!last) return false;
    take_away(w);
  }
  return true;
}

/// Solves an island until its velocity products are those of the velocities that come out. What is found to be a heap is left for later.
void World::Impl::settle_island(IslandWork& w) {
  const bool held = count_bilateral(w) > 0;
  bool factorised = w.large;  // found to be a heap before
  const auto solve = [&] {
    const bool found = w.large;
    const auto factorise = [&](int i) { figures[size_t(w.figures[size_t(i)])]->factorise(step_length); };
    if (!found) {
      for (int i = 0; i < int(w.figures.size()); ++i) factorise(i);
    } else if (!factorised) {
      for_each(int(w.figures.size()), factorise);
    }
    factorised = false;
    solve_island(w);
    return w.large == found;
  };
  w.settled = false;
  bool runs_away = false;
  for (int pass = 0; pass < threshold::kMostProductSolutions && !w.settled && !runs_away; ++pass) {
    if ((pass == 0 || !solve_again(w)) && !solve()) return;
    ProductsState state = ProductsState::kSettled;
    for (const int i : w.figures) state = std::max(state, figures[size_t(i)]->correct_products(step_length, held));
    w.settled = state == ProductsState::kSettled;
    runs_away = state == ProductsState::kRunAway;
  }
  if (!w.settled && ticks == 1) {
    for (const int i : w.figures)
      figures[size_t(i)]->products.setZero();  // they run away: those of the beginning have to do
    solve();
  }
  resolve_positions(w);
}

/// Solves an island again after nothing but velocity products have changed: all that was made of poses and velocities stays.
/// @return false where that cannot be, and nothing has happened
bool World::Impl::solve_again(IslandWork& w) {
  const bool flies = w.row_count == 0;
  if (w.large || (!flies && w.island.is_sparse())) return false;
  for (size_t i = 0; i < w.figures.size(); ++i) {
    FigureData& f = *figures[size_t(w.figures[i])];
    f.work_step = f.net;
    f.set_net(step_length);
    f.work_step = f.net - f.work_step;
    if (flies) {
      f.mechanics.add_drive(f.work_step.data());
      f.mechanics.free_acceleration(f.vdot.data());
    } else {
      w.island.add_drive(int(i), f.work_step.data());
    }
  }
  if (flies) return true;
  for (BoundedRow& row : w.bounded) row.last_force = w.result.force[size_t(row.row)];  // contacts begin with theirs too
  resolve_forces(w);
  return true;
}

/// Whether something new comes in: a vertex that begins to touch. What is so
/// slow that it would not bounce is no impact: the forces of the step stop it just the same. Nor is what would not bounce at any
/// speed, as long as the force that stops it is within measure.
bool World::Impl::approaches(IslandWork& w) {
  const double* u = w.island.u() + w.island.bilateral();
  const ContactOptions& o = options.contact;
  const double rest = o.end_of_step ? o.rest_speed(norm(options.gravity), step_length) : 0;
  const double slow = std::max(rest, o.v_impact);
  const bool automatic = o.end_of_step && o.v_rest < 0;  // whoever sets v_rest counts impacts
  const double soft = automatic ? std::max(slow, threshold::kSoftLanding * norm(options.gravity) * step_length) : slow;
  for (size_t i = 0; i < w.patches.size(); ++i) {
    const ContactPatch& p = w.patches[i];
    if (!contacts.touches()[size_t(w.touches[i])].is_new) continue;
    const double* s = u + p.row;
    const double fastest = p.restitution > 0 ? slow : soft;
    for (int k = 0; k < p.vertex_count; ++k) {
      const ContactVertex& x = p.vertices[size_t(k)];
      const double turn = p.row_count == 6 ? s[3] * x.y - s[4] * x.x : 0;
      if (x.gap <= o.tol_gap && s[2] + turn < -fastest) return true;
    }
  }
  return false;
}

ContactProblem World::Impl::contact_problem(const IslandWork& w) const {
  return {.rows = w.island.others(),
          .G = w.island.G(),
          .stride = w.island.stride(),
          .padded = w.island.padded(),
          .tree = w.island.tree(),
          .a = w.island.reduced_a(),
          .u = w.island.reduced_u(),
          .h = step_length,
          .gravity = norm(options.gravity),
          .patches = w.patches,
          .bounded = w.bounded};
}

/// What comes in has been accelerated for half of the step when it meets, so a ball rebounds with the energy it came with.
void World::Impl::add_approach(IslandWork& w, double after) {
  double *u = w.island.u() + w.island.bilateral(), *a = w.island.a() + w.island.bilateral();
  for (size_t i = 0; i < w.patches.size(); ++i) {
    if (!contacts.touches()[size_t(w.touches[i])].is_new) continue;
    for (int r = w.patches[i].row; r < w.patches[i].row + w.patches[i].row_count; ++r) u[r] += after * a[r];
  }
}

/// Change of energy by the impulses of an impact. Forces of the first half of the step have acted on all rows by then: what rows that were
/// held before it do not show counts all the same.
double World::Impl::impact_change(IslandWork& w, double after) {
  double sum = w.island.impulse_energy();
  const int held = w.island.bilateral();
  const double *a = w.island.a(), *force = w.island.force();
  for (int r = 0; r < held; ++r) sum += after * force[r] * (a[r] - w.island.drift(r));
  for (const BoundedRow& b : w.bounded) sum += after * force[held + b.row] * a[held + b.row];
  for (size_t i = 0; i < w.patches.size(); ++i) {
    if (contacts.touches()[size_t(w.touches[i])].is_new) continue;  // add_approach() has done it
    for (int r = w.patches[i].row; r < w.patches[i].row + w.patches[i].row_count; ++r)
      sum += after * force[held + r] * a[held + r];
  }
  return sum;
}

/// Impulses of an impact in which connections rebound with this share of their restitutions.
/// @return energy that it gives, but for the work of prescribed motions
double World::Impl::rebound(IslandWork& w, double share) {
  w.rebound_share = share;
  set_targets(w, Target::kImpact);
  w.inconsistency = std::max(w.inconsistency, w.island.hold_velocities());
  w.solver.solve_impact(contact_problem(w), w.result);
  w.island.complete(w.result.force.data(), 0);
  double energy = w.island.impulse_energy();
  const double* force = w.island.force();
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    for_each_direction(c, [&](int k, int) { energy -= *force++ * c.velocity[k]; });
  }
  return energy;
}

/// Directions that rebound with shares of their own may gain energy, where they are coupled ([NY00] (15), erratum B6): then all of
/// them rebound less. With E the energy at no restitution, E + s²·(…) is that at a share s of it.
/// @param after  how long forces have acted in the step when it comes [s]
void World::Impl::resolve_impact(IslandWork& w, double after) {
  add_approach(w, after);
  const auto may_rebound = [&](int i) {
    const ConnectionData& c = connections[size_t(i)];
    return c.is_new && c.options.restitution != PerDirection{};
  };
  const double gained = rebound(w, 1);
  if (gained > 0 && std::ranges::any_of(w.connections, may_rebound)) {
    const double rounding = threshold::kReboundRounding;
    const double lost = rebound(w, 0);
    double share = 1, now = gained;
    for (int pass = 0; now > -rounding * lost && pass < threshold::kMostRebounds && lost < 0; ++pass) {
      share *= std::sqrt(lost / (lost - now));
      now = rebound(w, share);
    }
    if (now > -rounding * lost) rebound(w, 0);
  }
  add_impulses(w, after);
  w.impact = true;
  w.impact_energy += impact_change(w, after);
  int row = 0;
  for (const int i : w.connections) {
    ConnectionData& c = connections[size_t(i)];
    c.impulse = c.struck = connection_wrench(c, w.island.force() + row);
    if (may_rebound(i) && w.rebound_share > 0) {
      double speed[6];
      int next = 0;
      for_each_direction(c, [&](int k, int) { speed[next] = w.island.u()[row + next] - c.velocity[k], ++next; });
      let_rebound(c, speed, options.contact.rest_speed(norm(options.gravity), step_length));
    }
    c.is_new = false;
    row += c.rows;
  }
  report_contacts(w, true);
  for (const int i : w.touches) contacts.touches()[size_t(i)].is_new = false;
}

void World::Impl::solve_forces(IslandWork& w, Target target) {
  set_targets(w, target);
  const double left = w.island.hold_accelerations();
  w.inconsistency = std::max(w.inconsistency, left);
  if (w.island.others() > 0) {
    w.solver.solve_contact(contact_problem(w), w.memories, w.result);
    w.residual = w.result.residual;
  }
  w.island.complete(w.result.force.data(), 1);
}

/// Whether rows turn so much within the step that to follow them takes a good part of all kinetic energy, or many times as much: they
/// are next to a posture in which they depend on each other, and the step leads across it, or the step is too long for how fast
/// such forces let things swing. Then rows are held as they lie at the beginning. That takes energy only, and what it leaves of gaps
/// is closed afterwards.
bool World::Impl::turning_strains(const IslandWork& w) const {
  double mass = 0;
  for (const int i : w.figures) mass += figures[size_t(i)]->model.mass();
  const double fall = step_length * norm(options.gravity);
  if (!(w.work.turned > 0.5 * mass * fall * fall)) return false;  // no more than a step gives by itself
  double kinetic = 0;
  for (const int i : w.figures)
    kinetic += figures[size_t(i)]->energy_of(figures[size_t(i)]->q, figures[size_t(i)]->v).kinetic;
  return w.work.turned > threshold::kTurningShare * kinetic;
}

void World::Impl::resolve_forces(IslandWork& w) {
  solve_forces(w, Target::kStep);
  w.work = w.island.work(step_length);
  if (w.island.bilateral() > 0 && turning_strains(w)) {
    solve_forces(w, Target::kStepAcross);
    w.work = w.island.work(step_length);
  }
  w.driven_work = 0;
  for (int r = 0; r < w.island.bilateral(); ++r)
    w.driven_work += step_length * w.island.force()[r] * w.driven[size_t(r)];
  if (w.island.is_soft()) account_springs(w);
  w.rank_deficiency = w.island.bilateral() > 0 ? w.island.bilateral() - w.island.rank() : 0;
  const bool inequalities = w.island.others() > 0;
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
  w.given = surface_work(w);
  w.work.others += w.given;  // rows move with the surface
  for (size_t k = 0; k < w.touches.size(); ++k) contacts.touches()[size_t(w.touches[k])].memory = w.memories[k];
  if (inequalities) remember_bounds(w);
}

void World::Impl::build_island(IslandWork& w, const RowCount& rows, Springs soft) {
  w.island.begin(w.mechanics, rows.bilateral, rows.others, rows.alone);
  fill_rows(w, soft);
  w.island.assemble();
}

void World::Impl::solve_island(IslandWork& w) {
  const RowCount rows = count_rows(w, 0.5 * step_length);
  w.row_count = rows.bilateral + rows.others;
  if (w.row_count == 0) {
    for (const int i : w.figures) {
      FigureData& f = *figures[size_t(i)];
      f.mechanics.free_acceleration(f.vdot.data());
    }
    return;
  }
  if (!w.large && is_large(w, rows)) {
    w.large = true;
    return;
  }
  if (w.large) return solve_large(w, rows.others);
  build_island(w, rows, Springs::kAct);
  if (approaches(w)) {
    if (w.island.is_soft()) build_island(w, rows, Springs::kRest);
    resolve_impact(w, 0.5 * step_length);
    for (const int i : w.figures) figures[size_t(i)]->factorise(step_length);  // bias torques of the new velocities
    build_island(w, count_rows(w, 0.5 * step_length), Springs::kAct);
  }
  resolve_forces(w);
}

void World::Impl::begin_reports() {
  const std::vector<WorldShape>& shapes = contacts.shapes();
  const auto body = [&](int shape) {
    const WorldShape& s = shapes[size_t(shape)];
    return s.owner < 0 ? kWorldBody : BodyRef{FigureId(s.owner), s.link};
  };
  contact_reports.clear();
  for (const Touch& t : contacts.touches()) {
    ContactReport& r = contact_reports.emplace_back();
    r.a = body(t.parent), r.b = body(t.real);
    r.shape_a = ShapeId(t.parent), r.shape_b = ShapeId(t.real);
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
  if (!impact) report_rolling(w);
}

/// v⁺ = v + h·v̇ in the middle of the step, then the second half of the way with v⁺.
void World::Impl::integrate_figure(FigureData& f, double h) {
  f.q_middle = f.q, f.v_middle = f.v;
  double work = kernel::figures().effort(int(f.v.size()), h, f.tau.data(), f.extra.data(), f.v.data(), f.vdot.data(),
                                         f.effort.data());
  f.torque_work = h * work + (f.struck ? f.struck_work : 0);
  if (f.has_stored) work -= (f.stored - f.stored_inertia.cwiseProduct(f.vdot)).dot(f.v + 0.5 * h * f.vdot);
  f.work_done = h * work + (f.struck ? f.struck_work - f.struck_stored : 0);
  f.set_acting();
  f.products_due = h * f.products_next;
  f.kick(h);
  f.drift(0.5 * h);
}

}  // namespace kansetsu
