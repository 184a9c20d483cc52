#include <array>
#include <cmath>

#include "io/urdf/urdf_codes.h"
#include "io/urdf/urdf_reader.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::io::urdf {
namespace {

/// quat_xyzw of URDF 1.1, normalised.
void read_quaternion(Reader& reader, const Element& element, Pose& pose) {
  std::array<double, 4> q{};
  if (!read_numbers(reader.report, element, "quat_xyzw", q)) return;
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(length > 1e-12 && length < 1e12)) {  // can be normalised
    return reader.report.error(element, kRange, "quat_xyzw has no direction; its length is " + format_number(length),
                               "the identity quaternion is 0 0 0 1");
  }
  pose.rpy = to_pose({to_mat3(Quaternion<>{q[0], q[1], q[2], q[3]}), {}}).rpy;
}

void read_inertia(Reader& reader, const Element& element, Sym3<>& inertia) {
  check_element(reader.report, element, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"});
  read_required_number(reader.report, element, "ixx", inertia.xx);
  read_required_number(reader.report, element, "iyy", inertia.yy);
  read_required_number(reader.report, element, "izz", inertia.zz);
  read_number(reader.report, element, "ixy", inertia.xy);
  read_number(reader.report, element, "ixz", inertia.xz);
  read_number(reader.report, element, "iyz", inertia.yz);
}

Inertial read_inertial(Reader& reader, const Element& element) {
  XmlReport& report = reader.report;
  check_element(report, element, {}, {"origin", "mass", "inertia"});
  Inertial inertial;
  inertial.origin = read_origin(reader, element);
  if (const Element* mass = element.FirstChildElement("mass")) {
    check_element(report, *mass, {"value"});
    read_required_number(report, *mass, "value", inertial.mass);
  } else {
    report_missing(report, element, "<mass>", "omit <inertial> for a massless link");
  }
  if (const Element* inertia = element.FirstChildElement("inertia")) {
    read_inertia(reader, *inertia, inertial.inertia);
  } else if (inertial.mass > 0) {
    report.warning(element, kNoInertia, "<inertial> has no <inertia>; the link is a point mass");
  }
  return inertial;
}

}  // namespace

void note_lines(Reader& reader, int line, const Element& element, Names tags) {
  for (const std::string_view tag : tags) {
    if (const Element* child = element.FirstChildElement(tag.data())) {
      reader.lines[{line, std::string(tag)}] = child->GetLineNum();
    }
  }
}

Pose read_pose(Reader& reader, const Element& element) {
  Pose pose;
  read_vec3(reader.report, element, "xyz", pose.p);
  read_vec3(reader.report, element, "rpy", pose.rpy);
  read_quaternion(reader, element, pose);
  return pose;
}

Pose read_origin(Reader& reader, const Element& element) {
  const Element* origin = element.FirstChildElement("origin");
  if (!origin) return {};
  check_element(reader.report, *origin, {"xyz", "rpy", "quat_xyzw"});
  return read_pose(reader, *origin);
}

void read_link(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"name"}, {"inertial"}, {"visual", "collision", "gazebo"});
  LinkDescription link;
  link.line = element.GetLineNum();
  link.name = read_required_text(reader.report, element, "name").value_or("");
  for (const Element* child = element.FirstChildElement(); child; child = child->NextSiblingElement()) {
    const std::string_view tag = child->Name();
    if (tag == "inertial" && !link.inertial) {
      link.inertial = read_inertial(reader, *child);
      note_lines(reader, link.line, *child, {"mass", "inertia"});
    }
    if (tag == "visual") read_shape(reader, *child, link.visuals);
    if (tag == "collision") read_shape(reader, *child, link.collisions);
  }
  reader.description.links.push_back(std::move(link));
  reader.links.push_back(&element);
}

}  // namespace kansetsu::io::urdf
