#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/swing_twist.h"
#include "sim/impl.h"
#include "sim/standing.h"

/// What surrounds the mechanics of a step: callbacks, reports, events, sensors, failure.
namespace kansetsu {

const char* to_string(EventKind kind) {
  switch (kind) {
    case EventKind::kConnected:
      return "connected";
    case EventKind::kCut:
      return "cut";
    case EventKind::kBroken:
      return "broken";
    case EventKind::kTouch:
      return "touch";
    case EventKind::kLift:
      return "lift";
    case EventKind::kLimit:
      return "limit";
    case EventKind::kNote:
      return "note";
    case EventKind::kControllerStarted:
      return "controller started";
    case EventKind::kControllerStopped:
      return "controller stopped";
    case EventKind::kEnd:
      return "end";
  }
  return "";
}

namespace {

bool at_ball_limit(const FigureData& f, JointId joint) {
  return std::any_of(f.balls.begin(), f.balls.end(), [&](const BallLimit& b) {
    if (b.ball.joint() != joint) return false;
    const SwingTwist now = swing_twist(b.ball.rotation(f.q));
    return now.swing() >= b.limit.swing - threshold::kAtLimit ||
           now.twist <= b.limit.twist_lower + threshold::kAtLimit ||
           now.twist >= b.limit.twist_upper - threshold::kAtLimit;
  });
}

}  // namespace

void World::Impl::refresh() {
  if (present || stepping) return;
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap < 0) f->set_mechanics();
  }
  present = true;
}

void World::Impl::step(World& world) {
  if (status != WorldStatus::kRunning || standing->step(*this)) return;
  changed();
  if (!callbacks.empty() || !event_states.empty()) refresh();
  for (const Callback& callback : callbacks) callback(world, time);
  run_events(true);
  if (sleep_on()) return;
  for (Controller& c : controllers) draw(c, time);
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (is_finite(f->torque) && (!f->has_external || is_finite(f->external))) continue;
    status = WorldStatus::kFailed;
    for (int k = 0; k < f->model.nv(); ++k) {
      if (std::isfinite(f->torque[k] + f->external[k])) continue;
      failure = fmt::format("at {:.6f} s: the torque on '{}' of figure '{}' is {}", time,
                            f->model.dof_names()[size_t(k)], f->options.name, f->torque[k] + f->external[k]);
      break;
    }
    return;
  }
  struct Under {  // also where a callback throws
    bool& way;
    explicit Under(bool& on) : way(on) { way = true; }
    ~Under() { way = false; }
  } under(stepping);
  present = false;
  report = {};
  for (const std::unique_ptr<IslandWork>& w : works) w->solver.limit_systems(threshold::kMostStepSystems);
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap < 0) f->q0 = f->q, f->v0 = f->v;
  }
  if (!check_states()) return;  // what was set from outside
  set_ticks(threshold::kTicks);
  for (int left = threshold::kTicks; left > 0; left -= ticks) {
    set_ticks(std::min(left, 2 * ticks));  // where a part had to be short, the next is tried but a little longer
    options.integrator == Integrator::kSemiImplicit ? contact_step() : smooth_step();
    if (!check_states()) return;
    project();
    if (options.integrator == Integrator::kSemiImplicit) {
      for_each(island_count, [&](int i) {
        if (works[size_t(i)]->kept) return;
        keep_kinetic(*works[size_t(i)]);
        keep_momentum(*works[size_t(i)], step_taken);
      });
    }
    account();
    if (options.integrator == Integrator::kAdaptive) break;
  }
  set_ticks(threshold::kTicks);
  finish_step();
}

/// Whether the figure's state may be gone on with. A coordinate that moves by 1600 turns in a time step, or a base that outruns
/// light, is no motion any more: long before it all digits of the step are lost.
bool World::Impl::is_sound(const FigureData& f) const {
  using namespace threshold;
  const double base = f.model.base() == Base::kFree ? std::abs(f.v[3]) + std::abs(f.v[4]) + std::abs(f.v[5]) : 0;
  return is_finite(f.v) && is_finite(f.q) && options.time_step * f.fastest(0) < kMostTurning && base < kFastestBase;
}

