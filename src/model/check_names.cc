#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "kansetsu/model/joint_type.h"
#include "model/checks.h"

namespace kansetsu {
namespace {

/// Number of letters to insert, delete or change to turn a into b (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

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

std::string NameIndex::suggest(const Map& map, std::string_view name) {
  // A third of the letters may differ, and one more; the first name in the alphabet wins a tie, whatever the map's order.
  std::size_t best_distance = std::min(name.size() / 3 + 2, name.size());
  std::string_view best;
  for (const auto& [known, index] : map) {
    const std::size_t distance = edit_distance(name, known);
    if (distance < best_distance || (distance == best_distance && !best.empty() && known < best)) {
      best_distance = distance;
      best = known;
    }
  }
  return best.empty() ? "" : fmt::format("did you mean '{}'?", best);
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
