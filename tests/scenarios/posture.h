#pragma once

#include "kansetsu/sim/world.h"

namespace kansetsu::test {

/// PD control of every hinge towards q = 0.
inline void hold_posture(World& world, const Model& model) {
  ControllerDescription pd;
  pd.name = "posture", pd.figure = model.name(), pd.kind = ControlKind::kPd;
  for (int j = 0; j < model.joint_count(); ++j)
    pd.joints.push_back({.dof = {model.joint(JointId(j)).name, 0}, .kp = 2000, .kd = 100});
  world.add_controller(pd);
}

}  // namespace kansetsu::test
