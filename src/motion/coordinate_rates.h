#pragma once

#include "kansetsu/motion/measured_dynamics.h"

namespace kansetsu {

/// xd and xdd from x, at even times of `rate` [Hz].
void differentiate(CoordinateMotion& motion, double rate);

}  // namespace kansetsu
