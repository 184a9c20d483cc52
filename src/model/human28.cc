#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"

/// The human figure of the paper ([NY00], Table 3): 13 links, 12 anatomical joints, 28 hinges. Links
/// stand parallel to the world (x forward, y left, z up) in the reference posture, each with its origin at its joint.
namespace kansetsu {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

struct Range {
  double lower = 0, upper = 0;  ///< [deg]
};

/// One row of the spec's table, written for the left side.
struct Segment {
  const char* link;
  const char* parent;
  const char* joint;
  Vec3<> at;         ///< joint in the parent's frame [m]
  const char* axes;  ///< of its hinges, from the parent on
  std::array<Range, 3> limits;
  double mass;
  Vec3<> moments;  ///< about the centre of mass [kg·m²]
  Vec3<> com;
};

// clang-format off
const Segment kTrunk[] = {
    {"UpperBody", "Body",      "waist",    {0, 0, 0.12},    "zxy", {{{ -45, 45}, {-30,  30}, { -30, 70}}}, 16, { 0.8,  0.8,  0.4}, {0, 0,  0.20}},
    {"Head",      "UpperBody", "neck",     {0, 0, 0.45},    "zxy", {{{ -70, 70}, {-40,  40}, { -50, 50}}},  4, { 0.1,  0.1,  0.1}, {0, 0,  0.12}}};
const Segment kLeg[] = {
    {"UpperLeg",  "Body",      "hip",      {0, 0.09, 0},    "zxy", {{{ -45, 45}, {-25,  45}, {-120, 30}}},  5, { 0.2,  0.2,  0.1}, {0, 0, -0.17}},
    {"LowerLeg",  "UpperLeg",  "knee",     {0, 0, -0.40},   "y",   {{{   0, 150}}},                         4, { 0.2,  0.2,  0.1}, {0, 0, -0.17}},
    {"Foot",      "LowerLeg",  "ankle",    {0, 0, -0.40},   "yxz", {{{ -25, 50}, {-30,  30}, { -30, 30}}},  2, {0.02, 0.02, 0.02}, {0.04, 0, -0.05}}};
const Segment kArm[] = {
    {"UpperArm",  "UpperBody", "shoulder", {0, 0.18, 0.38}, "yxz", {{{-180, 60}, {-30, 180}, { -90, 90}}},  4, { 0.2,  0.2,  0.1}, {0, 0, -0.13}},
    {"LowerArm",  "UpperArm",  "elbow",    {0, 0, -0.30},   "y",   {{{-150,  0}}},                          2, { 0.2,  0.2,  0.1}, {0, 0, -0.15}}};
// clang-format on

constexpr double kSoleDepth = 0.08, kHeel = -0.05, kToe = 0.14, kSoleWidth = 0.12, kGripDepth = 0.33;

enum class Side { kMiddle, kLeft, kRight };

std::string with_side(const char* name, Side side) {
  // The pelvis and the trunk are in the middle, whoever hangs on them.
  const std::string text(name);
  if (side == Side::kMiddle || text == "Body" || text == "UpperBody") return text;
  return text + (side == Side::kLeft ? "L" : "R");
}

Vec3<> unit(char axis) { return {axis == 'x' ? 1.0 : 0.0, axis == 'y' ? 1.0 : 0.0, axis == 'z' ? 1.0 : 0.0}; }

/// A reflection in the plane y = 0 turns rotations about x and z around.
Range mirrored(const Range& range, char axis, Side side) {
  return side == Side::kRight && axis != 'y' ? Range{-range.upper, -range.lower} : range;
}

Material colour(const char* name, double red, double green, double blue) {
  return {.name = name, .rgba = std::vector<double>{red, green, blue, 1}};
}

/// A capsule from tip to tip; a and b differ in one coordinate.
LinkShape capsule(const Vec3<>& a, const Vec3<>& b, double radius, const Material& material) {
  constexpr double kQuarterTurn = std::numbers::pi / 2;
  const Vec3<> along = b - a;
  const Vec3<> rpy{along.y != 0 ? kQuarterTurn : 0, along.x != 0 ? kQuarterTurn : 0, 0};
  return {.origin = {0.5 * (a + b), rpy}, .shape = Capsule{radius, norm(along) - 2 * radius}, .material = material};
}

LinkShape sphere(const Vec3<>& centre, double radius, const Material& material) {
  return {.origin = {.p = centre}, .shape = Sphere{radius}, .material = material};
}

/// Limbs are as thick as the arms hanging beside the legs allow. The foot is a box on the sole rectangle.
std::vector<LinkShape> shapes_of(const std::string& link) {
  const Material skin = colour("skin", 0.87, 0.70, 0.58), shirt = colour("shirt", 0.20, 0.42, 0.63),
                 trousers = colour("trousers", 0.23, 0.25, 0.31), shoe = colour("shoe", 0.15, 0.13, 0.12);
  if (link == "Body") return {capsule({0, -0.13, 0.04}, {0, 0.13, 0.04}, 0.08, trousers)};
  if (link == "UpperBody") {
    return {capsule({0, 0, -0.03}, {0, 0, 0.36}, 0.11, shirt), capsule({0, -0.19, 0.36}, {0, 0.19, 0.36}, 0.06, shirt)};
  }
  if (link == "Head") return {capsule({0, 0, -0.06}, {0, 0, 0.12}, 0.05, skin), sphere({0, 0, 0.145}, 0.105, skin)};
  if (link == "UpperLeg") return {capsule({0, 0, 0.05}, {0, 0, -0.45}, 0.055, trousers)};
  if (link == "LowerLeg") return {capsule({0, 0, 0.045}, {0, 0, -0.44}, 0.045, trousers)};
  if (link == "UpperArm") return {capsule({0, 0, 0.04}, {0, 0, -0.34}, 0.04, shirt)};
  if (link == "LowerArm") {
    return {capsule({0, 0, 0.03}, {0, 0, -0.31}, 0.03, skin), sphere({0, 0, -kGripDepth}, 0.033, skin)};
  }
  constexpr double kHeight = 0.05;
  return {{.origin = {.p = {(kHeel + kToe) / 2, 0, kHeight / 2 - kSoleDepth}},
           .shape = Box{{kToe - kHeel, kSoleWidth, kHeight}},
           .material = shoe}};
}

LinkDescription make_link(const char* kind, Side side, double mass, const Vec3<>& com, const Vec3<>& moments) {
  const std::vector<LinkShape> shapes = shapes_of(kind);
  return {.name = with_side(kind, side),
          .inertial = Inertial{mass, {.p = com}, Sym3<>::diagonal(moments.x, moments.y, moments.z)},
          .visuals = shapes,
          .collisions = shapes};
}

DofDescription limited(const Range& range) { return {.lower = kDegree * range.lower, .upper = kDegree * range.upper}; }

/// One hinge per axis; the links between them have neither mass nor size and bear the names of their joints.
void add_hinges(ModelBuilder& builder, const Segment& s, Side side, const Vec3<>& at) {
  const std::string axes = s.axes, joint = with_side(s.joint, side);
  std::string parent = with_side(s.parent, side);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::string name = joint + "_" + axes[k];
    const bool last = k + 1 == axes.size();
    const std::string child = last ? with_side(s.link, side) : name;
    if (!last) builder.link(child);
    builder.joint({.name = name,
                   .type = JointType::kRevolute,
                   .parent = parent,
                   .child = child,
                   .socket = {.p = k == 0 ? at : Vec3<>{}},
                   .axis = unit(axes[k]),
                   .dofs = {limited(mirrored(s.limits[k], axes[k], side))}});
    parent = child;
  }
}

