#include <algorithm>
#include <cmath>

#include "kansetsu/model/configuration.h"
#include "sim/impl.h"

/// One semi-implicit step with contacts: spec/rotations_ik_contact.md §6. Velocities first, then positions with them.
namespace kansetsu {

void World::Impl::prepare_torques(double h) {
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->has_extra) f->extra.setZero();
    f->has_extra = false;
    f->has_stored = !springs.empty() || !f->springs.empty();
    if (f->has_stored) {
      f->tau = f->torque + f->external + f->spring_torque;
      f->stored = f->spring_torque;
      f->stored_inertia.setZero();
    } else {
      kernel::figures().add(int(f->tau.size()), f->torque.data(), f->external.data(), f->tau.data());
    }
    for (const PassiveDrive& p : f->springs) {
      const DriveCoordinate& d = f->drives[size_t(p.drive)];
      const double damping = p.damping, stiffness = p.stiffness;
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

/// Less than h where something would turn far in a way that a step of full length cannot follow. Beside the singular posture
/// of hinges that meet in a point, with nothing between them that has mass, speeds grow beyond any bound for a moment, and
/// long steps gain energy without end. Whatever else turns evenly, a wheel, does not ask for it; unless bilateral rows turn with
/// it so far that their gaps would become large.
double World::Impl::longest_part(double h) {
  constexpr double kFar = 0.25, kUneven = 0.05;  // [rad] in a time step: in all, and by acceleration
  constexpr double kPart = 0.05, kChange = 0.2;  // [rad] in a part; of the speed in a part
  constexpr double kShortest = 1.0 / 512;        // of a time step
  constexpr double kTurned = 1.0 / 16;  // the same where rows turn: what gaps are left beyond that project() closes
  const double whole = options.time_step, shortest = kShortest * whole;
  for (const std::unique_ptr<FigureData>& f : figures) f->speed = f->fastest(h);
  if (h < 2 * shortest) return h;  // no part, and nothing that is left, is shorter
  double longest = h;
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (whole * f->speed < kFar) continue;
    for (const FigureData::Turn& t : f->turns) {
      const double v = std::abs(f->v[t.column]), a = std::abs(f->vdot[t.column]), speed = v + h * a;
      if (whole * speed < kFar || (t.drive < 0 && whole * h * a < kUneven)) continue;
      longest = std::min({longest, kPart / speed, kChange * (v + kFar / whole) / a});
    }
  }
  for (int i = 0; i < island_count; ++i) {
    const IslandWork& w = *works[size_t(i)];
    if (!figures[size_t(w.figures[0])]->held) continue;
    const double a = w.island.turning();
    if (h * h * a > 2 * kLargeGap) longest = std::min(longest, std::max(std::sqrt(2 * kLargeGap / a), kTurned * whole));
  }
  return longest < h ? std::clamp(longest, shortest, h / 2) : h;
}

void World::Impl::contact_step() {
  const double h = step_length;
  for_each(int(figures.size()), [&](int i) {
    FigureData& f = *figures[size_t(i)];
    f.mechanics.set_motion(f.v.data());
    if (!springs.empty()) f.spring_torque.setZero();
  });
  const ContactOptions& o = options.contact;
  double margin = options.contact_margin, near = o.tol_gap;
  if (o.anticipate && o.end_of_step) {  // whatever may be reached within the step, gravity included
    near = 2 * h * (contacts.fastest(figures, time) + h * norm(options.gravity)) + o.tol_gap;
    margin = std::max(margin, near);
  }
  contacts.find(figures, time, margin, o.tol_gap, near);
  for (ConnectionData& c : connections) {
    if (c.active) place_connection(figures, time, c);
  }
  find_islands();
  begin_reports();
  for (Controller& c : controllers) std::fill(c.saturated.begin(), c.saturated.end(), false);
  add_spring_forces();
  constexpr int kMostCuts = 4;  // of torques that come out above their limit
  for (int pass = 0;; ++pass) {
    prepare_torques(step_length);
    for_each(island_count, [&](int i) {
      for (const int k : works[size_t(i)]->figures) {
        FigureData& f = *figures[size_t(k)];
        f.mechanics.factorise(f.has_extra ? f.extra.data() : nullptr, f.tau.data());
      }
      solve_island(*works[size_t(i)]);
    });
    bool again = false;
    for (Controller& c : controllers) again |= saturates(c, *figures[size_t(c.figure)], time, step_length);
    if (again && pass < kMostCuts) continue;
    const double part = longest_part(step_length);
    if (part >= step_length) break;
    step_length = part;
  }
  step_taken = step_length;
  integrate_figures(step_length);
}

int World::Impl::root(int figure) {
  while (group[size_t(figure)] != figure) figure = group[size_t(figure)] = group[size_t(group[size_t(figure)])];
  return figure;
}

void World::Impl::begin_islands(int count) {
  island_count = count;
  while (int(works.size()) < count) {
    works.push_back(std::make_unique<IslandWork>());
    works.back()->solver.options = options.contact;
  }
  for (int k = 0; k < count; ++k) {
    IslandWork& w = *works[size_t(k)];
    w.figures.clear(), w.connections.clear(), w.touches.clear(), w.mechanics.clear();
    w.leave.clear();
    w.ledger = {};
    w.inconsistency = w.residual = w.impact_energy = 0;
    w.work = {0, 0};
    w.rank_deficiency = 0;
    w.impact = false;
  }
}

void World::Impl::find_islands() {
  const int n = int(figures.size());
  if (n == 1) {
    begin_islands(1);
    IslandWork& w = *works[0];
    w.figures.push_back(0);
    w.mechanics.push_back(&figures[0]->mechanics);
    for (size_t i = 0; i < connections.size(); ++i) {
      if (connections[i].active) w.connections.push_back(int(i));
    }
    for (size_t i = 0; i < contacts.touches().size(); ++i) w.touches.push_back(int(i));
    return;
  }
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

  int count = 0;
  static thread_local std::vector<int> number;
  number.assign(size_t(n), -1);
  for (int i = 0; i < n; ++i) {
    if (root(i) == i) number[size_t(i)] = count++;
  }
  begin_islands(count);
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

/// Whether something new comes in: a vertex that begins to touch, or a connection that is made while its ends move. What is so
/// slow that it would not bounce is no impact: the forces of the step stop it just the same. Nor is what would not bounce at any
/// speed, as long as the force that stops it is within measure.
bool World::Impl::approaches(IslandWork& w) {
  for (const int i : w.connections) {
    if (connections[size_t(i)].is_new) return true;
  }
  const double* u = w.island.u() + w.island.bilateral();
  const ContactOptions& o = options.contact;
  const double rest = o.end_of_step ? o.rest_speed(norm(options.gravity), step_length) : 0;
  constexpr double kWeights = 10;  // that stop within a step what does not bounce
  const double slow = std::max(rest, o.v_impact);
  const bool automatic = o.end_of_step && o.v_rest < 0;  // whoever sets v_rest counts impacts
  const double soft = automatic ? std::max(slow, kWeights * norm(options.gravity) * step_length) : slow;
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
          .a = w.island.reduced_a(),
          .u = w.island.reduced_u(),
          .h = step_length,
          .gravity = norm(options.gravity),
          .patches = w.patches,
          .bounded = w.bounded};
}

void World::Impl::resolve_impact(IslandWork& w) {
  set_targets(w, Target::kImpact);
  w.inconsistency = std::max(w.inconsistency, w.island.hold_velocities());
  w.solver.solve_impact(contact_problem(w), w.result);
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

/// Whether closing gaps takes more energy than to move everything as fast: next to a posture in which rows depend on each
/// other, they ask for speeds beyond any bound.
bool World::Impl::closing_strains(IslandWork& w) const {
  double fastest = 0, energy = 0, mass = 0;
  for (int r = 0; r < w.island.bilateral(); ++r) {
    fastest = std::max(fastest, std::abs(w.closing[size_t(r)]));
    energy += step_length * std::abs(w.island.force()[r] * w.closing[size_t(r)]);
  }
  if (fastest == 0) return false;
  for (const int i : w.figures) mass += figures[size_t(i)]->model.mass();
  constexpr double kLoad = 1000;  // [m/s²] forces that hold, as they may well be
  return energy > mass * fastest * (10 * fastest + kLoad * step_length);
}

/// Whether rows turn so much within the step that to follow them takes a good part of all kinetic energy, or many times as much: they
/// are next to a posture in which they depend on each other, and the step leads across it, or the step is too long for how fast
/// such forces let things swing. Then rows are held as they lie at the beginning. That takes energy only, and what it leaves of gaps
/// is closed afterwards.
bool World::Impl::turning_strains(const IslandWork& w) const {
  constexpr double kPart = 0.1;  // a tenth is a turn of 0.3 rad
  double mass = 0;
  for (const int i : w.figures) mass += figures[size_t(i)]->model.mass();
  const double fall = step_length * norm(options.gravity);
  if (!(w.work.turned > 0.5 * mass * fall * fall)) return false;  // no more than a step gives by itself
  return w.work.turned > kPart * energy_of(w).kinetic;
}

/// Whether contacts and limits are all that acts on the one figure of an island, and nothing that it touches moves by itself.
bool World::Impl::is_told(const IslandWork& w) const {
  if (w.figures.size() != 1 || w.island.bilateral() > 0) return false;
  return std::ranges::all_of(w.touches, [&](int i) {
    const RowEnd& parent = *contacts.touches()[size_t(i)].parent_end;
    return parent.figure || parent.rests;
  });
}

void World::Impl::resolve_forces(IslandWork& w) {
  solve_forces(w, Target::kStep);
  if (w.island.bilateral() > 0 && closing_strains(w)) solve_forces(w, Target::kStepAsItIs);
  w.work = w.island.work(step_length);
  if (w.island.bilateral() > 0 && turning_strains(w)) {
    solve_forces(w, Target::kStepAcross);
    w.work = w.island.work(step_length);
  }
  w.rank_deficiency = w.island.bilateral() > 0 ? w.island.bilateral() - w.island.rank() : 0;
  const bool inequalities = w.island.others() > 0;
  const bool told = is_told(w);
  for (size_t i = 0; i < w.figures.size(); ++i) {
    FigureData& f = *figures[size_t(w.figures[i])];
    f.vdot.setZero();
    w.island.respond(int(i), f.vdot.data());
    f.rows_known = told;
    f.row_work = w.work.figures;
  }
  int row = 0;
  for (const int i : w.connections) {
    connections[size_t(i)].wrench = connection_wrench(connections[size_t(i)], w.island.force() + row);
    row += connections[size_t(i)].rows;
  }
  if (inequalities) report_contacts(w, false);
  for (const int i : w.touches) {  // rows move with the surface: what a platform or a conveyor does is work, too
    const Touch& t = contacts.touches()[size_t(i)];
    if (t.parent_end->figure) continue;
    const PointMotion surface = point_motion(*t.parent_end, t.origin);
    const Force<>& F = contact_reports[size_t(i)].wrench;
    const double given = step_length * (dot(F.f, surface.v) + dot(F.t, surface.w));
    w.work.others += given, w.work.figures += given;
  }
  for (size_t k = 0; k < w.touches.size(); ++k) contacts.touches()[size_t(w.touches[k])].memory = w.memories[k];
  if (inequalities) remember_bounds(w);
}

void World::Impl::solve_island(IslandWork& w) {
  int bilateral = 0, others = 0;
  count_rows(w, bilateral, others);
  for (const int i : w.figures) figures[size_t(i)]->held = bilateral > 0;
  if (bilateral + others == 0) {
    for (const int i : w.figures) {
      FigureData& f = *figures[size_t(i)];
      f.mechanics.free_acceleration(f.vdot.data());
      f.rows_known = true, f.row_work = 0;
    }
    return;
  }
  if (is_large(w, bilateral, others)) {
    for (const int i : w.figures) figures[size_t(i)]->rows_known = false;
    return solve_large(w, others);
  }
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
      f.mechanics.factorise(f.has_extra ? f.extra.data() : nullptr, f.tau.data());
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
    return s.owner < 0 ? kWorldBody : BodyRef{FigureId(s.owner), s.link};
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
  for (const std::unique_ptr<FigureData>& f : figures) {
    f->contact_force = {};
    f->flies = f->model.base() == Base::kFree && f->v.size() > 6;
  }
  for (const ContactReport& c : contact_reports) {
    for (const FigureId id : {c.a.figure, c.b.figure}) {
      if (c.a.figure != c.b.figure && id != kWorldBody.figure) figures[size_t(id.value())]->flies = false;
    }
    if (c.b.figure != kWorldBody.figure) figures[size_t(c.b.figure.value())]->contact_force += c.wrench.f;
    if (c.a.figure != kWorldBody.figure) figures[size_t(c.a.figure.value())]->contact_force -= c.wrench.f;
  }
  for (const ConnectionData& c : connections) {  // what holds against a contact turns like it
    for (const BodyRef& end : {c.a, c.b}) {
      if (!c.active || end.figure == kWorldBody.figure) continue;
      figures[size_t(end.figure.value())]->contact_force = {};
      figures[size_t(end.figure.value())]->flies = false;
    }
  }
  for_each(int(figures.size()), [&](int i) {
    FigureData& f = *figures[size_t(i)];
    double work = kernel::figures().effort(int(f.v.size()), h, f.tau.data(), f.extra.data(), f.v.data(), f.vdot.data(),
                                           f.effort.data());
    f.torque_work = h * work;
    if (f.has_stored) work -= (f.stored - f.stored_inertia.cwiseProduct(f.vdot)).dot(f.v + 0.5 * h * f.vdot);
    f.work_done = h * work;
    if (!f.held) f.advance(h);
  });
  for_each(island_count, [&](int i) {
    IslandWork& w = *works[size_t(i)];
    if (figures[size_t(w.figures[0])]->held) advance_together(w, h);
  });
}

}  // namespace kansetsu