/// What stands in the way of a step: the coordinate that has lost all bounds, and the connection that pulls most.
std::string World::Impl::what_fails(const FigureData& f) const {
  int worst = -1;
  for (int k = 0; k < f.model.nv(); ++k) {
    if (worst < 0 || !(std::abs(f.v[k]) <= std::abs(f.v[worst]))) worst = k;
    if (!std::isfinite(f.v[k])) break;
  }
  std::string out = fmt::format("at {:.6f} s: figure '{}'", time, f.options.name);
  if (worst >= 0 && !(std::isfinite(f.v[worst]) && !is_finite(f.q)))
    out += fmt::format(", '{}': the velocity is {:.6g}", f.model.dof_names()[size_t(worst)], f.v[worst]);
  else
    out += ": the position is not finite";
  double most = -1;  // whatever holds is named, even where nothing came of the step
  const ConnectionData* strongest = nullptr;
  for (const ConnectionData& c : connections) {
    const double pull = norm(c.wrench.f) + norm(c.wrench.t);
    if (c.active && !(pull <= most)) strongest = &c, most = pull;
  }
  if (!strongest) return out;
  const std::string name = strongest->options.name.empty() ? std::to_string(strongest - connections.data())
                                                           : "'" + strongest->options.name + "'";
  return out + fmt::format("; connection {} takes {:.6g} N, {:.6g} N·m", name, norm(strongest->wrench.f),
                           norm(strongest->wrench.t));
}

/// A state that is not sound stops the world before anybody sees it: the figures stay where they were.
bool World::Impl::check_states() {
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap >= 0 || is_sound(*f)) continue;
    status = WorldStatus::kFailed;
    failure = what_fails(*f);
    for (const std::unique_ptr<FigureData>& g : figures) {
      if (g->nap < 0) g->mechanics.forget_rows(), g->q = g->q0, g->v = g->v0;
    }
    return false;
  }
  return true;
}

/// What came of a step, or of a part of one: added to the report and the totals.
void World::Impl::account() {
  time += step_taken;
  for (const std::unique_ptr<FigureData>& f : figures) totals.work_torque += f->work_done;
  contacts.remember();
  for (ConnectionData& c : connections) {
    if (c.active) add_load(c, step_taken);
  }
  for (size_t i = 0; i < contact_reports.size(); ++i) {
    const ContactReport& c = contact_reports[i];
    ++report.tiers[int(c.tier)];
    ++totals.tiers[int(c.tier)];
    report.penetration = std::max(report.penetration, -c.gap);
    totals.contacts += c.mode != ContactMode::kOpen && c.tier != ContactTier::kNone;  // those of sleepers have none
    for (const ContactCallback& callback : contact_callbacks) callback(c);
  }
  for (int i = 0; i < island_count; ++i) {
    const IslandWork& w = *works[size_t(i)];
    report.residual = std::max(report.residual, w.residual);
    report.inconsistency = std::max(report.inconsistency, w.inconsistency);
    report.rank_deficiency += w.rank_deficiency;
    report.impacts += w.impact;
    report.impact_energy += w.impact_energy;
    totals.work_connection += w.work.bilateral - w.sprung;
    // The energy of an impact is that of motions relative to surfaces; those of connections are absolute.
    totals.work_contact += w.work.others + w.impact_given.others;
  }
}

