#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

#include "io/mjcf/mjcf_reader.h"
#include "io/shapes.h"
#include "io/text.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::io::mjcf {
namespace {

constexpr std::size_t kMostBodies = 100000;

void read_inertial(Reader& reader, const Element& element, const Place& place) {
  Body& body = reader.body(place.body);
  if (body.inertial)
    return reader.report.error(element, kUnique, "unique element 'inertial' found 2 times", "a body has one inertia");
  const Attributes a(reader, element, nullptr);
  Inertial inertial;
  if (!a.has("mass")) report_missing(reader.report, element, "attribute mass", "give the mass in kg");
  if (!a.has("pos")) report_missing(reader.report, element, "attribute pos", "give the centre of mass");
  a.number("mass", inertial.mass);
  inertial.origin = to_pose(place.X_BF * read_pose(reader, a));
  std::array<double, 6> full{};
  std::array<double, 3> diagonal{};
  if (a.numbers("fullinertia", full, 6) == 6) {
    inertial.inertia = {full[0], full[3], full[4], full[1], full[5], full[2]};
    if (a.has("diaginertia")) {
      reader.report.error(element, kRange, "both fullinertia and diaginertia", "give one of them");
    }
  } else if (a.numbers("diaginertia", diagonal, 3) == 3) {
    inertial.inertia = Sym3<>::diagonal(diagonal[0], diagonal[1], diagonal[2]);
  }
  body.inertial = inertial;
}

/// A range; reversed bounds are an error, as in MuJoCo.
bool read_range(Reader& reader, const Attributes& a, const char* name, std::array<double, 2>& range) {
  if (a.numbers(name, range, 2) != 2) return false;
  if (range[0] <= range[1]) return true;
  return reader.report.fail(a.element(), kRange,
                            fmt::format("{}: {} is above {}", name, format_number(range[0]), format_number(range[1])),
                            "give the lower bound first");
}

void read_limits(Reader& reader, const Attributes& a, Joint& joint) {
  std::array<double, 2> range{};
  const bool given = read_range(reader, a, "range", range);
  const int limited = a.keyword("limited", {"false", "true", "auto"}).value_or(2);
  const bool applies = limited == 1 || (limited == 2 && reader.compiler_of(a.element()).autolimits && given);
  if (applies && given) {
    const auto convert = [&](double x) {
      return joint.kind == JointKind::kSlide ? x : reader.compiler_of(a.element()).angle(x);
    };
    if (joint.kind == JointKind::kBall) {
      const double angle = std::min(convert(range[1]), 3.14159265358979323846) - joint.margin;
      if (angle > 0) joint.swing_twist = SwingTwistLimit{angle, -angle, angle};
      reader.report.repeated_warning(a.element(), kBallLimit,
                                     "the limit of a ball joint is read as swing and twist limits");
    } else {
      joint.dof.lower = convert(range[0]);
      joint.dof.upper = convert(range[1]);
    }
  }
  std::array<double, 2> force{};
  const int force_limited = a.keyword("actuatorfrclimited", {"false", "true", "auto"}).value_or(2);
  if (read_range(reader, a, "actuatorfrcrange", force) && force_limited != 0) {
    joint.dof.effort = std::max(std::abs(force[0]), std::abs(force[1]));
    if (force[0] != -force[1]) {
      reader.report.missing(a.element(), kForceRange,
                            "an asymmetric force range is read as symmetric with its larger bound");
    }
  }
}

void read_joint(Reader& reader, const Element& element, const Place& place) {
  Body& body = reader.body(place.body);
  const bool free = std::string_view(element.Name()) == "freejoint";
  if (place.body == 0)
    return reader.report.error(element, kFreeJoint, "the world has a joint", "put the joint into a <body>");
  const Attributes a =
      free ? Attributes(reader, element, nullptr) : attributes_of(reader, element, "joint", place.childclass);
  Joint joint;
  joint.element = &element;
  if (free)
    joint.kind = JointKind::kFree;
  else if (const auto kind = a.keyword("type", {"free", "ball", "slide", "hinge"}))
    joint.kind = JointKind(*kind);
  joint.name = take_name(
      reader, element, "joint",
      fmt::format("{}_{}", body.name, body.joints.empty() ? "joint" : fmt::format("joint{}", body.joints.size() + 1)));
  a.vec3("pos", joint.p);
  joint.p = place.X_BF * joint.p;
  Vec3<> axis{0, 0, 1};
  a.vec3("axis", axis);
  const double length = norm(axis);
  if (has_direction(length))
    joint.axis = place.X_BF.R * ((1 / length) * axis);
  else
    reader.report.error(element, kZeroVector, "axis has no direction", "give a vector that is not zero");
  const bool turns = joint.kind == JointKind::kHinge;
  a.number("ref", joint.reference);
  a.number("springref", joint.dof.rest);
  const Compiler& compiler = reader.compiler_of(element);
  if (turns) joint.reference = compiler.angle(joint.reference), joint.dof.rest = compiler.angle(joint.dof.rest);
  if (joint.kind == JointKind::kBall || joint.kind == JointKind::kFree) joint.reference = joint.dof.rest = 0;
  if (!free) {
    if (a.numbers("springdamper", joint.spring_damper, 2) == 2 &&
        !(joint.spring_damper[0] > 0 && joint.spring_damper[1] > 0)) {
      reader.report.error(element, kRange, "springdamper is not positive",
                          "give a time constant [s] and a damping ratio");
    }
    joint.dof.stiffness = read_amount(reader, a, "stiffness");
    joint.dof.damping = read_amount(reader, a, "damping");
    joint.dof.rotor_inertia = read_amount(reader, a, "armature");
    joint.dof.friction = read_amount(reader, a, "frictionloss");
    joint.margin = read_margin(reader, a);
    if (joint.kind != JointKind::kFree) read_limits(reader, a, joint);
  }
  if (body.mocap)
    reader.report.error(element, kMocap, "a mocap body with a joint",
                        "the motion of a mocap body is prescribed: it has no joints");
  const bool has_free = !body.joints.empty() && body.joints[0].kind == JointKind::kFree;
  if (has_free || (joint.kind == JointKind::kFree && (!body.joints.empty() || body.parent != 0)))
    return reader.report.error(element, kFreeJoint,
                               body.parent != 0 && !has_free ? "free joint of a body that is not a child of the world"
                                                             : "free joint together with another joint",
                               "only a child of <worldbody> can be free, and then it has no other joint");
  body.joints.push_back(std::move(joint));
}

void read_site(Reader& reader, const Element& element, const Place& place) {
  const Attributes a = attributes_of(reader, element, "site", place.childclass);
  Body& body = reader.body(place.body);
  const std::string name =
      take_name(reader, element, "site", fmt::format("{}_site{}", body.name, body.sites.size() + 1));
  const Transform<> pose = read_pose(reader, a);
  const auto ends = a.has("fromto") ? read_ends(reader, a) : std::nullopt;
  body.sites.push_back({name, place.X_BF * (ends ? ends->X : pose), a, {}, ends ? ends->half : 0});
}

void read_children(Reader& reader, const Element& element, const Place& place);

std::string class_for_children(Reader& reader, const Element& element, const std::string& outer) {
  const char* name = element.Attribute("childclass");
  if (!name) return outer;
  if (reader.classes.contains(std::string_view(name))) return name;
  reader.report.error(element, kUnknownClass, fmt::format("unknown default class name {}", quote(name)),
                      "define it in <default>, or correct the name");
  return outer;
}

void read_body(Reader& reader, const Element& element, const Place& place) {
  if (reader.bodies.size() > kMostBodies)
    return reader.report.error(element, kTooLargeModel, fmt::format("more than {} bodies", kMostBodies),
                               "make the model smaller");
  const int index = int(reader.bodies.size());
  const Attributes a(reader, element, nullptr);
  Body body;
  body.element = &element;
  body.name = take_name(reader, element, "body", fmt::format("body{}", index));
  body.parent = place.body;
  body.X_PB = place.X_BF * read_pose(reader, a);
  body.X_WB = reader.body(place.body).X_WB * body.X_PB;
  a.number("gravcomp", body.gravity_compensation);
  body.mocap = a.boolean("mocap").value_or(false);
  if (body.mocap && place.body != 0)
    reader.report.error(element, kMocap, "mocap body that is not a child of the world",
                        "put it into <worldbody> itself");
  reader.bodies.push_back(std::move(body));
  reader.body(place.body).children.push_back(index);
  read_children(reader, element, {index, {}, class_for_children(reader, element, place.childclass)});
}

void read_frame(Reader& reader, const Element& element, const Place& place) {
  if (element.Attribute("name")) take_name(reader, element, "frame", "frame");
  const Attributes a(reader, element, nullptr);
  read_children(reader, element,
                {place.body, place.X_BF * read_pose(reader, a), class_for_children(reader, element, place.childclass)});
}

/// Recursion is limited by the depth of the XML documents.
void read_children(Reader& reader, const Element& element, const Place& place) {
  for (const Element* child : children(reader, element)) {
    const std::string_view tag = child->Name();
    if (tag == "body")
      read_body(reader, *child, place);
    else if (tag == "frame")
      read_frame(reader, *child, place);
    else if (tag == "geom")
      read_geom(reader, *child, place);
    else if (tag == "joint" || tag == "freejoint")
      read_joint(reader, *child, place);
    else if (tag == "inertial")
      read_inertial(reader, *child, place);
    else if (tag == "site")
      read_site(reader, *child, place);
  }
}

}  // namespace

void read_world(Reader& reader, const Element& root) {
  Body world;
  world.name = "world";
  reader.names["body"].insert("world");
  reader.bodies.push_back(std::move(world));
  for (const Element* section : children(reader, root)) {
    if (std::string_view(section->Name()) != "worldbody") continue;
    read_children(reader, *section, {0, {}, class_for_children(reader, *section, {})});
  }
  const std::set<std::string>& bodies = reader.names["body"];
  for (Body& body : reader.bodies) {
    for (Site& site : body.sites) {
      site.frame = site.name;
      while (bodies.contains(site.frame) || (site.frame != site.name && reader.names["site"].contains(site.frame)))
        site.frame += "_site";
    }
  }
}

}  // namespace kansetsu::io::mjcf
