#include <cmath>

#include "assembly/solver.h"
#include "kansetsu/base/error.h"
#include "kansetsu/spatial/eigen.h"
#include "kinematics/joint_kernel.h"

/// From states to parts and bonds: wrenches on the parts, right sides and wrench columns of the bonds.
namespace kansetsu {
namespace {

/// x − Σ (x·q)·q, twice for accuracy
void make_orthogonal(const Vector6d* Q, int count, Vector6d& x) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int k = 0; k < count; ++k) x -= Q[k].dot(x) * Q[k];
  }
}
bool normalise(Vector6d& x, double least) {
  const double length = x.norm();
  x *= length > least ? 1 / length : 0;
  return length > least;
}

/// N (orthonormal, Nᵀ·S = 0), then E = S·(Sᵀ·S)⁻¹, of d motions. A motion that others contain gets E = 0.
void dual_columns(const Motion<>* S, int d, Force<>* out) {
  Vector6d Q[6], dual[6];
  for (int k = 0; k < d; ++k) {
    Q[k] = to_eigen(S[k]);
    make_orthogonal(Q, k, Q[k]);
    normalise(Q[k], 1e-12);
  }
  for (int k = 0; k < d; ++k) {  // the part of S_k outside the span of the others
    Vector6d others[6];
    int count = 0;
    for (int j = 0; j < d; ++j) {
      if (j == k) continue;
      others[count] = to_eigen(S[j]);
      make_orthogonal(others, count, others[count]);
      if (normalise(others[count], 1e-12)) ++count;
    }
    dual[k] = to_eigen(S[k]);
    make_orthogonal(others, count, dual[k]);
    const double length = dual[k].squaredNorm();
    dual[k] *= length > 1e-24 ? 1 / length : 0;
  }
  for (int k = d; k < 6; ++k) {  // the unit vector farthest from the span so far
    double best = -1;
    for (int i = 0; i < 6; ++i) {
      Vector6d x = Vector6d::Unit(i);
      make_orthogonal(Q, k, x);
      const double length = x.squaredNorm();
      if (length <= best) continue;
      best = length;
      Q[k] = x;
    }
    normalise(Q[k], 0);
    out[k - d] = to_force(Q[k]);
  }
  for (int k = 0; k < d; ++k) out[6 - d + k] = to_force(dual[k]);
}

}  // namespace

Solver::Solver(const std::vector<Model>& figures, const Mechanism& mechanism, Clusters& clusters,
               const AssemblyOptions& options)
    : models_(figures),
      mechanism_(mechanism),
      clusters_(clusters),
      options_(options),
      kernels_(kernel::assembly()),
      pool_(std::make_unique<SpinPool>(options.threads)),
      scratch_(size_t(options.threads)) {
  for (const Model& model : figures) add_figure(model);
  joints_.resize(mechanism.joints.size());
  joints_on_.resize(mechanism.parts.size());
  compound_at_.assign(mechanism.joints.size(), -1);
  for (size_t j = 0; j < mechanism.joints.size(); ++j) {
    const Joint& joint = mechanism.joints[j];
    if (joint.carrier != kGround) joints_on_[size_t(joint.carrier)].push_back(int(j));
    if (joint.simple) continue;
    compound_at_[j] = int(compound_.size());
    compound_.resize(compound_.size() + 6);
  }
  t_.resize(6 * mechanism.parts.size());
  resize();
}

