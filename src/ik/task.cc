#include "kansetsu/ik/task.h"

#include <algorithm>
#include <cmath>

#include "ik/figure.h"
#include "ik/rotation_error.h"
#include "kansetsu/base/error.h"
#include "kansetsu/geometry/query.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::ik {
namespace {

using Rows = Eigen::Ref<TaskEvaluator::RowMajor>;
using Vector = Eigen::Ref<Eigen::VectorXd>;

double component(const Vec3<>& a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }
const Vec3<>& row(const Mat3<>& A, int i) { return i == 0 ? A.x : i == 1 ? A.y : A.z; }

/// A unit vector; zero stays zero.
Vec3<> direction(const Vec3<>& a) {
  const double length = norm(a);
  return length > 0 ? (1 / length) * a : Vec3<>{};
}

/// Some unit vector normal to a.
Vec3<> any_normal(const Vec3<>& a) {
  const Vec3<> other = std::abs(a.x) < 0.6 ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0};
  return direction(cross(a, other));
}

/// Of a symmetric positive semidefinite matrix, by elimination: never negative.
double determinant(Eigen::Matrix<double, 6, 6> A) {
  double product = 1;
  for (int k = 0; k < 6; ++k) {
    const double pivot = A(k, k);
    if (!(pivot > 0)) return 0;
    product *= pivot;
    for (int i = k + 1; i < 6; ++i) {
      const double factor = A(i, k) / pivot;
      for (int j = k + 1; j < 6; ++j) A(i, j) -= factor * A(k, j);
    }
  }
  return product;
}

std::string known_names(const Model& model) {
  std::string names;
  for (int i = 0; i < model.link_count(); ++i) names += (i ? ", " : "") + model.link(LinkId(i)).name;
  for (int i = 0; i < model.frame_count(); ++i) names += ", " + model.frame(FrameId(i)).name;
  return names;
}

}  // namespace

FrameOn frame_on(const Model& model, std::string_view name, const Transform<>& tool) {
  if (const auto link = model.find_link(name)) return {*link, tool};
  if (const auto frame = model.find_frame(name)) {
    return {model.frame_link(*frame), to_transform(model.frame(*frame).origin) * tool};
  }
  throw Error("no link or frame '" + std::string(name) + "' in '" + model.name() + "'; known: " + known_names(model));
}

struct TaskEvaluator::Impl {
  explicit Impl(const Model& model)
      : figure(model), nv(model.nv()), block(size_t(6 * nv) + 1), other(size_t(6 * nv) + 1) {}

  /// Writes rows [first, first + 3): error `e` and Jacobian M·(3 rows of a block), each times its weight.
  void three(int first, const Vec3<>& e, const Vec3<>& weight, const Mat3<>& M, const double* from, Vector& out,
             Rows* J) const {
    for (int i = 0; i < 3; ++i) {
      const double w = component(weight, i);
      out[first + i] = w * component(e, i);
      if (!J) continue;
      const Vec3<> m = w * row(M, i);
      double* to = J->row(first + i).data();
      for (int k = 0; k < nv; ++k) to[k] = m.x * from[k] + m.y * from[nv + k] + m.z * from[2 * nv + k];
    }
  }

