#include <fmt/format.h>

#include <algorithm>

#include "sim/impl.h"
#include "sim/meeting.h"
#include "sim/momentum.h"
#include "sim/soundness.h"
#include "sim/standing.h"

/// One step of a world, docs/theory/contact.md "The step".
namespace kansetsu {

void World::Impl::step(World& world) {
  if (status != WorldStatus::kRunning || standing->step(*this)) return;
  if (!begin_step(world)) return;
  struct InStep {  // also if a callback throws
    bool& flag;
    explicit InStep(bool& on) : flag(on) { flag = true; }
    ~InStep() { flag = false; }
  } guard(in_step);
  is_current = false;
  for (int left = threshold::kTicks, ticks = threshold::kTicks; left > 0; left -= ticks) {
    ticks = std::min(left, 2 * ticks);  // after a part that had to be short, the next one is tried a little longer
    const double taken = advance(ticks);
    if (!check_states()) return;
    correct(taken);
    account(taken);
    if (options.integrator == Integrator::kAdaptive) break;
  }
  finish_step();
}

/// Callbacks, events and controllers. @return whether there is something to compute
bool World::Impl::begin_step(World& world) {
  changed();
  if (!callbacks.empty() || !events.list.empty()) refresh();
  for (const Callback& callback : callbacks) callback(world, time);
  if (events.run(EventRunner::When::kBeforeStep)) status = WorldStatus::kEnded;
  if (sleeping.is_settled() && !contacts.has_motion()) {
    rest();
    return false;
  }
  for (Controller& c : controllers) draw(c, time);
  if (std::string fault = torque_fault(*this); !fault.empty()) {
    status = WorldStatus::kFailed;
    failure = std::move(fault);
    return false;
  }
  reports.step = {};
  islands.limit_systems(threshold::kMostStepSystems);
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap < 0) f->q0 = f->q, f->v0 = f->v;
  }
  return check_states();  // that were set from outside
}

StepPart World::Impl::part_of(int ticks) const {
  return {time, ticks * options.time_step / threshold::kTicks, ticks == 1};
}

/// @param ticks  in: of the part to take; out: of the part that was taken
/// @return length of that part [s]
double World::Impl::advance(int& ticks) {
  if (options.integrator == Integrator::kSemiImplicit) return contact_step(ticks);
  const std::optional<double> taken = smooth.step(part_of(ticks));
  if (!taken) return contact_step(ticks);
  reports.list_contacts(*this);
  return *taken;
}

/// A part of a step with contacts: half of the way with v, all forces there, the other half with v⁺. What comes out too long is
/// repeated with half of its length.
double World::Impl::contact_step(int& ticks) {
  const std::vector<ContactReport> made = make_connections(part_of(ticks));
  keep_place();
  while (!try_part(part_of(ticks), made)) {
    go_back();
    ticks /= 2;
  }
  const double h = part_of(ticks).h;
  forces.finish(h);
  for (IslandWork& w : islands) {
    if (!has_shifts(w)) continue;
    EnergyGuard::begin_correction(w);
    apply_shifts(w);
  }
  return h;
}

/// The impulses of new connections, in the poses in which they were made.
/// @return what contacts did to that
std::vector<ContactReport> World::Impl::make_connections(const StepPart& part) {
  const auto is_new = [](const ConnectionData& c) { return c.active && c.is_new; };
  if (std::ranges::none_of(connections, is_new)) return {};
  for_each(int(figures.size()), [&](int i) {
    if (figure(i).nap < 0) figure(i).set_mechanics();
  });
  find_rows(part.begin, part.h);
  forces.prepare(part.begin, part.h);
  for (IslandWork& w : islands) {
    if (std::ranges::none_of(w.connections, [&](int k) { return is_new(connections[size_t(k)]); })) continue;
    for (FigureData& f : w.members) f.factorise(part.h);
    solver.build(w, rows.count(w, part.h, 0), Springs::kRest, part.h);
    impacts.resolve(w, part.h, 0);
    reports.step.impacts += 1;
    reports.step.impact_energy += w.account.impact_energy;
  }
  return reports.contacts;
}

/// Contacts, connections and islands at the present poses, for a part of length h; velocities are known.
void World::Impl::find_rows(double t, double h) {
  forces.place_actuators();
  contacts.find(figures, t, options.contact_margin, options.contact.tol_gap, look_ahead(options, h));
  sleeping.wake_touched();
  meet_impacts(contacts, options, h);
  for (ConnectionData& c : connections) {
    if (c.active) place_connection(figures, t, c);
  }
  islands.find(figures, connections, contacts);
  reports.list_contacts(*this);
  if (forces.has_springs()) forces.update_springs();
  forces.update_medium();
}

