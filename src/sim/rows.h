#pragma once

#include "sim/island_work.h"
#include "sim/world_state.h"

namespace kansetsu {

/// Numbers of rows of an island.
struct RowCount {
  int bilateral = 0, others = 0;
  int alone = 0;  ///< of the others: each of one body or joint; 0 where contacts join bodies
};

/// What springs and dampers of connections do while rows are held: they act over a step, and do nothing in an impact.
enum class Springs { kAct, kRest };

/// What bilateral rows are to reach: a velocity after an impact or a step (kStepAcross: rows as they lie at its beginning), the
/// acceleration or velocity of a smooth motion, or closed gaps.
enum class Target { kImpact, kStep, kStepAcross, kAcceleration, kVelocity, kPosition };

/// Writes the constraint rows of an island: bilateral ones (connections, held motions, couplings), then bounded ones (limits, dry
/// friction, rolling) and contacts. Mechanics are posed, connections placed, tendons too.
class RowBuilder {
 public:
  explicit RowBuilder(WorldState& world) : world_(world) {}

  /// Lists the bounded rows of a step of length h, and counts all rows.
  /// @param ahead  when the velocities that the rows hold are reached [s]
  RowCount count(IslandWork& w, double h, double ahead) const;
  /// Writes all rows of count() into the island, which has begun with them.
  void fill(IslandWork& w, Springs soft, double h) const;

  int count_bilateral(const IslandWork& w) const;
  int count_held(const IslandWork& w) const;  ///< rows of motions that controllers prescribe
  void fill_bilateral(IslandWork& w, Springs soft, double h) const;
  void set_targets(IslandWork& w, Target kind, const StepPart& part) const;

  /// Lists limits that may be reached within a step of length h, and dry friction.
  void add_bounded(IslandWork& w, int figure, double h, double ahead) const;
  /// visit(column, coefficient) of a bounded row on coordinates
  template <class Visit>
  void for_each_term(const BoundedOrigin& o, Visit&& visit) const {
    const FigureData& f = world_.figure(o.figure);
    if (o.tendon >= 0) {
      const MomentRow row = f.actuators.actuation.tendon_moment(o.tendon);
      for (size_t k = 0; k < row.columns.size(); ++k) visit(row.columns[k], o.sign * row.values[k]);
      return;
    }
    if (o.drive < 0) {
      f.balls[size_t(o.ball)].ball.for_each_term(o.rate_row, visit);
      return;
    }
    for (const auto& [column, ratio] : f.drives[size_t(o.drive)].terms) visit(column, o.sign * ratio);
  }
  /// Keeps the forces of bounded rows for the next step; what has no row now starts from zero.
  void remember_bounds(const IslandWork& w) const;

 private:
  void add_ball_limits(IslandWork& w, int figure, double h, double ahead) const;
  void add_tendon_bounds(IslandWork& w, int figure, double h) const;
  void add_rolling(IslandWork& w) const;

  WorldState& world_;
};

}  // namespace kansetsu
