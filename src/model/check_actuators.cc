#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/lookup.h"
#include "model/actuator_codes.h"
#include "model/checks.h"
#include "model/model_schema.h"
#include "model/tendon_path.h"

/// Tendons and actuators: what they name exists, and their numbers make sense.
namespace kansetsu {
namespace {

class ActuatorChecks {
 public:
  ActuatorChecks(const ModelDescription& model, const ActuationDescription& actuation)
      : d_(model), actuation_(actuation), names_(model) {}

  std::vector<Diagnostic> run() {
    std::set<std::string_view> taken;
    for (const Actuator& motor : d_.actuators) taken.insert(motor.name);
    for (const ActuatorDescription& a : actuation_.actuators) {
      start(a.line, "actuator", a.name, taken);
      check(a);
    }
    taken.clear();
    for (const TendonDescription& t : actuation_.tendons) {
      start(t.line, "tendon", t.name, taken);
      check(t);
    }
    return std::move(found_);
  }

 private:
  /// From now on problems are those of this part.
  void start(int line, const char* kind, const std::string& name, std::set<std::string_view>& taken) {
    line_ = line, kind_ = kind, name_ = name;
    if (name.empty()) say(scene::kRepeatedActuator, "it has no name", "everything is found by name");
    if (!name.empty() && !taken.insert(name).second) say(scene::kRepeatedActuator, "the name is taken", "rename one");
  }
  void say(const char* code, const std::string& what, std::string hint = {}) {
    found_.push_back({Severity::kError, code, d_.file, line_, fmt::format("{}[{}]", kind_, name_),
                      fmt::format("{} '{}': {}", kind_, name_, what), std::move(hint)});
  }
  bool is_place(const std::string& name) const { return names_.link(name) || find_named(d_.frames, name); }
  void target(const std::string& name) {
    if (!is_place(name))
      say(scene::kUnknownTarget, fmt::format("there is no link or frame '{}'", name), names_.suggest_link(name));
  }
  void dof(const DofRef& ref) {
    const DofLookup found = look_up(ref, d_, names_);
    if (found.problem != DofProblem::kNone) say(scene::kUnknownTarget, found.message, found.hint);
  }
  void range(const char* code, const Interval& r, const char* what) {
    if (!(r.lower <= r.upper))
      say(code, fmt::format("the lower end {} of its {} is above the upper end {}", r.lower, what, r.upper),
          "write [lower, upper]");
  }
  /// The numbers of a tendon, actuator or muscle itself, by its schema.
  template <class Record>
  void numbers(const char* code, const Record& x, const char* whose = "") {
    for_each_field<Record>([&](const auto& field) {
      using Member = std::remove_cvref_t<decltype(x.*field.member)>;
      if constexpr (std::is_same_v<Member, double>)
        number(code, fmt::format("{}{}", field.key, whose), x.*field.member, field.range);
      else if constexpr (std::is_same_v<Member, Interval>)
        range(code, x.*field.member, field.key);
      else if constexpr (requires { std::tuple_size<Member>::value; })
        for (const double one : x.*field.member) number(code, field.key, one, field.range);
    });
  }
  void number(const char* code, const std::string& name, double x, NumberRange range) {
    using enum NumberRange;
    const bool sign = range == kPositive ? x > 0 : range == kNotNegative || range == kLimit ? x >= 0 : !std::isnan(x);
    if (range == kOther || (sign && (range == kLimit || std::isfinite(x)))) return;
    say(code, fmt::format("{} is {}", name, x),
        range == kPositive ? "it is above zero"
        : range == kFinite ? "write a finite number"
                           : "it is zero or more");
  }

  void check_path(const TendonDescription& t) {
    const char* const code = scene::kBadTendon;
    for (const TendonPart& part : t.path) {
      if (part.kind == TendonPartKind::kPulley) {
        if (!(part.divisor > 0 && std::isfinite(part.divisor))) say(code, fmt::format("a divisor is {}", part.divisor));
        continue;
      }
      for (const TendonPlace* at : {&part.at, part.side ? &*part.side : nullptr}) {
        if (!at) continue;
        if (!at->link.empty()) target(at->link);
        const Vec3<> sum = at->pose.p + at->pose.rpy;
        if (!std::isfinite(sum.x + sum.y + sum.z)) say(code, "a place is not finite");
      }
      if (part.kind != TendonPartKind::kPoint && !(part.radius > 0 && std::isfinite(part.radius)))
        say(code, fmt::format("a radius is {}", part.radius));
      if (!(part.length > 0)) say(code, fmt::format("the length of a cylinder is {}", part.length));
      check_movable(part);
    }
    if (!t.path.empty() && !has_ends(t.path))
      say(code, "the path has no beginning or no end",
          "a branch has two points at least, and a point before and after every sphere or cylinder");
  }

