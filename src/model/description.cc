#include "kansetsu/model/description.h"

#include "kansetsu/spatial/euler.h"

namespace kansetsu {

Transform<> to_transform(const Pose& pose) { return {from_rpy(pose.rpy), pose.p}; }

Pose to_pose(const Transform<>& X) { return {X.p, to_rpy(X.R)}; }

}  // namespace kansetsu
