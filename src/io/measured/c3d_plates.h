#pragma once

#include "io/measured/c3d_format.h"
#include "kansetsu/model/measured.h"

namespace kansetsu::io::c3d {

/// The force plates described by FORCE_PLATFORM, from the signals.
/// @param unit  of lengths [m]
std::vector<ForcePlate> read_plates(const Parameters& parameters, const TimeTable& analog, double unit,
                                    capture::Report& report);

}  // namespace kansetsu::io::c3d
