#pragma once

#include "kansetsu/sim/world.h"

namespace kansetsu::test {

/// Figures fall in a heap: neighbours hit each other, all hit the floor; arms wave at random.
World crowd(int figures, int threads);

/// Whether so many steps of a crowd of 20 give the same bits on 1, 2 and 4 threads, after a save and restore in the middle,
/// and in a replay by another world; empty, or what differs.
std::string crowd_differences(int steps, std::uint64_t& hash, std::uint64_t& contacts);

}  // namespace kansetsu::test
