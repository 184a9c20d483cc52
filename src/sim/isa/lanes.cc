#include "sim/lane_step_kernel.h"

namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

using P = NativePack<double>;

std::uint32_t step_entry(const LaneFigure& f, const LaneStance& stance, std::uint32_t wanted, void* scratch,
                         const LaneBlock& block) {
  switch (stance.sole_count) {
    case 0:
      return lane_step<0, P>(f, stance, wanted, scratch, block);
    case 1:
      return lane_step<1, P>(f, stance, wanted, scratch, block);
    default:
      return lane_step<2, P>(f, stance, wanted, scratch, block);
  }
}

std::size_t scratch_entry(const LaneFigure& f) {
  alignas(64) std::byte start[64];
  Carver<P> carver(start);
  carve_lanes(f, carver);
  return std::size_t(static_cast<std::byte*>(carver.rest()) - start);
}

}  // namespace

extern const LaneKernels lane_table;
const LaneKernels lane_table = {P::width, step_entry, scratch_entry};

}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
