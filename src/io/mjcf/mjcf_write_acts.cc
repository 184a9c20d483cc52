#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/mjcf/mjcf_words.h"
#include "io/mjcf/mjcf_writer.h"

/// Actuators, written as <general>, and sensors.
namespace kansetsu::io::mjcf {
namespace {

std::string word(const Names& names, int index) { return std::string(*(names.begin() + index)); }

/// Without trailing zeros.
template <std::size_t N>
std::vector<double> trimmed(const std::array<double, N>& numbers) {
  std::vector<double> out(numbers.begin(), numbers.end());
  while (out.size() > 1 && out.back() == 0) out.pop_back();
  return out;
}

bool is_ball(const FigureDescription& f, const std::string& name) {
  const JointDescription* joint = find_named(f.model.joints, name);
  return joint && joint->type == JointType::kBall;
}

bool write_joint_target(Writer& w, const FigureDescription& f, const ActuatorDescription& a, Element& e) {
  const bool ball = is_ball(f, a.dof.joint);
  const std::string joint = w.joint_of(f.name, {a.dof.joint, ball ? 0 : a.dof.index});
  if (joint.empty()) return w.lose("actuators of omitted joints", a.name), false;
  w.set(e, a.transmission == Transmission::kJointInParent ? "jointinparent" : "joint", joint);
  const auto& x = a.wrench;
  const bool given = std::ranges::any_of(x, [](double value) { return value != 0; });
  if (a.dof.joint.empty()) {
    w.set(e, "gear", x);
  } else if (ball && given) {
    w.set(e, "gear", std::array{x[3], x[4], x[5]});
  } else if (ball) {  // a motor about one axis
    Vec3<> gear{a.dof.index == 0 ? a.gear : 0, a.dof.index == 1 ? a.gear : 0, a.dof.index == 2 ? a.gear : 0};
    w.set(e, "gear", gear);
  } else {
    w.set_unless(e, "gear", a.gear, 1);
  }
  return true;
}

bool write_transmission(Writer& w, const FigureDescription& f, const ActuatorDescription& a, Element& e) {
  switch (a.transmission) {
    case Transmission::kJoint:
    case Transmission::kJointInParent:
      return write_joint_target(w, f, a, e);
    case Transmission::kTendon:
      w.set(e, "tendon", w.tendons.at({f.name, a.target}));
      w.set_unless(e, "gear", a.gear, 1);
      return true;
    case Transmission::kSite:
      w.set(e, "site", w.site_at(f.name, a.target, {}, a.name));
      if (!a.reference.empty()) w.set(e, "refsite", w.site_at(f.name, a.reference, {}, a.name + "_reference"));
      w.set(e, "gear", a.wrench);
      return true;
    case Transmission::kSliderCrank:
      w.set(e, "cranksite", w.site_at(f.name, a.target, {}, a.name));
      w.set(e, "slidersite", w.site_at(f.name, a.reference, {}, a.name + "_slider"));
      w.set(e, "cranklength", a.crank_length);
      w.set_unless(e, "gear", a.gear, 1);
      return true;
    case Transmission::kBody:
      w.set(e, "body", w.body_name(w.find_place(f.name, a.target).body));
      return true;
  }
  return false;
}

void write_actuator(Writer& w, const FigureDescription& f, const ActuatorDescription& a) {
  Element& section = w.section("actuator");
  Element& e = w.add(section, "general");
  const std::string name = w.take_name("actuator", f.name, a.name);
  w.set(e, "name", name);
  if (!write_transmission(w, f, a, e)) return section.DeleteChild(&e);
  w.actuators[{f.name, a.name}] = name;
  w.set_range(e, "ctrlrange", a.control_range);
  Interval force = a.force_range;
  if (a.effort < kInfinity && a.gear != 0)
    force = {std::max(force.lower, -a.effort / std::abs(a.gear)), std::min(force.upper, a.effort / std::abs(a.gear))};
  w.set_range(e, "forcerange", force);
  w.set_range(e, "actrange", a.activation_range);
  if (a.length_range != Interval{0, 0}) w.set_range(e, "lengthrange", a.length_range);
  if (a.gain != GainLaw::kFixed) w.set(e, "gaintype", word(kGainTypes, int(a.gain)));
  w.set(e, "gainprm", trimmed(a.gain_numbers));
  if (a.bias != BiasLaw::kNone) {
    w.set(e, "biastype", word(kBiasTypes, int(a.bias)));
    w.set(e, "biasprm", trimmed(a.bias_numbers));
    if (a.bias == BiasLaw::kAffine && a.bias_numbers[2] > 0 && a.gain_numbers[0] == -a.bias_numbers[1])
      w.lose("servos with negative damping, which MuJoCo interprets as a ratio", a.name);
  }
  if (a.activation != ActivationLaw::kNone) {
    // The last keyword of a law: filters are written as filterexact.
    const auto last = std::find(std::rbegin(kActivationLaws), std::rend(kActivationLaws), a.activation);
    w.set(e, "dyntype", word(kActivationTypes, int(std::rend(kActivationLaws) - last) - 1));
    w.set(e, "dynprm", trimmed(a.activation_numbers));
  }
  if (a.early) w.set(e, "actearly", "true");
  w.inputs.emplace_back(f.name, a);
}

// --- Sensors

bool set_side(Writer& w, Element& e, const ShapeRef& ref, const char* geom_name, const char* body_name) {
  if (!ref.shape.empty()) {
    for (WrittenGeom& geom : w.geoms) {
      if (geom.figure != ref.figure || geom.shape->name != ref.shape) continue;
      return w.set(e, geom_name, name_geom(w, geom, ref.shape)), true;
    }
    return false;
  }
  if (ref.link.empty()) return false;
  w.set(e, body_name, w.body_name(w.find_place(ref.figure, ref.link).body));
  return true;
}

/// The site of a touch sensor, with its volume.
std::string touch_site(Writer& w, const SensorDescription& s) {
  const LinkPlace place = w.find_place(s.at.figure, s.at.link);
  return w.site_on(place.body, place.X_BL * to_transform(s.at.pose), *s.volume, s.name + "_volume");
}

bool set_target(Writer& w, const SensorDescription& s, const SensorElement& row, Element& e) {
  const auto named = [&](const char* attribute, const std::map<Key, std::string>& names) {
    const std::string* found = find_in(names, {s.at.figure, s.target});
    if (found) w.set(e, attribute, *found);
    return found != nullptr;
  };
  switch (row.of) {
    case SensorElement::Of::kBySite:
      w.set(e, "site", s.volume ? touch_site(w, s) : w.site_at(s.at.figure, s.at.link, s.at.pose, s.name + "_site"));
      return true;
    case SensorElement::Of::kByJoint:
    case SensorElement::Of::kByBall:
      return named("joint", w.joints);
    case SensorElement::Of::kByTendon:
      return named("tendon", w.tendons);
    case SensorElement::Of::kByActuator:
      return named("actuator", w.actuators);
    case SensorElement::Of::kByObject:
      w.set(e, "objtype", "site");
      w.set(e, "objname", w.site_at(s.at.figure, s.at.link, s.at.pose, s.name + "_site"));
      if (!s.reference) return true;
      w.set(e, "reftype", "site");
      w.set(e, "refname", w.site_at(s.reference->figure, s.reference->link, s.reference->pose, s.name + "_reference"));
      return true;
    case SensorElement::Of::kByBody:
      w.set(e, "body", w.body_name(w.find_place(s.at.figure, s.at.link).body));
      return true;
    case SensorElement::Of::kByPair:
      return set_side(w, e, s.contact, "geom1", "body1") && set_side(w, e, s.other, "geom2", "body2");
    case SensorElement::Of::kByWorld:
      return true;
  }
  return false;
}

void write_sensor(Writer& w, const SensorDescription& s) {
  const auto row = std::ranges::find(kSensorElements, s.kind, &SensorElement::kind);
  if (row == kSensorElements.end()) return w.lose(fmt::format("sensors of the kind {}", sensor_name(s.kind)), s.name);
  Element& section = w.section("sensor");
  Element& e = w.add(section, std::string(row->tag).c_str());
  w.set(e, "name", w.take_name("sensor", {}, s.name));
  if (!set_target(w, s, *row, e)) {
    w.lose("sensors of omitted elements", s.name);
    return section.DeleteChild(&e);
  }
  w.set_unless(e, "cutoff", s.cutoff, 0);
  w.set_unless(e, "noise", s.noise, 0);
}

}  // namespace

void write_actuators(Writer& w) {
  for (const FigureDescription& f : w.scene.figures) {
    for (const ActuatorDescription& a : all_actuators(f.model, f.actuation)) write_actuator(w, f, a);
  }
}

void write_sensors(Writer& w) {
  for (const SensorDescription& s : w.scene.sensors) write_sensor(w, s);
}

}  // namespace kansetsu::io::mjcf
