#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/lookup.h"
#include "kansetsu/model/description.h"

namespace kansetsu::io {

/// The data of a coordinate; the default if the description omits it.
inline const DofDescription& dof_of(const JointDescription& joint, int coordinate) {
  static const DofDescription kNone;
  return std::size_t(coordinate) < joint.dofs.size() ? joint.dofs[std::size_t(coordinate)] : kNone;
}

/// Whether a link has neither mass nor shapes.
inline bool is_bare(const LinkDescription& link) {
  const bool massless = !link.inertial || (link.inertial->mass == 0 && link.inertial->inertia == Sym3<>{});
  return massless && link.visuals.empty() && link.collisions.empty();
}

/// The tree of a model by link names, for writers. Keeps a reference to the model.
class LinkIndex {
 public:
  explicit LinkIndex(const ModelDescription& model) : model_(model) {
    for (const JointDescription& joint : model.joints) {
      children_[joint.parent].push_back(&joint);
      carried_.insert(joint.child);
    }
    for (const LinkDescription& link : model.links) links_.emplace(link.name, &link);
  }

  const LinkDescription& link(const std::string& name) const { return *links_.at(name); }
  /// The link that is no joint's child.
  const LinkDescription& root() const {
    return *std::ranges::find_if(model_.links, [&](const auto& link) { return !carried_.contains(link.name); });
  }
  /// Joints whose parent is the link, in the order of the model.
  const std::vector<const JointDescription*>& children(const std::string& link) const {
    static const std::vector<const JointDescription*> kNone;
    const auto* found = find_in(children_, link);
    return found ? *found : kNone;
  }

 private:
  const ModelDescription& model_;
  std::map<std::string, std::vector<const JointDescription*>> children_;
  std::map<std::string, const LinkDescription*> links_;
  std::set<std::string> carried_;
};

}  // namespace kansetsu::io
