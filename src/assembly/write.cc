#include <algorithm>

#include "assembly/solver.h"
#include "kinematics/joint_kernel.h"

/// From accelerations of parts and forces of rows to the results: v̇, wrenches and torques of the joints.
namespace kansetsu {
/// u̇ = Eᵀ·(s_c − X⁻¹·s_p − C)
void Solver::recover_joint(int j) {
  const Joint& joint = mechanism_.joints[size_t(j)];
  const Motion<> A = joint_acceleration(j);
  const Force<>* E = joint_columns(j) + 6 - joint.d;
  for (int k = 0; k < joint.d; ++k) {
    udot_[size_t(joint.figure)][size_t(mechanism_.coordinates[size_t(joint.coordinates + k)].u)] = dot(A, E[k]);
  }
}

/// Joints without mass behind them accelerate their rotors. False if one of them has no rotor.
bool Solver::recover_tips(int f) {
  const Figure& figure = figures_[size_t(f)];
  const Tree& tree = figure.model->tree();
  bool all = true;
  for (int i : mechanism_.tips[size_t(f)]) {
    const Body& b = tree.bodies[size_t(i)];
    for (int k = 0; k < b.nu; ++k) {
      const size_t u = size_t(b.u + k);
      const double rotor = tree.rotor_inertia[u];
      const double along = figure.external ? dot(kernel::subspace<double>(b, k), figure.external[i]) : 0;
      udot_[size_t(f)][u] = rotor > 0 ? (tau_[size_t(f)][u] + along) / rotor : 0;
      all = all && rotor > 0;
    }
  }
  return all;
}

void Solver::write_vdot(int f, int worker, Eigen::VectorXd& vdot) const {
  const auto& owners = mechanism_.owners[size_t(f)];
  const auto [first, last] = part_of(worker, owners.size());
  for (int k = first; k < last; ++k) vdot[k] = owners[size_t(k)].sign * udot_[size_t(f)][size_t(owners[size_t(k)].u)];
}

/// Wrench on the child of a joint, in its frame.
Force<> Solver::joint_force(int j) const {
  const Joint& joint = mechanism_.joints[size_t(j)];
  Force<> F = joints_[size_t(j)].drive;
  const Force<>* columns = joint_columns(j);
  const double* n = joint.bond < 0 ? nullptr : x_.n.data() + mechanism_.bonds[size_t(joint.bond)].first;
  for (int k = 0; k < 6 - joint.d; ++k) F = madd(n[k], columns[k], F);
  for (int k = 0; k < joint.d; ++k) {
    const JointCoordinate& c = mechanism_.coordinates[size_t(joint.coordinates + k)];
    const double more = gear_[size_t(joint.figure)][size_t(c.u)] + (c.row < 0 ? 0.0 : n[c.row]);
    F = madd(more, columns[6 - joint.d + k], F);
  }
  return F;
}

Force<> Solver::closure_force(const ClosureData& closure, const Force<>* wrench) const {
  const Bond& bond = mechanism_.bonds[size_t(closure.bond)];
  Force<> F{};
  for (int k = 0; k < bond.rows; ++k) F = madd(x_.n[size_t(bond.first + k)], wrench[k], F);
  return F;
}

/// Wrench on every body through its primitive, in its frame.
void Solver::find_body_forces(int f, int worker) {
  Figure& figure = figures_[size_t(f)];
  const auto [first, last] = part_of(worker, mechanism_.joints.size());
  for (int j = first; j < last; ++j) {
    const Joint& joint = mechanism_.joints[size_t(j)];
    if (joint.figure != f) continue;
    Force<> F = joint_force(j);
    for (int m = joint.body_count - 1; m >= 0; --m) {
      const int i = mechanism_.chain[size_t(joint.bodies + m)];
      const bool massless = m < joint.body_count - 1;
      if (massless && figure.external) F -= figure.external[i];
      figure.body_force[size_t(i)] = F;
      F = X_PB_[size_t(figure.first_body + i)] * F;
    }
  }
  if (worker > 0) return;
  for (int i : mechanism_.tips[size_t(f)]) {
    figure.body_force[size_t(i)] = figure.external ? -figure.external[i] : Force<>{};
  }
}

/// M·A + V × M·V of a link, at its origin in its axes, A apparent.
Force<> Solver::inertial_force(const Figure& figure, int link) const {
  const Tree& tree = figure.model->tree();
  const LinkPlacement& place = tree.links[size_t(link)];
  Motion<> V{}, A{{}, -tree.gravity};
  if (place.body >= 0) {
    const int f = int(&figure - figures_.data());
    const int part = mechanism_.part_of_body[size_t(f)][size_t(place.body)];
    if (part < 0) return {};
    V = V_[size_t(figure.first_body + place.body)];
    A = acceleration(part);
  }
  V = inverse_times(place.X_BL, V);
  A = inverse_times(place.X_BL, A);
  return place.M_L * A + cross(V, place.M_L * V);
}

void Solver::write_reactions(int f, int worker, Reactions& out) {
  const Figure& figure = figures_[size_t(f)];
  const Tree& tree = figure.model->tree();
  const auto [j0, j1] = part_of(worker, tree.joint_coordinates.size());
  for (size_t j = size_t(j0); j < size_t(j1); ++j) {
    for (size_t k = 0; k < tree.joint_coordinates[j].size(); ++k) {
      const Tree::JointCoordinate& c = tree.joint_coordinates[j][k];
      out.torque[out.torque_start[j] + int(k)] =
          c.sign * (tau_[size_t(f)][size_t(c.u)] + gear_[size_t(f)][size_t(c.u)]);
    }
  }
  const auto [l0, l1] = part_of(worker, tree.links.size());
  for (size_t l = size_t(l0); l < size_t(l1); ++l) {
    const LinkPlacement& place = tree.links[l];
    if (place.body >= 0) out.wrench[l] = inverse_times(place.X_BL, figure.body_force[size_t(place.body)]);
  }
}

/// Links that are fixed to others: Newton–Euler, with the wrenches of closures and external ones.
void Solver::write_fixed_links(int f, Reactions& out) {
  Figure& figure = figures_[size_t(f)];
  const Tree& tree = figure.model->tree();
  if (figure.fixed_links.empty()) return;
  std::fill(figure.link_force.begin(), figure.link_force.end(), Force<>{});
  for (const ClosureData& c : *closures_) {
    if (!c.alive) continue;
    const auto add = [&](const ClosureAnchor& anchor, int figure_of, const Force<>* wrench) {
      if (figure_of != f || !anchor.link) return;
      const size_t l = size_t(anchor.link->value());
      figure.link_force[l] += inverse_times(tree.links[l].X_BL, closure_force(c, wrench));
    };
    add(c.closure.a, c.figure_a, c.wrench_a);
    add(c.closure.b, c.figure_b, c.wrench_b);
  }
  const auto link_in = [&](int l, int parent) {  // pose of a link in its parent link
    const LinkPlacement &a = tree.links[size_t(l)], &b = tree.links[size_t(parent)];
    if (a.body == b.body) return inverse(b.X_BL) * a.X_BL;
    Transform<> X = a.X_BL;
    for (int i = a.body; i != b.body; i = tree.bodies[size_t(i)].parent) X = X_PB_[size_t(figure.first_body + i)] * X;
    return inverse(b.X_BL) * X;
  };
  for (int l : figure.fixed_links) {
    Force<> F = inertial_force(figure, l) - figure.link_force[size_t(l)];
    if (figure.input.external) {
      const LinkPlacement& place = tree.links[size_t(l)];
      const Mat3<> R_WL =
          place.body < 0 ? place.X_BL.R : X_WB_[size_t(figure.first_body + place.body)].R * place.X_BL.R;
      const Force<>& G = figure.input.external->wrenches()[size_t(l)];
      F -= Force<>{transpose_times(R_WL, G.t), transpose_times(R_WL, G.f)};
    }
    for (int child : figure.links_on[size_t(l)]) F += link_in(child, l) * out.wrench[size_t(child)];
    out.wrench[size_t(l)] = F;
  }
}

void Solver::find_gear_torques() {
  for (const Gear& gear : mechanism_.gears) {
    const double lambda = x_.n[size_t(mechanism_.bonds[size_t(gear.bond)].first)];
    for (int t = gear.terms; t < gear.terms + gear.term_count; ++t) {
      const GearTerm& term = mechanism_.gear_terms[size_t(t)];
      const Joint& joint = mechanism_.joints[size_t(term.joint)];
      const int u = mechanism_.coordinates[size_t(joint.coordinates + term.coordinate)].u;
      gear_[size_t(joint.figure)][size_t(u)] += term.ratio * lambda;
    }
  }
}

void Solver::write(AssemblyResult& out) {
  int dropped = 0, singular = 0;
  for (const SweepScratch& scratch : scratch_) {
    dropped += scratch.dropped;
    singular += scratch.singular;
  }
  bool regular = singular == 0, posed = false;
  for (size_t f = 0; f < figures_.size(); ++f) {
    if (!recover_tips(int(f))) regular = false;
    if (options_.reactions && !posed && figures_[f].input.external && !figures_[f].fixed_links.empty()) {
      find_poses();
      posed = true;
    }
  }
  pool_->run([&](int w) {
    for (size_t f = 0; f < figures_.size(); ++f) write_vdot(int(f), w, out.figures[f].vdot);
    if (!options_.reactions) return;
    for (auto& gear : gear_) {
      const auto [first, last] = part_of(w, gear.size());
      std::fill(gear.begin() + first, gear.begin() + last, 0.0);
    }
    pool_->barrier();
    if (w == 0) find_gear_torques();
    pool_->barrier();
    for (size_t f = 0; f < figures_.size(); ++f) find_body_forces(int(f), w);
    pool_->barrier();
    for (size_t f = 0; f < figures_.size(); ++f) write_reactions(int(f), w, out.figures[f].reactions);
  });
  for (size_t f = 0; options_.reactions && f < figures_.size(); ++f)
    write_fixed_links(int(f), out.figures[f].reactions);
  out.status = regular ? Status::kOk : Status::kSingular;
  out.rows = 0;
  for (const ClosureData& c : *closures_) {
    if (c.alive && !clusters_.is_open(c.bond)) out.rows += mechanism_.bonds[size_t(c.bond)].rows;
  }
  out.rank = out.rows - dropped;
  out.residual = residual_;
}

}  // namespace kansetsu
