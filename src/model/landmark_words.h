#pragma once

#include "kansetsu/model/landmarks.h"

namespace kansetsu {

/// Landmarks of a skeleton that no table knows, from the words of its names and from how its bones hang together: the knee is the
/// bone called knee, shin, calf, … of a side, the hip the bone of that side above it, the pelvis where both sides meet. Links: none.
LandmarkTable table_from_words(const Capture& capture);

}  // namespace kansetsu
