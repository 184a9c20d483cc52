#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <set>

#include "kansetsu/base/error.h"
#include "kansetsu/model/figures.h"
#include "model/codes.h"
#include "support.h"

namespace kansetsu {
namespace {

using test::box_inertial;
using test::has_code;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A model without any finding: all that the cases below spoil is there once.
ModelDescription sound() {
  ModelDescription d = ModelBuilder("sound")
                           .link("base", box_inertial())
                           .link("arm", box_inertial())
                           .link("hand", box_inertial())
                           .link("finger", box_inertial())
                           .joint({.name = "shoulder", .type = JointType::kUniversal, .parent = "base", .child = "arm"})
                           .joint({.name = "wrist", .type = JointType::kBall, .parent = "arm", .child = "hand"})
                           .joint({.name = "grip", .type = JointType::kPrismatic, .parent = "hand", .child = "finger"})
                           .couple({.dependent = {"grip"}, .terms = {{{"shoulder", 1}, 0.5}}})
                           .frame({"tip", "finger", {}})
                           .actuator({"motor", {"shoulder", 0}})
                           .no_collision("base", "hand")
                           .description();
  d.file = "sound.urdf";
  for (int i = 0; LinkDescription & link : d.links) link.line = 10 + i++;
  for (int i = 0; JointDescription & joint : d.joints) joint.line = 20 + i++;
  d.couplings[0].line = 30;
  return d;
}

struct Case {
  ModelCode code;
  const char* text;  ///< part of the message
  int line;
  std::function<void(ModelDescription&)> spoil;
};

LinkDescription& link(ModelDescription& d, int i) { return d.links[std::size_t(i)]; }
JointDescription& shoulder(ModelDescription& d) { return d.joints[0]; }
JointDescription& wrist(ModelDescription& d) { return d.joints[1]; }
JointDescription& grip(ModelDescription& d) { return d.joints[2]; }
void inertia(ModelDescription& d, const Sym3<>& I) { d.links[1].inertial->inertia = I; }

const std::vector<Case>& cases() {
  using enum ModelCode;
  using D = ModelDescription;
  static const std::vector<Case> list{
      {kNoLinks, "'sound' has no links", 0, [](D& d) { d = ModelDescription{.name = "sound", .file = "sound.urdf"}; }},
      {kNoName, "frame without a name", 0, [](D& d) { d.frames[0].name = ""; }},
      {kDuplicateLink, "'base' is defined twice; the first is on line 10", 40,
       [](D& d) { d.links.push_back({.name = "base", .line = 40}); }},
      {kDuplicateJoint, "'wrist' is defined twice", 22, [](D& d) { grip(d).name = "wrist", d.couplings.clear(); }},
      {kDuplicateFrame, "'tip' is defined twice", 0, [](D& d) { d.frames.push_back({"tip", "hand", {}}); }},
      {kDuplicateActuator, "'motor' is defined twice", 0, [](D& d) { d.actuators.push_back({"motor", {"grip"}}); }},
      {kUnknownParent, "'grip': parent link 'hnad' does not exist", 22, [](D& d) { grip(d).parent = "hnad"; }},
      {kUnknownChild, "child link 'nothing' does not exist", 40,
       [](D& d) { d.joints.push_back({.name = "x", .parent = "hand", .child = "nothing", .line = 40}); }},
      {kParentIsChild, "joins link 'finger' to itself", 22, [](D& d) { grip(d).parent = "finger"; }},
      {kTwoParents, "'arm' is the child of joint 'shoulder' and of joint 'second'", 40,
       [](D& d) { d.joints.push_back({.name = "second", .parent = "base", .child = "arm", .line = 40}); }},
      {kCycle, "arm → hand → finger → arm", 11, [](D& d) { shoulder(d).parent = "finger"; }},
      {kSeveralRoots, "2 links have no parent joint: 'base', 'lost'", 40,
       [](D& d) { d.links.push_back({.name = "lost", .line = 40}); }},
      {kUnknownFrameLink, "'tip' is on link 'fingr'", 0, [](D& d) { d.frames[0].link = "fingr"; }},
      {kUnknownActuatorDof, "'shoulder' (universal) has no coordinate 2", 0,
       [](D& d) { d.actuators[0].dof.index = 2; }},
      {kUnknownFilterLink, "names link 'Hand'", 0, [](D& d) { d.collision_filters[0].b = "Hand"; }},

      {kNotFinite, "position of socket.y is nan", 20, [](D& d) { shoulder(d).socket.p.y = kNan; }},
      {kOutOfRange, "mass is out of range: 1e+16", 11, [](D& d) { link(d, 1).inertial->mass = 1e16; }},

      {kNegativeMass, "'arm': mass is -1 kg", 11, [](D& d) { link(d, 1).inertial->mass = -1; }},
      {kInertiaWithoutMass, "'arm': has rotational inertia but no mass", 11,
       [](D& d) { link(d, 1).inertial->mass = 0; }},
      {kIndefiniteInertia, "principal moments are -1, 1, 3", 11, [](D& d) { inertia(d, {1, 2, 0, 1, 0, 1}); }},
      {kTriangleInequality, "principal moments are 1, 1, 3", 11, [](D& d) { inertia(d, {1, 0, 0, 2, 1, 2}); }},
      {kHugeMass, "'arm': mass is 200000 kg", 11, [](D& d) { link(d, 1).inertial->mass = 2e5; }},
      {kMasslessFreeBase, "no link has mass", 10,
       [](D& d) {
         d.base = Base::kFree;
         for (LinkDescription& l : d.links) l.inertial.reset();
       }},
      {kNegativeSize, "link 'hand' has size -0.1", 12,
       [](D& d) { link(d, 2).collisions.push_back({.shape = Capsule{0.2, -0.1}}); }},
      {kBadColour, "'red' is (1, 0, 0)", 12,
       [](D& d) {
         link(d, 2).visuals.push_back(
             {.shape = Sphere{1}, .material = Material{.name = "red", .rgba = std::vector<double>{1, 0, 0}}});
       }},
      {kBadSurface, "link 'hand': the height field has 3 columns, 2 rows and 5 heights", 12,
       [](D& d) { link(d, 2).visuals.push_back({.shape = HeightField{3, 2, 1, 1, {0, 0, 0, 0, 0}}}); }},

      {kZeroAxis, "axis of joint 'grip' is the zero vector (0, 0, 0)", 22, [](D& d) { grip(d).axis = {}; }},
      {kParallelAxes, "axes (0, 0, 1) and (0, 0, -2) of joint 'shoulder' are parallel", 20,
       [](D& d) { shoulder(d).second_axis = {0, 0, -2}; }},
      {kNegativeDofData, "damping of 'shoulder.q2' is negative: -1", 20,
       [](D& d) { shoulder(d).dofs = {{}, {.damping = -1}}; }},
      {kNegativeLimit, "velocity limit of 'grip' is negative: -2", 22, [](D& d) { grip(d).dofs = {{.velocity = -2}}; }},
      {kLowerAboveUpper, "lower limit 1 of 'grip' is above its upper limit 0", 22,
       [](D& d) { grip(d).dofs = {{.lower = 1, .upper = 0}}; }},
      {kTooManyDofs, "'grip' (prismatic) has 1 coordinates, but data for 2", 22, [](D& d) { grip(d).dofs = {{}, {}}; }},
      {kSwingTwistRange, "swing limit 4 is outside 0…π", 21, [](D& d) { wrist(d).swing_twist = {.swing = 4}; }},
      {kSwingTwistRange, "lower twist limit 1 is above the upper one, -1", 21,
       [](D& d) {
         wrist(d).type = JointType::kBallZyx;
         wrist(d).swing_twist = {.twist_lower = 1, .twist_upper = -1};
       }},
      {kSwingTwistJoint, "'grip' is prismatic", 22, [](D& d) { grip(d).swing_twist = {.swing = 1}; }},
      {kLimitOfQuaternion, "'wrist' (ball) has position limits", 21, [](D& d) { wrist(d).dofs = {{.lower = -1}}; }},

      {kUnknownCoupledDof, "coupling of 'grip': joint 'elbow' does not exist", 30,
       [](D& d) { d.couplings[0].terms[0].dof = {"elbow"}; }},
      {kFixedCoupled, "joint 'shoulder' is fixed", 30,
       [](D& d) { shoulder(d).type = JointType::kFixed, d.actuators.clear(); }},
      {kCoupledToItself, "'grip' depends on itself: grip ← grip", 30,
       [](D& d) { d.couplings[0].terms[0].dof = {"grip"}; }},
      {kCoupledTwice, "'grip' is determined by two couplings", 31,
       [](D& d) {
         d.couplings.push_back(d.couplings[0]);
         d.couplings[1].line = 31;
       }},
      {kQuaternionGear, "'wrist' (ball) is coupled in 1 of its 3 coordinates", 30,
       [](D& d) {
         d.links.push_back({.name = "other", .inertial = box_inertial()});
         d.joints.push_back({.name = "ball", .type = JointType::kBall, .parent = "base", .child = "other"});
         d.couplings[0] = {.dependent = {"wrist"}, .terms = {{{"ball"}, 1}}, .line = 30};
       }},
      {kZeroRatio, "'grip' is coupled to 'shoulder' with ratio 0", 30, [](D& d) { d.couplings[0].terms[0].ratio = 0; }},
      {kNoTerms, "coupling of 'grip' has no terms", 30, [](D& d) { d.couplings[0].terms.clear(); }},

      {kMasslessJoints, "joint 'swivel' moves no inertia", 40,
       [](D& d) {
         d.links.push_back({.name = "needle"});
         d.joints.push_back(
             {.name = "swivel", .type = JointType::kRevolute, .parent = "finger", .child = "needle", .line = 40});
       }},
      {kSingularFreeBase, "the free base can move", 0,
       [](D& d) {
         d = ModelBuilder("ball bearing").base(Base::kFree).link("point", Inertial{.mass = 1}).description();
         d.file = "sound.urdf";
       }},
  };
  return list;
}

TEST_CASE("a sound description has no findings") { CHECK(to_string(validate(sound())) == ""); }

TEST_CASE("each problem is found, and nothing else is said about it") {
  for (const Case& c : cases()) {
    const ModelCodeInfo& row = info(c.code);
    CAPTURE(row.code);
    ModelDescription d = sound();
    c.spoil(d);
    const std::vector<Diagnostic> found = validate(d);
    CAPTURE(to_string(found));
    CHECK(found.size() == 1);
    if (found.size() != 1) continue;
    CHECK(found[0].code == row.code);
    CHECK(found[0].severity == row.severity);
    CHECK(found[0].message.find(c.text) != std::string::npos);
    CHECK(found[0].line == c.line);
    CHECK(found[0].file == "sound.urdf");
    CHECK_FALSE(found[0].hint.empty());
    CHECK(Model::build(d).value.has_value() == (row.severity == Severity::kWarning));
  }
}

TEST_CASE("every code has a case above") {
  std::set<std::string_view> tested;
  for (const Case& c : cases()) tested.insert(info(c.code).code);
  for (const ModelCodeInfo& row : model_codes()) {
    CAPTURE(row.code);
    CHECK(tested.contains(row.code));
  }
}

TEST_CASE("all problems are reported at once, in the order of the file") {
  ModelDescription d = sound();
  d.links[1].inertial->mass = -1;
  d.links[2].inertial->inertia.xx = kNan;
  shoulder(d).axis = {};
  wrist(d).swing_twist = {.swing = -1, .twist_lower = 1, .twist_upper = -1};
  grip(d).parent = "nowhere";
  d.couplings[0].terms[0].dof = {"nothing"};
  d.frames[0].link = "none";
  const std::vector<Diagnostic> found = validate(d);
  CAPTURE(to_string(found));
  std::multiset<std::string> codes;
  for (const Diagnostic& f : found) codes.insert(f.code);
  CHECK(codes == std::multiset<std::string>{"MODEL007", "MODEL013", "MODEL020", "MODEL030", "MODEL040", "MODEL046",
                                            "MODEL046", "MODEL050"});
  CHECK(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.line < b.line; }));
  CHECK_FALSE(Model::build(d).value);
  CHECK_THROWS_WITH_AS(ModelBuilder(d).build(), doctest::Contains("MODEL050"), Error);
}

