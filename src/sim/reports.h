#pragma once

#include <string>
#include <vector>

#include "sim/islands.h"
#include "sim/world_state.h"

namespace kansetsu {

/// What a world tells about its steps. Stages write into it; no result depends on it but the energy of moving surfaces.
struct Reports {
  StepReport step;  ///< of the last step
  WorldTotals totals;
  std::vector<ContactReport> contacts;  ///< by index of the touch
  std::vector<ConnectionReport> connections;
  std::vector<Event> events;

  void note(double time, EventKind kind, std::string name, std::string detail = {});

  /// Lists the contacts as they have been found: without forces, those of sleeping figures with their last ones.
  void list_contacts(const WorldState& world);
  /// Writes the forces of an island that is solved, or the impulses of an impact.
  void write_forces(const IslandWork& w, const ContactFinder& finder);
  void write_impulses(const IslandWork& w, const ContactFinder& finder);
  /// Adds the impulses of contacts that were listed before, in other poses.
  void add_impulses(const std::vector<ContactReport>& before);
  /// Work of the written forces along moving surfaces in a step of length h [J].
  double surface_work(const IslandWork& w, const ContactFinder& finder, double h) const;

  /// Adds a part of a step.
  void add_part(const WorldState& world, Islands& islands);
  /// Completes the report at the end of a step.
  void finish_step(const WorldState& world);
};

/// Wrench of six numbers [f; τ] in the axes of a contact, in world axes.
Force<> contact_wrench(const Touch& touch, const std::array<double, 6>& wrench);
/// Power of a contact force along the prescribed motion of its surface (a platform, a conveyor); 0 if it has none [W].
double surface_power(const Touch& touch, const Force<>& F);

}  // namespace kansetsu
