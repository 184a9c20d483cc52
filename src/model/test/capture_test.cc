#include "kansetsu/model/capture.h"

#include <doctest/doctest.h>

#include <set>

#include "kansetsu/base/error.h"
#include "kansetsu/model/landmarks.h"
#include "kansetsu/spatial/rotations.h"

using namespace kansetsu;

namespace {

/// Hips and two legs, in file axes with `up` and `left` as they are.
Capture legs(const Vec3<>& up, const Vec3<>& left, double leg) {
  Capture c;
  c.bones = {{.name = "Hips"},
             {.name = "LeftUpLeg", .parent = 0, .offset = 0.1 * leg * left},
             {.name = "LeftLeg", .parent = 1, .offset = -0.5 * leg * up},
             {.name = "LeftFoot", .parent = 2, .offset = -0.5 * leg * up},
             {.name = "RightUpLeg", .parent = 0, .offset = -0.1 * leg * left},
             {.name = "RightLeg", .parent = 4, .offset = -0.5 * leg * up},
             {.name = "RightFoot", .parent = 5, .offset = -0.5 * leg * up}};
  return c;
}

void add_rest_frame(Capture& c) {
  for (const Bone& bone : c.bones) c.poses.push_back({{}, bone.offset});
}

}  // namespace

TEST_CASE("bone poses chain turns and offsets, in metres and world axes") {
  Capture c = legs({0, 1, 0}, {1, 0, 0}, 80);
  c.unit = 0.01;
  c.axes = guess_axes(c);
  add_rest_frame(c);
  // The thigh swings forward by 90°: file z is forward, so it turns about −x.
  c.poses[1].turn = exp_quaternion(Vec3<>{-1.5707963267948966, 0, 0});
  const auto X = bone_poses(c, 0);
  CHECK(norm(X[1].p - Vec3<>{0, 0.08, 0}) < 1e-15);    // rounding
  CHECK(norm(X[2].p - Vec3<>{0.4, 0.08, 0}) < 1e-15);  // knee straight ahead
  CHECK(norm(X[3].p - Vec3<>{0.8, 0.08, 0}) < 1e-15);
  CHECK(norm(rest_poses(c)[3].p - Vec3<>{0, 0.08, -0.8}) < 1e-15);
  CHECK_THROWS_AS(bone_poses(c, 1), Error);
}

TEST_CASE("axes are those of the skeleton at rest, whatever the file's") {
  const Vec3<> x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  for (const auto& [up, left] : {std::pair{y, x}, {z, x}, {z, -x}, {z, y}, {x, -z}}) {
    const Capture c = legs(up, left, 8);
    const Mat3<> R = guess_axes(c);
    CHECK(R * up == z);
    CHECK(R * left == y);
    CHECK(R * cross(left, up) == x);
  }
  // Nothing tells: y up, z forward.
  Capture blank;
  blank.bones = {{.name = "a"}, {.name = "b", .parent = 0, .offset = {0, 1, 0}}};
  CHECK(guess_axes(blank) * z == x);
  CHECK(guess_axes(blank, UpAxis::kZ) * z == z);
}

TEST_CASE("the unit is the one in which people are as tall as they are") {
  for (const double unit : {1.0, 0.1, 0.01, 0.001, 0.0254, 0.0254 / 0.45}) {
    for (const double leg : {0.72, 0.84, 0.96}) CHECK(guess_unit(legs({0, 1, 0}, {1, 0, 0}, leg / unit)) == unit);
  }
  CHECK(guess_unit(Capture{}) == 1);
}

TEST_CASE("a rest pose put before the motion is noticed") {
  Capture c = legs({0, 1, 0}, {1, 0, 0}, 0.8);
  for (int f = 0; f < 4; ++f) add_rest_frame(c);
  CHECK(!begins_at_rest(c));
  for (int f = 0; f < 4; ++f)
    c.poses[static_cast<std::size_t>(7 * f) + 2].turn = exp_quaternion(Vec3<>{0.5 + 0.01 * f, 0, 0});
  CHECK(!begins_at_rest(c));
  c.poses[2].turn = {};
  CHECK(begins_at_rest(c));
}

TEST_CASE("tables name every landmark once, and are found by the bones") {
  for (const LandmarkTable& table : skeleton_tables()) {
    CAPTURE(table.name);
    CHECK(table.bones.size() == kLandmarkCount);
    std::set<std::string> names;
    Capture c;
    for (const auto& [landmark, bone] : table.bones) {
      CHECK(names.insert(bone).second);
      const bool tip = bone.ends_with(".tip");
      if (!tip) c.bones.push_back({.name = bone, .parent = static_cast<int>(c.bones.size()) - 1});
    }
    for (Bone& bone : c.bones) bone.tip = Vec3<>{1, 2, 3};
    CHECK(best_table(c).name == table.name);
    for (const auto& [landmark, bone] : table.bones) {
      const auto found = find_bone_point(c, table, landmark);
      REQUIRE(found);
      CHECK(found->at.x == (bone.ends_with(".tip") ? 1 : 0));
    }
    for (Bone& bone : c.bones) bone.name = "rig:" + bone.name;
    CHECK(find_bone_point(c, table, Landmark::kKneeL));
  }
  for (int l = 0; l < kLandmarkCount; ++l) CHECK(find_landmark(to_string(Landmark(l))) == Landmark(l));
  CHECK(!find_landmark("nose"));
}
