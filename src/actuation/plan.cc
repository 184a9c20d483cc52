#include "actuation/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "model/tree.h"

namespace kansetsu {
namespace {

class PlanCompiler {
 public:
  PlanCompiler(const Model& model, const ActuationDescription& description)
      : model_(model), given_(description), position_(positions()) {}

  ActuationPlan run(EffortLimits limits) {
    plan_.X_WB.resize(size_t(tree().body_count()));
    for (const TendonDescription& t : given_.tendons) add(t);
    for (const ActuatorDescription& a : given_.actuators) add(a);
    if (limits == EffortLimits::kKept) limit_efforts();
    list_tendons();
    list_actuators();
    plan_.pulls.reserve(8);
    return std::move(plan_);
  }

 private:
  using Terms = std::vector<std::pair<int, double>>;  // columns of v, ratios
  const Model& model_;
  const ActuationDescription& given_;
  const std::vector<int> position_;
  ActuationPlan plan_;

  const Tree& tree() const { return model_.tree(); }

  LinkId link_of(const std::string& name, const std::string& whose) const {
    if (const auto found = model_.find_link(name)) return *found;
    if (const auto frame = model_.find_frame(name)) return model_.frame_link(*frame);
    throw Error(fmt::format("{}: there is no link or frame '{}'", whose, name));
  }
  std::pair<int, Transform<>> place_of(const std::string& name, const Pose& pose, const std::string& whose) const {
    Transform<> X = to_transform(pose);
    if (name.empty()) return {-1, X};
    const auto frame = model_.find_link(name) ? std::nullopt : model_.find_frame(name);
    if (frame) X = to_transform(model_.frame(*frame).origin) * X;
    const LinkPlacement& at = tree().links[size_t(link_of(name, whose).value())];
    // For links fixed to the world X_BL is the world pose.
    return {at.body, at.X_BL * X};
  }

  void need(int body) {
    std::vector<int>& all = plan_.bodies;
    if (body >= 0 && std::ranges::find(all, body) == all.end()) all.push_back(body);
  }

  // --- Rows

  Range add_row(std::vector<int> used) {
    std::ranges::sort(used);
    used.erase(std::ranges::unique(used).begin(), used.end());
    const Range row{int(plan_.columns.size()), int(used.size())};
    plan_.columns.insert(plan_.columns.end(), used.begin(), used.end());
    plan_.values.resize(plan_.columns.size(), 0);
    return row;
  }
  int entry_of(const Range& row, int column) const {
    const auto begin = plan_.columns.begin() + row.begin;
    return int(std::lower_bound(begin, begin + row.count, column) - plan_.columns.begin());
  }
  Range add_row(const Terms& terms) {
    std::vector<int> used;
    for (const auto& [column, ratio] : terms) used.push_back(column);
    const Range row = add_row(std::move(used));
    for (const auto& [column, ratio] : terms) plan_.values[size_t(entry_of(row, column))] += ratio;
    return row;
  }

  /// The index in q of each column of v; −1 for quaternions.
  std::vector<int> positions() const {
    std::vector<int> out(size_t(model_.nv()), -1);
    for (int j = 0; j < model_.joint_count(); ++j) {
      const CoordinateRange r = model_.coordinates(JointId(j));
      for (int k = 0; r.nq == r.nv && k < r.nv; ++k) out[size_t(r.v + k)] = r.q + k;
    }
    return out;
  }
  /// Adds a scaled coordinate to the current sum, and its columns to `terms`.
  void add_coordinate(const DofRef& dof, double scale, CoordinateSum& sum, Terms& terms) {
    const Model::Row& row = model_.row(model_.joint_id(dof.joint), dof.index);
    if (sum.terms.count == 0) sum.terms.begin = int(plan_.terms.size());
    for (const auto& [column, ratio] : row.terms) {
      terms.emplace_back(column, scale * ratio);
      const int at = position_[size_t(column)];
      if (at < 0) continue;
      plan_.terms.push_back({at, scale * ratio});
      ++sum.terms.count;
    }
    sum.offset += scale * row.offset;
  }

