#include "sim/events.h"

#include <doctest/doctest.h>

#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;
using When = EventRunner::When;

struct EventWorld : WorldState {
  EventWorld() : WorldState(world_options()) {}
  Reports reports;
  Sleeping sleeping{*this};
  EventRunner events{*this, reports, sleeping};

  EventData& add_event(EventDescription e) { return events.list.emplace_back(EventData{.description = std::move(e)}); }
  void find() {
    find_contacts(*this);
    reports.list_contacts(*this);
    for (ContactReport& c : reports.contacts) c.mode = ContactMode::kPoint;
  }
};

}  // namespace

TEST_CASE("an event at a time acts in the step that begins nearest to it, once") {
  EventWorld world;
  world.add_event({.name = "now", .trigger = TriggerKind::kTime, .time = 0.01});
  for (const double t : {0.0, 0.01 - 0.6 * kStep}) {
    world.time = t;
    world.events.run(When::kBeforeStep);
    CHECK(world.reports.events.empty());
  }
  world.time = 0.01 - 0.4 * kStep;
  world.events.run(When::kAfterStep);  // times are tested before a step
  CHECK(world.reports.events.empty());
  world.events.run(When::kBeforeStep);
  world.events.run(When::kBeforeStep);
  REQUIRE(world.reports.events.size() == 1);
  CHECK(world.reports.events[0].name == "now");
}

TEST_CASE("a joint is at its limit from kAtLimit on") {
  for (const double side : {0.9, 1.1}) {
    EventWorld world;
    FigureData& f = add(world, rod({.lower = -1, .upper = 1}));
    f.q[0] = 1 - side * threshold::kAtLimit;
    world.add_event({.name = "end", .trigger = TriggerKind::kLimit, .figure = "rod0", .dof = {"hinge", 0}});
    world.events.run(When::kAfterStep);
    CHECK(world.reports.events.empty() == (side > 1));
  }
}

TEST_CASE("touch and lift follow the contacts that are reported, by names of figures and shapes") {
  EventWorld world;
  add_floor(world);
  FigureData& ball = add_ball(world, 0);
  const ShapeRef floor{.shape = "floor"}, figure{.figure = "body0"};
  world.add_event({.name = "touch", .trigger = TriggerKind::kTouch, .a = figure, .b = floor});
  EventData& lift = world.add_event({.name = "lift", .trigger = TriggerKind::kLift, .a = floor, .b = figure});
  lift.was_true = true;  // what has not touched yet cannot lift
  world.find();
  world.events.run(When::kAfterStep);
  ball.q[2] = 1;
  world.find();
  world.events.run(When::kAfterStep);
  std::vector<EventKind> kinds;
  for (const Event& e : world.reports.events) kinds.push_back(e.kind);
  CHECK(kinds == std::vector<EventKind>{EventKind::kTouch, EventKind::kNote, EventKind::kLift, EventKind::kNote});
}

TEST_CASE("connections are made and cut, controllers started, the simulation ended") {
  EventWorld world;
  FigureData& ball = add_ball(world, 0);
  ConnectionData& c = join(world, -1, 0, {.name = "grip"});
  c.active = false;
  Controller& controller = world.controllers.emplace_back();
  controller.description.name = "hand";
  controller.state.active = false;
  ball.nap = 0;
  world.sleeping.recount();
  const auto at_once = [&](ActionKind action, const std::string& target) {
    world.add_event({.name = "e", .trigger = TriggerKind::kTime, .action = action, .target = target});
  };
  at_once(ActionKind::kConnect, "grip");
  at_once(ActionKind::kStartController, "hand");
  CHECK(!world.events.run(When::kBeforeStep));
  CHECK(c.active);
  CHECK(c.is_new);
  CHECK(controller.state.active);
  CHECK(ball.nap < 0);  // it wakes
  at_once(ActionKind::kCut, "grip");
  at_once(ActionKind::kEndSimulation, "");
  CHECK(world.events.run(When::kBeforeStep));
  CHECK(!c.active);
}

TEST_CASE("ends of a connection that are kFarApart when it is made are told") {
  for (const double side : {0.9, 1.1}) {
    EventWorld world;
    add_ball(world, 0);
    ConnectionOptions together{.hold = Hold::kTogether, .name = "grip"};
    together.X_AC.p = {side * threshold::kFarApart, 0, 0.1};
    join(world, -1, 0, together).active = false;
    world.add_event({.name = "e", .trigger = TriggerKind::kTime, .action = ActionKind::kConnect, .target = "grip"});
    world.events.run(When::kBeforeStep);
    REQUIRE(world.reports.events.size() == 1);
    CHECK((world.reports.events[0].detail.find("apart") != std::string::npos) == (side > 1));
  }
}

TEST_CASE("an action with a delay follows later") {
  EventWorld world;
  world.add_event({.name = "later", .trigger = TriggerKind::kTime, .delay = 0.1});
  world.events.run(When::kBeforeStep);
  CHECK(world.reports.events.empty());
  world.time = 0.1;
  world.events.run(When::kBeforeStep);
  CHECK(world.reports.events.size() == 1);
}

}  // namespace kansetsu