void Solver::add_figure(const Model& model) {
  const Tree& tree = model.tree();
  const int f = int(figures_.size());
  Figure figure{.model = &model, .first_body = int(X_PB_.size()), .work = Workspace(model)};
  figure.body_force.resize(size_t(tree.body_count()));
  figure.link_force.resize(size_t(model.link_count()));
  figure.wrenches.resize(size_t(tree.body_count()));
  figure.link_begin.assign(size_t(tree.body_count()) + 1, 0);
  for (const LinkPlacement& link : tree.links) {
    if (link.body >= 0) ++figure.link_begin[size_t(link.body) + 1];
  }
  for (size_t i = 0; i < figure.wrenches.size(); ++i) figure.link_begin[i + 1] += figure.link_begin[i];
  figure.links_of.resize(size_t(figure.link_begin.back()));
  std::vector<int> next = figure.link_begin;
  for (size_t l = 0; l < tree.links.size(); ++l) {
    if (tree.links[l].body >= 0) figure.links_of[size_t(next[size_t(tree.links[l].body)]++)] = int(l);
  }
  figure.joint_of_body.assign(size_t(tree.body_count()), -1);
  for (size_t j = 0; j < mechanism_.joints.size(); ++j) {
    const Joint& joint = mechanism_.joints[j];
    if (joint.figure != f) continue;
    for (int k = 0; k < joint.body_count; ++k) {
      figure.joint_of_body[size_t(mechanism_.chain[size_t(joint.bodies + k)])] = int(j);
    }
  }
  figure.links_on.resize(size_t(model.link_count()));
  for (int l = model.link_count() - 1; l >= 0; --l) {
    const bool root = l == 0;
    if (root ? tree.links[0].body < 0 : model.joint(JointId(l - 1)).type == JointType::kFixed)
      figure.fixed_links.push_back(l);
    if (!root) figure.links_on[size_t(model.parent_link(JointId(l - 1)).value())].push_back(l);
  }
  for (int j = 0; j < model.joint_count(); ++j) {
    const auto& coordinates = tree.joint_coordinates[size_t(j)];
    for (size_t k = 0; k < coordinates.size(); ++k) {
      const DofDescription& dof = model.dof(JointId(j), int(k));
      if (dof.stiffness == 0 && dof.damping == 0) continue;
      const bool scalar = info(model.joint(JointId(j)).type).nq == info(model.joint(JointId(j)).type).nv;
      figure.passive.push_back(
          {coordinates[k].u, scalar ? 0 : -1, coordinates[k].sign, dof.stiffness, dof.rest, dof.damping});
    }
  }
  set_stretches(figure);
  figures_.push_back(std::move(figure));
  const size_t bodies = X_PB_.size() + size_t(tree.body_count());
  X_PB_.resize(bodies);
  X_EB_.resize(bodies);
  X_WB_.resize(bodies);
  V_.resize(bodies);
  u_.emplace_back(size_t(tree.nu), 0.0);
  tau_.emplace_back(size_t(tree.nu), 0.0);
  udot_.emplace_back(size_t(tree.nu), 0.0);
  gear_.emplace_back(size_t(tree.nu), 0.0);
}

void Solver::resize() {
  const size_t rows = size_t(mechanism_.row_count);
  for (auto* a : {&h_, &compliance_, &rho_, &x_.n, &dx_.n}) a->resize(rows, 0.0);
  for (auto* a : {&x_.s, &dx_.s}) a->resize(6 * mechanism_.parts.size());
  share_out();
  const size_t most = size_t(padded(clusters_.most_rows() + 16));
  for (SweepScratch& scratch : scratch_) {
    if (scratch.a.size() < most) scratch.a.resize(most);
    if (scratch.lanes.size() < most / 8 + 1) scratch.lanes.resize(most / 8 + 1);
  }
}

/// Wrenches on the links of each body, in its frame. Needs poses.
void Solver::load_external(Figure& figure, int worker) {
  if (!figure.external) return;
  const Tree& tree = figure.model->tree();
  const auto [first, last] = part_of(worker, figure.wrenches.size());
  for (int i = first; i < last; ++i) {
    const Mat3<>& R_WB = X_WB_[size_t(figure.first_body + i)].R;
    Force<> sum{};
    for (int k = figure.link_begin[size_t(i)]; k < figure.link_begin[size_t(i) + 1]; ++k) {
      const size_t l = size_t(figure.links_of[size_t(k)]);
      const Force<>& F = figure.input.external->wrenches()[l];  // at the link's origin, world axes
      const Vec3<> t = transpose_times(R_WB, F.t), f = transpose_times(R_WB, F.f);
      sum += Force<>{add_cross(t, tree.links[l].X_BL.p, f), f};
    }
    figure.external[i] = sum;
  }
}