  void position(int first, const FrameOn& frame, const Vec3<>& target, const Vec3<>& weight, Vector& e, Rows* J) {
    const Vec3<> p = figure.pose(frame.link, frame.X_LF).p;
    if (J) figure.jacobian(frame.link, p, block.data());
    three(first, target - p, weight, Mat3<>::identity(), block.data() + 3 * nv, e, J);
  }
  /// The remaining rotation, in the parameters of the method: docs/theory/ik.md (1), (8).
  void orientation(int first, const FrameOn& frame, const Mat3<>& target, const Vec3<>& weight, Vector& e, Rows* J) {
    const Transform<> X = figure.pose(frame.link, frame.X_LF);
    if (J) figure.jacobian(frame.link, X.p, block.data());
    const RotationError left = rotation_error(J ? numbers : RotationNumbers{}, target, X.R);
    three(first, left.e, weight, left.M, block.data(), e, J);
  }
  /// e = d − a for unit vectors. Where they are opposite its gradient vanishes: a sideways part, along
  /// which the joints can turn the axis, shows the way out.
  void aligned(const FrameOn& frame, const Vec3<>& axis, const Vec3<>& d, double weight, Vector& e, Rows* J) {
    const Transform<> X = figure.pose(frame.link, frame.X_LF);
    const Vec3<> a = direction(X.R * axis);
    if (J) figure.jacobian(frame.link, X.p, block.data());
    three(0, d - a, {weight, weight, weight}, -skew(a), block.data(), e, J);
    constexpr double kOpposite = -1 + 1e-10;
    if (J && dot(a, d) < kOpposite) {
      const Vec3<> n = any_normal(a), m = cross(a, n);
      const Eigen::Vector3d first(n.x, n.y, n.z), second(m.x, m.y, m.z);
      const double turns_n = (J->topRows<3>().transpose().lazyProduct(first)).squaredNorm();
      const double turns_m = (J->topRows<3>().transpose().lazyProduct(second)).squaredNorm();
      e.head<3>() += weight * (turns_n >= turns_m ? first : second);
    }
  }
  void look_at(const LookAtTask& task, Vector& e, Rows* J) {
    const Transform<> X = figure.pose(task.frame.link, task.frame.X_LF);
    const Vec3<> line = task.point - X.p;
    const double length = norm(line);
    const Vec3<> d = length > 0 ? (1 / length) * line : direction(X.R * task.axis);
    aligned(task.frame, task.axis, d, task.weight, e, J);
    if (!J || !(length > 0)) return;
    // ḋ = −(1 − d·dᵀ)·v/length: the direction changes as the frame moves
    const Mat3<> M = (task.weight / length) * (Mat3<>::identity() - outer(d, d));
    const double* v = block.data() + 3 * nv;
    for (int i = 0; i < 3; ++i) {
      const Vec3<> m = row(M, i);
      double* to = J->row(i).data();
      for (int k = 0; k < nv; ++k) to[k] += m.x * v[k] + m.y * v[nv + k] + m.z * v[2 * nv + k];
    }
  }
  void relative(const RelativePoseTask& task, Vector& e, Rows* J) {
    const Transform<> X_WF = figure.pose(task.frame.link, task.frame.X_LF);
    const Transform<> X_WB = figure.pose(task.base.link, task.base.X_LF);
    const Transform<> X_BF = inverse(X_WB) * X_WF;
    if (J) {  // both at the frame's origin: the motion of the base is that of a frame fixed to it
      figure.jacobian(task.frame.link, X_WF.p, block.data());
      figure.jacobian(task.base.link, X_WF.p, other.data());
      for (int k = 0; k < 6 * nv; ++k) block[size_t(k)] -= other[size_t(k)];
    }
    const Mat3<> to_base = transpose(X_WB.R);
    const RotationError left = rotation_error(J ? numbers : RotationNumbers{}, task.target.R, X_BF.R);
    three(0, left.e, task.turn_weight, left.M * to_base, block.data(), e, J);
    three(3, task.target.p - X_BF.p, task.weight, to_base, block.data() + 3 * nv, e, J);
  }
  void markers(const MarkerTask& task, Vector& e, Rows* J) {
    int first = 0;
    for (const MarkerTask::Marker& m : task.markers) {
      position(first, {m.link, {Mat3<>::identity(), m.p_L}}, m.seen, {m.weight, m.weight, m.weight}, e, J);
      first += 3;
    }
  }

  void posture(const PostureTask& task, Vector& e, Rows* J);
  void posture_of(const CoordinateRange& range, const PostureTask& task, Vector& e, Rows* J);

  Figure figure;
  RotationNumbers numbers{};
  int nv;
  std::vector<double> block, other;  ///< 6 × nv
};