/// @return whether the result is taken; else the part is too long for how fast its velocity products or gaps change
bool World::Impl::try_part(const StepPart& part, const std::vector<ContactReport>& made) {
  for_each(int(figures.size()), [&](int i) {
    if (figure(i).nap < 0) figure(i).begin_part(part.h);
  });
  find_rows(part.begin + 0.5 * part.h, part.h);
  contacts.keep_pressures();
  reports.add_impulses(made);
  solve_islands(part);
  for_each(int(figures.size()), [&](int i) {
    if (figure(i).nap < 0) figure(i).finish_part(part.h);
  });
  return accept(part);
}

void World::Impl::solve_islands(const StepPart& part) {
  forces.release_limits();
  for (int pass = 0; pass <= threshold::kMostTorqueCuts; ++pass) {
    forces.prepare(part.begin, part.h);
    for_each(islands.count(), [&](int i) {
      islands[i].is_large = false;
      solver.settle(islands[i], part);
    });
    for (IslandWork& w : islands) {  // one after the other, each on all threads
      if (w.is_large) solver.settle(w, part);
    }
    if (!forces.exceed_limits(part.begin, part.h)) return;
  }
}

/// Momentum of what flies, gaps and energy of every island after a part. The shortest part is always accepted: then what it gained is
/// taken away.
bool World::Impl::accept(const StepPart& part) {
  for (IslandWork& w : islands) {
    if (!part.shortest && !w.settled) return false;
    keep_momentum(*this, w, part.h);
    w.kept = true;
    if (!part.shortest && EnergyGuard::is_far(w, part.h) && bilateral.count(w) > 0 &&
        bilateral.largest_gap(w, part.begin + part.h) > threshold::kLargeGap)
      return false;
    if (!energy.gain(w, part.h).is_excess()) continue;
    if (!part.shortest) return false;
    energy.take_away(w, part.h);
  }
  return true;
}

/// Closes the gaps of connections; islands whose positions were corrected keep their energy and momentum.
void World::Impl::correct(double h) {
  for (IslandWork& w : islands) bilateral.close_gaps(w, {time + h, h});
  if (options.integrator != Integrator::kSemiImplicit) return;
  for_each(islands.count(), [&](int i) {
    if (islands[i].kept) return;
    energy.end_correction(islands[i]);
    keep_momentum(*this, islands[i], h);
  });
}

/// State that try_part() changes.
void World::Impl::keep_place() {
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap < 0) f->q_begin = f->q, f->v_begin = f->v, f->vdot_begin = f->vdot;
  }
  contacts.keep();
}

void World::Impl::go_back() {
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap < 0) f->q = f->q_begin, f->v = f->v_begin, f->vdot = f->vdot_begin, f->has_shift = false;
  }
  contacts.go_back();
}

/// A state that is not sound stops the world before anybody sees it: the figures stay where they were.
bool World::Impl::check_states() {
  const FigureData* fault = find_unsound(*this);
  if (!fault) return true;
  status = WorldStatus::kFailed;
  failure = describe_fault(*this, *fault);
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap < 0) f->mechanics.forget_rows(), f->q = f->q0, f->v = f->v0;
  }
  return false;
}

/// Adds a part of a step to time, memories and reports.
void World::Impl::account(double h) {
  time += h;
  contacts.remember();
  for (ConnectionData& c : connections) {
    if (c.active) add_load(c, h);
  }
  reports.add_part(*this, islands);
  for (const ContactReport& c : reports.contacts) {
    for (const ContactCallback& callback : contact_callbacks) callback(c);
  }
}

void World::Impl::finish_step() {
  sleeping.settle(islands, reports);
  reports.step.asleep = sleeping.count();
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->has_external) f->external.setZero();
    f->has_external = false;
  }
  reports.finish_step(*this);
  break_connections();
  if (events.run(EventRunner::When::kAfterStep)) status = WorldStatus::kEnded;
  sensors.read();
  wrenches.clear();
}

void World::Impl::break_connections() {
  for (ConnectionData& c : connections) {
    c.impulse = {};
    if (!c.active) continue;
    if (c.mask() == 0) {
      c.active = false;
      reports.note(time, EventKind::kCut, c.options.name, "rebounded");
      continue;
    }
    const double force = norm(c.load.f), torque = norm(c.load.t);
    if (force <= c.options.break_force && torque <= c.options.break_torque) continue;
    c.active = false;
    sleeping.wake(c.a), sleeping.wake(c.b);
    reports.note(time, EventKind::kBroken, c.options.name,
                 fmt::format("force {:.6g} N, torque {:.6g} N·m", force, torque));
  }
}

/// A step in which every figure sleeps.
void World::Impl::rest() {
  time += options.time_step;
  ++reports.totals.steps;
  reports.step.time = time;
  for (const ContactReport& c : reports.contacts) {
    for (const ContactCallback& callback : contact_callbacks) callback(c);
  }
  if (events.run(EventRunner::When::kAfterStep)) status = WorldStatus::kEnded;
  sensors.read();
}

}  // namespace kansetsu