  // --- Levers

  /// The slots whose bodies each coordinate of the tree moves.
  std::vector<std::vector<int>> moved_slots(const std::vector<int>& bodies) const {
    std::vector<std::vector<int>> out(tree().rows.size());
    for (size_t s = 0; s < bodies.size(); ++s) {
      for (int i = bodies[s]; i >= 0; i = tree().bodies[size_t(i)].parent) {
        const Body& b = tree().bodies[size_t(i)];
        for (int k = b.u; k < b.u + b.nu; ++k) out[size_t(k)].push_back(int(s));
      }
    }
    return out;
  }
  /// @param branches  slots by branch of the path, −1: the world; coordinates that move a whole branch do not change its length
  /// @param more      additional columns of the row
  Range add_levers(Linkage& linkage, const std::vector<std::vector<int>>& branches, std::vector<int> more = {}) {
    const std::vector<std::vector<int>> moved = moved_slots(linkage.bodies);
    const auto changes = [&](const std::vector<int>& by, const std::vector<int>& branch) {
      const auto in = [&](int slot) { return std::ranges::find(by, slot) != by.end(); };
      return std::ranges::any_of(branch, in) && !std::ranges::all_of(branch, in);
    };
    std::vector<int> acting;
    for (size_t k = 0; k < moved.size(); ++k) {
      if (std::ranges::any_of(branches, [&](const auto& branch) { return changes(moved[k], branch); }))
        acting.push_back(int(k));
    }
    for (const int k : acting) {
      const CoordinateRow& r = tree().rows[size_t(k)];
      for (int t = r.begin; t < r.end; ++t) more.push_back(tree().terms[size_t(t)].column);
    }
    const Range row = add_row(std::move(more));
    const bool ordered =
        tree().view().columns.ordered;  // then the motions of Mechanics include the signs of flipped axes
    std::vector<std::vector<Lever>> of_slot(linkage.bodies.size());
    for (const int k : acting) {
      const CoordinateRow& r = tree().rows[size_t(k)];
      for (int i = r.begin; i < r.end; ++i) {
        const auto& term = tree().terms[size_t(i)];
        const Lever lever{entry_of(row, term.column), k, ordered ? 1 : term.ratio};
        for (const int slot : moved[size_t(k)]) of_slot[size_t(slot)].push_back(lever);
      }
    }
    for (const std::vector<Lever>& levers : of_slot) {
      linkage.levers.push_back({int(plan_.levers.size()), int(levers.size())});
      plan_.levers.insert(plan_.levers.end(), levers.begin(), levers.end());
    }
    return row;
  }
  static int slot_of(Linkage& linkage, int body) {
    if (body < 0) return -1;
    const auto found = std::ranges::find(linkage.bodies, body);
    if (found != linkage.bodies.end()) return int(found - linkage.bodies.begin());
    linkage.bodies.push_back(body);
    return int(linkage.bodies.size()) - 1;
  }

  // --- Tendons

  void add(const TendonDescription& t) {
    plan_.tendon_length.push_back(0), plan_.tendon_velocity.push_back(0);
    CoordinateSum& sum = plan_.sums.emplace_back();
    if (!t.path.empty()) return add_path(t);
    Terms terms;
    for (const TendonTerm& term : t.terms) add_coordinate(term.dof, term.ratio, sum, terms);
    plan_.path_of.push_back(-1);
    plan_.tendon_rows.push_back(add_row(terms));
  }

