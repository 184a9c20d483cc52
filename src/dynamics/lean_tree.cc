#include "dynamics/lean_tree.h"

#include "model/limbs.h"

namespace kansetsu {
namespace {

bool has_lean_form(const Tree& tree) {
  if (!tree.simple) return false;
  for (int i = 0; i < tree.body_count(); ++i) {
    const bool is_base = i == 0 && tree.free_base;
    if (!is_base && tree.bodies[size_t(i)].kind != PrimitiveKind::kHinge) return false;
  }
  return tree.body_count() > 0;
}

template <class Const>
LeanNodeOf<Const> node_of(const Tree& tree, const Body& b) {
  LeanNodeOf<Const> node;
  const CoordinateRow& row = tree.rows[size_t(b.u)];
  const CoordinateTerm& term = tree.terms[size_t(row.begin)];
  const bool is_free = b.kind == PrimitiveKind::kFree;
  node.kind = is_free ? LeanKind::kFree : b.aligned_axis < 0 ? LeanKind::kHinge : LeanKind(b.aligned_axis);
  node.massless = b.massless;
  node.reach = offset_of(b.X_PJ.p);
  node.column = term.column;
  node.position = is_free ? tree.large[size_t(b.large)].q : term.position;
  node.ratio = Const(term.ratio);
  node.offset = Const(row.offset);
  node.rotor = Const(tree.rotor_inertia[size_t(b.u)]);
  node.p = lift<Const>(b.X_PJ.p);
  node.R0 = lift<Const>(b.X_PJ.R);
  node.M = lift<Const>(b.M_B);
  return node;
}

}  // namespace

template <class Const>
std::optional<LeanTreeOf<Const>> make_lean_tree(const Tree& tree) {
  if (!has_lean_form(tree)) return std::nullopt;
  LeanTreeOf<Const> out;
  const size_t n = tree.bodies.size();
  std::vector<int> children(n, 0), last_child(n, -1);
  for (size_t i = 0; i < n; ++i) {
    const int parent = tree.bodies[i].parent;
    if (parent < 0) continue;
    ++children[size_t(parent)];
    last_child[size_t(parent)] = int(i);
  }
  for (size_t i = 0; i < n; ++i) {
    const Body& b = tree.bodies[i];
    LeanNodeOf<Const> node = node_of<Const>(tree, b);
    node.chained = b.parent >= 0 && b.parent == int(i) - 1;
    node.leaf = children[i] == 0;
    if (node.leaf) node.tip = out.shape.tip_count++;
    if (children[i] > 1) node.park = out.shape.park_count++;
    if (!node.chained && b.parent >= 0) {
      node.parent_park = out.nodes[size_t(b.parent)].park;
      node.first_in = last_child[size_t(b.parent)] == int(i);
    }
    out.nodes.push_back(node);
  }
  out.shape.node_count = int(n);
  out.shape.free_base = tree.free_base;
  out.shape.gravity = lift<Const>(tree.gravity);
  return out;
}

template std::optional<LeanTreeOf<float>> make_lean_tree<float>(const Tree& tree);
template std::optional<LeanTreeOf<double>> make_lean_tree<double>(const Tree& tree);

}  // namespace kansetsu
