#pragma once

#include <string>
#include <vector>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/ik/task.h"
#include "kansetsu/model/loop_closure.h"

/// Motion generation: accelerations, forces of the environment and joint torques together, from tasks.
///
///     GenerationProblem problem;
///     problem.holds = {sole_left, sole_right};
///     problem.tasks = {{0, com_rows(model, state, {0, 0, 0.5})}, {1, posture_rows(model, wish)}};
///     const Generated motion = generate(model, state, problem);   // motion.vdot, motion.tau, motion.holds[0].wrench …
///
/// Equation (23) of [NY00] as levels: the equations of motion and the holds exactly, then tasks in strict order, then the
/// weights. Nothing here keeps a force inequality: what would have to be kept is checked afterwards and reported.
/// Derivation: docs/theory/motion_generation.md.
namespace kansetsu {

/// A frame held by the environment: a foot on the floor, a hand on a bar.
struct HeldFrame {
  ik::FrameOn frame{};
  ConstraintMask mask = kWeldMask;   ///< directions that are held, along `axes`
  Mat3<> axes = Mat3<>::identity();  ///< R_WH of the surface; z is its outward normal
  Motion<> acceleration{};           ///< of the frame [ω̇; dv/dt] in world axes; zero: it stays
  std::vector<Vec3<>> corners{};     ///< of the patch, in the frame [m]; none: a point
  double friction = 0.8;             ///< μ
  bool grips = false;                ///< pulls as well: nothing to check
};

/// Rows over accelerations: J·v̇ = a.
struct AccelerationRows {
  std::string name{};
  Eigen::MatrixXd J{};
  Eigen::VectorXd a{};
};
/// Acceleration [ω̇; dv/dt] of a frame, world axes, in the directions of the mask (world axes, too).
AccelerationRows frame_rows(const Model& model, const State& state, const ik::FrameOn& frame,
                            const Motion<>& acceleration, ConstraintMask mask = kWeldMask);
/// Acceleration of the centre of mass.
AccelerationRows com_rows(const Model& model, const State& state, const Vec3<>& acceleration);
/// Rate of the momentum about the centre of mass [N·m; N].
AccelerationRows momentum_rows(const Model& model, const State& state, const Force<>& rate);
/// v̇ of all joints; a free base is left alone. @param vdot  size nv
AccelerationRows posture_rows(const Model& model, const VectorRef& vdot);

struct GenerationTask {
  int level = 0;  ///< 0 first; a level never disturbs those before it
  AccelerationRows rows{};
};

/// Last of all: least Σ w·(x − wish)² over accelerations, forces and torques together.
struct GenerationWeights {
  double acceleration = 1;  ///< of each v̇
  double force = 1e-4;      ///< of each component of a hold's wrench [N, N·m]
  double torque = 1e-3;     ///< of each joint torque
  Eigen::VectorXd wish{};   ///< for v̇; empty: zero
};

enum class GenerationMethod {
  kLevels,
  kPseudoInverse,  ///< the paper's: every row alike, x = W⁻¹·Aᵀ·(A·W⁻¹·Aᵀ)⁺·r. Contradictions spread over all rows.
};

struct GenerationProblem {
  std::vector<HeldFrame> holds{};
  std::vector<GenerationTask> tasks{};
  GenerationWeights weights{};
  GenerationMethod method = GenerationMethod::kLevels;
};

enum class GenerationStatus {
  kExact,         ///< every task is met
  kTasksMissed,   ///< the motion is possible, but tasks contradict it or each other
  kInconsistent,  ///< what is held cannot be held: no such motion exists
};
const char* to_string(GenerationStatus status);

struct LevelReport {
  std::string name;  ///< "motion" for the equations of motion and the holds, then of the tasks
  int rows = 0;
  int rank = 0;         ///< of the rows in what the levels before left free
  double residual = 0;  ///< length of what is missed [rad/s², m/s², N, N·m]
};

/// What a hold does, and whether a floor could do it.
struct HeldReport {
  Force<> wrench{};             ///< on the figure at the frame's origin, world axes [N·m; N]
  Vec3<> pressure{};            ///< centre of pressure in the world; the frame's origin if nothing presses
  bool pushes = true;           ///< along the normal
  bool pressure_inside = true;  ///< the patch; only where the wrench has a moment
  bool within_cone = true;      ///< of friction
  bool possible() const { return pushes && pressure_inside && within_cone; }
};

struct Generated {
  GenerationStatus status = GenerationStatus::kExact;
  Eigen::VectorXd vdot, tau;  ///< nv; τ of a free base is zero
  std::vector<HeldReport> holds;
  std::vector<LevelReport> levels;
  int unknowns = 0, rank = 0;  ///< of [v̇; forces; torques], and of all rows above the weights
};

/// Throws Error if sizes do not fit. Allocates.
Generated generate(const Model& model, const State& state, const GenerationProblem& problem);

}  // namespace kansetsu
