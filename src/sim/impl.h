#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/bilateral_solver.h"
#include "sim/energy.h"
#include "sim/events.h"
#include "sim/forces.h"
#include "sim/impacts.h"
#include "sim/island_solver.h"
#include "sim/islands.h"
#include "sim/reports.h"
#include "sim/rows.h"
#include "sim/sensors.h"
#include "sim/sleep.h"
#include "sim/smooth.h"
#include "sim/world_state.h"

namespace kansetsu {

class StandingStep;

/// Where the accounts of energy stood when the world was last changed from outside.
struct Ledger {
  double time = 0, energy = 0;  ///< [s], [J]
  double most_kinetic = 0;      ///< seen since [J]
  WorldTotals totals{};
};

/// A world: its state, the stages of a step, and the order in which they act (step.cc).
struct World::Impl : WorldState {
  explicit Impl(const WorldOptions& o);
  ~Impl();
  std::unique_ptr<Impl> clone() const;  ///< everything but scratch memory; on one thread

  WorldStatus status = WorldStatus::kRunning;
  std::string failure;
  std::vector<Callback> callbacks;
  std::vector<ContactCallback> contact_callbacks;
  std::optional<Ledger> ledger;  ///< none: opened at the next step
  std::optional<HealthLimits> strict;
  int parameters = 0;  ///< how often masses or materials were changed: tables for lanes made before do not fit

  // The stages. Each has its own header; its constructor names the state and the other stages that it uses.
  Reports reports;
  Sleeping sleeping{*this};
  EventRunner events{*this, reports, sleeping};
  AppliedForces forces{*this};
  Islands islands{options.contact};
  RowBuilder rows{*this};
  BilateralSolver bilateral{*this, rows};
  ImpactSolver impacts{*this, rows, reports};
  IslandSolver solver{*this, rows, impacts, reports};
  EnergyGuard energy{*this};
  SmoothIntegrator smooth{*this, islands, rows, forces, bilateral};
  SensorReader sensors{*this, reports};
  std::unique_ptr<StandingStep> standing;

  // One step.
  void step(World& world);
  bool begin_step(World& world);
  double advance(int& ticks);
  double contact_step(int& ticks);
  std::vector<ContactReport> make_connections(const StepPart& part);
  bool try_part(const StepPart& part, const std::vector<ContactReport>& made);
  void find_rows(double t, double h);
  void solve_islands(const StepPart& part);
  bool accept(const StepPart& part);
  void correct(double h);
  void account(double h);
  void finish_step();
  void keep_place();
  void go_back();
  bool check_states();
  void break_connections();
  void rest();
  StepPart part_of(int ticks) const;

  // What users do between two steps.
  void changed();             ///< a way of stepping that was found for the state before is not valid any more
  void parameters_changed();  ///< masses or materials
  void open_ledger(double kinetic, double potential);
  FigureData& data(FigureId id, const char* function) const;  ///< throws Error
  Controller& controller(std::string_view name, const char* function);
  ConnectionData* connection(ConnectionId id);  ///< null if it is no more, even if another one has its place
  void require_body(const BodyRef& body, const char* function) const;
  std::string body_name(const BodyRef& body, int shape) const;
};

}  // namespace kansetsu
