#pragma once

#include <vector>

#include "batch/kernel_table.h"
#include "kansetsu/model/model.h"

namespace kansetsu::batch {

/// All of q and v in stretches; those of plain numbers are as long as possible.
std::vector<kernel::CoordinateStretch> coordinate_stretches(const Model& model);

}  // namespace kansetsu::batch