  void add_path(const TendonDescription& t) {
    const std::string whose = "tendon '" + t.name + "'";
    plan_.path_of.push_back(int(plan_.path_tendons.size()));
    PathTendon out;
    out.tendon = int(plan_.path_of.size()) - 1;
    std::vector<std::vector<int>> branches(1);
    for (const TendonPart& part : t.path) {
      PathPart& p = out.path.emplace_back();
      p.kind = part.kind, p.divisor = part.divisor, p.radius = part.radius, p.length = part.length;
      p.index = int(out.path.size()) - 1;
      out.slot_of.push_back(-1);
      if (part.kind == TendonPartKind::kPulley) {
        branches.emplace_back();
        continue;
      }
      std::tie(p.body, p.X_BP) = place_of(part.at.link, part.at.pose, whose);
      if (!part.at.link.empty()) p.link = link_of(part.at.link, whose).value();
      plan_.tied |= part.at.link.empty();
      out.slot_of.back() = slot_of(out.linkage, p.body);
      branches.back().push_back(out.slot_of.back());
      add_moving(part, p, out.moving);
      if (!part.side) continue;
      const auto [body, X] = place_of(part.side->link, part.side->pose, whose);
      p.has_side = true, p.side_body = body, p.side = X.p, p.side_is = part.side_is;
    }
    std::vector<int> shifted;
    for (const MovingPart& m : out.moving)
      for (const auto& [column, ratio] : m.terms) shifted.push_back(column);
    if (!out.moving.empty())
      for (const PathPart& p : out.path) out.at_rest.push_back(p.X_BP.p);
    plan_.tendon_rows.push_back(add_levers(out.linkage, branches, std::move(shifted)));
    reserve_trace(out.path, out.trace);
    add_stretches(out);
    if (out.stretches.empty()) {
      for (const PathPart& p : out.path) need(p.body), need(p.side_body);
    }
    plan_.path_tendons.push_back(std::move(out));
  }

  void add_stretches(PathTendon& t) {
    const auto wraps = [](const PathPart& p) {
      return p.kind != TendonPartKind::kPoint && p.kind != TendonPartKind::kPulley;
    };
    if (!t.moving.empty() || std::ranges::any_of(t.path, wraps)) return;
    t.points.resize(t.path.size());
    double share = 1;
    for (size_t i = 0; i < t.path.size(); ++i) {
      if (t.path[i].kind == TendonPartKind::kPulley) share = 1 / t.path[i].divisor;
      if (i == 0 || t.path[i].kind == TendonPartKind::kPulley || t.path[i - 1].kind == TendonPartKind::kPulley)
        continue;
      t.stretches.push_back({int(i) - 1, int(i), share});
    }
  }
  /// What of a part depends on coordinates.
  void add_moving(const TendonPart& part, const PathPart& placed, std::vector<MovingPart>& out) {
    if (part.when) {
      MovingPart& m = out.emplace_back();
      m.part = placed.index, m.range = part.when->range;
      Terms none;
      add_coordinate(part.when->dof, 1, m.sum, none);
    }
    for (const TendonShift& shift : part.shifts) {
      MovingPart& m = out.emplace_back();
      m.part = placed.index, m.function = shift.function;
      if (const auto problem = m.function.prepare()) throw Error("a shift of a tendon: " + *problem);
      m.direction = shift.direction;
      if (placed.link >= 0) m.direction = tree().links[size_t(placed.link)].X_BL.R * shift.direction;
      add_coordinate(shift.dof, 1, m.sum, m.terms);
    }
  }

  // --- Actuators

  void add(const ActuatorDescription& a) {
    ActuatorPath& out = plan_.paths.emplace_back();
    out.gear = a.gear, out.crank = a.crank_length;
    out.in_parent = a.transmission == Transmission::kJointInParent;
    const std::array<double, 6>& w = a.wrench;
    plan_.force_of.push_back({w[0], w[1], w[2]}), plan_.moment_of.push_back({w[3], w[4], w[5]});
    plan_.length.push_back(0), plan_.velocity.push_back(0);
    add_law(a);
    plan_.rows.push_back(add_transmission(a, out));
  }

