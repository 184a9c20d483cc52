#pragma once

#include <span>

#include "kansetsu/dynamics/dynamics.h"

/// Inverse dynamics of a figure that its supports hold: feet on the floor, hands on a bar.
namespace kansetsu {

/// A patch on a link through which the environment pushes: the corners of a sole, one point of a grip.
struct Support {
  LinkId link{0};
  std::vector<Vec3<>> corners{};  ///< on the link [m]; one or more
  Vec3<> normal{0, 0, 1};         ///< outward normal of the environment, world axes
  double friction = 0.8;          ///< μ
  bool grips = false;             ///< forces of any direction, friction does not matter
};

struct SupportedMotion {
  Eigen::VectorXd tau;            ///< joint torques; the six entries of a free base are zero
  std::vector<Force<>> wrenches;  ///< of each support on its link, at the link's origin, world axes
  std::vector<Vec3<>> pressure;   ///< centre of pressure of each support, in the world; zero where it carries nothing
  Force<> residual{};             ///< what the supports cannot give to a free base, in base axes [N·m; N]
  bool feasible = false;          ///< the residual is negligible compared with the forces
  int iterations = 0;
};

/// Joint torques and support forces for the motion v̇ of a figure with a free base. Forces push along the normals, stay in
/// friction pyramids (inside the cones) and have the least sum of squares; what they cannot give is the residual. Allocates.
SupportedMotion supported_inverse_dynamics(const Model& model, const State& state, const VectorRef& vdot,
                                           std::span<const Support> supports);

}  // namespace kansetsu