  /// What depends on coordinates.
  void check_movable(const TendonPart& part) {
    if (part.when) {
      dof(part.when->dof);
      range(scene::kBadTendon, part.when->range, "condition");
    }
    if (!part.shifts.empty() && part.kind != TendonPartKind::kPoint)
      say(scene::kBadTendon, "a part that is not a point has shifts", "points move on their links");
    for (const TendonShift& shift : part.shifts) {
      dof(shift.dof);
      CoordinateFunction function = shift.function;
      if (const auto problem = function.prepare())
        say(scene::kBadTendon, fmt::format("the function of a shift: {}", *problem));
      else if (!std::isfinite(function(0)) || !std::isfinite(norm(shift.direction)))
        say(scene::kBadTendon, "a shift is not finite");
    }
  }

  void check(const TendonDescription& t) {
    const char* const code = scene::kBadTendon;
    if (t.terms.empty() == t.path.empty()) say(code, "it has to have either terms or a path");
    for (const TendonTerm& term : t.terms) {
      dof(term.dof);
      if (!std::isfinite(term.ratio)) say(code, fmt::format("the ratio of '{}' is {}", term.dof.joint, term.ratio));
    }
    check_path(t);
    numbers(code, t);
    if (!std::isfinite(t.rest_lower) || !std::isfinite(t.rest_upper) || t.rest_lower > t.rest_upper)
      say(code, fmt::format("its spring is slack from {} to {}", t.rest_lower, t.rest_upper), "write [lower, upper]");
  }

  void check_target(const ActuatorDescription& a) {
    switch (a.transmission) {
      case Transmission::kJoint:
      case Transmission::kJointInParent:
        if (!a.dof.joint.empty()) return dof(a.dof);
        if (d_.base != Base::kFree)
          say(scene::kUnknownTarget, "it acts on the free base, but the base is fixed", "name a joint");
        return;
      case Transmission::kTendon:
        if (!find_named(actuation_.tendons, a.target))
          say(scene::kUnknownTarget, fmt::format("there is no tendon '{}'", a.target));
        return;
      case Transmission::kSliderCrank:
        if (!(a.crank_length > 0 && std::isfinite(a.crank_length)))
          say(scene::kBadActuator, fmt::format("its crank length is {}", a.crank_length), "it is above zero");
        target(a.reference);
        return target(a.target);
      case Transmission::kSite:
        if (!a.reference.empty()) target(a.reference);
        return target(a.target);
      case Transmission::kBody:
        if (!names_.link(a.target)) say(scene::kUnknownTarget, fmt::format("there is no link '{}'", a.target));
        return;
    }
  }

  void check(const ActuatorDescription& a) {
    check_target(a);
    numbers(scene::kBadActuator, a);
    const bool active = a.gain == GainLaw::kMuscle, passive = a.bias == BiasLaw::kMuscle;
    if ((active || passive) && !(a.length_range.lower < a.length_range.upper))
      say(scene::kBadActuator, "a muscle needs a length range", "write length_range = [shortest, longest]");
    if ((active && !(a.gain_numbers[2] >= 0)) || (passive && !(a.bias_numbers[2] >= 0)))
      say(scene::kBadActuator, "the force of the muscle is negative", "the third number is its largest force");
    if (a.gain == GainLaw::kHill || a.bias == BiasLaw::kHill) check(a.hill);
  }

  void check(const HillMuscle& m) {
    numbers(scene::kBadActuator, m, " of the muscle");
    if (!(m.pennation >= 0 && m.pennation < 1.5))
      say(scene::kBadActuator, fmt::format("pennation of the muscle is {} rad", m.pennation), "it is from 0 to 1.5");
    if (!(m.lengthening > 1 && std::isfinite(m.lengthening)))
      say(scene::kBadActuator, fmt::format("lengthening of the muscle is {}", m.lengthening), "it is above one");
  }

  const ModelDescription& d_;
  const ActuationDescription& actuation_;
  const NameIndex names_;
  int line_ = 0;
  const char* kind_ = "";
  std::string_view name_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> validate(const ModelDescription& model, const ActuationDescription& actuation) {
  return ActuatorChecks(model, actuation).run();
}

}  // namespace kansetsu
