#pragma once

#include "kansetsu/model/actuator.h"
#include "kansetsu/motion/measured_dynamics.h"

/// Which muscles carry the moments of a motion, and what the joints bear with them.
/// docs/theory/static_optimization.md, docs/guide/people.md.
namespace kansetsu {

enum class PassiveForces {
  kLeftOut,  ///< stretched fibres do not pull: with tendons that do not stretch they would pull too much
  kCounted,
};
struct MuscleOptions {
  double reserve = 1;  ///< [N·m, N], see StaticOptimizationOptions
  PassiveForces passive = PassiveForces::kLeftOut;
};

/// What a joint bears: the wrench that the parent exerts on the child besides muscles.
struct JointLoad {
  std::string joint{}, link{};    ///< the child
  std::vector<Force<>> wrench{};  ///< at the joint, in axes of the child [N·m; N]; one per frame
};

struct MuscleForces {
  std::vector<std::string> muscles{};
  Eigen::MatrixXd activations{};    ///< muscles × frames
  Eigen::MatrixXd forces{};         ///< along the tendon, pulling above zero [N]
  Eigen::MatrixXd lengths{};        ///< of muscle and tendon [m]
  std::vector<int> coordinates{};   ///< of the map: those whose moments muscles share
  Eigen::MatrixXd reserves{};       ///< coordinates × frames: what muscles leave [N·m, N]
  std::vector<JointLoad> joints{};  ///< of links with mass, but the root
  int unsolved = 0;                 ///< frames
};
/// Moments of the root, and those of locked coordinates, are not shared.
/// @param muscles  actuators on tendons; others take no part
/// @param forces  those that the dynamics were found with
/// Throws Error if there is no muscle.
MuscleForces share_among_muscles(const MappedModel& model, const ActuationDescription& muscles,
                                 const CoordinateMotion& motion, const MeasuredDynamics& dynamics,
                                 std::span<const MeasuredForce> forces, const MuscleOptions& options = {});

}  // namespace kansetsu
