#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/mjcf_reader.h"
#include "io/text.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::io::mjcf {
namespace {

/// Where a joint is: body and position among its joints.
struct JointPlace {
  const Body* body = nullptr;
  const Joint* joint = nullptr;
};

JointPlace find_joint(const Reader& reader, std::string_view name) {
  for (const Body& body : reader.bodies) {
    for (const Joint& joint : body.joints) {
      if (joint.name == name) return {&body, &joint};
    }
  }
  return {};
}

void unknown(Reader& reader, const Element& at, const char* kind, const std::string& name) {
  reader.report.error(at, kUnknownName, fmt::format("unknown {} {}", kind, quote(name)),
                      "define it, or correct the name");
}

/// The body that an attribute names; the world if it is absent and need not be there.
std::optional<int> read_body_name(Reader& reader, const Element& element, const char* attribute, bool required) {
  const auto name =
      required ? read_required_text(reader.report, element, attribute) : read_text(reader.report, element, attribute);
  if (!name) return required ? std::nullopt : std::optional<int>(0);
  const int body = find_body(reader, *name);
  if (body >= 0) return body;
  unknown(reader, element, "body", *name);
  return std::nullopt;
}

struct Ends {
  int body1 = 0, body2 = 0;
  Transform<> X_1A, X_2B;  ///< where they meet, on each body
};

std::optional<Ends> read_sites(Reader& reader, const Element& element) {
  Ends ends;
  for (const bool first : {true, false}) {
    const auto name = read_required_text(reader.report, element, first ? "site1" : "site2");
    if (!name) return std::nullopt;
    bool found = false;
    for (std::size_t i = 0; i < reader.bodies.size() && !found; ++i) {
      for (const Site& site : reader.bodies[i].sites) {
        if (site.name != *name) continue;
        (first ? ends.body1 : ends.body2) = int(i);
        (first ? ends.X_1A : ends.X_2B) = site.X_BS;
        found = true;
      }
    }
    if (!found) {
      unknown(reader, element, "site", *name);
      return std::nullopt;
    }
  }
  return ends;
}

/// Places on two bodies that are one place in the reference configuration, or as relpose says.
std::optional<Ends> read_bodies(Reader& reader, const Element& element, bool weld) {
  const auto body1 = read_body_name(reader, element, "body1", true),
             body2 = read_body_name(reader, element, "body2", false);
  if (!body1 || !body2) return std::nullopt;
  Ends ends{*body1, *body2, {}, {}};
  const Attributes a(reader, element, nullptr);
  const Transform<>& X_W1 = reader.bodies[std::size_t(*body1)].X_WB;
  const Transform<>& X_W2 = reader.bodies[std::size_t(*body2)].X_WB;
  if (!weld) {
    if (!a.has("anchor"))
      report_missing(reader.report, element, "attribute anchor", "give the point in the frame of body1");
    a.vec3("anchor", ends.X_1A.p);
    ends.X_2B = inverse(X_W2) * X_W1 * ends.X_1A;
    return ends;
  }
  std::array<double, 7> pose{};
  ends.X_1A = inverse(X_W1) * X_W2;
  if (a.numbers("relpose", pose, 7) == 7) {
    const Quaternion<> q{pose[4], pose[5], pose[6], pose[3]};
    const double length = std::sqrt(dot(q, q));
    if (length > 1e-14 && length < 1e15) ends.X_1A = {to_mat3((1 / length) * q), {pose[0], pose[1], pose[2]}};
  }
  return ends;
}

/// A loop of one figure, or a connection of two; nothing where neither end can move.
void add_closure(Reader& reader, const Element& element, const Ends& ends, ConstraintMask mask, bool active) {
  const int figure1 = reader.bodies[std::size_t(ends.body1)].figure,
            figure2 = reader.bodies[std::size_t(ends.body2)].figure;
  const std::string name =
      take_name(reader, element, "equality", fmt::format("equality{}", reader.names["equality"].size() + 1));
  if (figure1 < 0 && figure2 < 0) return;
  const Anchor a = anchor_on(reader, ends.body1, ends.X_1A), b = anchor_on(reader, ends.body2, ends.X_2B);
  const int line = element.GetLineNum();
  if (figure1 == figure2 && active) {
    reader.scene.figures[std::size_t(figure1)].loops.push_back({name, a.link, b.link, a.pose, b.pose, mask, line});
    return;
  }
  ConnectionDescription connection;
  connection.name = name;
  connection.a = a;
  connection.b = b;
  connection.mask = mask;
  connection.active = active;
  connection.line = line;
  reader.scene.connections.push_back(std::move(connection));
}

void read_coupling(Reader& reader, const Element& element, bool active) {
  const Attributes a(reader, element, nullptr);
  const auto name1 = read_required_text(reader.report, element, "joint1"),
             name2 = read_text(reader.report, element, "joint2");
  if (!name1) return;
  const JointPlace first = find_joint(reader, *name1), second = name2 ? find_joint(reader, *name2) : JointPlace{};
  if (!first.joint) return unknown(reader, element, "joint", *name1);
  if (name2 && !second.joint) return unknown(reader, element, "joint", *name2);
  const auto scalar = [](const Joint& joint) {
    return joint.kind == JointKind::kHinge || joint.kind == JointKind::kSlide;
  };
  if (!scalar(*first.joint) || (second.joint && !scalar(*second.joint))) {
    reader.report.error(element, kRange, "only hinge and slide joints can be coupled", "name joints of one coordinate");
    return;
  }
  if ((second.body && second.body->figure != first.body->figure) || !active) {
    reader.report.warning(
        element, kEquality,
        active ? "a coupling of joints of two figures is left out" : "a coupling that is not active is left out");
    return;
  }
  PolynomialCoupling coupling;
  coupling.name =
      take_name(reader, element, "equality", fmt::format("equality{}", reader.names["equality"].size() + 1));
  coupling.dependent = {*name1, 0};
  coupling.reference = first.joint->reference;
  if (second.joint) {
    coupling.driver = DofRef{*name2, 0};
    coupling.driver_reference = second.joint->reference;
  }
  coupling.coefficient = {0, 1, 0, 0, 0};
  a.numbers("polycoef", coupling.coefficient, 1);
  coupling.line = element.GetLineNum();
  reader.scene.figures[std::size_t(first.body->figure)].couplings.push_back(std::move(coupling));
}

ShapeRef shape_of_geom(const Reader& reader, const std::string& name) {
  for (const Body& body : reader.bodies) {
    for (const Geom& geom : body.geoms) {
      if (geom.shape.name != name || name.empty()) continue;
      return {name, {}, body.figure < 0 ? "" : reader.scene.figures[std::size_t(body.figure)].name};
    }
  }
  return {};
}

void read_exclude(Reader& reader, const Element& element) {
  const auto a = read_body_name(reader, element, "body1", true), b = read_body_name(reader, element, "body2", true);
  if (!a || !b) return;
  const Body& first = reader.bodies[std::size_t(*a)];
  const Body& second = reader.bodies[std::size_t(*b)];
  if (first.figure == second.figure && first.figure >= 0) {
    reader.scene.figures[std::size_t(first.figure)].model.collision_filters.push_back({first.name, second.name});
    return;
  }
  // A body that cannot move is its shapes in the environment.
  const auto parts = [&](const Body& body) {
    std::vector<ShapeRef> refs;
    if (body.figure >= 0)
      return std::vector<ShapeRef>{{{}, body.name, reader.scene.figures[std::size_t(body.figure)].name}};
    for (const EnvironmentShape& shape : reader.scene.environment) {
      const auto same = [&](const Geom& geom) {
        return geom.element->GetLineNum() == shape.line && !geom.shape.name.empty() &&
               geom.shape.name == shape.shape.name;
      };
      if (std::any_of(body.geoms.begin(), body.geoms.end(), same)) refs.push_back({shape.shape.name, {}, {}});
    }
    return refs;
  };
  for (const ShapeRef& x : parts(first)) {
    for (const ShapeRef& y : parts(second)) reader.scene.exclusions.push_back({x, y, element.GetLineNum()});
  }
}

void read_pair(Reader& reader, const Element& element) {
  const auto name1 = read_required_text(reader.report, element, "geom1"),
             name2 = read_required_text(reader.report, element, "geom2");
  if (!name1 || !name2) return;
  ContactPair pair{shape_of_geom(reader, *name1), shape_of_geom(reader, *name2), {}, element.GetLineNum()};
  if (pair.a.shape.empty()) return unknown(reader, element, "geom", *name1);
  if (pair.b.shape.empty()) return unknown(reader, element, "geom", *name2);
  const Attributes a(reader, element, nullptr);
  std::array<double, 5> friction{1, 1, 0.005, 0.0001, 0.0001};
  int condim = 3;
  const bool given = a.numbers("friction", friction, 1) > 0;
  if (a.integer("condim", condim) || given) {
    const double mu = condim == 1 ? 0 : std::max(friction[0], 0.0);
    pair.surface = fmt::format("pair{}", reader.scene.pairs.size() + 1);
    reader.scene.surfaces.push_back({pair.surface, {.mu_s = mu, .mu_d = mu}});
  }
  reader.scene.pairs.push_back(std::move(pair));
}

/// The joint an actuator acts on; none (and a word about it) if it acts on something else.
JointPlace read_target(Reader& reader, const Attributes& a) {
  const Element& element = a.element();
  auto name = a.text("joint");
  if (!name) name = a.text("jointinparent");
  if (!name) {
    reader.report.repeated_warning(element, kActuator,
                                   "actuators that act on no joint (tendon, site, body) are left out");
    return {};
  }
  const JointPlace place = find_joint(reader, *name);
  if (!place.joint)
    unknown(reader, element, "joint", *name);
  else if (place.joint->kind != JointKind::kHinge && place.joint->kind != JointKind::kSlide) {
    reader.report.repeated_warning(element, kActuator, "actuators on ball and free joints are left out");
    return {};
  }
  return place;
}

double magnitude(Reader& reader, const Attributes& a, const char* range_name, const char* limited_name) {
  std::array<double, 2> range{};
  const int limited = a.keyword(limited_name, {"false", "true", "auto"}).value_or(2);
  if (a.numbers(range_name, range, 2) != 2 || limited == 0) return kInfinity;
  if (range[0] != -range[1] && std::string_view(range_name) == "forcerange") {
    reader.report.repeated_warning(a.element(), kForceRange,
                                   "a range of forces that is not symmetric is read as its larger side");
  }
  return std::max(std::abs(range[0]), std::abs(range[1]));
}

/// force = gain·ctrl + bias₀ + bias₁·length + bias₂·velocity
struct Affine {
  double gain = 1, bias0 = 0, kp = 0, kd = 0;
};

/// None if the actuator's dynamics are of another kind.
std::optional<Affine> read_law(Reader& reader, const Attributes& a, std::string_view tag, const JointPlace& place,
                               double gear) {
  Affine law;
  std::array<double, 10> gain{1}, bias{};
  if (tag == "motor") return law;
  if (tag == "position") {
    law.kp = 1;
    a.number("kp", law.kp);
    a.number("kv", law.kd);
    law.gain = law.kp;
    if (double ratio = 0; a.number("dampratio", ratio) && std::abs(gear) > 1e-7 && law.kp > 0) {
      const auto inertia = felt_inertia(reader, place.body->figure, place.joint->name);
      if (inertia)
        law.kd = 2 * ratio * std::sqrt(law.kp * *inertia) / std::abs(gear);
      else
        reader.report.repeated_warning(a.element(), kDampRatio,
                                       "dampratio is ignored: the inertia is singular or too large to compute",
                                       "give kv");
    }
    return law;
  }
  if (tag == "velocity") {
    law.kd = 1;
    a.number("kv", law.kd);
    law.gain = law.kd;
    return law;
  }
  if (tag != "general") return std::nullopt;
  const int dynamics =
      a.keyword("dyntype", {"none", "integrator", "filter", "filterexact", "muscle", "user"}).value_or(0);
  const int gain_type = a.keyword("gaintype", {"fixed", "affine", "muscle", "user"}).value_or(0);
  const int bias_type = a.keyword("biastype", {"none", "affine", "muscle", "user"}).value_or(0);
  if (dynamics != 0 || gain_type != 0 || bias_type > 1) return std::nullopt;
  a.numbers("gainprm", gain, 1);
  a.numbers("biasprm", bias, 1);
  law.gain = gain[0];
  if (bias_type == 1) law.bias0 = bias[0], law.kp = -bias[1], law.kd = -bias[2];
  return law;
}

void read_actuator(Reader& reader, const Element& element) {
  const std::string_view tag = element.Name();
  check_attributes(reader, element, "actuator");
  reader.inputs.emplace_back();  // those that are left out count, too
  const Attributes a = attributes_of(reader, element, "actuator", {});
  const JointPlace place = read_target(reader, a);
  if (!place.joint) return;
  const std::string name = take_name(reader, element, "actuator", place.joint->name + "_motor");
  std::array<double, 6> gear{1};
  a.numbers("gear", gear, 1);
  const double square = gear[0] * gear[0];
  const auto law = read_law(reader, a, tag, place, gear[0]);
  if (!law) {
    reader.report.repeated_warning(
        element, kActuator, fmt::format("<{}> actuators with this kind of dynamics are left out", tag_of(element)));
    return;
  }
  FigureDescription& figure = reader.scene.figures[std::size_t(place.body->figure)];
  const double force = std::abs(gear[0]) * magnitude(reader, a, "forcerange", "forcelimited");
  if (law->kp == 0 && law->kd == 0 && law->bias0 == 0) {
    const double control = magnitude(reader, a, "ctrlrange", "ctrllimited");
    const double ratio = gear[0] * law->gain;
    figure.model.actuators.push_back({name, {place.joint->name, 0}, ratio, std::min(force, std::abs(ratio) * control)});
    return;
  }
  figure.model.actuators.push_back({name, {place.joint->name, 0}, 1, force});
  if (!reader.actuation) return;
  // With ctrl = 0, and gear between joint and actuator on both ways.
  JointControl control;
  control.dof = {place.joint->name, 0};
  control.kp = law->kp * square;
  control.kd = law->kd * square;
  control.value = control.kp != 0 ? law->bias0 * gear[0] / control.kp : 0;
  control.effort = force;
  if (control.kp < 0 || control.kd < 0) {
    reader.report.repeated_warning(element, kActuator, "actuators with negative gains are left out");
    return;
  }
  ControllerDescription controller;
  controller.name = name;
  controller.figure = figure.name;
  controller.kind = ControlKind::kPd;
  controller.joints = {control};
  controller.line = element.GetLineNum();
  if (control.kp > 0) reader.inputs.back() = {name, control.value, law->gain * gear[0] / control.kp};
  reader.scene.controllers.push_back(std::move(controller));
}

/// Numbers of a keyframe, as many as there must be.
std::optional<std::vector<double>> read_vector(Reader& reader, const Element& element, const char* name,
                                               std::size_t size) {
  if (!element.Attribute(name)) return std::nullopt;
  std::vector<double> values(size);
  if (auto problem = parse_numbers(element.Attribute(name), values)) {
    reader.report.error(element, kKeySize, fmt::format("{}: {}", name, *problem),
                        fmt::format("the model needs {} numbers", size));
    return std::nullopt;
  }
  return values;
}

void read_free_state(const double* q, FigureState& state) {
  Quaternion<> quat{q[4], q[5], q[6], q[3]};
  const double length = std::sqrt(dot(quat, quat));
  if (!(length > 1e-14 && length < 1e15)) quat = {};
  state.base = to_pose({to_mat3(quat), {q[0], q[1], q[2]}});
}

/// ctrl of a keyframe as what controllers hold.
void read_controls(Reader& reader, const Element& element, Keyframe& key) {
  const auto ctrl = read_vector(reader, element, "ctrl", reader.inputs.size());
  for (std::size_t i = 0; ctrl && i < ctrl->size(); ++i) {
    const Reader::Input& input = reader.inputs[i];
    if (!input.controller.empty()) {
      key.controls[input.controller] = {input.offset + input.slope * (*ctrl)[i]};
    } else if ((*ctrl)[i] != 0) {
      reader.report.repeated_warning(element, kUnsupportedAttribute,
                                     "ctrl of a keyframe is read for actuators that hold a position only");
    }
  }
}

void read_key(Reader& reader, const Element& element, std::size_t nq, std::size_t nv) {
  check_attributes(reader, element, "key");
  Keyframe key;
  key.name = take_name(reader, element, "key", fmt::format("key{}", reader.scene.keyframes.size() + 1));
  key.line = element.GetLineNum();
  const Attributes a(reader, element, nullptr);
  a.number("time", key.time);
  const auto qpos = read_vector(reader, element, "qpos", nq), qvel = read_vector(reader, element, "qvel", nv);
  read_controls(reader, element, key);
  for (const FigureDescription& figure : reader.scene.figures) key.figures[figure.name] = figure.initial;
  std::size_t iq = 0, iv = 0;
  for (const Body& body : reader.bodies) {
    for (const Joint& joint : body.joints) {
      const bool free = joint.kind == JointKind::kFree, ball = joint.kind == JointKind::kBall;
      FigureState& state = key.figures[reader.scene.figures[std::size_t(body.figure)].name];
      if (qpos) {
        const double* q = qpos->data() + iq;
        if (free)
          read_free_state(q, state);
        else if (ball)
          state.q[joint.name] = {q[1], q[2], q[3], q[0]};
        else
          state.q[joint.name] = {*q};
      }
      if (qvel) {
        const double* v = qvel->data() + iv;
        if (free) {
          const Mat3<> R = to_transform(state.base).R;
          state.velocity = {R * Vec3<>{v[3], v[4], v[5]}, {v[0], v[1], v[2]}};
        } else if (ball) {
          state.v[joint.name] = {v[0], v[1], v[2]};
        } else {
          state.v[joint.name] = {*v};
        }
      }
      iq += free ? 7 : ball ? 4 : 1;
      iv += free ? 6 : ball ? 3 : 1;
    }
  }
  reader.scene.keyframes.push_back(std::move(key));
}

}  // namespace

