#include "kansetsu/ik/method.h"

#include <numbers>

#include "ik/rotation_error.h"
#include "ik/test/support.h"
#include "no_alloc.h"

namespace kansetsu::ik {
namespace {

using Eigen::VectorXd;
using test::arm7;
using test::pose_of;
using test::within_limits;

/// A tree with everything whose numbers methods may choose: a free base, balls, and what is the same in all.
Model figure() {
  ModelBuilder b("figure");
  b.base(Base::kFree);
  const auto link = [&](const char* name) { b.link(name, {.mass = 1, .inertia = {0.02, 0, 0, 0.02, 0, 0.02}}); };
  link("body");
  const auto joint = [&](const char* name, JointType type, const char* parent) {
    link(name);
    b.joint({.name = std::string(name) + "_joint",
             .type = type,
             .parent = parent,
             .child = name,
             .socket = {.p = {0.1, 0.2, 0.3}, .rpy = {0.3, -0.2, 0.5}},
             .axis = {0.6, 0, 0.8}});
  };
  joint("upper", JointType::kBall, "body");
  joint("fore", JointType::kRevolute, "upper");
  joint("hand", JointType::kBallZyx, "fore");
  joint("leg", JointType::kBall, "body");
  joint("foot", JointType::kPrismatic, "leg");
  return b.build();
}

/// Away from places where angles of an order have no finite rates.
bool regular(const RotationNumbers& numbers, const Mat3<>& R) {
  if (numbers.method != Method::kEuler) return angular_distance(R, Mat3<>::identity()) < 3;
  const Mat3<> E = numbers.rate_matrix(numbers.of(R));
  return std::abs(dot(E.x, cross(E.y, E.z))) > 0.1;
}
bool regular(const Model& model, const VectorXd& q, const RotationNumbers& numbers) {
  for (int j = -1; j < model.joint_count(); ++j) {
    const CoordinateRange c = j < 0 ? model.base_coordinates() : model.coordinates(JointId(j));
    const int i = c.q + c.nq - 4;
    if (c.nq != c.nv && !regular(numbers, to_mat3(Quaternion<>{q[i], q[i + 1], q[i + 2], q[i + 3]}))) return false;
  }
  return true;
}

std::vector<RotationNumbers> all_numbers() {
  std::vector<RotationNumbers> all{{Method::kTangent}, {Method::kLogQuaternion}};
  for (const EulerOrder order : kEulerOrders) all.push_back({Method::kEuler, order});
  return all;
}

}  // namespace

TEST_CASE("methods: names go both ways") {
  for (const Method method : kMethods) CHECK(find_method(to_string(method)) == method);
  CHECK(!find_method("quaternion"));
}

TEST_CASE("methods: the rotation of the numbers of R is R, and rates turn it as the matrix says") {
  const std::uint64_t seed = 5;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  for (const RotationNumbers& numbers : all_numbers()) {
    CAPTURE(std::string(to_string(numbers.method)));
    CAPTURE(std::string(to_string(numbers.order)));
    for (int i = 0; i < 50; ++i) {
      const Mat3<> R = to_mat3(uniform_rotation(rng));
      const Vec3<> x = numbers.of(R), rate = uniform_vec3(rng, 1);
      CHECK(angular_distance(numbers.rotation(x, R), R) < 1e-14);
      constexpr double h = 1e-5;
      const Mat3<> plus = numbers.rotation(x + h * rate, R), minus = numbers.rotation(x - h * rate, R);
      const Vec3<> w = (0.5 / h) * log_rotation(transpose(minus) * plus);
      CHECK(norm(numbers.rate_matrix(x) * rate - w) < 1e-8);  // h² and 1e-16/h
    }
  }
}

TEST_CASE("methods: what is left to turn is the turn itself to first order, and the rows remove it") {
  const std::uint64_t seed = 6;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  for (const RotationNumbers& numbers : all_numbers()) {
    CAPTURE(std::string(to_string(numbers.method)));
    CAPTURE(std::string(to_string(numbers.order)));
    for (int i = 0; i < 100; ++i) {
      const Mat3<> target = to_mat3(uniform_rotation(rng));
      if (!regular(numbers, target)) continue;
      const Vec3<> small = uniform_vec3(rng, 1e-5);
      const RotationError near = rotation_error(numbers, target, target * exp_rotation(-small));
      CHECK(norm(near.e - small) < 1e-8);  // squares of 1e-5, times rates of up to 10
      const Mat3<> R = to_mat3(uniform_rotation(rng));
      if (!regular(numbers, R)) continue;
      const RotationError e = rotation_error(numbers, target, R);
      const Vec3<> w = uniform_vec3(rng, 1);
      constexpr double h = 1e-6;
      const Vec3<> plus = rotation_error(numbers, target, exp_rotation(h * w) * R).e;
      const Vec3<> minus = rotation_error(numbers, target, exp_rotation(-h * w) * R).e;
      if (norm(plus - minus) > 1e-3) continue;  // between two turns that mean the same
      CHECK(norm(e.M * w + (0.5 / h) * (plus - minus)) < 1e-6 * (1 + norm(e.e)));
    }
  }
}

TEST_CASE("methods: Jacobians of a tree against differences, in all numbers") {
  const Model model = figure();
  const FrameOn hand{model.link_id("hand"), {exp_rotation(Vec3<>{0.1, 0.4, -0.3}), {0.1, 0, 0.2}}};
  const std::uint64_t seed = 7;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  for (const RotationNumbers& numbers : all_numbers()) {
    CAPTURE(std::string(to_string(numbers.method)));
    CAPTURE(std::string(to_string(numbers.order)));
    const MethodCoordinates coordinates(model, numbers);
    int seen = 0;
    for (int i = 0; i < 40; ++i) {
      const VectorXd q = random_configuration(model, rng);
      const Transform<> X = pose_of(model, q, hand);
      if (!regular(model, q, numbers) || !regular(numbers, X.R)) continue;
      ++seen;
      const Eigen::MatrixXd J = method_jacobian(model, q, hand, numbers);
      const Vec3<> x = numbers.of(X.R);
      VectorXd moved(model.nq());
      for (int k = 0; k < model.nv(); ++k) {
        constexpr double h = 1e-6;
        const auto at = [&](double step) {
          coordinates.advance(q, step * VectorXd::Unit(model.nv(), k), moved);
          return pose_of(model, moved, hand);
        };
        const Transform<> plus = at(h), minus = at(-h);
        const Vec3<> turn = numbers.method == Method::kTangent ? log_rotation(transpose(minus.R) * plus.R)
                                                               : numbers.of(plus.R, x) - numbers.of(minus.R, x);
        const Vec3<> way = plus.p - minus.p;
        const double by_difference[6] = {turn.x, turn.y, turn.z, way.x, way.y, way.z};
        for (int r = 0; r < 6; ++r) CHECK(std::abs(J(r, k) - by_difference[r] / (2 * h)) < 1e-6);
      }
    }
    CHECK(seen > 5);
  }
}

TEST_CASE("methods: positions, turns, poses of two hands are reached within limits by all three") {
  ModelDescription d = human28_ball().description();
  d.base = Base::kFixed;
  const Model model = value_or_throw(Model::build(d));
  const FrameOn left = frame_on(model, "gripL"), right = frame_on(model, "gripR");
  for (const Method method : kMethods) {
    CAPTURE(std::string(to_string(method)));
    const std::uint64_t seed = 8;
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    int solved = 0, count = 0;
    for (int i = 0; i < 30; ++i) {
      const VectorXd goal = random_configuration(model, rng);
      const Transform<> X_left = pose_of(model, goal, left), X_right = pose_of(model, goal, right);
      Problem problem;
      if (i % 3 == 0) problem.add(PositionTask{left, X_left.p}).add(PositionTask{right, X_right.p});
      if (i % 3 == 1) problem.add(OrientationTask{left, X_left.R}).add(OrientationTask{right, X_right.R});
      if (i % 3 == 2) problem.add(PoseTask{left, X_left}).add(PositionTask{right, X_right.p});
      Solver solver(model, problem, {.method = method, .iterations = 200, .starts = 10});
      const Report report = solver.solve(neutral(model));
      ++count;
      solved += report.solved();
      if (!report.solved()) continue;
      const Transform<> now = pose_of(model, report.q, left);
      if (i % 3 != 1) CHECK(norm(now.p - X_left.p) < 1e-7);
      if (i % 3 != 0) CHECK(angular_distance(now.R, X_left.R) < 1e-7);
      CHECK(within_limits(model, report.q));
    }
    MESSAGE(std::string(to_string(method)) << ": " << solved << " of " << count);
    CHECK(solved >= (method == Method::kEuler ? 25 : 29));
  }
}

TEST_CASE("methods: a target at gimbal lock is met by tangents and log quaternions, and Euler angles do not claim it") {
  const Model model = arm7();
  const FrameOn tool = frame_on(model, "tool");
  const std::uint64_t seed = 9;
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  int by_euler = 0;
  for (int i = 0; i < 40; ++i) {
    Transform<> target = pose_of(model, random_configuration(model, rng), tool);
    Vec3<> angles = to_euler(EulerOrder::kZYX, target.R);
    angles.y = std::numbers::pi / 2;
    target.R = from_euler(EulerOrder::kZYX, angles);
    for (const Method method : kMethods) {
      CAPTURE(std::string(to_string(method)));
      Solver solver(model, Problem().add(OrientationTask{tool, target.R}), {.method = method, .starts = 10});
      const Report report = solver.solve(neutral(model));
      const double left = angular_distance(pose_of(model, report.q, tool).R, target.R);
      CHECK(report.tasks[0].error == doctest::Approx(left).epsilon(1e-6));
      CHECK(report.solved() == (left <= 1e-8));
      if (method == Method::kEuler)
        by_euler += report.solved();
      else
        CHECK(report.solved());
    }
  }
  MESSAGE("Euler angles: " << by_euler << " of 40");
  CHECK(by_euler < 40);
}

TEST_CASE("methods: rates of Euler angles are exact down to kLeastRate from gimbal lock, and bounded below") {
  const RotationNumbers numbers{Method::kEuler, EulerOrder::kZYX};
  const auto rows = [&](double from_lock) {  // M of the target itself: G·G⁻¹·Rᵀ
    const Mat3<> R = from_euler(EulerOrder::kZYX, {0.4, std::numbers::pi / 2 - from_lock, -0.7});
    return rotation_error(numbers, R, R).M * R;
  };
  const auto off = [](const Mat3<>& A, double share) {  // from share·1; eps/kLeastRate is what rounding leaves
    return norm(A.x - share * Vec3<>{1, 0, 0}) + norm(A.y - share * Vec3<>{0, 1, 0}) +
           norm(A.z - share * Vec3<>{0, 0, 1});
  };
  // The determinant of the rates is the cosine of the pitch.
  CHECK(off(rows(1.01 * kLeastRate), 1) < 1e-8);
  CHECK(off(rows(0.99 * kLeastRate), 0.99) < 1e-8);
  CHECK(off(rows(0.5 * kLeastRate), 0.5) < 1e-8);
  CHECK(off(rows(0), 0) < 1e-8);
}

TEST_CASE("methods: a solver allocates nothing in any of them") {
  const Model model = figure();
  const FrameOn hand{model.link_id("hand"), {}};
  std::mt19937_64 rng(10);
  for (const Method method : kMethods) {
    Solver solver(model, Problem().add(PoseTask{hand, pose_of(model, random_configuration(model, rng), hand)}),
                  {.method = method});
    const VectorXd start = neutral(model);
    Report report;
    solver.solve(start, report);
    CHECK(kansetsu::test::allocations_in([&] { solver.solve(start, report); }) == 0);
  }
}

}  // namespace kansetsu::ik
