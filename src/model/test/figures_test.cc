#include "kansetsu/model/figures.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>

#include "kansetsu/model/configuration.h"
#include "model/compile.h"
#include "support.h"

namespace kansetsu {
namespace {

using nlohmann::json;

json human_model() {
  std::ifstream file(KANSETSU_TEST_VECTORS "/contact/human_model.json");
  REQUIRE(file);
  return json::parse(file);
}

Vec3<> to_vec3(const json& a) { return {a[0], a[1], a[2]}; }

/// The file calls every body after its joint; links with mass have names of their own.
std::map<int, std::string> link_names(const json& file) {
  std::map<int, std::string> names;
  for (int i = 0; const json& body : file["model"]["bodies"]) names[i++] = body["name"];
  for (const auto& [name, i] : file["link_ids"].items()) names[i.get<int>()] = name;
  return names;
}

TEST_CASE("human28 is the figure of the reference file, body for body") {
  const json file = human_model();
  const Model human = human28();
  const auto names = link_names(file);
  CHECK(human.link_count() == int(file["model"]["bodies"].size()));
  for (int i = 0; const json& body : file["model"]["bodies"]) {
    const std::string name = names.at(i++);
    CAPTURE(name);
    const LinkId id = human.link_id(name);
    const Inertial inertial = human.link(id).inertial.value_or(Inertial{});
    const Vec3<> moments = to_vec3(body["I_com_diag"]);
    CHECK(inertial.mass == body["mass"].get<double>());
    CHECK(inertial.origin.p == to_vec3(body["com"]));
    CHECK(inertial.inertia == Sym3<>::diagonal(moments.x, moments.y, moments.z));
    if (body["parent"] == -1) {
      CHECK(human.base() == Base::kFree);
      CHECK_FALSE(human.parent(id));
      continue;
    }
    const JointDescription& joint = human.joint(human.joint_id(body["name"].get<std::string>()));
    CHECK(joint.type == JointType::kRevolute);
    CHECK(joint.child == name);
    CHECK(joint.parent == names.at(body["parent"]));
    CHECK(joint.axis == to_vec3(body["axis"]));
    CHECK(joint.socket == Pose{to_vec3(body["r_parent"]), {}});
    CHECK(joint.plug == Pose{});
  }
}

TEST_CASE("human28 has 69 kg, 34 degrees of freedom, and the joint names of the reference file") {
  const Model human = human28();
  CHECK(human.mass() == 69);
  CHECK(human.nv() == 34);
  CHECK(human.nq() == 35);
  CHECK(human.gravity() == Vec3<>{0, 0, -9.81});
  CHECK(human.dof_names()[0] == "base.omega_x");
  std::set<std::string> expected, found;
  const json file = human_model();
  for (const json& joint : file["joint_order"]) {
    for (const char axis : joint[1].get<std::string>()) expected.insert(joint[0].get<std::string>() + "_" + axis);
  }
  for (int j = 0; j < human.joint_count(); ++j) found.insert(human.joint(JointId(j)).name);
  CHECK(found == expected);
  // Depth first, children in the order of the reference file.
  const std::vector<std::string> order{"waist", "neck",  "shoulderL", "elbowL", "shoulderR", "elbowR",
                                       "hipL",  "kneeL", "ankleL",    "hipR",   "kneeR",     "ankleR"};
  std::vector<std::string> seen;
  for (int j = 0; j < human.joint_count(); ++j) {
    const std::string name = human.joint(JointId(j)).name, part = name.substr(0, name.find('_'));
    if (seen.empty() || seen.back() != part) seen.push_back(part);
  }
  CHECK(seen == order);
}

TEST_CASE("human28 stands on its soles at the reference heights") {
  const json file = human_model();
  for (const Model& human : {human28(), human28_ball()}) {
    CAPTURE(human.name());
    Eigen::VectorXd q = neutral(human);
    q[2] = 0.88;
    const auto X_WL = test::link_poses(human, q);
    const auto frame = [&](const char* name) {
      const FrameId id = human.frame_id(name);
      return X_WL[std::size_t(human.frame_link(id).value())] * to_transform(human.frame(id).origin);
    };
    CHECK(test::distance(frame("soleL"), {Mat3<>::identity(), {0, 0.09, 0}}) < 1e-15);  // rounding
    CHECK(test::distance(frame("soleR"), {Mat3<>::identity(), {0, -0.09, 0}}) < 1e-15);
    CHECK(test::distance(frame("gripL"), {Mat3<>::identity(), {0, 0.18, 1.38 - 0.30 - 0.33}}) < 1e-15);
    const auto height = [&](const char* link) { return X_WL[std::size_t(human.link_id(link).value())].p.z; };
    CHECK(height("FootL") == doctest::Approx(0.08));
    CHECK(height("LowerLegR") == doctest::Approx(0.48));
    CHECK(height("UpperBody") == doctest::Approx(1.00));
    CHECK(height("UpperArmL") == doctest::Approx(1.38));
    CHECK(height("Head") == doctest::Approx(1.45));
    Vec3<> moment;
    for (int i = 0; i < human.link_count(); ++i)
      moment += (X_WL[std::size_t(i)] * link_inertia(human.link(LinkId(i)))).h;
    const Vec3<> com = to_vec3(file["stand_0"]["com"]);
    CHECK(norm((1 / human.mass()) * moment - com) < 1e-15);  // rounding of a sum of 13 terms
  }
}

TEST_CASE("the sole box covers the sole rectangle") {
  const Model human = human28();
  const LinkShape& sole = human.link(human.link_id("FootR")).collisions.at(0);
  const Vec3<> size = std::get<Box>(sole.shape).size;
  const json file = human_model();
  CHECK(file["sole_local"].size() == 4);
  for (const json& corner : file["sole_local"]) {
    CHECK(std::abs(corner[0].get<double>() - sole.origin.p.x) == doctest::Approx(size.x / 2));
    CHECK(std::abs(corner[1].get<double>() - sole.origin.p.y) == doctest::Approx(size.y / 2));
    CHECK(corner[2].get<double>() == doctest::Approx(sole.origin.p.z - size.z / 2));
  }
}

TEST_CASE("limits are those of the spec, mirrored on the right") {
  const Model human = human28();
  const auto limits = [&](const char* joint) {
    const DofDescription& dof = human.dof(human.joint_id(joint), 0);
    return std::pair(std::round(1e9 * dof.lower * 180 / std::numbers::pi) / 1e9,
                     std::round(1e9 * dof.upper * 180 / std::numbers::pi) / 1e9);
  };
  using Pair = std::pair<double, double>;
  CHECK(limits("waist_z") == Pair{-45, 45});
  CHECK(limits("waist_x") == Pair{-30, 30});
  CHECK(limits("waist_y") == Pair{-30, 70});
  CHECK(limits("neck_z") == Pair{-70, 70});
  CHECK(limits("neck_x") == Pair{-40, 40});
  CHECK(limits("neck_y") == Pair{-50, 50});
  CHECK(limits("hipL_x") == Pair{-25, 45});
  CHECK(limits("hipR_x") == Pair{-45, 25});
  CHECK(limits("hipR_y") == Pair{-120, 30});
  CHECK(limits("hipR_z") == Pair{-45, 45});
  CHECK(limits("kneeL_y") == Pair{0, 150});
  CHECK(limits("ankleR_y") == Pair{-25, 50});
  CHECK(limits("ankleL_x") == Pair{-30, 30});
  CHECK(limits("ankleL_z") == Pair{-30, 30});
  CHECK(limits("shoulderL_y") == Pair{-180, 60});
  CHECK(limits("shoulderL_x") == Pair{-30, 180});
  CHECK(limits("shoulderR_x") == Pair{-180, 30});
  CHECK(limits("shoulderR_z") == Pair{-90, 90});
  CHECK(limits("elbowR_y") == Pair{-150, 0});
}

TEST_CASE("human28_ball has the same links, masses and degrees of freedom") {
  const Model hinges = human28(), balls = human28_ball();
  CHECK(balls.nv() == 34);
  CHECK(balls.mass() == 69);
  CHECK(balls.joint_count() == 12);
  CHECK(balls.link_count() == 13);
  for (int i = 0; i < balls.link_count(); ++i) {
    const LinkDescription& link = balls.link(LinkId(i));
    CHECK(link == hinges.link(hinges.link_id(link.name)));
  }
  const JointDescription& hip = balls.joint(balls.joint_id("hipR"));
  CHECK(hip.swing_twist->swing == doctest::Approx(120 * std::numbers::pi / 180));
  CHECK(hip.swing_twist->twist_upper == doctest::Approx(45 * std::numbers::pi / 180));
}

/// Round shapes as segments in the world; boxes are left out.
struct Bone {
  Vec3<> a, b;
  double radius;
  LinkId link;
};

double distance(const Bone& s, const Bone& t) {
  double least = kInfinity;  // brute force: axes a few decimetres long, sampled every 1 %
  for (int i = 0; i <= 100; ++i) {
    for (int k = 0; k <= 100; ++k) {
      least = std::min(least, norm(s.a + 0.01 * i * (s.b - s.a) - t.a - 0.01 * k * (t.b - t.a)));
    }
  }
  return least - s.radius - t.radius;
}

TEST_CASE("standing upright, no two parts that could collide overlap") {
  const Model human = human28();
  const auto X_WL = test::link_poses(human, neutral(human));
  std::vector<Bone> bones;
  for (int i = 0; i < human.link_count(); ++i) {
    for (const LinkShape& shape : human.link(LinkId(i)).collisions) {
      const Transform<> X = X_WL[std::size_t(i)] * to_transform(shape.origin);
      if (const auto* capsule = std::get_if<Capsule>(&shape.shape)) {
        CHECK(capsule->length > 0);
        const Vec3<> half = 0.5 * capsule->length * X.R.column_z();
        bones.push_back({X.p - half, X.p + half, capsule->radius, LinkId(i)});
      } else if (const auto* sphere = std::get_if<Sphere>(&shape.shape)) {
        bones.push_back({X.p, X.p, sphere->radius, LinkId(i)});
      }
    }
  }
  CHECK(bones.size() == 15);
  for (const Bone& s : bones) {
    for (const Bone& t : bones) {
      if (!human.may_collide(s.link, t.link)) continue;
      CAPTURE(human.link(s.link).name);
      CAPTURE(human.link(t.link).name);
      CHECK(distance(s, t) > 0.001);
    }
  }
}

TEST_CASE("pendulum and chain") {
  const Model one = pendulum();
  CHECK(one.nv() == 1);
  const Inertial& rod = *one.link(LinkId(1)).inertial;
  CHECK(rod.mass == 1);
  CHECK(rod.origin.p == Vec3<>{0, 0, -0.5});
  CHECK(rod.inertia == Sym3<>::diagonal(1.0 / 12, 1.0 / 12, 0));
  CHECK(pendulum(3).nv() == 3);
  CHECK(chain(7).nv() == 7);
  CHECK(chain(7).mass() == 7);
  CHECK(chain(7, Base::kFree).nv() == 12);
  CHECK(chain(7, Base::kFree).mass() == 7);
  CHECK(chain(4).joint(JointId(3)).axis == chain(4).joint(JointId(0)).axis);
}

TEST_CASE("figures are found by name") {
  for (const std::string& name : figure_names()) {
    CAPTURE(name);
    const auto model = find_figure(name);
    REQUIRE(model);
    CHECK(model->name() == name);
  }
  CHECK(find_figure("chain12")->nv() == 12);
  CHECK(find_figure("tree12")->nv() == 12);
  CHECK(find_figure("pendulum3")->nv() == 3);
  for (const char* name : {"", "humans", "human:", "human:3", "human:-1m", "chain", "chain0", "chain-1", "chain8x",
                           "chain999999999", "pendulum 2"}) {
    CAPTURE(name);
    CHECK_FALSE(find_figure(name));
  }
}

TEST_CASE("random trees follow from their seed and obey their options") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    CHECK(random_tree(seed).description() == random_tree(seed).description());
    CHECK(random_tree(seed).description() != random_tree(seed + 1).description());
    CHECK(random_tree(seed).base() == Base::kFree);
    CHECK(random_tree(seed, {.base = Base::kFixed}).base() == Base::kFixed);
    const Model chain = random_tree(seed, {.links = 9, .branching = 0});
    CHECK(chain.link_count() == 9);
    for (int i = 1; i < 9; ++i) CHECK(chain.parent(LinkId(i)) == LinkId(i - 1));
    const Model geared = random_tree(seed, {.types = {JointType::kRevolute}, .gears = 5});
    CHECK(geared.nv() == 6 + 11 - 5);
    CHECK(random_tree(seed, {.types = {JointType::kRevolute}, .gears = 50}).nv() == 6 + 1);  // as many as there can be
    const Model balls = random_tree(seed, {.types = {JointType::kBall}, .rotors = false});
    for (const JointDescription& joint : balls.description().joints) {
      CHECK(joint.type == JointType::kBall);
      for (const DofDescription& dof : joint.dofs) CHECK(dof.rotor_inertia == 0);
    }
    const Model aligned = random_tree(seed, {.aligned = true});
    for (const JointDescription& joint : aligned.description().joints) {
      const Mat3<> R = to_transform(joint.socket).R;
      for (const Vec3<>& column : {R.column_x(), R.column_y(), R.column_z(), joint.axis, joint.second_axis}) {
        CHECK(std::abs(column.x) + std::abs(column.y) + std::abs(column.z) ==
              doctest::Approx(1).epsilon(1e-14));  // rounding
      }
    }
  }
}

TEST_CASE("random trees meet every joint type and every parent") {
  std::set<JointType> types;
  bool branches = false;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Model model = random_tree(seed, {.links = 20});
    for (int j = 0; j < model.joint_count(); ++j) {
      types.insert(model.joint(JointId(j)).type);
      branches = branches || model.parent_link(JointId(j)) != LinkId(j);
    }
  }
  CHECK(types.size() == joint_table().size());
  CHECK(branches);
}

}  // namespace
}  // namespace kansetsu
