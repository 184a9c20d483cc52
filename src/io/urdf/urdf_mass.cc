#include <unordered_map>
#include <unordered_set>

#include "io/urdf/urdf_codes.h"
#include "io/urdf/urdf_reader.h"

namespace kansetsu::io::urdf {
namespace {

using NameSet = std::unordered_set<std::string_view>;

bool has_mass(const LinkDescription& link) { return link.inertial && link.inertial->mass != 0; }

/// Links with mass, or with mass on their fixed children.
NameSet find_massive(const ModelDescription& model) {
  std::unordered_map<std::string_view, std::string_view> welded_to;
  for (const JointDescription& joint : model.joints) {
    if (joint.type == JointType::kFixed) welded_to.emplace(joint.child, joint.parent);
  }
  NameSet massive;
  for (const LinkDescription& link : model.links) {
    if (!has_mass(link)) continue;
    std::string_view name = link.name;
    while (massive.insert(name).second && welded_to.contains(name)) name = welded_to[name];
  }
  return massive;
}

}  // namespace

void check_masses(Reader& reader, const Element& robot) {
  const ModelDescription& model = reader.description;
  const NameSet massive = find_massive(model);
  if (massive.empty()) {
    if (model.links.empty()) return;
    return reader.report.warning(robot, kNoMass, "no link has mass",
                                 "give links an <inertial>; kinematics work without");
  }
  NameSet moved;
  for (const JointDescription& joint : model.joints) {
    if (joint.type != JointType::kFixed) moved.insert(joint.child);
  }
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    const std::string& name = model.links[i].name;
    if (!moved.contains(name) || massive.contains(name)) continue;
    reader.report.repeated_warning(*reader.links[i], kMasslessMoved, "a joint moves this link, which has no mass",
                                   "dynamics need inertia behind every joint, on this link or on those it carries");
  }
}

}  // namespace kansetsu::io::urdf
