#include "kansetsu/model/joint_type.h"

#include <doctest/doctest.h>

#include <numbers>
#include <set>
#include <string>

#include "kansetsu/spatial/euler.h"
#include "model/random.h"
#include "support.h"

namespace kansetsu {
namespace {

using test::distance;

TEST_CASE("the joint table is in the order of its enumeration, with unique names that are found again") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < joint_table().size(); ++i) {
    const JointTypeInfo& row = joint_table()[i];
    CAPTURE(row.name);
    CHECK(row.type == JointType(i));
    CHECK(&info(row.type) == &row);
    CHECK(names.insert(row.name).second);
    CHECK(find_joint_type(row.name) == row.type);
  }
  CHECK(names.size() == 10);
  CHECK_FALSE(find_joint_type("hinge"));
  CHECK_FALSE(find_joint_type(""));
}

TEST_CASE("the chain of each joint type uses each of its coordinates once") {
  for (const JointTypeInfo& row : joint_table()) {
    CAPTURE(row.name);
    std::set<int> coordinates;
    bool quaternion = false;
    for (const Primitive& primitive : row.chain) {
      const bool ball = primitive.kind == PrimitiveKind::kBall, free = primitive.kind == PrimitiveKind::kFree;
      quaternion = quaternion || ball || free;
      for (int k = 0; k < (free ? 6 : ball ? 3 : 1); ++k) CHECK(coordinates.insert(primitive.coordinate + k).second);
    }
    CHECK(int(coordinates.size()) == row.nv);
    CHECK((coordinates.empty() || (*coordinates.begin() == 0 && *coordinates.rbegin() == row.nv - 1)));
    CHECK(row.nq == row.nv + (quaternion ? 1 : 0));
    CHECK(int(row.dof_suffix.size()) == row.nv);
    CHECK(std::set<std::string_view>(row.dof_suffix.begin(), row.dof_suffix.end()).size() == row.dof_suffix.size());
  }
}

TEST_CASE("1-DOF joints lend their name to their coordinate, others add a suffix") {
  for (const JointTypeInfo& row : joint_table()) {
    for (std::string_view suffix : row.dof_suffix) CHECK(suffix.empty() == (row.nv == 1));
  }
  CHECK(info(JointType::kBall).dof_suffix[1] == ".wy");
  CHECK(info(JointType::kBallZyx).dof_suffix[0] == ".qx");
  CHECK(info(JointType::kFree).dof_suffix[0] == ".omega_x");
  CHECK(info(JointType::kFree).dof_suffix[5] == ".v_z");
  CHECK(info(JointType::kCylindrical).dof_suffix[0] == ".d");
}

JointDescription joint_of(JointType type) {
  return {.name = "J", .type = type, .axis = {0, 0, 2}, .second_axis = {0, 3, 0}, .pitch = 0.1};
}

Transform<> pose_at(JointType type, std::vector<double> q) { return joint_pose(joint_of(type), q); }

constexpr double kRounding = 1e-15;  // products of matrices with entries up to 1

TEST_CASE("each joint type moves as its name says") {
  const auto turn = [](double roll, double pitch, double yaw) { return from_rpy({roll, pitch, yaw}); };
  CHECK(distance(pose_at(JointType::kFixed, {}), {}) == 0);
  CHECK(distance(pose_at(JointType::kRevolute, {0.3}), {turn(0, 0, 0.3), {}}) < kRounding);
  CHECK(distance(pose_at(JointType::kPrismatic, {0.3}), {Mat3<>::identity(), {0, 0, 0.3}}) < kRounding);
  CHECK(distance(pose_at(JointType::kHelical, {0.3}), {turn(0, 0, 0.3), {0, 0, 0.03}}) < kRounding);
  CHECK(distance(pose_at(JointType::kCylindrical, {0.2, 0.3}), {turn(0, 0, 0.3), {0, 0, 0.2}}) < kRounding);
  CHECK(distance(pose_at(JointType::kUniversal, {0.2, 0.3}), {turn(0, 0.3, 0.2), {}}) < kRounding);
  CHECK(distance(pose_at(JointType::kPlanar, {0.2, 0.3, 0.4}), {turn(0, 0, 0.4), {0.2, 0.3, 0}}) < kRounding);
  CHECK(distance(pose_at(JointType::kBallZyx, {0.2, 0.3, 0.4}), {turn(0.2, 0.3, 0.4), {}}) < kRounding);
  const Quaternion<> r = exp_quaternion(Vec3<>{0.2, -0.3, 0.4});
  CHECK(distance(pose_at(JointType::kBall, {r.x, r.y, r.z, r.w}), {to_mat3(r), {}}) < kRounding);
  CHECK(distance(pose_at(JointType::kFree, {1, 2, 3, r.x, r.y, r.z, r.w}), {to_mat3(r), {1, 2, 3}}) < kRounding);
}

TEST_CASE("the axes of a planar joint are a right-handed frame, whatever its normal") {
  std::mt19937_64 rng(3);
  for (int i = 0; i < 100; ++i) {
    JointDescription joint = joint_of(JointType::kPlanar);
    joint.axis = 5.0 * uniform_direction(rng);
    const Vec3<> x = primitive_axis(joint, PrimitiveAxis::kPlaneX), y = primitive_axis(joint, PrimitiveAxis::kPlaneY),
                 z = primitive_axis(joint, PrimitiveAxis::kAxis);
    CAPTURE(i);
    CHECK(norm(cross(x, y) - z) < 4 * kRounding);
    CHECK(std::abs(dot(x, y)) < 4 * kRounding);
    CHECK(norm(5.0 * z - joint.axis) < 20 * kRounding);
  }
}

TEST_CASE("a coordinate is linear exactly if it moves without turning") {
  for (const JointTypeInfo& row : joint_table()) {
    if (row.nq != row.nv) continue;
    for (int k = 0; k < row.nv; ++k) {
      CAPTURE(row.name);
      CAPTURE(k);
      std::vector<double> q(std::size_t(row.nq), 0.0);
      q[std::size_t(k)] = 0.5;
      CHECK(is_linear(row.type, k) == (distance({pose_at(row.type, q).R, {}}, {}) == 0));
    }
  }
  for (int k = 0; k < 6; ++k) CHECK(is_linear(JointType::kFree, k) == (k >= 3));
  for (int k = 0; k < 3; ++k) CHECK_FALSE(is_linear(JointType::kBall, k));
}

}  // namespace
}  // namespace kansetsu
