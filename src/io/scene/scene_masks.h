#pragma once

#include <string_view>

#include "kansetsu/model/loop_closure.h"

/// Named masks of connections and loops.
namespace kansetsu::io::scene {

inline constexpr std::string_view kMaskWords[] = {"weld",        "point",     "hinge",          "slider",
                                                  "cylindrical", "universal", "point_in_plane", "orientation"};
inline constexpr ConstraintMask kMasks[] = {kWeldMask,        kPointMask,     kHingeMask,        kSliderMask,
                                            kCylindricalMask, kUniversalMask, kPointInPlaneMask, kOrientationMask};

}  // namespace kansetsu::io::scene