/// One number: the difference. A ball: log(q⁻¹·target) in its own axes, ∂e = −Jl⁻¹·ω. A free joint: that, and the way to the
/// target's place in its own axes.
void TaskEvaluator::Impl::posture_of(const CoordinateRange& range, const PostureTask& task, Vector& e, Rows* J) {
  const Eigen::VectorXd& q = figure.q();
  const auto weight = [&](int k) { return task.weight.size() > 0 ? task.weight[k] : 1.0; };
  if (range.nq == range.nv) {
    for (int k = 0; k < range.nv; ++k) {
      e[range.v + k] = weight(range.v + k) * (task.target[range.q + k] - q[range.q + k]);
      if (J) (*J)(range.v + k, range.v + k) = weight(range.v + k);
    }
    return;
  }
  const int at = range.q + range.nq - 4;
  const Quaternion<> now{q[at], q[at + 1], q[at + 2], q[at + 3]};
  const Quaternion<> goal{task.target[at], task.target[at + 1], task.target[at + 2], task.target[at + 3]};
  const Vec3<> phi = log_rotation(conjugate(now) * goal);
  const Mat3<> M = left_jacobian_inverse(phi);
  for (int i = 0; i < 3; ++i) {
    const double w = weight(range.v + i);
    e[range.v + i] = w * component(phi, i);
    if (!J) continue;
    for (int k = 0; k < 3; ++k) (*J)(range.v + i, range.v + k) = w * component(row(M, i), k);
  }
  if (range.nq != 7) return;
  const Vec3<> way_W{task.target[range.q] - q[range.q], task.target[range.q + 1] - q[range.q + 1],
                     task.target[range.q + 2] - q[range.q + 2]};
  const Vec3<> way = inverse_rotate(now, way_W);
  const Mat3<> turned = skew(way);  // way changes by way × ω as its axes turn
  for (int i = 0; i < 3; ++i) {
    const double w = weight(range.v + 3 + i);
    e[range.v + 3 + i] = w * component(way, i);
    if (!J) continue;
    (*J)(range.v + 3 + i, range.v + 3 + i) = w;
    for (int k = 0; k < 3; ++k) (*J)(range.v + 3 + i, range.v + k) = -w * component(row(turned, i), k);
  }
}

void TaskEvaluator::Impl::posture(const PostureTask& task, Vector& e, Rows* J) {
  const Model& model = figure.model();
  check_size("PostureTask", "target", task.target.size(), model.nq());
  if (task.weight.size() > 0) check_size("PostureTask", "weight", task.weight.size(), nv);
  if (J) J->setZero();
  if (model.base() == Base::kFree) posture_of(model.base_coordinates(), task, e, J);
  for (int j = 0; j < model.joint_count(); ++j) posture_of(model.coordinates(JointId(j)), task, e, J);
}

RelativePoseTask loop_task(const Model& model, const LoopClosure& loop) {
  const auto held = [&](int bit) { return loop.mask >> bit & 1 ? 1.0 : 0.0; };
  return {.frame = frame_on(model, loop.link_b, to_transform(loop.pose_b)),
          .base = frame_on(model, loop.link_a, to_transform(loop.pose_a)),
          .turn_weight = {held(0), held(1), held(2)},
          .weight = {held(3), held(4), held(5)}};
}

namespace {

/// Calls the right function of Impl for a task.
template <class Impl>
struct Evaluate {
  Impl& impl;
  Vector& e;
  Rows* J;

