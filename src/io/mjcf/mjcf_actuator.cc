#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "io/mjcf/mjcf_reader.h"
#include "io/mjcf/mjcf_words.h"
#include "io/text.h"

namespace kansetsu::io::mjcf {
namespace {

/// An actuator being read, and its moment in the reference configuration.
struct ActuatorDraft {
  ActuatorDescription actuator;
  int figure = -1;
  ReferenceMoment moment{};
  std::optional<Interval> travel{};  ///< range of its joint or tendon
};

void leave_out(Reader& reader, const Element& element, std::string what) {
  reader.report.missing(element, kActuator, std::move(what));
}

std::array<double, 6> read_gear(const Attributes& a) {
  std::array<double, 6> gear{1};
  a.numbers("gear", gear, 1);
  return gear;
}

bool act_on_joint(Reader& reader, const Attributes& a, const std::string& name, bool in_parent, ActuatorDraft& out) {
  const JointPlace place = find_known(reader, a.element(), "joint", name, find_joint);
  if (!place) return false;
  ActuatorDescription& actuator = out.actuator;
  actuator.transmission = in_parent ? Transmission::kJointInParent : Transmission::kJoint;
  out.figure = reader.body(place.body).figure;
  const std::array<double, 6> gear = read_gear(a);
  switch (place->kind) {
    case JointKind::kHinge:
    case JointKind::kSlide:
      actuator.transmission = Transmission::kJoint;
      actuator.dof = {place->name, 0};
      actuator.gear = gear[0];
      out.moment.joints = {{place->name, gear[0]}};
      if (place->dof.lower > -kInfinity && place->dof.upper < kInfinity)
        out.travel = Interval{place->dof.lower, place->dof.upper};
      return true;
    case JointKind::kBall:
      actuator.dof = {place->name, 0};
      actuator.wrench = {0, 0, 0, gear[0], gear[1], gear[2]};
      return true;
    case JointKind::kFree:
      actuator.wrench = gear;
      return true;
  }
  return false;
}

/// The site that an attribute names; none, and an error, if it is unknown.
SitePlace site_of(Reader& reader, const Attributes& a, const char* attribute) {
  const auto name = a.text(attribute);
  return name ? find_known(reader, a.element(), "site", *name, find_site) : SitePlace{};
}

int figure_of(const Reader& reader, const SitePlace& place) { return reader.body(place.body).figure; }

/// The name of a site's frame in a figure. For a fixed site outside a fixed figure a frame is added to the root; otherwise none.
std::optional<std::string> frame_within(Reader& reader, int figure, const SitePlace& place) {
  if (figure_of(reader, place) == figure) return place->frame;
  FigureDescription& f = reader.scene.figures[std::size_t(figure)];
  if (figure_of(reader, place) >= 0 || f.model.base != Base::kFixed || f.base_motion) return std::nullopt;
  const auto named = [&](const FrameDescription& frame) { return frame.name == place->frame; };
  if (std::ranges::none_of(f.model.frames, named)) {
    const Transform<> X_WS = reader.bodies[std::size_t(place.body)].X_WB * place->X_BS;
    const Transform<> X_WR = to_transform(f.initial.base);
    f.model.frames.push_back({place->frame, f.model.links.front().name, to_pose(inverse(X_WR) * X_WS)});
  }
  return place->frame;
}

bool act_on_sites(Reader& reader, const Attributes& a, bool crank, ActuatorDraft& out) {
  const SitePlace first = site_of(reader, a, crank ? "cranksite" : "site");
  const bool pair = crank || a.has("refsite");
  const SitePlace second = pair ? site_of(reader, a, crank ? "slidersite" : "refsite") : SitePlace{};
  if (!first || (pair && !second)) return false;
  ActuatorDescription& actuator = out.actuator;
  actuator.transmission = crank ? Transmission::kSliderCrank : Transmission::kSite;
  out.figure = figure_of(reader, first);
  if (out.figure < 0 && pair) out.figure = figure_of(reader, second);
  if (out.figure < 0) return leave_out(reader, a.element(), "actuators on sites of the world are ignored"), false;
  const auto target = frame_within(reader, out.figure, first);
  const auto reference = pair ? frame_within(reader, out.figure, second) : std::optional<std::string>("");
  if (!target || !reference)
    return leave_out(reader, a.element(), "actuators between sites of two figures are ignored"), false;
  actuator.target = *target, actuator.reference = *reference;
  actuator.wrench = crank ? std::array<double, 6>{} : read_gear(a);
  if (!crank) return true;
  actuator.gear = read_gear(a)[0];
  a.number("cranklength", actuator.crank_length);
  if (!(actuator.crank_length > 0))
    return reader.report.fail(a.element(), kRange, "cranklength is not above zero", "give the length of the rod");
  return true;
}

bool act_on_tendon(Reader& reader, const Attributes& a, const std::string& name, ActuatorDraft& out) {
  const Tendon* tendon = find_known(reader, a.element(), "tendon", name, find_tendon);
  if (!tendon) return false;
  if (tendon->figure < 0) {
    leave_out(reader, a.element(), "actuators on ignored tendons are ignored as well");
    return false;
  }
  const double gear = out.actuator.gear = read_gear(a)[0];
  out.actuator.transmission = Transmission::kTendon;
  out.actuator.target = name;
  out.figure = tendon->figure;
  for (const auto& [joint, ratio] : tendon->joints) out.moment.joints.emplace_back(joint, gear * ratio);
  for (Pull pull : tendon->pulls) {
    pull.f = gear * pull.f;
    out.moment.pulls.push_back(pull);
  }
  if (tendon->limit.is_bounded()) out.travel = tendon->limit;
  return true;
}

bool act_on_body(Reader& reader, const Attributes& a, const std::string& name, ActuatorDraft& out) {
  const auto body = find_known(reader, a.element(), "body", name, find_body);
  if (!body) return false;
  out.figure = reader.body(*body).figure;
  out.actuator.transmission = Transmission::kBody;
  out.actuator.target = name;
  if (out.figure < 0) leave_out(reader, a.element(), "adhesion of bodies that cannot move is ignored");
  return out.figure >= 0;
}

bool read_transmission(Reader& reader, const Attributes& a, ActuatorDraft& out) {
  if (const auto name = a.text("joint")) return act_on_joint(reader, a, *name, false, out);
  if (const auto name = a.text("jointinparent")) return act_on_joint(reader, a, *name, true, out);
  if (const auto name = a.text("tendon")) return act_on_tendon(reader, a, *name, out);
  if (a.has("slidersite") || a.has("cranksite")) return act_on_sites(reader, a, true, out);
  if (a.has("site")) return act_on_sites(reader, a, false, out);
  if (const auto name = a.text("body")) return act_on_body(reader, a, *name, out);
  report_missing(reader.report, a.element(), "attribute joint, tendon, site or body", "say what the actuator acts on");
  return false;
}

std::string fallback_name(const ActuatorDescription& a) {
  const std::string& on = a.target.empty() ? a.dof.joint : a.target;
  return (on.empty() ? "base" : on) + "_motor";
}

// --- Laws

bool is_position_servo(const ActuatorLaw& law) {
  return GainLaw(law.gain) == GainLaw::kFixed && BiasLaw(law.bias) == BiasLaw::kAffine &&
         law.gain_numbers[0] == -law.bias_numbers[1];
}

/// Applies inheritrange to position servos; a class may also give it to actuators of other kinds.
void inherit_range(Reader& reader, const Attributes& a, const ActuatorDraft& draft, const ActuatorLaw& law,
                   Interval& out) {
  const double share = law.inherit_range;
  if (share == 0 || !is_position_servo(law)) return;
  if (!draft.travel)
    return reader.report.error(a.element(), kRange, "inheritrange, but the joint or tendon has no range",
                               "give it a range");
  const double middle = 0.5 * (draft.travel->lower + draft.travel->upper);
  const double half = 0.5 * share * (draft.travel->upper - draft.travel->lower);
  out = {middle - half, middle + half};
}

/// A positive bias beside a position gain is a damping ratio: the damping is 2·ratio·√(kp·inertia).
void complete_damping(Reader& reader, const Attributes& a, const ActuatorDraft& draft, ActuatorLaw& law) {
  double& damping = law.bias_numbers[2];
  const double kp = law.gain_numbers[0];
  if (!is_position_servo(law) || !(damping > 0) || !(kp > 0)) return;
  const auto inertia = felt_inertia(reader, draft.figure, draft.moment);
  if (!inertia)
    reader.report.missing(a.element(), kDampRatio,
                          "dampratio is ignored: the inertia is singular or too large to compute", "give kv");
  damping = inertia ? -2 * damping * std::sqrt(kp * *inertia) : 0;
}

/// The peak force of a muscle; if it is not given, it follows from `scale` and the inertia that the muscle moves.
bool complete_muscle(Reader& reader, const Attributes& a, const ActuatorDraft& draft, LawNumbers& n) {
  if (n[2] >= 0) return true;
  const auto unit = unit_acceleration(reader, draft.figure, draft.moment);
  if (unit && *unit > 0) {
    n[2] = n[3] / *unit;
    return true;
  }
  return reader.report.fail(a.element(), kActuator, "the force of the muscle cannot be found: the inertia is singular",
                            "give force");
}

void read_length_range(Reader& reader, const Attributes& a, ActuatorDraft& draft) {
  std::array<double, 2> range{};
  if (a.numbers("lengthrange", range, 2) == 2 && range[0] < range[1]) {
    draft.actuator.length_range = {range[0], range[1]};
    return;
  }
  if (draft.travel) {
    const double x = draft.actuator.gear * draft.travel->lower, y = draft.actuator.gear * draft.travel->upper;
    draft.actuator.length_range = {std::min(x, y), std::max(x, y)};
    return;
  }
  reader.report.error(a.element(), kActuator, "the muscle's lengthrange is not given, and nothing limits its length",
                      "give lengthrange, or limit the joint or tendon");
}

template <std::size_t n>
std::array<double, n> first(const std::array<double, 10>& x) {
  std::array<double, n> out{};
  std::copy_n(x.begin(), n, out.begin());
  return out;
}

/// Sets the force law, with the numbers that depend on the inertia moved; false if the actuator is ignored.
bool set_law(Reader& reader, const Attributes& a, ActuatorLaw law, ActuatorDraft& draft) {
  ActuatorDescription& out = draft.actuator;
  if (law.activation == 5 || law.gain == 3 || law.bias == 3) {
    leave_out(reader, a.element(), "user-defined actuators are ignored");
    return false;
  }
  complete_damping(reader, a, draft, law);
  out.gain = GainLaw(law.gain), out.bias = BiasLaw(law.bias), out.activation = kActivationLaws[law.activation];
  out.gain_numbers = first<std::tuple_size_v<LawNumbers>>(law.gain_numbers);
  out.bias_numbers = first<std::tuple_size_v<LawNumbers>>(law.bias_numbers);
  out.activation_numbers = first<3>(law.activation_numbers);
  if (out.gain == GainLaw::kMuscle && !complete_muscle(reader, a, draft, out.gain_numbers)) return false;
  if (out.bias == BiasLaw::kMuscle && !complete_muscle(reader, a, draft, out.bias_numbers)) return false;
  if (out.gain == GainLaw::kMuscle || out.bias == BiasLaw::kMuscle) read_length_range(reader, a, draft);
  return true;
}

void read_actuator(Reader& reader, const Element& element) {
  const std::string_view tag = element.Name();
  Reader::Input& input = reader.inputs.emplace_back();  // ignored actuators count as well
  input.element = &element;
  const Attributes a = attributes_of(reader, element, "actuator", {});
  ActuatorDraft draft;
  ActuatorDescription& out = draft.actuator;
  if (!read_transmission(reader, a, draft)) return;
  out.name = take_name(reader, element, "actuator", fallback_name(out));
  out.line = element.GetLineNum();
  if (!has_law(tag)) return;  // check_schema() reports unsupported kinds
  const ActuatorLaw law = read_law(reader, element, class_of(reader, element, {}));
  if (!set_law(reader, a, law, draft)) return;
  const bool clamped = tag == "damper" || tag == "adhesion";
  out.control_range = read_limits(reader, a, "ctrlrange", "ctrllimited", clamped);
  out.force_range = read_limits(reader, a, "forcerange", "forcelimited");
  out.activation_range = read_limits(reader, a, "actrange", "actlimited", tag == "intvelocity" && a.has("actrange"));
  inherit_range(reader, a, draft, law, tag == "intvelocity" ? out.activation_range : out.control_range);
  if (!reader.clamp_controls) out.control_range = {};
  out.early = a.boolean("actearly").value_or(false);
  const int states = out.activation == ActivationLaw::kNone ? 0 : 1;
  if (int wanted = -1; a.integer("actdim", wanted) && wanted >= 0 && wanted != states)
    reader.report.missing(element, kUnsupportedAttribute,
                          fmt::format("activations of {} numbers are not supported: actdim is ignored", wanted));
  input = {draft.figure, &element, out.name, out.activation != ActivationLaw::kNone, out.control_range};
  reader.figure(draft.figure).actuation.actuators.push_back(std::move(out));
}

}  // namespace

void read_actuators(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "actuator")) read_actuator(reader, *element);
  for (std::size_t i = 0; i < reader.inputs.size(); ++i) reader.index.inputs.emplace(reader.inputs[i].name, i);
}

}  // namespace kansetsu::io::mjcf
