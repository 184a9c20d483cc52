#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "kansetsu/sim/world.h"
#include "sim/connections.h"
#include "sim/contacts.h"
#include "sim/control.h"
#include "sim/couplings.h"
#include "sim/figure.h"
#include "sim/parallel.h"

namespace kansetsu {

/// A spring and damper between two points.
struct SpringData {
  BodyRef a, b;
  Vec3<> p_A, p_B;
  SpringDescription spring;
  double rest = 0;                ///< length without force [m]
  Vec3<> at_a{}, at_b{}, pull{};  ///< of the last step: its ends, and its force on a
};

/// What a world consists of, as plain data. The stages of a step read and advance it; none of them owns a part of it.
struct WorldState {
  explicit WorldState(const WorldOptions& o = {}) : options(o) {}

  WorldOptions options;
  double time = 0;  ///< [s]
  Figures figures;
  ContactFinder contacts;  ///< shapes, and the contacts of this step
  std::vector<ConnectionData> connections;
  std::vector<CouplingData> couplings;
  std::vector<SpringData> springs;
  std::vector<Controller> controllers;
  std::vector<std::pair<BodyRef, Force<>>> wrenches;  ///< applied in this step, at the world's origin
  int broad_bodies = 1;                               ///< numbers used in the broad phase; 0 is the environment
  std::unique_ptr<ThreadPool> pool;                   ///< none: one thread

  FigureData& figure(int i) const { return *figures[size_t(i)]; }
  /// Calls job(i) for i in [0, count) on all threads. Jobs share nothing: their order does not matter.
  template <class Job>
  void for_each(int count, Job&& job) const {
    kansetsu::for_each(pool.get(), count, job);
  }

  /// Sets the mechanics of all figures to q and v. Within a step they are where the stages need them; a step leaves them
  /// behind, and everything that reads poses between steps calls this first.
  void refresh();
  bool is_current = true;  ///< the mechanics are at q and v
  bool in_step = false;    ///< refresh() does nothing
};

/// A time step, or a part of one.
struct StepPart {
  double begin = 0, h = 0;  ///< [s]
  bool shortest = false;    ///< there is no shorter one: its result is taken as it is
};

/// Energy of gravity and of all springs, where the mechanics are [J].
double potential_energy(WorldState& world);
/// Kinetic energy of all figures [J].
double kinetic_energy(const WorldState& world);

// Shapes by name, as events, sensors and filters refer to them.

bool matches(const WorldState& world, const ShapeRef& ref, const WorldShape& shape);
/// Whether the reference names the moving side of a contact; shapes of a link on one plane are one contact.
bool matches_real(const WorldState& world, const ShapeRef& ref, const Touch& touch);

}  // namespace kansetsu