void World::Impl::finish_step() {
  ++totals.steps;
  settle_down();
  report.asleep = asleep_count;
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->has_external) f->external.setZero();
    f->has_external = false;
  }
  connection_reports.clear();
  for (size_t i = 0; i < connections.size(); ++i) {
    const ConnectionData& c = connections[i];
    if (!c.active) continue;
    connection_reports.push_back(
        {connection_id(i, c.uses), c.options.name, c.a, c.b, c.p, c.wrench, c.impulse, c.position_gap, c.angle_gap});
    report.loop_gap = std::max(report.loop_gap, c.position_gap);
    report.loop_angle = std::max(report.loop_angle, c.angle_gap);
  }
  totals.impacts += std::uint64_t(report.impacts);
  totals.impact_energy += report.impact_energy;
  totals.worst_residual = std::max(totals.worst_residual, report.residual);
  totals.worst_penetration = std::max(totals.worst_penetration, report.penetration);
  totals.worst_gap = std::max(totals.worst_gap, report.loop_gap);
  totals.worst_angle = std::max(totals.worst_angle, report.loop_angle);
  report.time = time;
  report.contacts = contact_reports;
  report.connections = connection_reports;
  break_connections();
  run_events(false);
  read_sensors();
  wrenches.clear();
}

void World::Impl::break_connections() {
  for (ConnectionData& c : connections) {
    c.impulse = {};
    if (!c.active) continue;
    if (c.mask() == 0) {
      c.active = false;
      note(EventKind::kCut, c.options.name, "rebounded");
      continue;
    }
    const double force = norm(c.load.f), torque = norm(c.load.t);
    if (force <= c.options.break_force && torque <= c.options.break_torque) continue;
    c.active = false;
    wake(c.a), wake(c.b);
    note(EventKind::kBroken, c.options.name, fmt::format("force {:.6g} N, torque {:.6g} N·m", force, torque));
  }
}

void World::Impl::note(EventKind kind, std::string name, std::string detail) {
  events.push_back({time, kind, std::move(name), std::move(detail)});
}

bool World::Impl::names(const ShapeRef& ref, const WorldShape& shape) const {
  const FigureData* f = shape.owner >= 0 ? figures[size_t(shape.owner)].get() : nullptr;
  if (ref.figure.empty() && !ref.shape.empty() && f) return false;  // a shape of the surroundings
  if (!ref.figure.empty() && (!f || f->options.name != ref.figure)) return false;
  if (!ref.link.empty() && (!f || f->model.link(shape.link).name != ref.link)) return false;
  return ref.shape.empty() || shape.name == ref.shape;
}

bool World::Impl::names_real(const ShapeRef& ref, size_t contact) const {
  const Touch& t = contacts.touches()[contact];
  const auto named = [&](int shape) { return names(ref, contacts.shapes()[size_t(shape)]); };
  return named(t.real) || std::any_of(t.merged.shape, t.merged.shape + t.merged.count, named);
}

bool World::Impl::touches(const ShapeRef& a, const ShapeRef& b) const {
  for (size_t i = 0; i < contact_reports.size(); ++i) {
    const ContactReport& c = contact_reports[i];
    if (c.mode == ContactMode::kOpen && c.impulse.f == Vec3<>{}) continue;  // what bounces has touched
    const WorldShape& parent = contacts.shapes()[size_t(c.shape_a.value())];
    if ((names(a, parent) && names_real(b, i)) || (names_real(a, i) && names(b, parent))) return true;
  }
  return false;
}

bool World::Impl::triggered(const EventDescription& e) {
  const auto connection = [&](const std::string& name) -> ConnectionData* {
    const auto found = std::find_if(connections.begin(), connections.end(),
                                    [&](const ConnectionData& c) { return c.options.name == name; });
    return found == connections.end() ? nullptr : &*found;
  };
  switch (e.trigger) {
    case TriggerKind::kTime:
      return true;
    case TriggerKind::kNear: {
      const ConnectionData* c = connection(e.connection);
      if (!c || c->active) return false;
      return norm((body_pose(figures, c->a) * c->options.X_AC).p - (body_pose(figures, c->b) * c->X_BD).p) <=
             e.distance;
    }
    case TriggerKind::kForce: {
      const ConnectionData* c = connection(e.connection);
      return c && c->active && (norm(c->wrench.f) > e.force || norm(c->wrench.t) > e.torque);
    }
    case TriggerKind::kTouch:
      return touches(e.a, e.b);
    case TriggerKind::kLift:
      return !touches(e.a, e.b);
    case TriggerKind::kLimit:
      for (const std::unique_ptr<FigureData>& f : figures) {
        if (f->options.name != e.figure) continue;
        for (const DriveCoordinate& d : f->drives) {
          if (f->model.joint(d.joint).name != e.dof.joint || d.index != e.dof.index || d.positions.empty()) continue;
          const double q = d.position(f->q);
          if (q <= d.dof.lower + threshold::kAtLimit || q >= d.dof.upper - threshold::kAtLimit) return true;
        }
        const std::optional<JointId> joint = f->model.find_joint(e.dof.joint);
        return joint && at_ball_limit(*f, *joint);
      }
      return false;
  }
  return false;
}

