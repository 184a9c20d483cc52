#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "io/mjcf/mjcf_reader.h"
#include "io/mjcf/mjcf_words.h"
#include "io/text.h"

namespace kansetsu::io::mjcf {
namespace {

using enum SensorKind;

void not_read(Reader& reader, const Element& element, std::string why) {
  reader.report.missing(element, kSensor, std::move(why));
}

/// Whether the inertial frame is as in the file; otherwise MuJoCo computes principal axes.
bool has_own_axes(const Body& body) {
  return !body.inertial ||
         (body.inertial->inertia.xy == 0 && body.inertial->inertia.xz == 0 && body.inertial->inertia.yz == 0);
}

/// The anchor of an object: the inertial frame for `body`, the body frame for `xbody`.
std::optional<Anchor> read_object(Reader& reader, const Element& element, const char* type_name, const char* name,
                                  bool axes_matter) {
  const auto type = read_required_text(reader.report, element, type_name),
             object = read_required_text(reader.report, element, name);
  if (!type || !object) return std::nullopt;
  if (*type == "site") {
    const SitePlace found = find_known(reader, element, "site", *object, find_site);
    return found ? std::optional(anchor_on(reader, found.body, found->X_BS)) : std::nullopt;
  }
  if (*type == "body" || *type == "xbody") {
    const auto body = find_known(reader, element, "body", *object, find_body);
    if (!body) return std::nullopt;
    const auto& inertial = reader.body(*body).inertial;
    if (*type == "body" && axes_matter && !has_own_axes(reader.body(*body))) {
      not_read(reader, element, "sensors in principal axes of inertia are not read");
      return std::nullopt;
    }
    return anchor_on(reader, *body, *type == "body" && inertial ? to_transform(inertial->origin) : Transform<>{});
  }
  if (*type == "geom") {
    const GeomPlace found = find_known(reader, element, "geom", *object, find_geom);
    return found ? std::optional(anchor_on(reader, found.body, to_transform(found->shape.origin))) : std::nullopt;
  }
  not_read(reader, element, fmt::format("sensors of a {} are not read", quote(*type)));
  return std::nullopt;
}

/// One side of a distance sensor: a geom, or all geoms of a body.
bool read_side(Reader& reader, const Element& element, const char* geom_name, const char* body_name, ShapeRef& out) {
  if (const auto name = read_text(reader.report, element, geom_name)) {
    const GeomPlace found = find_geom(reader, *name);
    if (!found || !found->has_shape) return unknown(reader, element, "geom", *name), false;
    const int figure = reader.body(found.body).figure;
    out = {*name, {}, figure < 0 ? "" : reader.figure(figure).name};
    return true;
  }
  const auto body = read_named(reader, element, body_name, "body", find_body);
  if (!body) return false;
  const Body& named = reader.body(*body);
  if (named.figure < 0) {
    not_read(reader, element, "distances of bodies that cannot move are read by geoms only");
    return false;
  }
  out = {{}, named.name, reader.figure(named.figure).name};
  return true;
}

/// The volume of a touch sensor, which is that of its site.
Shape volume_of(const SitePlace& place) {
  const Attributes& a = *place->attributes;
  std::array<double, 3> size{0.005, 0.005, 0.005};
  const int count = a.numbers("size", size, 1);
  const int word = a.keyword("type", {"sphere", "capsule", "ellipsoid", "cylinder", "box"}).value_or(0);
  const auto type = GeomType(int(GeomType::kSphere) + word);
  if (type != GeomType::kBox && count == 1) size[1] = size[0];
  if (const double half = place->half; half > 0) {
    const bool round = type == GeomType::kCapsule || type == GeomType::kCylinder;
    if (!round) size[1] = size[0];
    size[round ? 1 : 2] = half;
  }
  return primitive_shape(type, {size[0], size[1], size[2]});
}

bool read_what(Reader& reader, const Element& element, const SensorElement& row, SensorDescription& s) {
  switch (row.of) {
    case SensorElement::Of::kBySite: {
      const SitePlace found = read_named(reader, element, "site", "site", find_site);
      if (!found) return false;
      s.at = anchor_on(reader, found.body, found->X_BS);
      if (row.kind == kTouch) s.volume = volume_of(found);
      const bool needs_figure = row.kind == kForce || row.kind == kTorque;
      if (needs_figure && s.at.figure.empty()) {
        not_read(reader, element, "force and torque sensors on fixed bodies are not read");
        return false;
      }
      return true;
    }
    case SensorElement::Of::kByJoint:
    case SensorElement::Of::kByBall: {
      const JointPlace place = read_named(reader, element, "joint", "joint", find_joint);
      if (!place) return false;
      const bool ball = place->kind == JointKind::kBall;
      if (place->kind == JointKind::kFree || ball != (row.of == SensorElement::Of::kByBall))
        return reader.report.fail(element, kSensor, fmt::format("the joint {} is of another kind", quote(place->name)),
                                  ball ? "use ballquat or ballangvel" : "name a hinge or slide");
      s.at.figure = reader.figure(reader.body(place.body).figure).name;
      s.target = place->name;
      return true;
    }
    case SensorElement::Of::kByTendon: {
      const Tendon* tendon = read_named(reader, element, "tendon", "tendon", find_tendon);
      if (!tendon) return false;
      if (tendon->figure < 0) return not_read(reader, element, "sensors of ignored tendons are not read"), false;
      s.at.figure = reader.figure(tendon->figure).name;
      s.target = tendon->name;
      return true;
    }
    case SensorElement::Of::kByActuator: {
      const auto name = read_required_text(reader.report, element, "actuator");
      if (!name) return false;
      const std::size_t* place = find_in(reader.index.inputs, *name);
      const Reader::Input* found = place ? &reader.inputs[*place] : nullptr;
      if (!found || found->figure < 0) {
        if (reader.names["actuator"].contains(*name))
          not_read(reader, element, "sensors of ignored actuators are not read");
        else
          unknown(reader, element, "actuator", *name);
        return false;
      }
      s.at.figure = reader.figure(found->figure).name;
      s.target = *name;
      return true;
    }
    case SensorElement::Of::kByObject: {
      const bool point = row.kind == kFramePosition || row.kind == kFrameLinearVelocity ||
                         row.kind == kFrameLinearAcceleration || row.kind == kFrameAngularVelocity ||
                         row.kind == kFrameAngularAcceleration;  // all of them in axes of the world or reference
      const auto at = read_object(reader, element, "objtype", "objname", !point);
      if (!at) return false;
      s.at = *at;
      if (!element.Attribute("refname")) return true;
      const auto reference = read_object(reader, element, "reftype", "refname", true);
      if (!reference) return false;
      s.reference = *reference;
      return true;
    }
    case SensorElement::Of::kByBody: {
      const auto body = read_named(reader, element, "body", "body", find_body);
      if (body) s.at = anchor_on(reader, *body, {});
      return body.has_value();
    }
    case SensorElement::Of::kByPair:
      return read_side(reader, element, "geom1", "body1", s.contact) &&
             read_side(reader, element, "geom2", "body2", s.other);
    case SensorElement::Of::kByWorld:
      return true;
  }
  return false;
}

}  // namespace

void read_sensors(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "sensor")) {
    const auto row = std::ranges::find(kSensorElements, std::string_view(element->Name()), &SensorElement::tag);
    if (row == kSensorElements.end()) {
      not_read(reader, *element, fmt::format("sensor <{}> is not read", tag_of(*element)));
      continue;
    }
    SensorDescription s;
    s.kind = row->kind;
    s.line = element->GetLineNum();
    if (!read_what(reader, *element, *row, s)) continue;
    s.name = take_name(reader, *element, "sensor", fmt::format("sensor{}", reader.scene.sensors.size() + 1));
    const Attributes a(reader, *element, nullptr);
    a.number("cutoff", s.cutoff);
    a.number("noise", s.noise);
    if (s.cutoff < 0 || s.noise < 0)
      reader.report.error(*element, kRange, "cutoff or noise is negative", "give zero or more");
    reader.scene.sensors.push_back(std::move(s));
  }
}

}  // namespace kansetsu::io::mjcf
