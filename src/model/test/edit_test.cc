#include "kansetsu/model/edit.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "model/compile.h"
#include "support.h"

namespace kansetsu {
namespace {

using Eigen::VectorXd;
using test::box_inertial;
using test::distance;
using test::link_poses;

/// Mass, first moment and rotational inertia of everything about the world's origin, posture q.
Inertia<> inertia_of(const Model& model, const VectorXd& q) {
  const auto X_WL = link_poses(model, q);
  Inertia<> sum;
  for (int i = 0; i < model.link_count(); ++i) sum = sum + X_WL[std::size_t(i)] * link_inertia(model.link(LinkId(i)));
  return sum;
}

/// Largest difference, each part relative to its own size.
double distance(const Inertia<>& a, const Inertia<>& b) {
  const Sym3<> d = a.I - b.I;
  const double trace = a.I.xx + a.I.yy + a.I.zz, mass = std::max(a.m, 1e-300);
  const double I =
      std::max({std::abs(d.xx), std::abs(d.yy), std::abs(d.zz), std::abs(d.xy), std::abs(d.xz), std::abs(d.yz)});
  return std::max({std::abs(a.m - b.m) / mass, norm(a.h - b.h) / mass, I / std::max(trace, 1e-300)});
}

/// q of `edited` with the joints it shares with `model` where they are in q.
VectorXd carry_over(const Model& model, const VectorXd& q, const Model& edited) {
  VectorXd out = neutral(edited);
  if (edited.base() == Base::kFree && model.base() == Base::kFree) out.head<7>() = q.head<7>();
  for (int j = 0; j < edited.joint_count(); ++j) {
    const auto id = model.find_joint(edited.joint(JointId(j)).name);
    const CoordinateRange to = edited.coordinates(JointId(j));
    if (!id || to.nq == 0) continue;
    const auto values = joint_values(model, q)[std::size_t(id->value())];
    if (int(values.size()) == to.nq) out.segment(to.q, to.nq) = Eigen::Map<const VectorXd>(values.data(), to.nq);
  }
  return out;
}

/// Every link of `edited` is where the link of the same name in `model` is.
double worst_pose(const Model& model, const VectorXd& q, const Model& edited) {
  const auto before = link_poses(model, q), after = link_poses(edited, carry_over(model, q, edited));
  double worst = 0;
  for (int i = 0; i < edited.link_count(); ++i) {
    const LinkId old = model.link_id(edited.link(LinkId(i)).name);
    worst = std::max(worst, distance(before[std::size_t(old.value())], after[std::size_t(i)]));
  }
  return worst;
}

constexpr double kChain = 1e-13;  // rounding of a dozen poses in a row, a few metres long

TEST_CASE("a locked joint stays where it was held, for every joint type") {
  std::mt19937_64 rng(1);
  for (const JointTypeInfo& type : joint_table()) {
    CAPTURE(type.name);
    const Model model = random_tree(3, {.links = 4, .types = {type.type}});
    for (int i = 0; i < 5; ++i) {
      const VectorXd q = random_configuration(model, rng);
      const Model locked = lock_joints(model, {"J2"}, q);
      CHECK(locked.nv() == model.nv() - type.nv);
      CHECK(locked.joint(locked.joint_id("J2")).type == JointType::kFixed);
      CHECK(worst_pose(model, q, locked) < kChain);
      VectorXd other = random_configuration(model, rng);  // the others move, J2 does not
      const CoordinateRange held = model.coordinates(model.joint_id("J2"));
      other.segment(held.q, held.nq) = q.segment(held.q, held.nq);
      CHECK(worst_pose(model, other, locked) < kChain);
      CHECK(distance(inertia_of(model, q), inertia_of(locked, carry_over(model, q, locked))) < kChain);
    }
  }
}

TEST_CASE("locking keeps the rest as it was") {
  const Model human = human28();
  const VectorXd q = neutral(human);
  const Model locked = lock_joints(human, {"neck_z", "neck_x", "neck_y"}, q);
  CHECK(locked.nv() == 31);
  CHECK(locked.mass() == 69);
  CHECK(locked.frame_count() == human.frame_count());
  CHECK(locked.joint(locked.joint_id("hipL_y")) == human.joint(human.joint_id("hipL_y")));
  CHECK(lock_joints(human, {}, q).description() == human.description());
  const Model twice = lock_joints(locked, {"neck_z", "neck_x", "neck_y"}, neutral(locked));
  CHECK(twice.description() == locked.description());
  CHECK_THROWS_WITH_AS(lock_joints(human, {"nek_z"}, q), doctest::Contains("nek_z"), Error);
  CHECK_THROWS_AS(lock_joints(human, {}, VectorXd::Zero(3)), Error);
}

/// Fingers on one palm: J1…J4 about z, with the couplings to be added.
ModelBuilder fingers() {
  ModelBuilder builder("fingers");
  builder.link("palm", box_inertial());
  for (int i = 1; i <= 4; ++i) {
    const std::string n = std::to_string(i);
    builder.link("F" + n, box_inertial())
        .joint({.name = "J" + n,
                .type = JointType::kRevolute,
                .parent = "palm",
                .child = "F" + n,
                .socket = {.p = {1.0 * i, 0, 0}}})
        .actuator({"M" + n, {"J" + n}});
  }
  return builder;
}

TEST_CASE("locking a driver holds its followers where they were") {
  const Model model = fingers().gear("J2", "J1", 2, 0.1).gear("J3", "J2", -1).build();
  const VectorXd q = Eigen::Vector2d(0.3, 0.7);  // J1, J4
  const Model locked = lock_joints(model, {"J1"}, q);
  CHECK(locked.nv() == 1);
  CHECK(locked.description().couplings.empty());
  CHECK(worst_pose(model, q, locked) < kChain);
  REQUIRE(locked.description().actuators.size() == 1);
  CHECK(locked.description().actuators[0].name == "M4");
}

TEST_CASE("locking a follower holds its driver") {
  const Model model = fingers().gear("J2", "J1", 2, 0.1).gear("J3", "J2", -1).build();
  const VectorXd q = Eigen::Vector2d(0.3, 0.7);
  const Model locked = lock_joints(model, {"J3"}, q);
  CHECK(locked.nv() == 1);
  CHECK(worst_pose(model, q, locked) < kChain);
}

TEST_CASE("one of several drivers held is an offset") {
  const Model model =
      fingers().couple({.dependent = {"J3"}, .terms = {{{"J1"}, 2}, {{"J2"}, 3}}, .offset = 0.1}).build();
  const VectorXd q = Eigen::Vector3d(0.3, 0.5, 0.7);
  const Model locked = lock_joints(model, {"J1"}, q);
  CHECK(locked.nv() == 2);
  const Coupling& c = locked.description().couplings.at(0);
  CHECK(c.terms == std::vector<Coupling::Term>{{{"J2"}, 3}});
  CHECK(c.offset == doctest::Approx(0.7));
  CHECK(worst_pose(model, q, locked) < kChain);
  CHECK(worst_pose(model, Eigen::Vector3d(0.3, -1, 2), locked) < kChain);
}

TEST_CASE("a held sum makes one of its terms depend on the others") {
  const Model model = fingers()
                          .couple({.dependent = {"J3"}, .terms = {{{"J1"}, 2}, {{"J2"}, 4}}, .offset = 0.1})
                          .gear("J4", "J2", 0.5)
                          .build();
  const VectorXd q = Eigen::Vector2d(0.3, 0.5);
  const Model locked = lock_joints(model, {"J3"}, q);
  CHECK(locked.nv() == 1);
  CHECK(worst_pose(model, q, locked) < kChain);
  // J1 up by 0.2 keeps J3 only if J2 goes down by 0.1.
  CHECK(worst_pose(model, Eigen::Vector2d(0.5, 0.4), locked) < kChain);
  CHECK(worst_pose(model, Eigen::Vector2d(0.5, 0.5), locked) > 0.01);
}

TEST_CASE("locking random geared trees keeps all poses") {
  std::mt19937_64 rng(2);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Model model =
        random_tree(seed, {.links = 10, .types = {JointType::kRevolute, JointType::kPrismatic}, .gears = 4});
    const VectorXd q = random_configuration(model, rng);
    const Model locked = lock_joints(model, {"J3", "J5", "J8"}, q);
    CHECK(locked.nv() <= model.nv());
    CHECK(worst_pose(model, q, locked) < kChain);
    for (const char* name : {"J3", "J5", "J8"}) CHECK(locked.joint(locked.joint_id(name)).type == JointType::kFixed);
  }
}

TEST_CASE("geared quaternion balls are held together; half a joint cannot be held") {
  const ModelBuilder balls = ModelBuilder("balls")
                                 .link("base")
                                 .link("a", box_inertial())
                                 .link("b", box_inertial())
                                 .joint({.name = "A", .type = JointType::kBall, .parent = "base", .child = "a"})
                                 .joint({.name = "B", .type = JointType::kBall, .parent = "a", .child = "b"});
  const Model geared = ModelBuilder(balls).gear("B", "A", 1).build();
  std::mt19937_64 rng(4);
  const VectorXd q = random_configuration(geared, rng);
  for (const char* name : {"A", "B"}) {
    const Model locked = lock_joints(geared, {name}, q);
    CHECK(locked.nv() == 0);
    CHECK(worst_pose(geared, q, locked) < kChain);
  }
  const Model mixed = ModelBuilder(balls)
                          .link("c", box_inertial())
                          .joint({.name = "C", .type = JointType::kUniversal, .parent = "b", .child = "c"})
                          .link("d", box_inertial())
                          .joint({.name = "D", .type = JointType::kRevolute, .parent = "c", .child = "d"})
                          .couple({.dependent = {"D"}, .terms = {{{"C", 1}, 1}}})
                          .build();
  CHECK_THROWS_WITH_AS(lock_joints(mixed, {"D"}, neutral(mixed)), doctest::Contains("lock 'C' as well"), Error);
  CHECK(lock_joints(mixed, {"C", "D"}, neutral(mixed)).nv() == 6);
}

TEST_CASE("a tool is attached with its names prefixed") {
  const Model arm = chain(3);
  const Model tool =
      with_base(fingers().gear("J2", "J1", 1).frame({"tip", "F1", {}}).no_collision("F1", "F2").build(), Base::kFree);
  const Pose mount{{0, 0, 0.3}, {0, 0.5, 0}};
  const Model both = attach(arm, "link3", tool, mount, "hand/");
  CHECK(both.nv() == 3 + 3);
  CHECK(both.link_count() == arm.link_count() + tool.link_count());
  CHECK(both.mass() == doctest::Approx(arm.mass() + tool.mass()));
  CHECK(both.find_joint("hand/J2"));
  CHECK(both.find_frame("hand/tip"));
  CHECK(both.description().couplings.at(0).terms.at(0).dof.joint == "hand/J1");
  CHECK_FALSE(both.may_collide(both.link_id("hand/F1"), both.link_id("hand/F2")));
  const auto X = link_poses(both, neutral(both)), X_arm = link_poses(arm, neutral(arm));
  CHECK(distance(X[std::size_t(both.link_id("hand/palm").value())], X_arm[3] * to_transform(mount)) < kChain);
  CHECK_THROWS_WITH_AS(attach(arm, "link9", tool, {}, "x"), doctest::Contains("link9"), Error);
  CHECK_THROWS_WITH_AS(attach(both, "link1", tool, {}, "hand/"), doctest::Contains("MODEL003"), Error);
}

TEST_CASE("what was attached can be taken out again") {
  const Model tool = random_tree(5, {.links = 6, .base = Base::kFixed, .gears = 2});
  const Model both = attach(chain(3), "link3", tool, {.p = {1, 2, 3}}, "");
  const Model again = extract_subtree(both, "L0", Base::kFixed);
  ModelDescription expected = tool.description();
  expected.name = "L0";
  expected.base_pose = {};
  CHECK(again.description() == expected);
}

TEST_CASE("a subtree has the links it carries, and only what belongs to them") {
  const Model arm = extract_subtree(human28(), "UpperArmL", Base::kFixed);
  CHECK(arm.nv() == 1);
  CHECK(arm.mass() == 6);
  CHECK(arm.frame_count() == 1);
  CHECK(arm.find_frame("gripL"));
  CHECK(arm.gravity() == human28().gravity());
  const Model free = extract_subtree(human28(), "UpperBody", Base::kFree);
  CHECK(free.nv() == 6 + 3 + 8);
  CHECK(extract_subtree(free, "UpperBody", Base::kFree).description() == free.description());
  // A coupling to a joint outside has lost its meaning; its coordinate is free again.
  const Model geared = fingers().gear("J2", "J1", 1).build();
  CHECK(extract_subtree(geared, "F2", Base::kFree).nv() == 6);
  CHECK_THROWS_AS(extract_subtree(geared, "F9", Base::kFree), Error);
}

TEST_CASE("scaling multiplies lengths and masses, for every joint type") {
  std::mt19937_64 rng(3);
  const double length = 1.7, mass = 0.4;
  for (const JointTypeInfo& type : joint_table()) {
    CAPTURE(type.name);
    const Model model = random_tree(4, {.links = 5, .base = Base::kFixed, .types = {type.type}, .gears = 2});
    const Model scaled = scale(model, length, mass);
    VectorXd q = random_configuration(model, rng), large = q;
    for (int j = 0; j < model.joint_count(); ++j) {  // the same posture: angles as they are, lengths longer
      const CoordinateRange range = model.coordinates(JointId(j));
      if (type.type == JointType::kFree) large.segment<3>(range.q) *= length;
      if (range.nq != range.nv) continue;
      for (int k = 0; k < range.nq; ++k) {
        if (is_linear(type.type, k)) large[range.q + k] *= length;
      }
    }
    const Inertia<> before = inertia_of(model, q), after = inertia_of(scaled, large);
    CHECK(distance(after, {mass * before.m, mass * length * before.h, mass * length * length * before.I}) < kChain);
    CHECK(distance(inertia_of(scale(scaled, 1 / length, 1 / mass), q), before) < kChain);
  }
  CHECK_THROWS_AS(scale(pendulum(), 0, 1), Error);
  CHECK_THROWS_AS(scale(pendulum(), 1, -1), Error);
  CHECK(scale(human28(), 1, 1).description() == human28().description());
}

TEST_CASE("scaling reaches shapes, limits, gears and motors") {
  ModelDescription d =
      ModelBuilder("rack")
          .link("base")
          .link("pinion", box_inertial())
          .link({.name = "rack",
                 .inertial = box_inertial(),
                 .collisions = {{.shape = Box{{1, 2, 3}}}, {.shape = Mesh{.uri = "m"}}, {.shape = Capsule{1, 2}}}})
          .joint({.name = "turn", .type = JointType::kRevolute, .parent = "base", .child = "pinion"})
          .joint({.name = "slide", .type = JointType::kPrismatic, .parent = "base", .child = "rack"})
          .couple({.dependent = {"slide"}, .terms = {{{"turn"}, 0.05}}, .offset = 0.1})
          .actuator({"motor", {"turn"}, 50, 2})
          .description();
  d.joints[0].dofs = {{.lower = -1, .effort = 3, .damping = 5}};
  d.joints[1].dofs = {{.lower = -1, .effort = 3, .damping = 5, .stiffness = 7, .rest = 1}};
  const ModelDescription s = scale(ModelBuilder(d).build(), 2, 3).description();
  CHECK(std::get<Box>(s.links[2].collisions[0].shape).size == Vec3<>{2, 4, 6});
  CHECK(std::get<Mesh>(s.links[2].collisions[1].shape).scale == Vec3<>{2, 2, 2});
  CHECK(std::get<Capsule>(s.links[2].collisions[2].shape) == Capsule{2, 4});
  CHECK(s.joints[0].dofs[0] == DofDescription{.lower = -1, .effort = 36, .damping = 60});
  CHECK(s.joints[1].dofs[0] == DofDescription{.lower = -2, .effort = 18, .damping = 15, .stiffness = 21, .rest = 2});
  CHECK(s.couplings[0].terms[0].ratio == 0.1);
  CHECK(s.couplings[0].offset == 0.2);
  CHECK(s.actuators[0].effort == 24);
}

TEST_CASE("merging fixed links keeps masses, poses and frames") {
  std::mt19937_64 rng(6);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Model model = random_tree(
        seed, {.links = 15, .types = {JointType::kFixed, JointType::kFixed, JointType::kRevolute, JointType::kBall}});
    const Model merged = merge_fixed_links(model);
    CHECK(merged.nv() == model.nv());
    CHECK(merged.link_count() + merged.frame_count() == model.link_count());
    const VectorXd q = random_configuration(model, rng);
    CHECK(distance(inertia_of(model, q), inertia_of(merged, q)) < kChain);
    CHECK(worst_pose(model, q, merged) < kChain);
    const auto before = link_poses(model, q), after = link_poses(merged, q);
    for (int f = 0; f < merged.frame_count(); ++f) {
      const FrameDescription& frame = merged.frame(FrameId(f));
      const Transform<> X_WF = after[std::size_t(merged.frame_link(FrameId(f)).value())] * to_transform(frame.origin);
      CHECK(distance(X_WF, before[std::size_t(model.link_id(frame.name).value())]) < kChain);
    }
    CHECK(merge_fixed_links(merged).description() == merged.description());
  }
  CHECK(merge_fixed_links(human28()).description() == human28().description());
}

