#pragma once

#include <Eigen/Core>
#include <optional>
#include <string_view>

#include "kansetsu/ik/task.h"
#include "kansetsu/spatial/euler.h"

/// The parametrisation of rotations in inverse kinematics: of ball joints, of the free base, and of frames in orientation
/// tasks. Differences of the methods, and why the first is the default: docs/theory/ik.md §6.
namespace kansetsu::ik {

inline constexpr Method kMethods[] = {Method::kTangent, Method::kLogQuaternion, Method::kEuler};
const char* to_string(Method method);  ///< "tangent", "log-quaternion", "euler"
std::optional<Method> find_method(std::string_view name);

/// The rotation numbers x of a rotation and their rates.
struct RotationNumbers {
  Method method = Method::kTangent;
  EulerOrder order = EulerOrder::kZYX;

  /// x of R; zero for tangents, which are relative to R. @param near  if several x represent R, the nearest to these
  Vec3<> of(const Mat3<>& R, const Vec3<>& near = {}) const;
  /// The rotation of x. @param from  the rotation to which tangents are relative
  Mat3<> rotation(const Vec3<>& x, const Mat3<>& from) const;
  /// G with ω = G·ẋ, ω in axes of the turned frame. Singular where the numbers are.
  Mat3<> rate_matrix(const Vec3<>& x) const;
};

/// All velocity coordinates of a model in the parameters of a method: v = G(q)·ẏ. Differs from v at balls with quaternions and at
/// the free base; the coordinates of hinges, slides and ZYX balls are the same in all methods.
class MethodCoordinates {
 public:
  MethodCoordinates(const Model& model, const RotationNumbers& numbers);

  bool same() const { return numbers_.method == Method::kTangent; }  ///< y is v
  /// Columns by v become columns by y: J·G, in place. @param J  rows of nv numbers, one after the other
  void to_numbers(const VectorRef& q, double* J, int rows) const;
  /// The configuration whose numbers are those of q plus dy.
  void advance(const VectorRef& q, const VectorRef& dy, Eigen::Ref<Eigen::VectorXd> out) const;

 private:
  struct Rotation {
    int q, v;
  };
  Model model_;
  RotationNumbers numbers_;
  std::vector<Rotation> rotations_;
  mutable Eigen::VectorXd rest_;
};

/// Jacobian of a frame's pose in the numbers of a method: ∂[x; p]/∂y, 6 × nv, p in world axes. x are the frame's own numbers;
/// for tangents their row is its angular velocity in its own axes.
Eigen::MatrixXd method_jacobian(const Model& model, const VectorRef& q, const FrameOn& frame,
                                const RotationNumbers& numbers);

}  // namespace kansetsu::ik
