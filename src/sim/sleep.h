#pragma once

#include "sim/reports.h"
#include "sim/world_state.h"

namespace kansetsu {

/// Figures that have come to rest are not computed until something happens to them. They fall asleep by islands, since what touches
/// rests together, and wake together; they keep their contacts and the forces of those. Whether they sleep follows from the states
/// and from what a snapshot holds alone, so that neither threads nor restoring change a bit.
class Sleeping {
 public:
  explicit Sleeping(WorldState& world) : world_(world) {}

  int count() const { return count_; }  ///< figures
  void recount();                       ///< after FigureData::nap has been set from outside
  /// Every figure sleeps, and has done so for a whole step: reports and contacts do not change any more.
  bool is_settled() const { return settled_ && count_ == int(world_.figures.size()); }

  void wake(int figure);  ///< and all that sleep with it
  void wake(const BodyRef& body);
  void wake_all();
  /// Wakes the figures that touch something in motion, where the contacts have been found.
  void wake_touched();
  /// At the end of a step: islands that have been at rest for kRestTime fall asleep.
  void settle(Islands& islands, const Reports& reports);

 private:
  void find_driven();
  bool is_still(const IslandWork& w, const Reports& reports) const;

  WorldState& world_;
  int count_ = 0;
  bool settled_ = false;
};

}  // namespace kansetsu