TEST_CASE("merging carries shapes, frames and filters along") {
  const LinkShape ball{.name = "s", .shape = Sphere{1}};
  const Model merged = merge_fixed_links(
      ModelBuilder("m")
          .link("a")
          .link({.name = "b", .inertial = box_inertial(), .visuals = {ball}})
          .link("c", box_inertial())
          .joint({.name = "weld", .parent = "a", .child = "b", .socket = {.p = {1, 0, 0}}, .plug = {.p = {0, 0, 1}}})
          .joint(
              {.name = "hinge", .type = JointType::kRevolute, .parent = "b", .child = "c", .socket = {.p = {0, 2, 0}}})
          .frame({"f", "b", {.p = {0, 0, 3}}})
          .no_collision("b", "c")
          .no_collision("a", "b")
          .build());
  CHECK(merged.link_count() == 2);
  CHECK(merged.link(LinkId(0)).visuals.at(0).origin.p == Vec3<>{1, 0, -1});
  CHECK(merged.link(LinkId(0)).inertial == Inertial{1, {.p = {1, 0, -1}}, box_inertial().inertia});
  CHECK(merged.joint(JointId(0)).parent == "a");
  CHECK(merged.joint(JointId(0)).socket.p == Vec3<>{1, 2, -1});
  CHECK(merged.frame(merged.frame_id("f")).origin.p == Vec3<>{1, 0, 2});
  CHECK(merged.frame(merged.frame_id("b")).origin.p == Vec3<>{1, 0, -1});
  CHECK(merged.description().collision_filters == std::vector<CollisionFilter>{{"a", "c"}});
}

