#include "sim/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kansetsu/spatial/swing_twist.h"

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

/// The event's name, and how far apart the ends are if it is far: they are pulled together, or cannot be.
std::string connection_detail(const ConnectionData& c, const std::string& event) {
  if (std::max(c.position_gap, c.angle_gap) < threshold::kFarApart) return event;
  return fmt::format("{}: the ends are {:.6g} m and {:.6g} rad apart", event, c.position_gap, c.angle_gap);
}

/// Null if there is none of that name.
template <class Connections>
auto* find_connection(Connections& connections, const std::string& name) {
  const auto found = std::ranges::find_if(connections, [&](const ConnectionData& c) { return c.options.name == name; });
  return found == connections.end() ? nullptr : &*found;
}

}  // namespace

void EventRunner::note(EventKind kind, const std::string& name, std::string detail) {
  reports_.note(world_.time, kind, name, std::move(detail));
}

bool EventRunner::touches(const ShapeRef& a, const ShapeRef& b) const {
  for (size_t i = 0; i < reports_.contacts.size(); ++i) {
    const ContactReport& c = reports_.contacts[i];
    if (c.mode == ContactMode::kOpen && c.impulse.f == Vec3<>{}) continue;  // a bounce has touched
    const Touch& touch = world_.contacts.touches()[i];
    const WorldShape& parent = world_.contacts.shapes()[size_t(c.shape_a.value())];
    if ((matches(world_, a, parent) && matches_real(world_, b, touch)) ||
        (matches_real(world_, a, touch) && matches(world_, b, parent)))
      return true;
  }
  return false;
}

bool EventRunner::at_limit(const EventDescription& e) const {
  for (const std::unique_ptr<FigureData>& f : world_.figures) {
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

bool EventRunner::triggered(const EventDescription& e) const {
  switch (e.trigger) {
    case TriggerKind::kTime:
      return true;
    case TriggerKind::kNear: {
      const ConnectionData* c = find_connection(world_.connections, e.connection);
      if (!c || c->active) return false;
      const Vec3<> a = (body_pose(world_.figures, c->a) * c->options.X_AC).p;
      return norm(a - (body_pose(world_.figures, c->b) * c->X_BD).p) <= e.distance;
    }
    case TriggerKind::kForce: {
      const ConnectionData* c = find_connection(world_.connections, e.connection);
      return c && c->active && (norm(c->wrench.f) > e.force || norm(c->wrench.t) > e.torque);
    }
    case TriggerKind::kTouch:
      return touches(e.a, e.b);
    case TriggerKind::kLift:
      return !touches(e.a, e.b);
    case TriggerKind::kLimit:
      return at_limit(e);
  }
  return false;
}

/// @return whether it ends the simulation
bool EventRunner::act(const EventDescription& e) {
  ConnectionData* connection = find_connection(world_.connections, e.target);
  switch (e.action) {
    case ActionKind::kNote:
      note(EventKind::kNote, e.name);
      return false;
    case ActionKind::kConnect:
      if (!connection || connection->active) return false;
      sleeping_.wake(connection->a), sleeping_.wake(connection->b);
      activate(world_.figures, world_.time, *connection);
      note(EventKind::kConnected, e.target, connection_detail(*connection, e.name));
      return false;
    case ActionKind::kCut:
      if (!connection || !connection->active) return false;
      connection->active = false;
      sleeping_.wake(connection->a), sleeping_.wake(connection->b);
      note(EventKind::kCut, e.target, e.name);
      return false;
    case ActionKind::kStartController:
    case ActionKind::kStopController: {
      const auto controller =
          std::ranges::find_if(world_.controllers, [&](const Controller& c) { return c.description.name == e.target; });
      if (controller == world_.controllers.end()) return false;
      controller->state.active = e.action == ActionKind::kStartController;
      sleeping_.wake(controller->figure);
      note(controller->state.active ? EventKind::kControllerStarted : EventKind::kControllerStopped, e.target, e.name);
      return false;
    }
    case ActionKind::kEndSimulation:
      note(EventKind::kEnd, e.name);
      return true;
  }
  return false;
}

bool EventRunner::run(When when) {
  const bool before = when == When::kBeforeStep;
  const double time = world_.time, half_step = 0.5 * world_.options.time_step;
  bool ends = false;
  for (EventData& event : list) {
    const EventDescription& e = event.description;
    if (before && event.due >= 0 && time >= event.due - half_step) {
      event.due = -1;
      ends |= act(e);
    }
    if (event.done || before != (e.trigger == TriggerKind::kTime)) continue;
    const bool early = time < e.time - half_step;
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
      ends |= act(e);
  }
  return ends;
}

}  // namespace kansetsu