void read_equalities(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "equality")) {
    const std::string_view tag = element->Name();
    const bool weld = tag == "weld";
    if (tag == "connect" || weld || tag == "joint")
      check_attributes(reader, *element, tag == "joint" ? "equality_joint" : tag);
    const Attributes a = attributes_of(reader, *element, "equality", {});
    const bool active = a.boolean("active").value_or(true);
    if (!reader.equalities) continue;
    if (tag == "joint") {
      read_coupling(reader, *element, active);
    } else if (tag == "connect" || weld) {
      const auto ends =
          element->Attribute("site1") ? read_sites(reader, *element) : read_bodies(reader, *element, weld);
      if (ends) add_closure(reader, *element, *ends, weld ? kWeldMask : kPointMask, active);
    } else {
      reader.report.repeated_warning(*element, kEquality,
                                     fmt::format("equality <{}> is not supported and ignored", tag_of(*element)));
    }
  }
}

void read_contacts(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "contact")) {
    const std::string_view tag = element->Name();
    if (tag == "exclude")
      read_exclude(reader, *element);
    else if (tag == "pair")
      read_pair(reader, *element);
    else
      reader.report.repeated_warning(*element, kUnknownElement,
                                     fmt::format("<{}> in <contact> is not known and ignored", tag_of(*element)));
  }
}

void read_actuators(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "actuator")) read_actuator(reader, *element);
}

void read_sensors(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "sensor")) {
    reader.report.repeated_warning(*element, kSensor, fmt::format("sensor <{}> is not read", tag_of(*element)));
  }
}

void read_keyframes(Reader& reader, const Element& root) {
  std::size_t nq = 0, nv = 0;
  for (const Body& body : reader.bodies) {
    for (const Joint& joint : body.joints) {
      const bool free = joint.kind == JointKind::kFree, ball = joint.kind == JointKind::kBall;
      nq += free ? 7 : ball ? 4 : 1;
      nv += free ? 6 : ball ? 3 : 1;
    }
  }
  for (const Element* element : sections(reader, root, "keyframe")) {
    if (std::string_view(element->Name()) == "key") read_key(reader, *element, nq, nv);
  }
}

}  // namespace kansetsu::io::mjcf