  void add_law(const ActuatorDescription& a) {
    ForceLaw& law = plan_.laws.emplace_back();
    law.muscle = a.gain == GainLaw::kMuscle || a.gain == GainLaw::kHill || a.bias == BiasLaw::kMuscle ||
                 a.bias == BiasLaw::kHill;
    law.activated = a.activation != ActivationLaw::kNone;
    const int gains = a.gain == GainLaw::kFixed ? 1 : a.gain == GainLaw::kAffine ? 3 : 0;
    const int biases = a.bias == BiasLaw::kAffine ? 3 : 0;
    law.gain[0] = 0;
    std::copy_n(a.gain_numbers.begin(), gains, law.gain);
    std::copy_n(a.bias_numbers.begin(), biases, law.bias);
    law.constant = a.gain == GainLaw::kFixed && a.bias == BiasLaw::kNone;
    law.control = a.control_range, law.force = law.acting = a.force_range;
  }

  Range add_transmission(const ActuatorDescription& a, ActuatorPath& out) {
    const std::string whose = "actuator '" + a.name + "'";
    switch (a.transmission) {
      case Transmission::kJoint:
      case Transmission::kJointInParent:
        return add_joint(a, out);
      case Transmission::kTendon: {
        const auto found = std::ranges::find(given_.tendons, a.target, &TendonDescription::name);
        if (found == given_.tendons.end()) throw Error(fmt::format("{}: there is no tendon '{}'", whose, a.target));
        return add_tendon(int(found - given_.tendons.begin()), out);
      }
      case Transmission::kSite:
      case Transmission::kSliderCrank:
        return add_frames(a, out, whose);
      case Transmission::kBody:
        break;
    }
    return {};
  }

  Range add_tendon(int tendon, ActuatorPath& out) {
    out.kind = ActuatorKind::kTendon;
    out.tendon = tendon;
    out.follows_path = plan_.path_of[size_t(tendon)] >= 0;
    const Range t = plan_.tendon_rows[size_t(tendon)];
    const Range row = add_row(std::vector<int>(plan_.columns.begin() + t.begin, plan_.columns.begin() + t.end()));
    for (int k = 0; k < row.count; ++k)
      plan_.values[size_t(row.begin + k)] = out.gear * plan_.values[size_t(t.begin + k)];
    return row;
  }

  Range add_frames(const ActuatorDescription& a, ActuatorPath& out, const std::string& whose) {
    const bool crank = a.transmission == Transmission::kSliderCrank, pair = crank || !a.reference.empty();
    out.kind = crank ? ActuatorKind::kSliderCrank : pair ? ActuatorKind::kFramePair : ActuatorKind::kFrame;
    out.linkage = int(plan_.frames.size());
    FrameLinkage f;
    std::tie(out.a, f.X_A) = place_of(a.target, {}, whose);
    if (pair) std::tie(out.b, f.X_B) = place_of(a.reference, {}, whose);
    need(out.a), need(out.b);
    const int slot_a = slot_of(f.linkage, out.a), slot_b = pair ? slot_of(f.linkage, out.b) : -1;
    const Range row = add_levers(f.linkage, {{slot_a, slot_b}});
    plan_.frames.push_back(std::move(f));
    return row;
  }

  Range add_joint(const ActuatorDescription& a, ActuatorPath& out) {
    const auto columns_from = [&](int first, int count) {
      std::vector<int> used;
      for (int k = first; k < first + count; ++k) used.push_back(k);
      return add_row(std::move(used));
    };
    if (a.dof.joint.empty()) {
      out.kind = ActuatorKind::kBase;
      if (model_.base() != Base::kFree) throw Error("actuator '" + a.name + "': the figure has no free base");
      return columns_from(0, 6);
    }
    const CoordinateRange r = model_.coordinates(model_.joint_id(a.dof.joint));
    if (r.nq == 4 && a.wrench != std::array<double, 6>{}) {
      out.kind = ActuatorKind::kBall;
      out.q = r.q;
      return columns_from(r.v, 3);
    }
    out.kind = ActuatorKind::kSum;
    Terms terms;
    add_coordinate(a.dof, a.gear, out.sum, terms);
    if (a.effort < kInfinity && a.gear != 0) {
      const double most = a.effort / std::abs(a.gear);
      Interval& range = plan_.laws.back().force;
      range = {std::max(range.lower, -most), std::min(range.upper, most)};
      plan_.laws.back().acting = range;
    }
    return add_row(terms);
  }

