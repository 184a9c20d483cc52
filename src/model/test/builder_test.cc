#include "kansetsu/model/builder.h"

#include <doctest/doctest.h>

#include <numbers>
#include <random>

#include "kansetsu/base/error.h"
#include "support.h"

namespace kansetsu {
namespace {

using test::box_inertial;
using test::distance;

TEST_CASE("the example of the header builds a pendulum") {
  const Model model =
      ModelBuilder("pendulum")
          .link("ground")
          .link("rod", {.mass = 1, .origin = {.p = {0, 0, -0.5}}, .inertia = Sym3<>::diagonal(1.0 / 12, 1.0 / 12, 0)})
          .joint({.name = "pivot", .type = JointType::kRevolute, .parent = "ground", .child = "rod", .axis = {0, 1, 0}})
          .build();
  CHECK(model.name() == "pendulum");
  CHECK(model.nq() == 1);
  CHECK(model.nv() == 1);
  CHECK(model.mass() == 1);
  CHECK(model.dof_names() == std::vector<std::string>{"pivot"});
}

TEST_CASE("what is put in is in the description") {
  const ModelBuilder builder = ModelBuilder("all")
                                   .base(Base::kFree)
                                   .base_pose({.p = {1, 2, 3}})
                                   .gravity({0, 0, -1.62})
                                   .link("a", box_inertial())
                                   .link({.name = "b", .inertial = box_inertial(2)})
                                   .joint({.name = "j", .type = JointType::kPrismatic, .parent = "a", .child = "b"})
                                   .frame({"f", "b", {.p = {0, 0, 1}}})
                                   .actuator({"m", {"j"}, 10})
                                   .no_collision("a", "b");
  const ModelDescription& d = builder.description();
  CHECK(d.base == Base::kFree);
  CHECK(d.base_pose.p == Vec3<>{1, 2, 3});
  CHECK(d.gravity.z == -1.62);
  CHECK(d.links.size() == 2);
  CHECK(d.frames.at(0).link == "b");
  CHECK(d.actuators.at(0).gear == 10);
  CHECK(d.collision_filters.size() == 1);
  const Model model = builder.build();
  CHECK(model.nv() == 7);
  CHECK(model.mass() == 3);
  CHECK(ModelBuilder(model.description()).build().description() == model.description());
}

TEST_CASE("a filter and a joint keep all apart that is rigid with their links") {
  const Model model = ModelBuilder("m")
                          .link("a", box_inertial())
                          .link("b", box_inertial())
                          .link("tool", box_inertial())
                          .link("c", box_inertial())
                          .joint({.name = "j", .type = JointType::kRevolute, .parent = "a", .child = "b"})
                          .joint({.name = "mount", .type = JointType::kFixed, .parent = "b", .child = "tool"})
                          .joint({.name = "k", .type = JointType::kRevolute, .parent = "tool", .child = "c"})
                          .no_collision("c", "a")
                          .build();
  const auto may = [&](const char* a, const char* b) { return model.may_collide(model.link_id(a), model.link_id(b)); };
  CHECK_FALSE(may("b", "tool"));
  CHECK_FALSE(may("a", "tool"));
  CHECK_FALSE(may("b", "c"));
  CHECK_FALSE(may("a", "c"));
  const Model free = ModelBuilder(model.description())
                         .link("d", box_inertial())
                         .joint({.name = "l", .type = JointType::kRevolute, .parent = "c", .child = "d"})
                         .build();
  CHECK(free.may_collide(free.link_id("tool"), free.link_id("d")));
}

TEST_CASE("gear() couples every coordinate of the joint") {
  for (const JointTypeInfo& type : joint_table()) {
    if (type.nv == 0) continue;
    CAPTURE(type.name);
    const bool quaternion = type.nq != type.nv;
    const Model model = ModelBuilder("gear")
                            .link("base")
                            .link("a", box_inertial())
                            .link("b", box_inertial())
                            .joint({.name = "A", .type = type.type, .parent = "base", .child = "a"})
                            .joint({.name = "B", .type = type.type, .parent = "a", .child = "b"})
                            .gear("B", "A", quaternion ? 1 : -2, quaternion ? 0 : 0.25)
                            .build();
    CHECK(model.nq() == type.nq);
    CHECK(model.nv() == type.nv);
    CHECK(model.coordinates(model.joint_id("B")).nv == 0);
    const Model::Row& row = model.row(model.joint_id("B"), type.nv - 1);
    CHECK(row.terms == std::vector<std::pair<int, double>>{{type.nv - 1, quaternion ? 1 : -2}});
  }
}

TEST_CASE("a gear of a joint that is not there is reported, not lost") {
  const ModelBuilder builder = ModelBuilder("gear").link("base").gear("ghost", "other", 1);
  const Loaded<Model> model = builder.try_build();
  CHECK_FALSE(model.value);
  CHECK(test::has_code(model.diagnostics, "MODEL050"));
  CHECK_THROWS_AS(builder.build(), Error);
}

TEST_CASE("build() throws all problems, try_build() returns them") {
  ModelBuilder builder("bad");
  builder.link("a", {.mass = -1}).joint({.name = "j", .parent = "a", .child = "b"});
  const Loaded<Model> loaded = builder.try_build();
  CHECK_FALSE(loaded);
  CHECK(loaded.diagnostics.size() == 2);
  CHECK_THROWS_WITH_AS(builder.build(), doctest::Contains("MODEL008"), Error);
  CHECK_THROWS_WITH_AS(builder.build(), doctest::Contains("MODEL030"), Error);
}

TEST_CASE("poses survive the way to a transform and back") {
  std::mt19937_64 rng(1);
  const auto angle = [&] { return std::uniform_real_distribution<double>(-3.2, 3.2)(rng); };
  for (int i = 0; i < 200; ++i) {
    const Pose pose{{angle(), angle(), angle()}, {angle(), angle(), angle()}};
    const Transform<> X = to_transform(pose);
    CHECK(distance(to_transform(to_pose(X)), X) < 1e-15);  // matrix elements of size 1, a few roundings
  }
  const Transform<> lock = to_transform({.rpy = {0.3, std::numbers::pi / 2, -0.2}});
  CHECK(distance(to_transform(to_pose(lock)), lock) < 1e-15);  // rounding
  CHECK(to_pose(to_transform({})) == Pose{});
}

}  // namespace
}  // namespace kansetsu
