#include <fmt/format.h>

#include <map>
#include <numeric>

#include "cli/info.h"

namespace kansetsu::cli {
namespace {

constexpr std::size_t kDeepest = 40;  // levels of the drawing; deeper ones are not indented further

std::string mass_text(const LinkDescription& link) {
  return link.inertial ? fmt::format("{:.6g} kg", link.inertial->mass) : "massless";
}

/// Sets of columns of v that are coupled by gears.
class Union {
 public:
  explicit Union(int size) : parent_(std::size_t(size)) { std::iota(parent_.begin(), parent_.end(), 0); }
  int find(int i) {
    while (parent_[std::size_t(i)] != i) i = parent_[std::size_t(i)] = parent_[std::size_t(parent_[std::size_t(i)])];
    return i;
  }
  void join(int a, int b) { parent_[std::size_t(find(a))] = find(b); }

 private:
  std::vector<int> parent_;
};

}  // namespace

std::vector<std::string> draw_tree(const Model& model) {
  const auto n = std::size_t(model.link_count());
  std::vector<int> last_child(n, -1);  // links are numbered depth first, so that a later child is a greater number
  for (int i = 1; i < int(n); ++i) last_child[std::size_t(model.parent(LinkId(i))->value())] = i;

  std::vector<std::string> lines, margin(n);  // the prefix of the children of a link
  for (int i = 0; i < int(n); ++i) {
    const LinkDescription& link = model.link(LinkId(i));
    if (i == 0) {
      lines.push_back(fmt::format("{}  {}", link.name, mass_text(link)));
      continue;
    }
    const JointDescription& joint = model.joint(JointId(i - 1));
    const auto parent = std::size_t(model.parent(LinkId(i))->value());
    const bool last = last_child[parent] == i;
    lines.push_back(fmt::format("{}{}{} ({}) → {}  {}", margin[parent], last ? "└─ " : "├─ ", joint.name,
                                info(joint.type).name, link.name, mass_text(link)));
    margin[std::size_t(i)] = margin[parent];
    if (margin[parent].size() < 5 * kDeepest) margin[std::size_t(i)] += last ? "   " : "│  ";
  }
  return lines;
}

std::string coordinate_name(const JointDescription& joint, int index) {
  return fmt::format("{}{}", joint.name, info(joint.type).dof_suffix[std::size_t(index)]);
}

std::vector<std::vector<std::string>> coupling_groups(const Model& model) {
  Union sets(model.nv());
  const auto for_each_row = [&](const auto& visit) {
    for (int j = 0; j < model.joint_count(); ++j) {
      const JointDescription& joint = model.joint(JointId(j));
      for (int k = 0; k < info(joint.type).nv; ++k) visit(model.row(JointId(j), k), coordinate_name(joint, k));
    }
  };
  for_each_row([&](const Model::Row& row, const std::string&) {
    for (const auto& [column, ratio] : row.terms) sets.join(column, row.terms[0].first);
  });
  std::map<int, std::vector<std::string>> members;
  for_each_row([&](const Model::Row& row, const std::string& name) {
    if (!row.terms.empty()) members[sets.find(row.terms[0].first)].push_back(name);
  });
  std::vector<std::vector<std::string>> groups;
  for (auto& [set, names] : members) {
    if (names.size() > 1) groups.push_back(std::move(names));
  }
  return groups;
}

}  // namespace kansetsu::cli