  // --- Limits and subsets

  /// Effort limits of joints apply to the sum of all actuators.
  void limit_efforts() {
    std::vector<std::vector<int>> users(size_t(model_.nv()));
    for (size_t i = 0; i < plan_.rows.size(); ++i) {
      const Range& r = plan_.rows[i];
      for (int k = r.begin; k < r.end(); ++k) users[size_t(plan_.columns[size_t(k)])].push_back(int(i));
    }
    for (int j = 0; j < model_.joint_count(); ++j) {
      for (int k = 0; k < info(model_.joint(JointId(j)).type).nv; ++k) {
        const Model::Row& row = model_.row(JointId(j), k);
        const double effort = model_.dof(JointId(j), k).effort;
        if (effort == kInfinity || row.terms.size() != 1 || row.terms[0].second == 0) continue;
        const auto [column, ratio] = row.terms[0];
        const std::vector<int>& by = users[size_t(column)];
        if (!by.empty()) limit_effort(column, effort * std::abs(ratio), by);
      }
    }
  }
  void limit_effort(int column, double most, const std::vector<int>& by) {
    const size_t first = size_t(by[0]);
    const Range& row = plan_.rows[first];
    const bool fixed = plan_.paths[first].kind == ActuatorKind::kSum && row.count == 1;
    const double arm = fixed ? plan_.values[size_t(row.begin)] : 0;
    const bool shared = by.size() > 1 || arm == 0;
    plan_.limits.push_back({column, most, shared});
    plan_.limits_shared |= shared;
    if (shared) return;
    const double force = most / std::abs(arm);
    Interval& range = plan_.laws[first].acting;
    range = {std::max(range.lower, -force), std::min(range.upper, force)};
  }

  void list_tendons() {
    for (size_t t = 0; t < given_.tendons.size(); ++t) {
      const TendonDescription& d = given_.tendons[t];
      if (d.stiffness != 0 || d.damping != 0) plan_.sprung.push_back(int(t));
      if (d.limit.is_bounded() || d.friction > 0) plan_.bounded_tendons.push_back(int(t));
      if (!d.effort.is_bounded()) continue;
      TendonSet set{.tendon = int(t), .effort = d.effort};
      for (size_t i = 0; i < plan_.paths.size(); ++i) {
        if (plan_.paths[i].tendon == int(t)) set.actuators.push_back(int(i));
      }
      if (!set.actuators.empty()) plan_.cut.push_back(std::move(set));
    }
  }
  /// Whether an actuator's length is that of a single coordinate.
  void list_place(int i) {
    const ActuatorPath& path = plan_.paths[size_t(i)];
    const Range& row = plan_.rows[size_t(i)];
    if (path.kind != ActuatorKind::kSum || path.sum.terms.count != 1 || row.count != 1)
      return plan_.placed.push_back(i);
    const CoordinateTermOfSum& term = plan_.terms[size_t(path.sum.terms.begin)];
    plan_.by_coordinate.push_back(
        {i, term.q, plan_.columns[size_t(row.begin)], term.ratio, path.sum.offset, plan_.values[size_t(row.begin)]});
  }
  void list_actuators() {
    for (size_t i = 0; i < given_.actuators.size(); ++i) {
      const ActuatorDescription& a = given_.actuators[i];
      if (plan_.laws[i].activated) plan_.activated.push_back(int(i));
      if (a.early) plan_.early.push_back(int(i));
      if (plan_.laws[i].acting.is_bounded()) plan_.bounded.push_back(int(i));
      if (a.transmission == Transmission::kBody) plan_.adhesive.push_back(int(i));
      list_place(int(i));
    }
  }
};

}  // namespace

ActuationPlan compile_actuation(const Model& model, const ActuationDescription& description, EffortLimits limits) {
  return PlanCompiler(model, description).run(limits);
}

}  // namespace kansetsu