TEST_CASE("unknown names come with a suggestion if one is close") {
  ModelDescription d = sound();
  grip(d).parent = "hnad";
  CHECK(validate(d).at(0).hint == "did you mean 'hand'?");
  grip(d).parent = "elephant";
  CHECK(validate(d).at(0).hint == info(ModelCode::kUnknownParent).hint);
}

TEST_CASE("cycles are named once each, roots are counted without them") {
  ModelDescription d = ModelBuilder("rings").link("root").description();
  const auto ring = [&](const std::string& prefix, int n) {
    for (int i = 0; i < n; ++i) {
      const std::string name = prefix + std::to_string(i), next = prefix + std::to_string((i + 1) % n);
      d.links.push_back({.name = name});
      d.joints.push_back({.name = "j" + name, .parent = name, .child = next});
    }
  };
  ring("a", 2);
  ring("b", 3);
  const std::vector<Diagnostic> found = validate(d);
  CAPTURE(to_string(found));
  REQUIRE(found.size() == 2);
  CHECK(found[0].code == "MODEL011");
  CHECK(found[1].code == "MODEL011");
  CHECK(found[1].message.find("b0 → b1 → b2 → b0") != std::string::npos);
}

TEST_CASE("limits may be infinite on their own side, and as large as other programs write them") {
  ModelDescription d = sound();
  grip(d).dofs = {{.lower = -1e16, .upper = 1e300, .velocity = 1e30, .effort = kInfinity}};
  CHECK(validate(d).empty());
  grip(d).dofs = {{.lower = kInfinity}};
  CHECK(has_code(validate(d), "MODEL020"));
  grip(d).dofs = {{.upper = -kInfinity}};
  CHECK(has_code(validate(d), "MODEL020"));
  grip(d).dofs = {{.effort = -kInfinity}};
  CHECK(validate(d).size() == 1);
}

