#pragma once

#include <Eigen/Core>
#include <span>
#include <string_view>
#include <vector>

#include "kansetsu/base/owner.h"
#include "kansetsu/model/actuator.h"
#include "kansetsu/model/model.h"

/// The tendons and actuators of a model at a state: lengths, velocities, exact moment arms, force laws.
namespace kansetsu {

class Mechanics;       // private
struct Pull;           // private
struct ActuationPlan;  // private

/// A row of a Jacobian: its entries that may not be zero.
struct MomentRow {
  std::span<const int> columns{};  ///< of v
  std::span<const double> values{};
};

/// f at a given input, and how it changes with length and velocity: f = force + d_length·δl + d_velocity·δl̇.
struct ActuatorForce {
  double force = 0, d_length = 0, d_velocity = 0;
  bool clamped = false;  ///< at an end of its range: then it does not change
};

/// What becomes of the effort limits of joints.
enum class EffortLimits { kKept, kIgnored };

/// Compiled once; place() and what follows it never allocate, but torques(). One thread at a time.
class Actuation {
 public:
  Actuation(const Model& model, ActuationDescription description, EffortLimits limits = EffortLimits::kKept);

  int tendon_count() const;
  int actuator_count() const;
  const ActuatorDescription& actuator(int actuator) const;  ///< the motors of the model come first
  const TendonDescription& tendon(int tendon) const;
  int find_actuator(std::string_view name) const;  ///< −1: there is none
  int find_tendon(std::string_view name) const;

  /// Lengths, velocities and moments at a state. The other form uses mechanics at that state, which is a pose and a motion.
  void place(const State& state);
  void place(const Mechanics& mechanics, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

  double tendon_length(int tendon) const;
  double tendon_velocity(int tendon) const;
  MomentRow tendon_moment(int tendon) const;
  /// The points that a tendon goes through, arcs as a few of them; NaN between two branches.
  std::span<const Vec3<>> tendon_points(int tendon) const;

  /// Forces on the bodies along its path per unit of force; none of a sum of coordinates.
  std::span<const Pull> tendon_pulls(int tendon) const;

  double actuator_length(int actuator) const;  ///< gear included
  double actuator_velocity(int actuator) const;
  MomentRow actuator_moment(int actuator) const;

  /// Of one actuator with input u and activation x; ranges of control and force are kept.
  ActuatorForce force(int actuator, double u, double x) const;
  /// Whether it exerts no force in any posture.
  bool is_idle(int actuator, double u, double x) const;
  double activation_rate(int actuator, double u, double x) const;
  /// The activation after a time h with the same control.
  double next_activation(int actuator, double u, double x, double h) const;
  /// Of all actuators; limits of tendons are kept.
  void forces(const Eigen::Ref<const Eigen::VectorXd>& u, const Eigen::Ref<const Eigen::VectorXd>& x,
              std::span<ActuatorForce> out) const;
  /// tau += Σ moment·force
  void add_torques(std::span<const ActuatorForce> forces, double* tau) const;
  /// Limits of joints: of what all actuators exert there together.
  struct EffortLimit {
    int column = 0;
    double effort = kInfinity;
    bool shared = false;  ///< by several actuators, or along a moment arm that changes
  };
  std::span<const EffortLimit> effort_limits() const;
  /// All together: τ of all actuators, limits of joints and tendons kept.
  Eigen::VectorXd torques(const Eigen::Ref<const Eigen::VectorXd>& u, const Eigen::Ref<const Eigen::VectorXd>& x) const;

  struct Impl;                        // private
  const ActuationPlan& plan() const;  // private

 private:
  Owner<Impl> impl_;
};

}  // namespace kansetsu