/// External wrenches on tips act on their carriers.
void Solver::pass_on_tips(Figure& figure) {
  if (!figure.external) return;
  const Tree& tree = figure.model->tree();
  const std::vector<int>& tips = mechanism_.tips[size_t(&figure - figures_.data())];
  for (auto i = tips.rbegin(); i != tips.rend(); ++i) {
    const int p = tree.bodies[size_t(*i)].parent;
    if (p >= 0) figure.external[p] += X_PB_[size_t(figure.first_body + *i)] * figure.external[*i];
  }
}

void Solver::load_springs(Figure& figure, int worker) {
  const size_t f = size_t(&figure - figures_.data());
  const Tree& tree = figure.model->tree();
  const State& state = *figure.input.state;
  const auto [first, last] = part_of(worker, figure.passive.size());
  for (int k = first; k < last; ++k) {
    const Figure::Passive& p = figure.passive[size_t(k)];
    double& torque = tau_[f][size_t(p.u)];
    torque -= p.damping * u_[f][size_t(p.u)];
    if (p.q < 0) continue;
    const CoordinateRow& row = tree.rows[size_t(p.u)];
    double q = row.offset;
    for (int t = row.begin; t < row.end; ++t) {
      q += tree.terms[size_t(t)].ratio * state.q[tree.terms[size_t(t)].position];
    }
    torque -= p.stiffness * (q - p.sign * p.rest);
  }
}

const Force<>* Solver::joint_columns(int j) const {
  const int at = compound_at_[size_t(j)];
  return at < 0 ? mechanism_.columns.data() + mechanism_.joints[size_t(j)].columns : compound_.data() + at;
}

void Solver::load_joint(int j) {
  const Joint& joint = mechanism_.joints[size_t(j)];
  JointData& data = joints_[size_t(j)];
  const Figure& figure = figures_[size_t(joint.figure)];
  const Tree& tree = figure.model->tree();
  data.relayed = {};
  double tau[6];
  for (int k = 0; k < joint.d; ++k) {
    tau[k] = tau_[size_t(joint.figure)][size_t(mechanism_.coordinates[size_t(joint.coordinates + k)].u)];
  }
  if (joint.simple) {
    const int i = mechanism_.chain[size_t(joint.bodies)];
    const Body& b = tree.bodies[size_t(i)];
    data.X_PB = X_PB_[size_t(figure.first_body + i)];
    data.C = cross(V_[size_t(figure.first_body + i)], kernel::joint_rate(b, u_[size_t(joint.figure)].data() + b.u));
  } else {
    Motion<> S[6];
    int d = 0;
    data.C = {};
    data.X_PB = {};
    Transform<> X_carrier;  // body in carrier
    for (int m = 0; m < joint.body_count; ++m) {
      const int i = mechanism_.chain[size_t(joint.bodies + m)];
      const Body& b = tree.bodies[size_t(i)];
      const Transform<>& X = X_PB_[size_t(figure.first_body + i)];
      for (int k = 0; k < d; ++k) S[k] = inverse_times(X, S[k]);
      for (int k = 0; k < b.nu; ++k) S[d++] = kernel::subspace<double>(b, k);
      data.C = inverse_times(X, data.C) +
               cross(V_[size_t(figure.first_body + i)], kernel::joint_rate(b, u_[size_t(joint.figure)].data() + b.u));
      X_carrier = X_carrier * X;
      if (figure.external &&
          m + 1 < joint.body_count) {  // on a massless body: along the coordinates so far, the rest to the carrier
        const Force<>& F = figure.external[i];
        for (int k = 0; k < d; ++k) tau[k] += dot(S[k], F);
        data.relayed += X_carrier * F;
      }
    }
    data.X_PB = X_carrier;
    dual_columns(S, d, compound_.data() + compound_at_[size_t(j)]);
  }
  const Force<>* columns = joint_columns(j);
  data.drive = {};
  for (int k = 0; k < joint.d; ++k) data.drive = madd(tau[k], columns[6 - joint.d + k], data.drive);
  if (joint.carrier == kGround) data.C += inverse_times(data.X_PB, Motion<>{{}, -tree.gravity});
  if (joint.bond < 0) return;
  double* h = h_.data() + mechanism_.bonds[size_t(joint.bond)].first;
  double* compliance = compliance_.data() + mechanism_.bonds[size_t(joint.bond)].first;
  for (int k = 0; k < 6 - joint.d; ++k) {
    h[k] = dot(data.C, columns[k]);
    compliance[k] = 0;
  }
  for (int k = 0; k < joint.d; ++k) {
    const JointCoordinate& c = mechanism_.coordinates[size_t(joint.coordinates + k)];
    if (c.row < 0) continue;
    h[c.row] = dot(data.C, columns[6 - joint.d + k]);
    compliance[c.row] = 1 / c.rotor;
  }
}

