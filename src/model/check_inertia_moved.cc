#include <fmt/format.h>

#include "model/checks.h"
#include "model/compile.h"
#include "model/massless.h"

namespace kansetsu {
namespace {

/// A kinematic skeleton has hundreds of massless joints; a few names tell as much.
constexpr std::size_t kNamesShown = 8;

std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) text += (i ? ", '" : "'") + names[i] + "'";
  if (names.size() > kNamesShown) text += fmt::format(" and {} more", names.size() - kNamesShown);
  return text;
}

}  // namespace

void check_inertia_moved(const ModelDescription& description, Report& report) {
  ModelDescription ordered = description;
  order_depth_first(ordered);
  const Coordinates coordinates = assign_coordinates(ordered);
  const std::vector<int> columns = massless_columns(compile_tree(ordered, coordinates));

  std::vector<std::string> joints;
  int line = 0;
  bool base = false;
  std::size_t j = 0;
  for (int column : columns) {
    if (column < coordinates.base.nv) {
      base = true;
      continue;
    }
    while (column >= coordinates.joints[j].v + coordinates.joints[j].nv) ++j;
    const JointDescription& joint = ordered.joints[j];
    if (!joints.empty() && joints.back() == joint.name) continue;
    if (joints.empty()) line = joint.line;
    joints.push_back(joint.name);
  }
  if (base) {
    report.add(ModelCode::kSingularFreeBase, 0, fmt::format("model[{}]", description.name),
               "the free base can move in some direction without moving inertia; the mass matrix is singular");
  }
  if (!joints.empty()) {
    const char* what = joints.size() == 1 ? "joint {} moves no inertia; the mass matrix is singular"
                                          : "joints {} move no inertia; the mass matrix is singular";
    report.add(ModelCode::kMasslessJoints, line, fmt::format("joint[{}]", joints.front()),
               fmt::format(fmt::runtime(what), list_names(joints)));
  }
}

}  // namespace kansetsu
