#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/checks.h"

namespace kansetsu {
namespace {

using Dof = std::pair<int, int>;  // joint index, coordinate

std::string coupling_path(const Coupling& coupling) {
  return coupling.dependent.index == 0
             ? fmt::format("coupling[{}]", coupling.dependent.joint)
             : fmt::format("coupling[{}, {}]", coupling.dependent.joint, coupling.dependent.index);
}

class CouplingCheck {
 public:
  CouplingCheck(const ModelDescription& d, const NameIndex& names, Report& report)
      : d_(d), names_(names), report_(report) {}

  void run() {
    for (const Coupling& coupling : d_.couplings) check(coupling);
    for (const auto& [dof, coupling] : by_dependent_) check_circle(dof);
    for (int j = 0; j < int(d_.joints.size()); ++j) check_quaternion_joint(j);
  }

 private:
  struct Node {
    const Coupling* coupling;
    std::vector<Dof> terms;  ///< those that exist
    bool visited = false;
  };

  void check(const Coupling& coupling) {
    const auto dependent = find(coupling, coupling.dependent);
    if (coupling.terms.empty()) {
      add(ModelCode::kNoTerms, coupling, fmt::format("coupling of '{}' has no terms", coupling.dependent.joint));
    }
    std::vector<Dof> terms;
    for (const Coupling::Term& term : coupling.terms) {
      if (const auto dof = find(coupling, term.dof)) terms.push_back(*dof);
      if (term.ratio == 0) {
        add(ModelCode::kZeroRatio, coupling,
            fmt::format("'{}' is coupled to '{}' with ratio 0", coupling.dependent.joint, term.dof.joint));
      }
    }
    if (!dependent) return;
    if (!by_dependent_.emplace(*dependent, Node{&coupling, std::move(terms)}).second) {
      add(ModelCode::kCoupledTwice, coupling, fmt::format("'{}' is determined by two couplings", name(*dependent)));
    }
  }

  /// Depth first from a coordinate along what it depends on; meeting the path again closes a circle.
  void check_circle(Dof start) {
    std::vector<std::pair<Dof, std::size_t>> path;  // and the next term to look at
    const auto enter = [&](Dof dof) {
      const auto it = by_dependent_.find(dof);
      if (it == by_dependent_.end()) return;
      if (!std::exchange(it->second.visited, true)) {
        path.emplace_back(dof, 0);
        return;
      }
      const auto on_path = std::ranges::find_if(path, [&](const auto& step) { return step.first == dof; });
      if (on_path == path.end()) return;
      std::string circle;
      for (auto step = on_path; step != path.end(); ++step) circle += name(step->first) + " ← ";
      add(ModelCode::kCoupledToItself, *it->second.coupling,
          fmt::format("'{}' depends on itself: {}{}", name(dof), circle, name(dof)));
    };
    enter(start);
    while (!path.empty()) {
      auto& [dof, next] = path.back();
      const Node& node = by_dependent_.at(dof);
      if (next == node.terms.size()) {
        path.pop_back();
      } else {
        enter(node.terms[next++]);
      }
    }
  }

  /// A quaternion has no multiples: such a joint follows another of its kind as a whole and one to one, or not at all.
  void check_quaternion_joint(int j) {
    const JointDescription& joint = d_.joints[std::size_t(j)];
    const Coupling* at_fault = nullptr;
    const std::string reason = is_quaternion(j) ? quaternion_problem(j, at_fault) : scalar_problem(j, at_fault);
    if (!at_fault) return;
    add(ModelCode::kQuaternionGear, *at_fault, fmt::format("'{}' ({}) {}", joint.name, info(joint.type).name, reason));
  }

  std::string scalar_problem(int j, const Coupling*& at_fault) const {
    for (int k = 0; k < info(d_.joints[std::size_t(j)].type).nv; ++k) {
      const auto it = by_dependent_.find({j, k});
      if (it == by_dependent_.end()) continue;
      for (const Dof& term : it->second.terms) {
        if (!is_quaternion(term.first)) continue;
        at_fault = it->second.coupling;
        return fmt::format("cannot follow the quaternion joint '{}'", d_.joints[std::size_t(term.first)].name);
      }
    }
    return {};
  }

  std::string quaternion_problem(int j, const Coupling*& at_fault) const {
    const JointDescription& joint = d_.joints[std::size_t(j)];
    const int nv = info(joint.type).nv;
    int coupled = 0, driver = -1;
    const Coupling* first = nullptr;
    for (int k = 0; k < nv; ++k) {
      const auto it = by_dependent_.find({j, k});
      if (it == by_dependent_.end()) continue;
      const Coupling& c = *it->second.coupling;
      if (coupled++ == 0) first = &c;
      if (c.terms.size() != it->second.terms.size()) return {};  // reported as unknown
      at_fault = &c;
      if (c.terms.size() != 1)
        return fmt::format("is coupled by {} terms; a quaternion joint follows one joint", c.terms.size());
      const auto& [other, index] = it->second.terms[0];
      if (d_.joints[std::size_t(other)].type != joint.type) {
        return fmt::format("is coupled to '{}', which is {}", c.terms[0].dof.joint,
                           info(d_.joints[std::size_t(other)].type).name);
      }
      if (index != k) return fmt::format("is coupled crosswise: coordinate {} to coordinate {}", k, index);
      if (c.terms[0].ratio != 1)
        return fmt::format("is coupled with ratio {}; quaternions allow ratio 1 only", c.terms[0].ratio);
      if (c.offset != 0) return fmt::format("is coupled with offset {}; quaternions allow offset 0 only", c.offset);
      if (driver >= 0 && other != driver) return "is coupled to two joints at once";
      driver = other;
      at_fault = nullptr;
    }
    if (coupled == 0 || coupled == nv) return {};
    at_fault = first;
    return fmt::format("is coupled in {} of its {} coordinates; a quaternion joint follows as a whole", coupled, nv);
  }

  std::optional<Dof> find(const Coupling& coupling, const DofRef& ref) {
    const DofLookup dof = look_up(ref, d_, names_);
    if (dof.problem == DofProblem::kNone) return Dof{dof.joint, ref.index};
    const bool fixed = dof.problem == DofProblem::kFixedJoint;
    report_.add(fixed ? ModelCode::kFixedCoupled : ModelCode::kUnknownCoupledDof, coupling.line,
                coupling_path(coupling), fmt::format("coupling of '{}': {}", coupling.dependent.joint, dof.message),
                dof.hint);
    return std::nullopt;
  }

  void add(ModelCode code, const Coupling& coupling, std::string message) {
    report_.add(code, coupling.line, coupling_path(coupling), std::move(message));
  }

  bool is_quaternion(int j) const {
    const JointTypeInfo& type = info(d_.joints[std::size_t(j)].type);
    return type.nq != type.nv;
  }

  std::string name(const Dof& dof) const { return dof_name(d_.joints[std::size_t(dof.first)], dof.second); }

  const ModelDescription& d_;
  const NameIndex& names_;
  Report& report_;
  std::map<Dof, Node> by_dependent_;
};

}  // namespace

void check_couplings(const ModelDescription& description, const NameIndex& names, Report& report) {
  CouplingCheck(description, names, report).run();
}

}  // namespace kansetsu