void Solver::load_part(int p) {
  const Part& part = mechanism_.parts[size_t(p)];
  const Figure& figure = figures_[size_t(part.figure)];
  const Inertia<>& M = figure.model->tree().bodies[size_t(part.body)].M_B;
  const Motion<>& V = V_[size_t(figure.first_body + part.body)];
  Force<> t = joints_[size_t(part.joint)].drive - cross(V, M * V);
  if (figure.external) t += figure.external[part.body];
  for (int j : joints_on_[size_t(p)]) {
    const JointData& data = joints_[size_t(j)];
    t -= data.X_PB * data.drive;
    t += data.relayed;
  }
  store(t, t_.data() + 6 * size_t(p), 1);
}

void Solver::load_gear(int g) {
  const Gear& gear = mechanism_.gears[size_t(g)];
  double h = 0;
  for (int t = gear.terms; t < gear.terms + gear.term_count; ++t) {
    const GearTerm& term = mechanism_.gear_terms[size_t(t)];
    const Joint& joint = mechanism_.joints[size_t(term.joint)];
    const Force<>& E = joint_columns(term.joint)[6 - joint.d + term.coordinate];
    h = madd(term.ratio, dot(joints_[size_t(term.joint)].C, E), h);
  }
  h_[size_t(mechanism_.bonds[size_t(gear.bond)].first)] = h;
}

void Solver::load_closure(ClosureData& c) {
  const Figure &figure_a = figures_[size_t(c.figure_a)], &figure_b = figures_[size_t(c.figure_b)];
  const auto pose = [&](const Figure& f, int body) {
    return body < 0 ? Transform<>{} : X_WB_[size_t(f.first_body + body)];
  };
  const Transform<> X_ab = inverse(pose(figure_a, c.body_a)) * pose(figure_b, c.body_b);
  const Transform<> X_aP = X_ab * c.X_bJ;  // plug in a
  const Motion<> V_a = c.body_a < 0 ? Motion<>{} : V_[size_t(figure_a.first_body + c.body_a)];
  const Motion<> V_b = c.body_b < 0 ? Motion<>{} : V_[size_t(figure_b.first_body + c.body_b)];
  const Motion<> V_plug = inverse_times(c.X_bJ, V_b);
  const Motion<> V_rel = V_plug - inverse_times(X_aP, V_a);
  Motion<> right = cross(V_plug, V_rel) + c.bias;
  // the ground's apparent acceleration belongs to the left side
  if (c.body_a < 0) right += inverse_times(X_aP, Motion<>{{}, -figure_a.model->gravity()});
  if (c.body_b < 0) right = right - inverse_times(c.X_bJ, Motion<>{{}, -figure_b.model->gravity()});
  const Vector6d h = to_eigen(right);
  const Bond& bond = mechanism_.bonds[size_t(c.bond)];
  for (int k = 0; k < bond.rows; ++k) {
    const Force<> F = to_force(Vector6d::Unit(c.row[k]));
    c.wrench_b[k] = c.X_bJ * F;
    c.wrench_a[k] = -(X_aP * F);
    h_[size_t(bond.first + k)] = h[c.row[k]];
    compliance_[size_t(bond.first + k)] = 0;
  }
}

