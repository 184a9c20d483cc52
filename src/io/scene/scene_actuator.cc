#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/number.h"
#include "io/scene/scene_actuator.h"
#include "io/scene/scene_codes.h"
#include "io/scene/scene_reader.h"
#include "io/text.h"
#include "model/actuator_words.h"

namespace kansetsu::io::scene {
namespace {

template <class Enum>
void read_word(TomlTable& table, const char* key, Enum& out) {
  const auto text = table.text(key);
  if (!text) return;
  const auto& words = kWords<Enum>;
  const auto found = std::find(words.begin(), words.end(), *text);
  if (found != words.end())
    out = Enum(found - words.begin());
  else
    table.error_at(key, kKeyword, fmt::format("'{}' is not known", *text),
                   fmt::format("known: {}", fmt::join(words, ", ")));
}

void read_range(TomlTable& table, const char* key, Interval& out) {
  const auto numbers = table.numbers(key);
  if (!numbers) return;
  if (numbers->size() == 2)
    out = {(*numbers)[0], (*numbers)[1]};
  else
    table.error_at(key, kLength, fmt::format("{} has {} numbers", key, numbers->size()), "a range is [lower, upper]");
}

template <std::size_t N>
void read_array(TomlTable& table, const char* key, std::array<double, N>& out) {
  const auto numbers = table.numbers(key);
  if (!numbers) return;
  if (numbers->size() > N)
    return table.error_at(key, kLength, fmt::format("more than {} numbers", N), "leave some out");
  out.fill(0);
  std::copy(numbers->begin(), numbers->end(), out.begin());
}

/// The numbers of a Hill muscle by their keys.
template <class Hill>
auto hill_numbers(Hill& m) {
  using Number = std::conditional_t<std::is_const_v<Hill>, const double, double>;
  return std::vector<std::pair<const char*, Number*>>{{"force", &m.force},
                                                      {"fibre_length", &m.fibre_length},
                                                      {"tendon_length", &m.tendon_length},
                                                      {"pennation", &m.pennation},
                                                      {"fastest", &m.fastest},
                                                      {"width", &m.width},
                                                      {"passive_strain", &m.passive_strain},
                                                      {"passive_shape", &m.passive_shape},
                                                      {"curvature", &m.curvature},
                                                      {"lengthening", &m.lengthening}};
}

TendonPlace read_place(TomlTable& table) {
  TendonPlace out;
  table.read("link", out.link);
  out.pose = read_pose(table);
  return out;
}

DofRef read_coordinate_ref(TomlTable& table) {
  return {table.required("joint"), int(std::min<std::int64_t>(table.integer("index").value_or(0), 100))};
}

TendonShift read_shift(TomlTable& table) {
  TendonShift out{.dof = read_coordinate_ref(table)};
  std::array<double, 3> along{};
  read_array(table, "direction", along);
  out.direction = {along[0], along[1], along[2]};
  CoordinateFunction& f = out.function;
  read_word(table, "function", f.kind);
  table.read("scale", f.scale);
  if (auto numbers = table.numbers("coefficients")) f.coefficients = *std::move(numbers);
  if (auto numbers = table.numbers("x")) f.x = *std::move(numbers);
  if (auto numbers = table.numbers("y")) f.y = *std::move(numbers);
  if (const auto problem = f.prepare())
    table.error_at("function", kLength, "the function of the shift: " + *problem, "see docs/formats/scene.md");
  table.finish();
  return out;
}

TendonPart read_part(TomlTable& table) {
  TendonPart out;
  read_word(table, "kind", out.kind);
  out.at = read_place(table);
  table.read("divisor", out.divisor);
  table.read("radius", out.radius);
  table.read("length", out.length);
  if (auto side = table.table("side")) {
    out.side = read_place(*side);
    side->finish();
  }
  if (auto when = table.table("when")) {
    out.when = TendonCondition{.dof = read_coordinate_ref(*when)};
    read_range(*when, "range", out.when->range);
    when->finish();
  }
  for (TomlTable& shift : table.tables("shift")) out.shifts.push_back(read_shift(shift));
  table.finish();
  return out;
}

HillMuscle read_hill(TomlTable& table) {
  HillMuscle out;
  read_word(table, "curves", out.curves);
  for (const auto& [key, number] : hill_numbers(out)) table.read(key, *number);
  table.finish();
  return out;
}

void read_tendon(TomlTable& table, ActuationDescription& actuation) {
  TendonDescription out;
  out.line = table.line();
  out.name = table.required("name");
  for (TomlTable& term : table.tables("term")) {
    TendonTerm& t = out.terms.emplace_back();
    t.dof = read_coordinate_ref(term);
    term.read("ratio", t.ratio);
    term.finish();
  }
  for (TomlTable& part : table.tables("part")) out.path.push_back(read_part(part));
  read_range(table, "limit", out.limit);
  read_range(table, "effort", out.effort);
  table.read("stiffness", out.stiffness);
  table.read("damping", out.damping);
  table.read("friction", out.friction);
  Interval rest{0, 0};
  read_range(table, "rest", rest);
  out.rest_lower = rest.lower, out.rest_upper = rest.upper;
  table.read("width", out.width);
  if (auto rgba = table.numbers("rgba")) out.rgba = *std::move(rgba);
  table.finish();
  actuation.tendons.push_back(std::move(out));
}

void read_actuator(TomlTable& table, ActuationDescription& actuation) {
  ActuatorDescription out;
  out.line = table.line();
  out.name = table.required("name");
  read_word(table, "acts_on", out.transmission);
  if (out.transmission == Transmission::kJoint || out.transmission == Transmission::kJointInParent) {
    const bool base = table.has("wrench") && !table.has("joint");
    if (!base) out.dof.joint = table.required("joint");
    out.dof.index = int(std::min<std::int64_t>(table.integer("index").value_or(0), 100));
  } else {
    out.target = table.required("target");
    table.read("reference", out.reference);
    table.read("crank_length", out.crank_length);
  }
  table.read("gear", out.gear);
  table.read("effort", out.effort);
  read_array(table, "wrench", out.wrench);
  double kp = 0, kd = 0;
  table.read("kp", kp);
  table.read("kd", kd);
  if (table.has("kp"))
    make_position_servo(out, kp, kd);
  else if (table.has("kd"))
    make_velocity_servo(out, kd);
  read_word(table, "gain", out.gain);
  read_word(table, "bias", out.bias);
  read_word(table, "activation", out.activation);
  read_array(table, "gain_numbers", out.gain_numbers);
  read_array(table, "bias_numbers", out.bias_numbers);
  read_array(table, "activation_numbers", out.activation_numbers);
  read_range(table, "control_range", out.control_range);
  read_range(table, "force_range", out.force_range);
  read_range(table, "activation_range", out.activation_range);
  read_range(table, "length_range", out.length_range);
  if (auto hill = table.table("hill")) out.hill = read_hill(*hill);
  table.read("early", out.early);
  table.finish();
  actuation.actuators.push_back(std::move(out));
}

// --- Writing

std::string text_of(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}
std::string text_of(double x) {
  if (x == kInfinity) return "inf";
  if (x == -kInfinity) return "-inf";
  std::string text = format_number(x);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}
template <class Numbers>
std::string list_of(const Numbers& numbers) {
  std::vector<std::string> parts;
  for (const double x : numbers) parts.push_back(text_of(x));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

/// Key = value, where it differs from what it is by itself.
class Entries {
 public:
  explicit Entries(std::string& text) : text_(text) {}
  void raw(const char* key, const std::string& value) { text_ += fmt::format("{} = {}\n", key, value); }
  void put(const char* key, const std::string& x) {
    if (!x.empty()) raw(key, text_of(x));
  }
  void put(const char* key, double x, double usual) {
    if (x != usual) raw(key, text_of(x));
  }
  void put(const char* key, const Interval& x, const Interval& usual) {
    if (x != usual) raw(key, list_of(std::array{x.lower, x.upper}));
  }
  template <std::size_t N>
  void put(const char* key, const std::array<double, N>& x, const std::array<double, N>& usual) {
    if (x != usual) raw(key, list_of(x));
  }
  template <class Enum>
  void word(const char* key, Enum x, Enum usual) {
    if (x != usual) raw(key, text_of(word_of(x)));
  }
  void dof(const DofRef& dof) {
    put("joint", dof.joint);
    if (dof.index != 0) raw("index", std::to_string(dof.index));
  }
  void pose(const Pose& pose) {
    if (pose.p != Vec3<>{}) raw("p", list_of(std::array{pose.p.x, pose.p.y, pose.p.z}));
    if (pose.rpy != Vec3<>{}) raw("rpy", list_of(std::array{pose.rpy.x, pose.rpy.y, pose.rpy.z}));
  }

 private:
  std::string& text_;
};

void write(const TendonShift& shift, std::string& text) {
  text += "[[figure.tendon.part.shift]]\n";
  Entries out(text);
  out.dof(shift.dof);
  out.raw("direction", list_of(std::array{shift.direction.x, shift.direction.y, shift.direction.z}));
  const CoordinateFunction& f = shift.function;
  out.raw("function", text_of(word_of(f.kind)));
  out.put("scale", f.scale, 1);
  if (!f.coefficients.empty()) out.raw("coefficients", list_of(f.coefficients));
  if (!f.x.empty()) out.raw("x", list_of(f.x));
  if (!f.y.empty()) out.raw("y", list_of(f.y));
}

void write(const TendonDescription& t, std::string& text) {
  const TendonDescription usual;
  text += "\n[[figure.tendon]]\n";
  Entries out(text);
  out.put("name", t.name);
  out.put("limit", t.limit, usual.limit);
  out.put("effort", t.effort, usual.effort);
  out.put("stiffness", t.stiffness, 0);
  out.put("damping", t.damping, 0);
  out.put("friction", t.friction, 0);
  out.put("rest", Interval{t.rest_lower, t.rest_upper}, {0, 0});
  out.put("width", t.width, usual.width);
  if (!t.rgba.empty()) out.raw("rgba", list_of(t.rgba));
  for (const TendonTerm& term : t.terms) {
    text += "\n[[figure.tendon.term]]\n";
    out.dof(term.dof);
    out.put("ratio", term.ratio, 1);
  }
  for (const TendonPart& part : t.path) {
    text += "\n[[figure.tendon.part]]\n";
    out.raw("kind", text_of(word_of(part.kind)));
    out.put("link", part.at.link);
    out.pose(part.at.pose);
    out.put("divisor", part.divisor, 1);
    out.put("radius", part.radius, 0);
    out.put("length", part.length, kInfinity);
    if (part.side) {
      text += "[figure.tendon.part.side]\n";
      out.put("link", part.side->link);
      out.pose(part.side->pose);
    }
    if (part.when) {
      text += "[figure.tendon.part.when]\n";
      out.dof(part.when->dof);
      out.put("range", part.when->range, {});
    }
    for (const TendonShift& shift : part.shifts) write(shift, text);
  }
}

void write(const ActuatorDescription& a, std::string& text) {
  const ActuatorDescription usual;
  text += "\n[[figure.actuator]]\n";
  Entries out(text);
  out.put("name", a.name);
  out.word("acts_on", a.transmission, usual.transmission);
  out.dof(a.dof);
  out.put("target", a.target);
  out.put("reference", a.reference);
  out.put("crank_length", a.crank_length, 0);
  out.put("gear", a.gear, 1);
  out.put("effort", a.effort, kInfinity);
  out.put("wrench", a.wrench, usual.wrench);
  out.word("gain", a.gain, usual.gain);
  out.word("bias", a.bias, usual.bias);
  out.word("activation", a.activation, usual.activation);
  out.put("gain_numbers", a.gain_numbers, usual.gain_numbers);
  out.put("bias_numbers", a.bias_numbers, usual.bias_numbers);
  out.put("activation_numbers", a.activation_numbers, usual.activation_numbers);
  out.put("control_range", a.control_range, usual.control_range);
  out.put("force_range", a.force_range, usual.force_range);
  out.put("activation_range", a.activation_range, usual.activation_range);
  out.put("length_range", a.length_range, usual.length_range);
  if (a.early) out.raw("early", "true");
  if (a.hill == usual.hill) return;
  text += "[figure.actuator.hill]\n";
  out.word("curves", a.hill.curves, usual.hill.curves);
  const auto numbers = hill_numbers(a.hill), otherwise = hill_numbers(usual.hill);
  for (std::size_t i = 0; i < numbers.size(); ++i) out.put(numbers[i].first, *numbers[i].second, *otherwise[i].second);
}

}  // namespace

void read_actuators(TomlTable& figure, ActuationDescription& actuation) {
  for (TomlTable& tendon : figure.tables("tendon")) read_tendon(tendon, actuation);
  for (TomlTable& actuator : figure.tables("actuator")) read_actuator(actuator, actuation);
}

std::string actuators_as_toml(const ActuationDescription& actuation) {
  std::string text;
  for (const TendonDescription& t : actuation.tendons) write(t, text);
  for (const ActuatorDescription& a : actuation.actuators) write(a, text);
  return text;
}

}  // namespace kansetsu::io::scene
