#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/events.h"
#include "sim/world_state.h"

namespace kansetsu {

/// What a snapshot holds.
struct WorldMoment {
  double time = 0;
  std::vector<Eigen::VectorXd> q, v, vdot, torque, effort, bound_force, products_due, control, activation;
  std::vector<Eigen::VectorXd> external;  ///< empty where no wrench waits for the next step
  std::vector<std::pair<BodyRef, Force<>>> wrenches;
  std::vector<double> rest_time;
  std::vector<int> nap;
  std::vector<ConnectionData> connections;
  ContactFinder::Carried contacts;
  Vec3<> gravity;
  std::vector<Controller> controllers;
  std::vector<EventData> event_states;
  std::vector<std::mt19937_64> sensors;
  std::vector<Event> events;
  WorldTotals totals;
  WorldStatus status = WorldStatus::kRunning;
  std::string failure;
  double next_step = 0;
  size_t shapes = 0, springs = 0;  ///< how many there were
};

struct Snapshot::Data : WorldMoment {};

}  // namespace kansetsu