void Solver::load(std::span<const FigureInput> inputs, std::vector<ClosureData>& closures) {
  closures_ = &closures;
  bool any_closure = false;
  for (const ClosureData& c : closures) any_closure |= c.alive;
  for (size_t f = 0; f < figures_.size(); ++f) {
    Figure& figure = figures_[f];
    figure.input = inputs[f];
    figure.external = inputs[f].external ? figure.wrenches.data() : nullptr;
    if (figure.external)
      check_size("external forces", "wrenches", long(inputs[f].external->wrenches().size()),
                 figure.model->link_count());
  }
  load_figures();
  pool_->run([&](int w) {
    const auto [j0, j1] = part_of(w, joints_.size());
    for (int j = j0; j < j1; ++j) load_joint(j);
    pool_->barrier();
    const auto [p0, p1] = part_of(w, mechanism_.parts.size());
    for (int p = p0; p < p1; ++p) load_part(p);
    const auto [g0, g1] = part_of(w, mechanism_.gears.size());
    for (int g = g0; g < g1; ++g) load_gear(g);
  });
  if (!any_closure) return;
  find_poses();
  for (ClosureData& c : closures) {
    if (c.alive) load_closure(c);
  }
}

void Solver::bond_wrenches(int b, int p, Force<>* out) const {
  const Bond& bond = mechanism_.bonds[size_t(b)];
  if (bond.kind == BondKind::kJoint) {
    const Joint& joint = mechanism_.joints[size_t(bond.index)];
    const Force<>* columns = joint_columns(bond.index);
    for (int k = 0; k < 6 - joint.d; ++k) out[k] = columns[k];
    for (int k = 0; k < joint.d; ++k) {
      const int row = mechanism_.coordinates[size_t(joint.coordinates + k)].row;
      if (row >= 0) out[row] = columns[6 - joint.d + k];
    }
    if (joint.child == p) return;
    const Transform<>& X = joints_[size_t(bond.index)].X_PB;
    for (int k = 0; k < bond.rows; ++k) out[k] = -(X * out[k]);
  } else if (bond.kind == BondKind::kGear) {
    const Gear& gear = mechanism_.gears[size_t(bond.index)];
    out[0] = {};
    for (int t = gear.terms; t < gear.terms + gear.term_count; ++t) {
      const GearTerm& term = mechanism_.gear_terms[size_t(t)];
      const Joint& joint = mechanism_.joints[size_t(term.joint)];
      const Force<> F = term.ratio * joint_columns(term.joint)[6 - joint.d + term.coordinate];
      if (joint.child == p) out[0] += F;
      if (joint.carrier == p) out[0] -= joints_[size_t(term.joint)].X_PB * F;
    }
  } else {
    const ClosureData& c = (*closures_)[size_t(bond.index)];
    const Part& part = mechanism_.parts[size_t(p)];
    const bool on_a = c.figure_a == part.figure && c.body_a == part.body;
    const bool on_b = c.figure_b == part.figure && c.body_b == part.body;
    for (int k = 0; k < bond.rows; ++k) {
      out[k] = {};
      if (on_a) out[k] += c.wrench_a[k];
      if (on_b) out[k] += c.wrench_b[k];
    }
  }
}

}  // namespace kansetsu