TEST_CASE("a mass is huge above 1e5 kg") {
  const auto warned = [](double mass) {
    ModelDescription d = sound();
    link(d, 1).inertial->mass = mass;
    return has_code(validate(d), "MODEL034");
  };
  CHECK_FALSE(warned(1e5));
  CHECK(warned(1.001e5));
}

TEST_CASE("inertias are judged by their principal moments, however the axes are turned") {
  const Mat3<> R = exp_rotation(Vec3<>{0.4, -1.1, 0.7});
  ModelDescription d = sound();
  wrist(d).socket.p = {0.3, 0.2, 0.1};  // so that the hand is inertia enough for the shoulder
  const auto found = [&](const Vec3<>& J) {
    d.links[1].inertial->inertia = congruence(R, Sym3<>::diagonal(J.x, J.y, J.z));
    const auto list = validate(d);
    return list.empty() ? std::string() : list[0].code;
  };
  CHECK(found({1, 2, 3}) == "");         // a plate: the sum is exact
  CHECK(found({1, 2, 3 + 2e-6}) == "");  // written with six digits
  CHECK(found({1, 2, 3.001}) == "MODEL033");
  CHECK(found({0, 1, 1}) == "");      // a rod
  CHECK(found({-1e-7, 1, 1}) == "");  // written with six digits
  CHECK(found({-1e-3, 1, 1}) == "MODEL032");
  CHECK(found({-2e-20, 0, 2e-20}) == "");  // iCub's links: rounding of a point mass
  CHECK(found({0, 0, 0}) == "");
}

