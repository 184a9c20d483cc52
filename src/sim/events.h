#pragma once

#include <vector>

#include "sim/reports.h"
#include "sim/sleep.h"

namespace kansetsu {

/// An event of a scene, and where it stands.
struct EventData {
  EventDescription description;
  bool was_true = false, done = false;
  double due = -1;  ///< when its action follows; negative: nothing is due
};

/// Tests the triggers of events and takes their actions.
class EventRunner {
 public:
  EventRunner(WorldState& world, Reports& reports, Sleeping& sleeping)
      : world_(world), reports_(reports), sleeping_(sleeping) {}

  std::vector<EventData> list;

  /// Times are tested before a step, everything else after it.
  enum class When { kBeforeStep, kAfterStep };
  /// @return whether an action ends the simulation
  bool run(When when);

 private:
  bool triggered(const EventDescription& e) const;
  bool touches(const ShapeRef& a, const ShapeRef& b) const;
  bool at_limit(const EventDescription& e) const;
  bool act(const EventDescription& e);
  void note(EventKind kind, const std::string& name, std::string detail = {});

  WorldState& world_;
  Reports& reports_;
  Sleeping& sleeping_;
};

}  // namespace kansetsu