/// As inertial_parameters() has them.
VectorXd parameters_of(const Model& model) {
  VectorXd out(10 * model.link_count());
  for (int i = 0; i < model.link_count(); ++i) {
    const Inertia<> M = link_inertia(model.link(LinkId(i)));
    out.segment<10>(10 * i) << M.m, M.h.x, M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.yy, M.I.xz, M.I.yz, M.I.zz;
  }
  return out;
}

TEST_CASE("inertias are changed link by link, and what cannot be is refused") {
  const Model model = human28();
  const VectorXd parameters = parameters_of(model);
  CHECK((parameters_of(with_inertial_parameters(model, parameters)) - parameters).cwiseAbs().maxCoeff() <
        1e-14);  // rounding
  VectorXd heavier = parameters;
  const int body = model.link_id("Body").value();
  heavier.segment<10>(10 * body) *= 3;
  const Model other = with_inertial_parameters(model, heavier);
  CHECK((parameters_of(other) - heavier).cwiseAbs().maxCoeff() < 1e-14);                            // rounding
  CHECK(other.mass() == doctest::Approx(model.mass() + 2 * parameters[10 * body]).epsilon(1e-12));  // rounding of a sum
  CHECK(other.nv() == model.nv());

  for (const double wrong : {-1.0, std::nan(""), kInfinity}) {
    VectorXd bad = parameters;
    bad[10 * body] = wrong;
    CHECK_THROWS_AS(with_inertial_parameters(model, bad), Error);
  }
  VectorXd nothing = parameters;
  nothing.segment<10>(10 * body).setZero();
  CHECK_THROWS_WITH_AS(with_inertial_parameters(model, nothing), doctest::Contains("Body"), Error);
  CHECK_THROWS_AS(with_inertial_parameters(model, parameters.head(10)), Error);
}

TEST_CASE("gravity and base") {
  const Model moon = with_gravity(human28(), {0, 0, -1.62});
  CHECK(moon.gravity().z == -1.62);
  CHECK(moon.nv() == 34);
  const Model fixed = with_base(human28(), Base::kFixed, {.p = {0, 0, 0.88}});
  CHECK(fixed.nv() == 28);
  CHECK(fixed.description().base_pose.p.z == 0.88);
  CHECK(with_base(fixed, Base::kFree).description() == human28().description());
}

}  // namespace
}  // namespace kansetsu
