#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "kansetsu/base/error.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/joint_values.h"
#include "model/joint_motion.h"

namespace kansetsu {
namespace {

/// What remains of the couplings when joints are held. A coordinate held by itself turns into a constant in the couplings
/// it drives; a coordinate held although it depends on others turns its coupling into a condition on those, which makes
/// one of them dependent. What is left without freedom is held as well.
class Locker {
 public:
  Locker(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& q)
      : model_(model), d_(model.description()), values_(joint_values(model, q)) {
    for (std::size_t j = 0; j < d_.joints.size(); ++j) index_[d_.joints[j].name] = j;
    locked_.assign(d_.joints.size(), false);
  }

  ModelDescription run(const std::vector<std::string>& names) {
    for (const std::string& name : names) hold(std::size_t(model_.joint_id(name).value()));
    const auto held_dependent = [&](const Coupling& c) { return locked_[index_.at(c.dependent.joint)]; };
    if (std::ranges::any_of(d_.couplings, held_dependent)) flatten();
    while (propagate()) {
    }
    demand_whole_joints();
    for (std::size_t j = 0; j < d_.joints.size(); ++j) {
      if (locked_[j]) fix(d_.joints[j], values_[j]);
    }
    std::erase_if(d_.actuators, [&](const Actuator& a) { return locked_[index_.at(a.dof.joint)]; });
    return std::move(d_);
  }

 private:
  static std::pair<std::string, int> key(const DofRef& dof) { return {dof.joint, dof.index}; }
  bool is_constant(const DofRef& dof) const { return constant_.contains(key(dof)); }
  double value(const DofRef& dof) const { return values_[index_.at(dof.joint)][std::size_t(dof.index)]; }

  void hold(std::size_t j) {
    locked_[j] = true;
    for (int k = 0; k < info(d_.joints[j].type).nv; ++k) constant_.insert({d_.joints[j].name, k});
  }

  void hold(const DofRef& dof) {
    constant_.insert(key(dof));
    const std::size_t j = index_.at(dof.joint);
    for (int k = 0; k < info(d_.joints[j].type).nv; ++k) {
      if (!constant_.contains({dof.joint, k})) return;
    }
    locked_[j] = true;
  }

  /// Writes every coupling in terms of independent coordinates, so that conditions can be solved one by one.
  void flatten() {
    std::vector<DofRef> column(std::size_t(model_.nv()));
    std::set<std::pair<std::string, int>> dependent;
    for (const Coupling& c : d_.couplings) dependent.insert(key(c.dependent));
    for (std::size_t j = 0; j < d_.joints.size(); ++j) {
      int c = model_.coordinates(JointId(int(j))).v;
      for (int k = 0; k < info(d_.joints[j].type).nv; ++k) {
        if (!dependent.contains({d_.joints[j].name, k})) column[std::size_t(c++)] = {d_.joints[j].name, k};
      }
    }
    for (Coupling& c : d_.couplings) {
      const Model::Row& row = model_.row(model_.joint_id(c.dependent.joint), c.dependent.index);
      c.offset = row.offset;
      c.terms.clear();
      for (const auto& [i, ratio] : row.terms) c.terms.push_back({column[std::size_t(i)], ratio});
    }
  }

  /// One pass over the couplings; true if something was found out that may matter to others.
  bool propagate() {
    bool changed = false;
    for (std::size_t i = 0; i < d_.couplings.size(); ++i) {
      Coupling& c = d_.couplings[i];
      std::erase_if(c.terms, [&](const Coupling::Term& term) {
        if (term.ratio != 0 && !is_constant(term.dof)) return false;
        // Quaternion joints are geared by the rates of their coordinates; their positions have no part in the offset.
        if (!has_quaternion(d_.joints[index_.at(term.dof.joint)].type)) c.offset += term.ratio * value(term.dof);
        return true;
      });
      const bool held = is_constant(c.dependent);
      if (c.terms.empty()) {
        if (!held) hold(c.dependent);
        d_.couplings.erase(d_.couplings.begin() + std::ptrdiff_t(i--));
        changed = true;
      } else if (held) {
        solve_for_a_term(i);
        changed = true;
      }
    }
    return changed;
  }

  /// Coupling i, whose left side is constant, becomes one for the term with the largest ratio; that term vanishes from
  /// the others.
  void solve_for_a_term(std::size_t i) {
    Coupling& c = d_.couplings[i];
    const auto largest = std::ranges::max_element(
        c.terms, [](const auto& a, const auto& b) { return std::abs(a.ratio) < std::abs(b.ratio); });
    const Coupling::Term pivot = std::move(*largest);
    c.terms.erase(largest);
    const bool quaternion = has_quaternion(d_.joints[index_.at(pivot.dof.joint)].type);
    c.offset = quaternion ? 0 : (value(c.dependent) - c.offset) / pivot.ratio;
    c.dependent = pivot.dof;
    for (Coupling::Term& term : c.terms) term.ratio /= -pivot.ratio;
    for (std::size_t k = 0; k < d_.couplings.size(); ++k) {
      if (k != i) substitute(c, d_.couplings[k]);
    }
  }

  static void substitute(const Coupling& definition, Coupling& c) {
    const auto it =
        std::ranges::find_if(c.terms, [&](const Coupling::Term& term) { return term.dof == definition.dependent; });
    if (it == c.terms.end()) return;
    const double ratio = it->ratio;
    c.terms.erase(it);
    c.offset += ratio * definition.offset;
    for (const Coupling::Term& term : definition.terms) {
      const auto same = std::ranges::find_if(c.terms, [&](const auto& t) { return t.dof == term.dof; });
      if (same == c.terms.end()) {
        c.terms.push_back({term.dof, ratio * term.ratio});
      } else {
        same->ratio += ratio * term.ratio;
      }
    }
  }

  void demand_whole_joints() const {
    for (const auto& [name, k] : constant_) {
      if (locked_[index_.at(name)]) continue;
      throw Error(
          fmt::format("lock_joints: the couplings would hold coordinate {} of joint '{}' but not the others; lock "
                      "'{}' as well",
                      k, name, name));
    }
  }

  static void fix(JointDescription& joint, const std::vector<double>& q) {
    joint.socket = to_pose(to_transform(joint.socket) * joint_pose(joint, q));
    joint.type = JointType::kFixed;
    joint.dofs.clear();
    joint.swing_twist.reset();
    joint.continuous = false;
  }

  const Model& model_;
  ModelDescription d_;
  std::vector<std::vector<double>> values_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<bool> locked_;
  std::set<std::pair<std::string, int>> constant_;
};

}  // namespace

Model lock_joints(const Model& model, const std::vector<std::string>& joints,
                  const Eigen::Ref<const Eigen::VectorXd>& q) {
  return value_or_throw(Model::build(Locker(model, q).run(joints)));
}

}  // namespace kansetsu
