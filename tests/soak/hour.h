#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/sim/world.h"

namespace kansetsu::test {

/// Figures that are thrown up, fall on each other and hold hands, for as long as one likes. What happens when follows from the number of
/// steps alone, so that a run which was cut off goes on from its last save with the same bits.
class Hour {
 public:
  explicit Hour(int figures, int threads = 1);

  void step();
  const World& world() const { return world_; }
  /// All of it; restore() of a run that was made alike goes on from there, also in another process. Throws Error for other bytes.
  std::string save() const;
  void restore(std::string_view bytes);

 private:
  World world_;
  std::vector<ConnectionId> grips_;
};

/// Bytes that the program has taken from the heap and not given back.
std::size_t heap_in_use();

}  // namespace kansetsu::test
