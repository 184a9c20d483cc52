#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ik/arm_view.h"
#include "kansetsu/model/model.h"

namespace kansetsu::ik {

struct Arm {
  std::vector<ArmJoint> joints;
  std::vector<int> position;          ///< in the model's q
  std::vector<double> ratio, offset;  ///< tree coordinate = ratio·q + offset
  Transform<> X_tool;
  double length = 1, extent = 0;

  ArmView view() const;
};

/// Why the fast solver cannot take the frame on this link: too many joints, balls, a moving base, gears; nothing if it can.
std::optional<std::string> arm_problem(const Model& model, LinkId link);
/// @pre !arm_problem(model, link)
Arm make_arm(const Model& model, LinkId link, const Transform<>& X_LF, bool use_limits);

}  // namespace kansetsu::ik
