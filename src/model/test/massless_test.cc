#include "model/massless.h"

#include <doctest/doctest.h>

#include "kansetsu/model/figures.h"
#include "support.h"

namespace kansetsu {
namespace {

using test::box_inertial;

/// A chain of links; each entry is the joint that carries a link, and the link's inertia.
struct Piece {
  JointType type;
  Vec3<> axis;
  Inertial inertial;
  Vec3<> at{};
  double rotor = 0;
};

ModelDescription chain_of(const std::vector<Piece>& pieces, Base base = Base::kFixed) {
  ModelBuilder builder("chain");
  builder.base(base).link("L0", box_inertial());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& p = pieces[i];
    JointDescription joint{.name = "J" + std::to_string(i + 1),
                           .type = p.type,
                           .parent = "L" + std::to_string(i),
                           .child = "L" + std::to_string(i + 1),
                           .socket = {.p = p.at},
                           .axis = p.axis};
    for (int k = 0; k < info(p.type).nv; ++k) joint.dofs.push_back({.rotor_inertia = p.rotor});
    builder.link(joint.child, p.inertial).joint(joint);
  }
  return builder.description();
}

/// Names of the coordinates that move no inertia.
std::vector<std::string> massless(const ModelDescription& d) {
  const Loaded<Model> model = Model::build(d);
  REQUIRE_MESSAGE(model.value, to_string(model.diagnostics));
  std::vector<std::string> names;
  for (int column : massless_columns(model.value->tree()))
    names.push_back(model.value->dof_names()[std::size_t(column)]);
  return names;
}

using Names = std::vector<std::string>;
constexpr Vec3<> kX{1, 0, 0}, kY{0, 1, 0}, kZ{0, 0, 1};
const Inertial kNothing{};
const JointType kHinge = JointType::kRevolute, kSlide = JointType::kPrismatic;

Inertial point_at(const Vec3<>& p) { return {.mass = 1, .origin = {.p = p}}; }

TEST_CASE("massless leaves, but not massless links that carry something") {
  CHECK(massless(chain_of({{kHinge, kX, box_inertial()}})) == Names{});
  CHECK(massless(chain_of({{kHinge, kX, kNothing}})) == Names{"J1"});
  CHECK(massless(chain_of({{kHinge, kX, kNothing}, {kHinge, kY, box_inertial()}})) == Names{});
  CHECK(massless(chain_of({{kHinge, kX, box_inertial()}, {kSlide, kY, kNothing}, {kHinge, kZ, kNothing}})) ==
        Names{"J2", "J3"});
  CHECK(massless(chain_of({{JointType::kBall, kX, kNothing}})) == Names{"J1.wx", "J1.wy", "J1.wz"});
}

TEST_CASE("a rotor is inertia enough") {
  CHECK(massless(chain_of({{kHinge, kX, kNothing, {}, 1e-6}})) == Names{});
  CHECK(massless(chain_of({{JointType::kFree, kX, kNothing, {}, 1e-6}})) == Names{});
}

TEST_CASE("a point mass on the axis, wherever the axis points") {
  const Vec3<> axis = (1 / norm(Vec3<>{1, 2, 3})) * Vec3<>{1, 2, 3};
  CHECK(massless(chain_of({{kHinge, axis, point_at(0.7 * axis)}})) == Names{"J1"});
  CHECK(massless(chain_of({{kHinge, axis, point_at({0.7, 0, 0})}})) == Names{});
  CHECK(massless(chain_of({{kSlide, axis, point_at(0.7 * axis)}})) == Names{});
  CHECK(massless(chain_of({{JointType::kCylindrical, axis, point_at(0.7 * axis)}})) == Names{"J1.q"});
  CHECK(massless(chain_of({{JointType::kBall, kX, point_at({})}})) == Names{"J1.wx", "J1.wy", "J1.wz"});
  CHECK(massless(chain_of({{JointType::kHelical, axis, point_at(0.7 * axis)}})) == Names{"J1"});  // pitch 0
}

TEST_CASE("a thin wire is not massless") {
  const Inertial wire{1, {}, Sym3<>::diagonal(1.0 / 12, 1.0 / 12, 1e-9)};
  CHECK(massless(chain_of({{kHinge, kZ, wire}})) == Names{});
  CHECK(massless(chain_of({{kHinge, kX, kNothing, {0, 0, 100}}, {kHinge, kZ, wire}})) == Names{});
}

TEST_CASE("a ball with a point mass at a distance turns about the line to it for nothing") {
  // One direction is free, and it is along none of the coordinate axes.
  const Names names = massless(chain_of({{JointType::kBall, kX, point_at({0.1, 0.2, 0.3})}}));
  CHECK(names == Names{"J1.wx", "J1.wy", "J1.wz"});
  CHECK(massless(chain_of({{JointType::kBall, kX, point_at({0, 0, 0.3})}})) == Names{"J1.wz"});
}

TEST_CASE("redundant joints with nothing between them") {
  // Two hinges on one axis: each sees the body, but turning one against the other moves nothing.
  CHECK(massless(chain_of({{kHinge, kX, kNothing}, {kHinge, kX, box_inertial()}})) == Names{"J1", "J2"});
  CHECK(massless(chain_of({{kHinge, kX, box_inertial()}, {kHinge, kX, box_inertial()}})) == Names{});
  // Parallel hinges at a distance are a crank.
  CHECK(massless(chain_of({{kHinge, kX, kNothing}, {kHinge, kX, box_inertial(), {0, 1, 0}}})) == Names{});
  // Four concurrent hinges, three of which would do.
  const Vec3<> diagonal{1, 1, 1};
  CHECK(massless(chain_of({{kHinge, diagonal, kNothing},
                           {kHinge, kX, kNothing},
                           {kHinge, kY, kNothing},
                           {kHinge, kZ, box_inertial()}})) == Names{"J1", "J2", "J3", "J4"});
  // … also with a point mass in the middle, and with a gap before the next joint up.
  CHECK(massless(chain_of({{kSlide, kX, kNothing},
                           {kHinge, diagonal, point_at({})},
                           {kHinge, kX, kNothing},
                           {kHinge, kY, kNothing},
                           {kHinge, kZ, box_inertial()}})) == Names{"J2", "J3", "J4", "J5"});
}

TEST_CASE("Euler angles are not singular because of one posture") {
  CHECK(massless(chain_of({{JointType::kBallZyx, kX, box_inertial()}})) == Names{});
  CHECK(massless(chain_of({{kHinge, kZ, kNothing}, {kHinge, kY, kNothing}, {kHinge, kX, box_inertial()}})) == Names{});
}

TEST_CASE("couplings decide together") {
  const auto two = [](const Inertial& first, const Inertial& second) {
    return ModelBuilder("two")
        .link("base", box_inertial())
        .link("a", first)
        .link("b", second)
        .joint({.name = "A", .type = JointType::kRevolute, .parent = "base", .child = "a"})
        .joint({.name = "B", .type = JointType::kRevolute, .parent = "base", .child = "b"});
  };
  CHECK(massless(two(kNothing, box_inertial()).gear("A", "B", 2).description()) == Names{});
  CHECK(massless(two(box_inertial(), kNothing).gear("A", "B", 2).description()) == Names{});
  CHECK(massless(two(kNothing, kNothing).gear("A", "B", 2).description()) == Names{"B"});
  CHECK(massless(two(kNothing, kNothing).description()) == Names{"A", "B"});
}

TEST_CASE("a differential of coaxial hinges is singular unless the coupling forbids it") {
  ModelDescription d = chain_of({{kHinge, kX, kNothing}, {kHinge, kX, box_inertial()}});
  CHECK(massless(ModelBuilder(d).gear("J2", "J1", 2).description()) == Names{});
  CHECK(massless(ModelBuilder(d).gear("J2", "J1", -1).description()) == Names{"J1"});  // the turns cancel
}

TEST_CASE("free bases") {
  CHECK(massless(chain_of({}, Base::kFree)) == Names{});
  ModelDescription rod = chain_of({}, Base::kFree);
  rod.links[0].inertial = Inertial{1, {}, Sym3<>::diagonal(1, 1, 0)};
  CHECK(massless(rod) == Names{"base.omega_z"});
  rod.links[0].inertial = point_at({});
  CHECK(massless(rod) == Names{"base.omega_x", "base.omega_y", "base.omega_z"});
  // A massless root that carries bodies is in order.
  ModelDescription two = chain_of({{kHinge, kX, box_inertial(), {0, 1, 0}}}, Base::kFree);
  two.links[0].inertial.reset();
  // The body stays while the base turns about its hinge, which is 1 m away along y.
  CHECK(massless(two) == Names{"base.omega_x", "base.v_z", "J1"});
  two.joints[0].type = JointType::kFixed;
  two.joints[0].dofs.clear();
  CHECK(massless(two) == Names{});
}

TEST_CASE("random trees have none, with or without rotors and gears") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    CHECK(massless_columns(random_tree(seed, {.rotors = seed % 2 == 0, .gears = int(seed % 4)}).tree()).empty());
  }
}

TEST_CASE("the model lists the joints by name") {
  const Loaded<Model> model = Model::build(chain_of({{kHinge, kX, box_inertial()}, {kHinge, kY, kNothing}}));
  REQUIRE(model.diagnostics.size() == 1);
  CHECK(model.diagnostics[0].code == "MODEL070");
  CHECK(model.diagnostics[0].message == "joint 'J2' moves no inertia; the mass matrix is singular");
  CHECK(model.value->massless_joints() == std::vector{JointId(1)});
}

TEST_CASE("a skeleton without mass is one warning that names a few") {
  std::vector<Piece> pieces(20, Piece{kHinge, kX, kNothing});
  const Loaded<Model> model = Model::build(chain_of(pieces));
  REQUIRE(model.diagnostics.size() == 1);
  CHECK(model.diagnostics[0].message.find("'J8' and 12 more") != std::string::npos);
}

}  // namespace
}  // namespace kansetsu