namespace {

/// Ends that are far apart when they are to coincide are worth a word: they are pulled together, or cannot be.
std::string connection_detail(const ConnectionData& c, const std::string& event) {
  if (std::max(c.position_gap, c.angle_gap) < threshold::kFarApart) return event;
  return fmt::format("{}: the ends are {:.6g} m and {:.6g} rad apart", event, c.position_gap, c.angle_gap);
}

}  // namespace

void World::Impl::act(const EventDescription& e) {
  const auto find = [&](auto& list, auto&& name) {
    return std::find_if(list.begin(), list.end(), [&](const auto& item) { return name(item) == e.target; });
  };
  const auto connection = find(connections, [](const ConnectionData& c) { return c.options.name; });
  const auto controller = find(controllers, [](const Controller& c) { return c.description.name; });
  switch (e.action) {
    case ActionKind::kNote:
      return note(EventKind::kNote, e.name);
    case ActionKind::kConnect:
      if (connection == connections.end() || connection->active) return;
      activate(*connection);
      return note(EventKind::kConnected, e.target, connection_detail(*connection, e.name));
    case ActionKind::kCut:
      if (connection == connections.end() || !connection->active) return;
      connection->active = false;
      wake(connection->a), wake(connection->b);
      return note(EventKind::kCut, e.target, e.name);
    case ActionKind::kStartController:
    case ActionKind::kStopController: {
      if (controller == controllers.end()) return;
      controller->state.active = e.action == ActionKind::kStartController;
      wake(controller->figure);
      return note(controller->state.active ? EventKind::kControllerStarted : EventKind::kControllerStopped, e.target,
                  e.name);
    }
    case ActionKind::kEndSimulation:
      status = WorldStatus::kEnded;
      return note(EventKind::kEnd, e.name);
  }
}

/// Times are looked at before a step, everything else after it.
void World::Impl::run_events(bool before) {
  for (EventData& event : event_states) {
    const EventDescription& e = event.description;
    if (before && event.due >= 0 && time >= event.due - 0.5 * options.time_step) {
      event.due = -1;
      act(e);
    }
    if (event.done || before != (e.trigger == TriggerKind::kTime)) continue;
    const bool early = time < e.time - 0.5 * options.time_step;
    if (early && e.trigger != TriggerKind::kLift) continue;
    const bool now = triggered(e), edge = now && !event.was_true && !early;
    event.was_true = now;
    if (!edge) continue;
    event.done = e.once;
    if (e.trigger == TriggerKind::kTouch) note(EventKind::kTouch, e.name);
    if (e.trigger == TriggerKind::kLift) note(EventKind::kLift, e.name);
    if (e.trigger == TriggerKind::kLimit) note(EventKind::kLimit, e.name);
    if (e.delay > 0)
      event.due = time + e.delay;
    else
      act(e);
  }
}

const std::vector<double>& World::sensor(std::string_view name) const {
  for (const SensorData& s : impl_->sensors) {
    if (s.description.name == name) return s.value;
  }
  throw Error(fmt::format("World::sensor: unknown sensor '{}'", name));
}
std::vector<std::string> World::sensor_names() const {
  std::vector<std::string> out;
  for (const SensorData& s : impl_->sensors) out.push_back(s.description.name);
  return out;
}

}  // namespace kansetsu
