#include <fmt/format.h>

#include <algorithm>

#include "kansetsu/base/suggest.h"
#include "kansetsu/model/joint_type.h"
#include "model/checks.h"

namespace kansetsu {
namespace {

/// Reports items without a name and the second and later items of one name.
template <class Items, class LineOf>
void check_unique(const Items& items, const char* kind, ModelCode code, LineOf line_of, Report& report) {
  std::unordered_map<std::string_view, int> first_line;
  for (int i = 0; const auto& item : items) {
    if (item.name.empty()) {
      report.add(ModelCode::kNoName, line_of(item), fmt::format("{}[#{}]", kind, i),
                 fmt::format("{} without a name", kind));
    } else if (const auto [it, fresh] = first_line.emplace(item.name, line_of(item)); !fresh) {
      const std::string where = it->second > 0 ? fmt::format("; the first is on line {}", it->second) : "";
      report.add(code, line_of(item), fmt::format("{}[{}]", kind, item.name),
                 fmt::format("{} '{}' is defined twice{}", kind, item.name, where));
    }
    ++i;
  }
}

}  // namespace

NameIndex::NameIndex(const ModelDescription& d) {
  for (int i = 0; i < int(d.links.size()); ++i) links_.emplace(d.links[std::size_t(i)].name, i);
  for (int i = 0; i < int(d.joints.size()); ++i) joints_.emplace(d.joints[std::size_t(i)].name, i);
}

std::optional<int> NameIndex::find(const Map& map, std::string_view name) {
  const auto it = map.find(name);
  if (it == map.end()) return std::nullopt;
  return it->second;
}

std::string NameIndex::suggest(const Map& map, std::string_view name) const {
  return hints_.nearest(name, map.size(), [&] {
    std::vector<std::string> known;
    for (const auto& entry : map) known.emplace_back(entry.first);
    std::ranges::sort(known);  // of two that are as near the first, whatever the map's order
    return known;
  });
}

void check_names(const ModelDescription& d, const NameIndex& names, Report& report) {
  const auto line_of = [](const auto& item) {
    if constexpr (requires { item.line; }) return item.line;
    return 0;
  };
  check_unique(d.links, "link", ModelCode::kDuplicateLink, line_of, report);
  check_unique(d.joints, "joint", ModelCode::kDuplicateJoint, line_of, report);
  check_unique(d.frames, "frame", ModelCode::kDuplicateFrame, line_of, report);
  check_unique(d.actuators, "actuator", ModelCode::kDuplicateActuator, line_of, report);

  for (const FrameDescription& frame : d.frames) {
    if (names.link(frame.link)) continue;
    report.add(ModelCode::kUnknownFrameLink, 0, fmt::format("frame[{}]", frame.name),
               fmt::format("frame '{}' is on link '{}', which does not exist", frame.name, frame.link),
               names.suggest_link(frame.link));
  }
  for (const Actuator& actuator : d.actuators) {
    const DofLookup dof = look_up(actuator.dof, d, names);
    if (dof.problem == DofProblem::kNone) continue;
    report.add(ModelCode::kUnknownActuatorDof, 0, fmt::format("actuator[{}]", actuator.name),
               fmt::format("actuator '{}': {}", actuator.name, dof.message), dof.hint);
  }
  for (const CollisionFilter& pair : d.collision_filters) {
    for (const std::string& name : {pair.a, pair.b}) {
      if (names.link(name)) continue;
      report.add(ModelCode::kUnknownFilterLink, 0, fmt::format("collision_filter[{}, {}]", pair.a, pair.b),
                 fmt::format("collision filter names link '{}', which does not exist", name), names.suggest_link(name));
    }
  }
}

std::string link_path(const LinkDescription& link) { return fmt::format("link[{}]", link.name); }

std::string joint_path(const JointDescription& joint) { return fmt::format("joint[{}]", joint.name); }

std::string dof_path(const JointDescription& joint, int index) {
  return fmt::format("joint[{}]", dof_name(joint, index));
}

std::string dof_name(const JointDescription& joint, int index) {
  const auto suffixes = info(joint.type).dof_suffix;
  if (index < 0 || std::size_t(index) >= suffixes.size()) return fmt::format("{}[{}]", joint.name, index);
  return joint.name + std::string(suffixes[std::size_t(index)]);
}

DofLookup look_up(const DofRef& ref, const ModelDescription& d, const NameIndex& names) {
  const auto index = names.joint(ref.joint);
  if (!index) {
    return {DofProblem::kUnknownJoint, -1, fmt::format("joint '{}' does not exist", ref.joint),
            names.suggest_joint(ref.joint)};
  }
  const JointTypeInfo& type = info(d.joints[std::size_t(*index)].type);
  if (type.nv == 0) return {DofProblem::kFixedJoint, *index, fmt::format("joint '{}' is fixed", ref.joint), {}};
  if (ref.index < 0 || ref.index >= type.nv) {
    return {DofProblem::kNoSuchCoordinate, *index,
            fmt::format("joint '{}' ({}) has no coordinate {}", ref.joint, type.name, ref.index),
            fmt::format("its coordinates are 0…{}", type.nv - 1)};
  }
  return {DofProblem::kNone, *index, {}, {}};
}

}  // namespace kansetsu
