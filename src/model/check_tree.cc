#include <fmt/format.h>

#include <vector>

#include "model/checks.h"

namespace kansetsu {
namespace {

constexpr int kNone = -1;
/// The link hangs on a joint whose parent is wrong or unknown: reported as such, and no root.
constexpr int kUnusable = -2;

/// Parent link of each link, reporting joints that do not fit into a tree.
std::vector<int> find_parents(const ModelDescription& d, const NameIndex& names, Report& report) {
  std::vector<int> parent(d.links.size(), kNone);
  std::vector<const JointDescription*> carrier(d.links.size(), nullptr);
  for (const JointDescription& joint : d.joints) {
    const auto p = names.link(joint.parent), c = names.link(joint.child);
    if (!p) {
      report.add(ModelCode::kUnknownParent, joint.line, joint_path(joint) + "/parent",
                 fmt::format("joint '{}': parent link '{}' does not exist", joint.name, joint.parent),
                 names.suggest_link(joint.parent));
    }
    if (!c) {
      report.add(ModelCode::kUnknownChild, joint.line, joint_path(joint) + "/child",
                 fmt::format("joint '{}': child link '{}' does not exist", joint.name, joint.child),
                 names.suggest_link(joint.child));
      continue;
    }
    const auto child = std::size_t(*c);
    if (p == c) {
      report.add(ModelCode::kParentIsChild, joint.line, joint_path(joint),
                 fmt::format("joint '{}' joins link '{}' to itself", joint.name, joint.parent));
    }
    if (carrier[child]) {
      report.add(ModelCode::kTwoParents, joint.line, joint_path(joint) + "/child",
                 fmt::format("link '{}' is the child of joint '{}' and of joint '{}'", joint.child,
                             carrier[child]->name, joint.name));
      continue;
    }
    carrier[child] = &joint;
    parent[child] = !p || p == c ? kUnusable : *p;
  }
  return parent;
}

/// Each link has one parent at most, so cycles are rings: walk up from every link, once.
void check_cycles(const ModelDescription& d, const std::vector<int>& parent, Report& report) {
  std::vector<std::size_t> seen_from(parent.size());  // where the walk began, counted from 1; 0: not seen yet
  for (std::size_t start = 1; start <= parent.size(); ++start) {
    int i = int(start) - 1;
    while (i >= 0 && seen_from[std::size_t(i)] == 0) {
      seen_from[std::size_t(i)] = start;
      i = parent[std::size_t(i)];
    }
    if (i < 0 || seen_from[std::size_t(i)] != start) continue;  // ended at a root, or in what was walked before
    std::string ring = d.links[std::size_t(i)].name;
    for (int k = parent[std::size_t(i)]; k != i; k = parent[std::size_t(k)]) {
      ring = d.links[std::size_t(k)].name + " → " + ring;
    }
    const LinkDescription& link = d.links[std::size_t(i)];
    report.add(ModelCode::kCycle, link.line, link_path(link),
               fmt::format("links form a cycle: {} → {}", link.name, ring));
  }
}

void check_roots(const ModelDescription& d, const NameIndex& names, const std::vector<int>& parent, Report& report) {
  std::vector<const LinkDescription*> roots;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    const bool duplicate = names.link(d.links[i].name) != int(i);  // no joint can mean it; reported as such
    if (parent[i] == kNone && !duplicate) roots.push_back(&d.links[i]);
  }
  if (roots.size() < 2) return;
  std::string list;
  for (const LinkDescription* root : roots) list += (list.empty() ? "'" : ", '") + root->name + "'";
  report.add(ModelCode::kSeveralRoots, roots[1]->line, link_path(*roots[1]),
             fmt::format("{} links have no parent joint: {}", roots.size(), list));
}

}  // namespace

void check_tree(const ModelDescription& d, const NameIndex& names, Report& report) {
  if (d.links.empty()) report.add(ModelCode::kNoLinks, 0, {}, fmt::format("model '{}' has no links", d.name));
  const std::vector<int> parent = find_parents(d, names, report);
  check_cycles(d, parent, report);
  check_roots(d, names, parent, report);
}

}  // namespace kansetsu