TEST_CASE("quaternion joints follow as a whole, one to one, or not at all") {
  ModelDescription d = ModelBuilder("balls")
                           .link("base")
                           .link("a", box_inertial())
                           .link("b", box_inertial())
                           .link("c", box_inertial())
                           .joint({.name = "A", .type = JointType::kBall, .parent = "base", .child = "a"})
                           .joint({.name = "B", .type = JointType::kBall, .parent = "base", .child = "b"})
                           .joint({.name = "C", .type = JointType::kRevolute, .parent = "base", .child = "c"})
                           .description();
  const auto problem = [&](const std::function<void(ModelBuilder&)>& gear) {
    ModelBuilder builder(d);
    gear(builder);
    const auto found = validate(builder.description());
    CHECK(found.size() <= 1);
    return found.empty() ? std::string() : found[0].code + " " + found[0].message;
  };
  CHECK(problem([](auto& b) { b.gear("B", "A", 1); }) == "");
  CHECK(problem([](auto& b) { b.gear("B", "A", 2); }).find("ratio 2") != std::string::npos);
  CHECK(problem([](auto& b) { b.gear("B", "A", 1, 0.1); }).find("offset 0.1") != std::string::npos);
  CHECK(problem([](auto& b) { b.gear("C", "A", 1); }).find("'C' (revolute) cannot follow") != std::string::npos);
  CHECK(problem([](auto& b) { b.couple({.dependent = {"B", 0}, .terms = {{{"C"}, 1}}}); }).find("which is revolute") !=
        std::string::npos);
  CHECK(problem([](auto& b) { b.couple({.dependent = {"B", 0}, .terms = {{{"A", 1}, 1}}}); }).find("crosswise") !=
        std::string::npos);
  d.joints[0].type = d.joints[1].type = JointType::kBallZyx;
  CHECK(problem([](auto& b) { b.gear("B", "A", 2, 0.1); }) == "");
}

TEST_CASE("circles of couplings are found through several joints") {
  ModelBuilder builder("circle");
  builder.link("L0", box_inertial());
  for (int i = 1; i <= 4; ++i) {
    builder.link("L" + std::to_string(i), box_inertial())
        .joint({.name = "J" + std::to_string(i),
                .type = JointType::kRevolute,
                .parent = "L0",
                .child = "L" + std::to_string(i)});
  }
  builder.gear("J1", "J2", 1).gear("J2", "J3", 1);
  CHECK(validate(builder.description()).empty());  // gears of gears are fine
  builder.couple({.dependent = {"J3"}, .terms = {{{"J4"}, 1}, {{"J1"}, 0.5}}});
  const auto found = validate(builder.description());
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.find("J1 ← J2 ← J3 ← J1") != std::string::npos);
}

TEST_CASE("the built-in figures are sound") {
  for (const std::string& name : figure_names()) {
    CAPTURE(name);
    CHECK(to_string(validate(find_figure(name)->description())) == "");
  }
}

TEST_CASE("a chain of 20 000 links is checked without deep recursion") {
  ModelDescription d = chain(20'000).description();
  CHECK(validate(d).empty());
  d.joints.front().parent = d.links.back().name;  // one ring of 20 000 links
  CHECK(has_code(validate(d), "MODEL011"));
}

}  // namespace
}  // namespace kansetsu