/// One ball: it swings as far as either hinge across the limb would turn, and twists as the one along it.
void add_ball(ModelBuilder& builder, const Segment& s, Side side, const Vec3<>& at) {
  constexpr double kLargestSwing = 175;  // [deg] at 180 the twist is not defined
  SwingTwistLimit limit{.swing = 0};
  for (std::size_t k = 0; k < 3; ++k) {
    const Range range = mirrored(s.limits[k], s.axes[k], side);
    if (s.axes[k] == 'z') {
      limit.twist_lower = kDegree * range.lower;
      limit.twist_upper = kDegree * range.upper;
    } else {
      const double reach = std::max(std::abs(range.lower), std::abs(range.upper));
      limit.swing = std::max(limit.swing, kDegree * std::min(reach, kLargestSwing));
    }
  }
  builder.joint({.name = with_side(s.joint, side),
                 .type = JointType::kBall,
                 .parent = with_side(s.parent, side),
                 .child = with_side(s.link, side),
                 .socket = {.p = at},
                 .swing_twist = limit});
}

enum class Triples { kHinges, kBalls };

void add_segment(ModelBuilder& builder, const Segment& s, Side side, Triples triples) {
  const Vec3<> at{s.at.x, side == Side::kRight ? -s.at.y : s.at.y, s.at.z};
  const bool triple = std::string(s.axes).size() == 3;
  if (triple && triples == Triples::kBalls) {
    add_ball(builder, s, side, at);
  } else {
    add_hinges(builder, s, side, at);
  }
  const LinkDescription link = make_link(s.link, side, s.mass, s.com, s.moments);
  // Neighbours overlap at the joint, also where massless links lie between them.
  builder.link(link).no_collision(with_side(s.parent, side), link.name);
}

Model make_human(const char* name, Triples triples) {
  ModelBuilder builder(name);
  builder.base(Base::kFree).link(make_link("Body", Side::kMiddle, 15, {0, 0, 0.06}, {0.4, 0.4, 0.2}));
  for (const Segment& s : kTrunk) add_segment(builder, s, Side::kMiddle, triples);
  for (const Side side : {Side::kLeft, Side::kRight}) {
    for (const Segment& s : kLeg) add_segment(builder, s, side, triples);
  }
  for (const Side side : {Side::kLeft, Side::kRight}) {
    for (const Segment& s : kArm) add_segment(builder, s, side, triples);
  }
  for (const Side side : {Side::kLeft, Side::kRight}) {
    builder.frame({with_side("sole", side), with_side("Foot", side), {.p = {0, 0, -kSoleDepth}}});
    builder.frame({with_side("grip", side), with_side("LowerArm", side), {.p = {0, 0, -kGripDepth}}});
  }
  return builder.build();
}

}  // namespace

Model human28() { return make_human("human28", Triples::kHinges); }

Model human28_ball() { return make_human("human28_ball", Triples::kBalls); }

}  // namespace kansetsu
