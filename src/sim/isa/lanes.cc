#if defined(__clang__)  // in one lane masks are of type bool; & asks for both sides all the same
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#endif
#include "sim/lane_step_kernel.h"

namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

template <class T>
std::uint32_t lane_step_entry(const LaneFigure& f, const LaneStance& stance, std::uint32_t wanted, void* scratch,
                              const LaneBlock& block) {
  switch (stance.sole_count) {
    case 0:
      return lane_step<0, T>(f, stance, wanted, scratch, block);
    case 1:
      return lane_step<1, T>(f, stance, wanted, scratch, block);
    default:
      return lane_step<2, T>(f, stance, wanted, scratch, block);
  }
}

template <class T>
std::size_t lane_scratch_entry(const LaneFigure& f) {
  alignas(64) std::byte start[64];
  Carver<T> carver(start);
  carve_lanes(f, carver);
  return std::size_t(static_cast<std::byte*>(carver.rest()) - start);
}

template <class T>
constexpr LaneKernels lane_kernels() {
  return {LaneTraits<T>::width, lane_step_entry<T>, lane_scratch_entry<T>};
}

}  // namespace

extern const LaneKernels lane_table, one_lane_table;
const LaneKernels lane_table = lane_kernels<NativePack<double>>();
const LaneKernels one_lane_table = lane_kernels<double>();

}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