  void operator()(const PositionTask& t) { impl.position(0, t.frame, t.target, t.weight, e, J); }
  void operator()(const OrientationTask& t) { impl.orientation(0, t.frame, t.target, t.weight, e, J); }
  void operator()(const PoseTask& t) {
    impl.orientation(0, t.frame, t.target.R, t.turn_weight, e, J);
    impl.position(3, t.frame, t.target.p, t.weight, e, J);
  }
  void operator()(const AxisTask& t) { impl.aligned(t.frame, t.axis, direction(t.direction), t.weight, e, J); }
  void operator()(const LookAtTask& t) { impl.look_at(t, e, J); }
  void operator()(const ComTask& t) {
    impl.three(0, t.target - impl.figure.com(), t.weight, Mat3<>::identity(), impl.figure.com_jacobian(), e, J);
  }
  void operator()(const RelativePoseTask& t) { impl.relative(t, e, J); }
  void operator()(const MarkerTask& t) { impl.markers(t, e, J); }
  void operator()(const PostureTask& t) { impl.posture(t, e, J); }
  void operator()(const StayTask& t) {
    const Transform<> place = t.place.value_or(impl.figure.pose(t.frame.link, t.frame.X_LF));
    impl.position(0, t.frame, place.p, {1, 1, 1}, e, J);
    if (t.orientation) impl.orientation(3, t.frame, place.R, {1, 1, 1}, e, J);
  }
};

struct CountRows {
  int nv;
  int operator()(const PositionTask&) const { return 3; }
  int operator()(const OrientationTask&) const { return 3; }
  int operator()(const PoseTask&) const { return 6; }
  int operator()(const AxisTask&) const { return 3; }
  int operator()(const LookAtTask&) const { return 3; }
  int operator()(const ComTask&) const { return 3; }
  int operator()(const RelativePoseTask&) const { return 6; }
  int operator()(const MarkerTask& t) const { return 3 * int(t.markers.size()); }
  int operator()(const PostureTask&) const { return nv; }
  int operator()(const StayTask& t) const { return t.orientation ? 6 : 3; }
};

}  // namespace

int row_count(const AnyTask& task, const Model& model) { return std::visit(CountRows{model.nv()}, task); }

TaskEvaluator::TaskEvaluator(const Model& model) : impl_(std::make_unique<Impl>(model)) {}

void TaskEvaluator::set_method(Method method, EulerOrder order) { impl_->numbers = {method, order}; }

void TaskEvaluator::set(const VectorRef& q) { impl_->figure.set(q); }

void TaskEvaluator::error(const AnyTask& task, Vector e) {
  check_size("TaskEvaluator::error", "e", e.size(), row_count(task, impl_->figure.model()));
  std::visit(Evaluate<Impl>{*impl_, e, nullptr}, task);
}

void TaskEvaluator::rows(const AnyTask& task, Vector e, Rows J) {
  const int count = row_count(task, impl_->figure.model());
  check_size("TaskEvaluator::rows", "e", e.size(), count);
  check_size("TaskEvaluator::rows", "rows of J", J.rows(), count);
  check_size("TaskEvaluator::rows", "columns of J", J.cols(), impl_->nv);
  std::visit(Evaluate<Impl>{*impl_, e, &J}, task);
}

double TaskEvaluator::distance(const Clearance& clearance, Vector gradient) {
  check_size("TaskEvaluator::distance", "gradient", gradient.size(), impl_->nv);
  const auto place = [&](const ShapeOn& s) { return s.link ? impl_->figure.pose(*s.link, s.X_LS) : s.X_LS; };
  const Distance d = signed_distance(clearance.first.geometry, place(clearance.first), clearance.second.geometry,
                                     place(clearance.second));
  gradient.setZero();
  const auto add = [&](const ShapeOn& s, const Vec3<>& p, double sign) {
    if (!s.link) return;
    impl_->figure.jacobian(*s.link, p, impl_->block.data());
    const double* v = impl_->block.data() + 3 * impl_->nv;
    const Vec3<> n = sign * d.normal_W;
    for (int k = 0; k < impl_->nv; ++k) {
      gradient[k] += n.x * v[k] + n.y * v[impl_->nv + k] + n.z * v[2 * impl_->nv + k];
    }
  };
  add(clearance.first, d.p_WA, 1);
  add(clearance.second, d.p_WB, -1);
  return d.distance;
}

double TaskEvaluator::manipulability(const FrameOn& frame) {
  const Transform<> X = impl_->figure.pose(frame.link, frame.X_LF);
  impl_->figure.jacobian(frame.link, X.p, impl_->block.data());
  Eigen::Matrix<double, 6, 6> A;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double sum = 0;
      for (int k = 0; k < impl_->nv; ++k)
        sum += impl_->block[size_t(i * impl_->nv + k)] * impl_->block[size_t(j * impl_->nv + k)];
      A(i, j) = sum;
    }
  }
  return std::sqrt(std::max(determinant(A), 0.0));
}

Transform<> TaskEvaluator::pose(const FrameOn& frame) const { return impl_->figure.pose(frame.link, frame.X_LF); }

}  // namespace kansetsu::ik
