#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/checks.h"
#include "model/model_schema.h"

namespace kansetsu {
namespace {

/// Walks over the numbers of one part of the description, by its schema, and reports those that are no use.
class NumberCheck {
 public:
  NumberCheck(Report& report, int line, std::string path) : report_(report), line_(line), path_(std::move(path)) {}

  /// Lists of records have paths of their own, and are left to the caller.
  template <class Record>
  void fields(const Record& x) {
    for_each_field<Record>([&](const auto& field) { check(spoken(field.key), x.*field.member, field.range); });
  }

  void check(const std::string& name, double x, NumberRange range = NumberRange::kFinite) {
    const bool lower = range == NumberRange::kLower, upper = range == NumberRange::kUpper;
    if (std::isnan(x) || (x == kInfinity && !upper) || (x == -kInfinity && !lower)) {
      report_.add(ModelCode::kNotFinite, line_, path_, fmt::format("{} is {}", name, x));
    } else if (std::abs(x) > kLargestNumber && !lower && !upper) {
      report_.add(ModelCode::kOutOfRange, line_, path_, fmt::format("{} is out of range: {}", name, x));
    }
  }

 private:
  template <class T>
  void check(const std::string& name, const T& x, NumberRange range) {
    if constexpr (std::is_same_v<T, Vec3<>>) {
      check(name + ".x", x.x), check(name + ".y", x.y), check(name + ".z", x.z);
    } else if constexpr (std::is_same_v<T, Pose>) {
      check("position of " + name, x.p, range), check("rpy of " + name, x.rpy, range);
    } else if constexpr (std::is_same_v<T, Sym3<>>) {
      check(name + ".xx", x.xx), check(name + ".xy", x.xy), check(name + ".xz", x.xz);
      check(name + ".yy", x.yy), check(name + ".yz", x.yz), check(name + ".zz", x.zz);
    } else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, std::vector<Vec3<>>>) {
      for (const auto& one : x) check(name, one, range);
    } else if constexpr (std::is_same_v<T, Shape>) {
      std::visit([&](const auto& shape) { fields(shape); }, x);
      if (const auto* mesh = std::get_if<TriangleMesh>(&x); mesh && mesh->data)
        check("vertices", mesh->data->vertices, range);
    } else if constexpr (std::is_same_v<T, std::optional<SwingTwistLimit>>) {
      if (x) fields(*x);
    }
  }
  /// The key of a file as words.
  static std::string spoken(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
  }

  Report& report_;
  int line_;
  std::string path_;
};

void check_link(const LinkDescription& link, Report& report) {
  if (link.inertial) NumberCheck(report, link.line, link_path(link) + "/inertial").fields(*link.inertial);
  const auto shapes = [&](const char* kind, const std::vector<LinkShape>& list) {
    for (int i = 0; const LinkShape& shape : list)
      NumberCheck(report, link.line, fmt::format("{}/{}[{}]", link_path(link), kind, i++)).fields(shape);
  };
  shapes("visual", link.visuals);
  shapes("collision", link.collisions);
}

void check_joint(const JointDescription& joint, Report& report) {
  NumberCheck(report, joint.line, joint_path(joint)).fields(joint);
  for (int k = 0; const DofDescription& dof : joint.dofs)
    NumberCheck(report, joint.line, dof_path(joint, k++)).fields(dof);
}

}  // namespace

void check_numbers(const ModelDescription& d, Report& report) {
  NumberCheck(report, 0, fmt::format("model[{}]", d.name)).fields(d);
  for (const LinkDescription& link : d.links) check_link(link, report);
  for (const JointDescription& joint : d.joints) check_joint(joint, report);
  for (const Coupling& c : d.couplings) {
    NumberCheck check(report, c.line, fmt::format("coupling[{}]", c.dependent.joint));
    check.fields(c);
    for (const Coupling::Term& term : c.terms) check.check(fmt::format("ratio to '{}'", term.dof.joint), term.ratio);
  }
  for (const FrameDescription& frame : d.frames)
    NumberCheck(report, 0, fmt::format("frame[{}]", frame.name)).fields(frame);
  for (const Actuator& actuator : d.actuators)
    NumberCheck(report, 0, fmt::format("actuator[{}]", actuator.name)).fields(actuator);
}

}  // namespace kansetsu
