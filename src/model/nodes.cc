#include <algorithm>
#include <cmath>

#include "model/limbs.h"

namespace kansetsu {
namespace {

bool has_node_form(const Tree& tree) {
  if (!tree.simple) return false;
  for (int i = 0; i < tree.body_count(); ++i) {
    const PrimitiveKind kind = tree.bodies[size_t(i)].kind;
    const bool is_base = i == 0 && tree.free_base;
    if (!is_base && kind != PrimitiveKind::kHinge && kind != PrimitiveKind::kBall) return false;
  }
  return true;
}

NodeCoordinate coordinate(const Tree& tree, int u) {
  const CoordinateTerm& term = tree.terms[size_t(tree.rows[size_t(u)].begin)];
  return {term.column, std::max(term.position, 0), term.ratio, tree.rows[size_t(u)].offset};
}

NodeKind kind_of(const Body& b) {
  if (b.kind == PrimitiveKind::kFree) return NodeKind::kFree;
  if (b.kind == PrimitiveKind::kBall) return NodeKind::kBall;
  return b.aligned_axis < 0 ? NodeKind::kHinge : NodeKind(b.aligned_axis);
}

/// angles_at of NodeTreeViewOf
int find_angles(const NodeTreeOf<double>& tree) {
  const size_t first = size_t(tree.first_angle());
  if (tree.coordinates.size() <= first) return -1;
  const int at = tree.coordinates[first].position;
  for (size_t k = first; k < tree.coordinates.size(); ++k) {
    const NodeCoordinate& c = tree.coordinates[k];
    if (c.position != at + int(k - first) || c.ratio != 1 || c.offset != 0) return -1;
  }
  return at;
}

}  // namespace

Offset offset_of(const Vec3<>& p) {
  if (p == Vec3<>{}) return Offset::kNone;
  if (p.y == 0 && p.z == 0) return Offset::kX;
  if (p.z == 0 && p.x == 0) return Offset::kY;
  return p.x == 0 && p.y == 0 ? Offset::kZ : Offset::kAny;
}

Offset centre_of(const Inertia<>& M) {
  return M.I.xy == 0 && M.I.xz == 0 && M.I.yz == 0 ? offset_of(M.h) : Offset::kAny;
}

void number_nodes(NodeTreeOf<double>& tree, const std::vector<bool>& gathers) {
  std::vector<int> children(tree.nodes.size(), 0);
  for (const auto& node : tree.nodes) {
    if (node.parent >= 0) ++children[size_t(node.parent)];
  }
  tree.in_order = true;
  for (size_t k = 0; k < tree.coordinates.size(); ++k) {
    tree.in_order &= tree.coordinates[k].column == int(k) && tree.coordinates[k].ratio == 1;
  }
  tree.angles_at = find_angles(tree);
  tree.ball_count = tree.gather_count = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    NodeOf<double>& node = tree.nodes[i];
    node.leaf = children[i] == 0;
    const bool meeting = children[i] > 1 || gathers[i] || node.kind == NodeKind::kFree;
    node.gathers = meeting ? tree.gather_count++ : -1;
    if (node.kind == NodeKind::kBall) node.ball = tree.ball_count++;
    node.from = node.parent < 0 ? node.kGround : tree.nodes[size_t(node.parent)].gathers;
    fold_leaf(node);
  }
}

namespace {

/// What the rotors are beside the largest inertias that their hinges can see. N² = ∫ρ² dm of all that hangs on a node is at
/// most what it is with every limb stretched out from there, and tr(A) ≤ 2·N²: yielding hinges only lessen A.
void weigh_rotors(NodeTreeOf<double>& tree) {
  std::vector<double> mass(tree.nodes.size(), 0), N2(tree.nodes.size(), 0);
  for (size_t i = tree.nodes.size(); i-- > 0;) {
    NodeOf<double>& node = tree.nodes[i];
    mass[i] += node.M.m;
    N2[i] += 0.5 * std::abs(node.M.I.xx + node.M.I.yy + node.M.I.zz);
    const double largest = 2 * N2[i];
    node.rotor_share = node.n == 1 && node.rotor[0] > 0 ? std::min(node.rotor[0] / largest, 1.0) : 0;
    if (node.parent < 0) continue;
    const double N = std::sqrt(N2[i]) + norm(node.p) * std::sqrt(std::max(mass[i], 0.0));
    N2[size_t(node.parent)] += N * N;
    mass[size_t(node.parent)] += mass[i];
  }
}

}  // namespace

std::shared_ptr<const Nodes> make_nodes(const Tree& tree) {
  if (!has_node_form(tree)) return nullptr;
  auto out = std::make_shared<Nodes>();
  NodeTreeOf<double>& whole = out->whole;
  for (const Body& b : tree.bodies) {
    NodeOf<double> node;
    node.parent = b.parent;
    node.body[0] = int(whole.nodes.size());
    node.kind = kind_of(b);
    node.n = b.nu;
    node.u = int(whole.coordinates.size());
    if (b.large >= 0) node.q = tree.large[size_t(b.large)].q;
    node.massless = b.massless;
    node.offset = offset_of(b.X_PJ.p);
    node.R0 = b.X_PJ.R;
    node.p = b.X_PJ.p;
    node.M = b.M_B;
    node.centre = centre_of(b.M_B);
    for (int k = 0; k < b.nu; ++k) {
      if (k < 3) node.rotor[k] = tree.rotor_inertia[size_t(b.u + k)];
      whole.coordinates.push_back(coordinate(tree, b.u + k));
    }
    whole.nodes.push_back(node);
  }
  number_nodes(whole, std::vector<bool>(whole.nodes.size(), false));
  weigh_rotors(whole);
  split_limbs(*out);
  out->whole_view = whole.view();
  out->trunk_view = out->trunk.view();
  for (const LimbSet& set : out->limbs) out->limb_views.push_back(set.view());
  return out;
}

}  // namespace kansetsu
