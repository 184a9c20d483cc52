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
  std::vector<double> lower, upper;   ///< of q, those of its followers by gears included; ±∞ where there is none
  Transform<> X_tool;
  double length = 1, extent = 0;

  ArmView view() const;
  /// From the model's q to the arm's n tree coordinates, and back, where joints elsewhere stay as they are.
  void from_model(const double* q, double* y) const;
  void to_model(const double* y, double* q) const;
};

/// A pose in the layout of kernels: R row by row, p. @param out  12
void to_numbers(const Transform<>& X, double* out);

/// Why the fast solver does not support the frame on this link: too many joints, balls, a moving base, gears; none if it does.
std::optional<std::string> arm_problem(const Model& model, LinkId link);
/// @pre !arm_problem(model, link)
Arm make_arm(const Model& model, LinkId link, const Transform<>& X_LF, bool use_limits);

}  // namespace kansetsu::ik
