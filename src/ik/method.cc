#include "kansetsu/ik/method.h"

#include <cmath>
#include <numbers>

#include "ik/rotation_error.h"
#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/eigen.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::ik {
namespace {

constexpr const char* kNames[] = {"tangent", "log-quaternion", "euler"};

/// Of the two rotation vectors within a turn, that nearest to another.
Vec3<> nearest_vector(const Vec3<>& phi, const Vec3<>& near) {
  const double angle = norm(phi);
  if (angle == 0) return phi;
  const Vec3<> other = (1 - 2 * std::numbers::pi / angle) * phi;
  return norm(phi - near) <= norm(other - near) ? phi : other;
}

/// Inverse of a 3×3 matrix whose determinant is at least `least` in size; a smaller one is taken as that.
Mat3<> bounded_inverse(const Mat3<>& A, double least) {
  const Vec3<> a{A.x.x, A.y.x, A.z.x}, b{A.x.y, A.y.y, A.z.y}, c{A.x.z, A.y.z, A.z.z};  // columns
  const double determinant = dot(a, cross(b, c));
  const double held = std::abs(determinant) < least ? std::copysign(least, determinant) : determinant;
  const double k = 1 / held;
  return {k * cross(b, c), k * cross(c, a), k * cross(a, b)};
}

}  // namespace

const char* to_string(Method method) { return kNames[int(method)]; }

std::optional<Method> find_method(std::string_view name) {
  for (const Method method : kMethods) {
    if (name == to_string(method)) return method;
  }
  return std::nullopt;
}

Vec3<> RotationNumbers::of(const Mat3<>& R, const Vec3<>& near) const {
  if (method == Method::kLogQuaternion) return 0.5 * nearest_vector(log_rotation(R), 2.0 * near);
  return method == Method::kEuler ? nearest_euler(order, R, near) : Vec3<>{};
}

Mat3<> RotationNumbers::rotation(const Vec3<>& x, const Mat3<>& from) const {
  if (method == Method::kLogQuaternion) return exp_rotation(2.0 * x);
  return method == Method::kEuler ? from_euler(order, x) : from * exp_rotation(x);
}

Mat3<> RotationNumbers::rate_matrix(const Vec3<>& x) const {
  if (method == Method::kLogQuaternion)
    return 2.0 * right_jacobian(2.0 * x);  // ∂q/∂u of [Tmps], as an angular velocity
  return method == Method::kEuler ? euler_rate_matrix(order, x) : right_jacobian(x);
}

RotationError rotation_error(const RotationNumbers& numbers, const Mat3<>& target, const Mat3<>& R) {
  if (numbers.method == Method::kTangent) {
    const Vec3<> phi = log_rotation(times_transpose(target, R));
    return {transpose_times(target, phi), transpose(target) * right_jacobian_inverse(phi)};
  }
  const Vec3<> goal = numbers.of(target), now = numbers.of(R, goal);
  const Mat3<> G = numbers.rate_matrix(goal);
  return {G * (goal - now), G * bounded_inverse(numbers.rate_matrix(now), kLeastRate) * transpose(R)};
}

MethodCoordinates::MethodCoordinates(const Model& model, const RotationNumbers& numbers)
    : model_(model), numbers_(numbers), rest_(model.nv()) {
  if (numbers.method == Method::kTangent) return;
  if (model.base() == Base::kFree) rotations_.push_back({3, 0});
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange c = model.coordinates(JointId(j));
    if (c.nq != c.nv) rotations_.push_back({c.q + c.nq - 4, c.v});
  }
}

void MethodCoordinates::to_numbers(const VectorRef& q, double* J, int rows) const {
  for (const Rotation& r : rotations_) {
    const Mat3<> R = to_mat3(Quaternion<>{q[r.q], q[r.q + 1], q[r.q + 2], q[r.q + 3]});
    const Mat3<> G = numbers_.rate_matrix(numbers_.of(R));
    for (int i = 0; i < rows; ++i) {
      double* at = J + std::ptrdiff_t(i) * model_.nv() + r.v;
      const Vec3<> row = transpose_times(G, Vec3<>{at[0], at[1], at[2]});
      at[0] = row.x, at[1] = row.y, at[2] = row.z;
    }
  }
}

void MethodCoordinates::advance(const VectorRef& q, const VectorRef& dy, Eigen::Ref<Eigen::VectorXd> out) const {
  if (same()) return integrate(model_, q, dy, out);
  rest_ = dy;
  for (const Rotation& r : rotations_) rest_.segment<3>(r.v).setZero();
  integrate(model_, q, rest_, out);
  for (const Rotation& r : rotations_) {
    const Mat3<> R = to_mat3(Quaternion<>{q[r.q], q[r.q + 1], q[r.q + 2], q[r.q + 3]});
    const Vec3<> x = numbers_.of(R) + Vec3<>{dy[r.v], dy[r.v + 1], dy[r.v + 2]};
    const Quaternion<> turned = to_quaternion(numbers_.rotation(x, R));
    out.segment<4>(r.q) << turned.x, turned.y, turned.z, turned.w;
  }
}

Eigen::MatrixXd method_jacobian(const Model& model, const VectorRef& q, const FrameOn& frame,
                                const RotationNumbers& numbers) {
  check_size("method_jacobian", "q", q.size(), model.nq());
  const Mat3<> R = (fk(model, q)[frame.link] * frame.X_LF).R;
  TaskEvaluator::RowMajor J = jacobian(model, q, frame.link, frame.X_LF, JacobianAxes::kLocalWorldAligned);
  const Mat3<> rates = numbers.method == Method::kTangent
                           ? transpose(R)
                           : bounded_inverse(numbers.rate_matrix(numbers.of(R)), kLeastRate) * transpose(R);
  J.topRows<3>() = (to_eigen(rates) * J.topRows<3>()).eval();
  MethodCoordinates(model, numbers).to_numbers(q, J.data(), 6);
  return J;
}

}  // namespace kansetsu::ik
