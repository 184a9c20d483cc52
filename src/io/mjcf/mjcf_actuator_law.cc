#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "io/mjcf/mjcf_reader.h"
#include "io/mjcf/mjcf_words.h"

/// Actuator laws with the inheritance of MuJoCo 3.17 and 4.0.1. A class has one law per kind: <position> in a class does not affect
/// <velocity>. <general> continues from the last actuator element of the class, and applies to all kinds with its type of gain.
namespace kansetsu::io::mjcf {
namespace {

// Indices in kActivationTypes, kGainTypes and kBiasTypes.
constexpr int kNoActivation = 0, kIntegrated = 1, kFiltered = 2, kFilteredExactly = 3, kMuscleActivation = 4;
constexpr int kAffineLaw = 1, kMuscleLaw = 2;
constexpr std::array<std::string_view, 8> kShortcuts{"motor",  "position", "velocity", "intvelocity",
                                                     "damper", "cylinder", "muscle",   "adhesion"};

ActuatorLaw first_law(std::string_view tag) {
  ActuatorLaw law;
  if (tag == "position" || tag == "intvelocity" || tag == "velocity" || tag == "cylinder") law.bias = kAffineLaw;
  if (tag == "position" || tag == "intvelocity") law.bias_numbers = {0, -1, 0};
  if (tag == "velocity") law.bias_numbers = {0, 0, -1};
  if (tag == "intvelocity") law.activation = kIntegrated;
  if (tag == "cylinder") law.activation = kFiltered;
  if (tag == "damper") law.gain = kAffineLaw, law.gain_numbers = {};
  if (tag == "muscle") {
    law.activation = kMuscleActivation, law.gain = law.bias = kMuscleLaw;
    law.activation_numbers = {0.01, 0.04, 0};
    law.gain_numbers = law.bias_numbers = {0.75, 1.05, -1, 200, 0.5, 1.6, 1.5, 1.3, 1.2};
  }
  return law;
}

void read_general(const Attributes& a, ActuatorLaw& law) {
  law.activation = a.keyword("dyntype", kActivationTypes).value_or(law.activation);
  law.gain = a.keyword("gaintype", kGainTypes).value_or(law.gain);
  law.bias = a.keyword("biastype", kBiasTypes).value_or(law.bias);
  a.numbers("gainprm", law.gain_numbers, 1);
  a.numbers("biasprm", law.bias_numbers, 1);
  a.numbers("dynprm", law.activation_numbers, 1);
}

/// A position servo: gain kp, bias −kp and −kv; a damping ratio is stored in place of −kv.
void read_servo(const Attributes& a, ActuatorLaw& law) {
  double kp = law.gain_numbers[0], kv = 0;
  a.number("kp", kp);
  double damping = law.bias_numbers[2];
  a.number("dampratio", damping);
  if (a.number("kv", kv)) damping = -kv;
  law.gain_numbers = {kp};
  law.bias_numbers = {0, -kp, damping};
  a.number("inheritrange", law.inherit_range);
}

void read_position(const Attributes& a, ActuatorLaw& law) {
  read_servo(a, law);
  double time = 0;
  if (!a.number("timeconst", time)) return;
  law.activation = time > 0 ? kFilteredExactly : kNoActivation;
  law.activation_numbers = {time};
}

void read_cylinder(const Attributes& a, ActuatorLaw& law) {
  a.number("area", law.gain_numbers[0]);
  if (double d = 0; a.number("diameter", d)) law.gain_numbers[0] = 0.25 * std::numbers::pi * d * d;
  a.number("timeconst", law.activation_numbers[0]);
  a.numbers("bias", std::span(law.bias_numbers).first(3), 1);
  law.gain_numbers = {law.gain_numbers[0]};
}

void read_muscle(const Attributes& a, ActuatorLaw& law) {
  a.numbers("timeconst", std::span(law.activation_numbers).first(2), 1);
  a.number("tausmooth", law.activation_numbers[2]);
  a.numbers("range", std::span(law.gain_numbers).first(2), 1);
  static constexpr const char* kNames[] = {"force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"};
  for (std::size_t i = 0; i < std::size(kNames); ++i) a.number(kNames[i], law.gain_numbers[i + 2]);
  law.bias_numbers = law.gain_numbers;
}

/// Applies the attributes of an element to the law of its kind.
void apply(const Attributes& a, std::string_view tag, ActuatorLaw& law) {
  if (tag == "general") read_general(a, law);
  if (tag == "motor") law = {};
  if (tag == "position") read_position(a, law);
  if (tag == "intvelocity") read_servo(a, law);
  if (tag == "cylinder") read_cylinder(a, law);
  if (tag == "muscle") read_muscle(a, law);
  if (tag == "velocity") {
    double kv = law.gain_numbers[0];
    a.number("kv", kv);
    law.gain_numbers = {kv};
    law.bias_numbers = {0, 0, -kv};
  }
  if (tag == "damper") {
    double kv = -law.gain_numbers[2];
    a.number("kv", kv);
    law.gain_numbers = {0, 0, -kv};
  }
  if (tag == "adhesion") {
    a.number("gain", law.gain_numbers[0]);
    law.gain_numbers = {law.gain_numbers[0]};
  }
}

ActuatorLaw law_of(const DefaultClass& of, std::string_view tag) {
  const ActuatorLaw* found = find_in(of.laws, tag);
  return found ? *found : first_law(tag);
}

}  // namespace

bool has_law(std::string_view tag) { return tag == "general" || contains(kShortcuts, tag); }

ActuatorLaw read_law(Reader& reader, const Element& element, const DefaultClass* of) {
  const std::string_view tag = element.Name();
  ActuatorLaw law = of ? law_of(*of, tag) : first_law(tag);
  apply(Attributes(reader, element, nullptr), tag, law);
  return law;
}

void read_default_law(Reader& reader, const Element& element, DefaultClass& of) {
  const std::string_view tag = element.Name();
  if (!has_law(tag)) return;  // check_schema() reports it
  const ActuatorLaw law = read_law(reader, element, &of);
  of.laws[std::string(tag)] = of.laws["general"] = law;
  if (tag != "general") return;
  for (const std::string_view kind : kShortcuts) {
    ActuatorLaw changed = law_of(of, kind);
    if (changed.gain != law.gain) continue;  // its numbers have another meaning
    changed.gain_numbers = law.gain_numbers;
    changed.bias_numbers = law.bias_numbers;
    if (kind == "cylinder" || kind == "muscle") changed.activation_numbers = law.activation_numbers;
    apply(Attributes(reader, element, nullptr), kind, changed);  // recomputes what depends on the numbers
    of.laws[std::string(kind)] = changed;
  }
}

}  // namespace kansetsu::io::mjcf
