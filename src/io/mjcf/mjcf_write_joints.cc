#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/link_index.h"
#include "io/mjcf/mjcf_writer.h"
#include "kansetsu/spatial/rotations.h"
#include "model/joint_motion.h"

/// A joint becomes one MuJoCo joint per primitive of its chain: X = X_ref·T(p)·R(a, q − ref)·T(−p), with p and a in the body's frame.
namespace kansetsu::io::mjcf {
namespace {

/// Writes the data of a coordinate, as far as the figure's switches enable it.
void set_dof(Writer& w, Element& e, const FigureDescription& f, const DofDescription& dof, double reference) {
  const JointSwitches& s = f.switches;
  Interval range{dof.lower, dof.upper};
  if (range.lower == range.upper) range.upper += 1e-12 * std::max(1.0, std::abs(range.upper));  // MuJoCo needs a width
  if (s.limits) w.set_range(e, "range", range);
  w.set_unless(e, "ref", reference, 0);
  if (s.springs && dof.stiffness != 0) w.set(e, "stiffness", dof.stiffness);
  w.set_unless(e, "springref", dof.rest, 0);
  if (s.damping) w.set_unless(e, "damping", dof.damping, 0);
  if (s.rotor_inertia) w.set_unless(e, "armature", dof.rotor_inertia, 0);
  if (s.friction) w.set_unless(e, "frictionloss", dof.friction, 0);
  if (s.effort_limits) w.set_range(e, "actuatorfrcrange", {-dof.effort, dof.effort});
}

/// The name of a coordinate: the joint's, with a suffix if it has several.
std::string coordinate_name(const JointDescription& joint, int coordinate) {
  const auto& suffix = info(joint.type).dof_suffix;
  const bool ball = joint.type == JointType::kBall;
  return ball ? joint.name : joint.name + std::string(suffix[std::size_t(coordinate)]);
}
std::string own_name(const JointDescription& joint, int coordinate) {
  return coordinate == 0 ? joint.name : fmt::format("{}[{}]", joint.name, coordinate);
}

void write_ball_limit(Writer& w, Element& e, const JointDescription& joint) {
  if (!joint.swing_twist) return;
  const SwingTwistLimit& limit = *joint.swing_twist;
  if (limit.swing == limit.twist_upper && limit.swing == -limit.twist_lower)
    w.set(e, "range", std::array{0.0, limit.swing});
  else
    w.lose("swing and twist limits", joint.name);
}

Element& add_joint(Writer& w, const FigureDescription& f, int body, const char* type, const std::string& wanted,
                   const Vec3<>& p) {
  Element& e = w.add(w.element_of(body), "joint");
  w.set(e, "name", w.take_name("joint", f.name, wanted));
  w.set(e, "type", type);
  if (p != Vec3<>{}) w.set(e, "pos", p);
  return e;
}

void write_ball(Writer& w, const FigureDescription& f, const JointDescription& joint, Element& e,
                const Transform<>& X_BK) {
  set_dof(w, e, f, w.ball_data(joint), 0);
  if (f.switches.limits) write_ball_limit(w, e, joint);
  w.coordinates.push_back({f.name, joint.name, 0, PrimitiveKind::kBall, 0, X_BK.R});
}

/// A free joint inside a tree, which MuJoCo does not have: slides along the axes of its socket, and a ball.
void write_free(Writer& w, const FigureDescription& f, const JointDescription& joint, int body,
                const Transform<>& X_BS) {
  for (int k = 0; k < 3; ++k) {
    Element& e = add_joint(w, f, body, "slide", fmt::format("{}/{}", joint.name, "xyz"[k]), X_BS.p);
    const Vec3<> axis{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
    w.set(e, "axis", X_BS.R * axis);
    set_dof(w, e, f, dof_of(joint, 3 + k), 0);
    w.coordinates.push_back({f.name, joint.name, k, PrimitiveKind::kSlide, 0, Mat3<>::identity()});
  }
  Element& ball = add_joint(w, f, body, "ball", joint.name, X_BS.p);
  w.joints[{f.name, joint.name}] = ball.Attribute("name");
  write_ball(w, f, joint, ball, X_BS);
}

}  // namespace

std::vector<double> reference_of(const FigureDescription& figure, const JointDescription& joint) {
  std::vector<double> q(std::size_t(info(joint.type).nq));
  if (has_quaternion(joint.type)) {
    q.back() = 1;
    return q;
  }
  const std::vector<double>* given = find_in(figure.initial.q, joint.name);
  return given && given->size() == q.size() ? *given : q;
}

void write_joint(Writer& w, const FigureDescription& f, const JointDescription& joint, int body,
                 const Transform<>& X_BS) {
  if (joint.type == JointType::kFree) return write_free(w, f, joint, body, X_BS);
  const std::vector<double> reference = reference_of(f, joint);
  Transform<> X_BK = X_BS;
  for (const Primitive& primitive : info(joint.type).chain) {
    const bool screw = primitive.kind == PrimitiveKind::kScrew, slide = primitive.kind == PrimitiveKind::kSlide;
    const Vec3<> axis = primitive_axis(joint, primitive.axis);
    const auto start = [&](const char* type, const std::string& wanted) -> Element& {
      return add_joint(w, f, body, type, wanted, X_BK.p);
    };
    Element& e = start(primitive.kind == PrimitiveKind::kBall ? "ball"
                       : slide                                ? "slide"
                                                              : "hinge",
                       coordinate_name(joint, primitive.coordinate));
    const std::string own = own_name(joint, primitive.coordinate), name = e.Attribute("name");
    w.joints[{f.name, own}] = name;
    if (primitive.kind == PrimitiveKind::kBall) {
      write_ball(w, f, joint, e, X_BK);
      continue;
    }
    const double q = reference[std::size_t(primitive.coordinate)];
    w.set(e, "axis", X_BK.R * axis);
    set_dof(w, e, f, dof_of(joint, primitive.coordinate), q);
    if (dof_of(joint, primitive.coordinate).velocity < kInfinity) w.lose("velocity limits", name);
    w.coordinates.push_back({f.name, joint.name, primitive.coordinate, primitive.kind, q, Mat3<>::identity()});
    if (slide) X_BK.p = X_BK.p + X_BK.R * (q * axis);
    if (!slide) X_BK.R = X_BK.R * exp_rotation(q * axis);
    if (!screw) continue;
    // A slide coupled to the hinge by an equality.
    w.lose("screw joints; replaced by a hinge and a slide coupled by a soft equality", joint.name);
    Element& along = start("slide", joint.name + "_slide");
    w.set(along, "axis", X_BK.R * axis);
    w.set_unless(along, "ref", joint.pitch * q, 0);
    w.coordinates.push_back({f.name, joint.name, -1, PrimitiveKind::kSlide, joint.pitch * q, Mat3<>::identity()});
    X_BK.p = X_BK.p + X_BK.R * (joint.pitch * q * axis);
    Element& equality = w.add(w.section("equality"), "joint");
    w.set(equality, "name", w.take_name("equality", f.name, joint.name));
    w.set(equality, "joint1", std::string(along.Attribute("name")));
    w.set(equality, "joint2", name);
    w.set(equality, "polycoef", std::array{0.0, joint.pitch, 0.0, 0.0, 0.0});
  }
}

}  // namespace kansetsu::io::mjcf
