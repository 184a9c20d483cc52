#pragma once

#include "batch/kernel_table.h"
#include "batch/link_kernel.h"
#include "dynamics/aba_kernel.h"
#include "dynamics/crba_kernel.h"
#include "dynamics/node_aba.h"
#include "dynamics/node_rnea.h"
#include "dynamics/rnea_kernel.h"
#include "kinematics/entry.h"

/// The dynamic kernels with packs for constants: every lane has its own masses and inertias.
namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

/// The memory of a tree: its view, then the constants.
template <class P>
struct VariedTree {
  TreeViewOf<P> view;

  static VariedTree& at(void* memory) { return *static_cast<VariedTree*>(memory); }
  static void* constants(void* memory) { return static_cast<std::byte*>(memory) + (sizeof(VariedTree) + 63) / 64 * 64; }
};

template <class P>
std::size_t tree_size_entry(const ConstantCounts& n) {
  return (sizeof(VariedTree<P>) + 63) / 64 * 64 + copied_size<P>(n);
}
template <class P>
void make_tree_entry(const TreeView& tree, const ConstantCounts& n, void* memory) {
  VariedTree<P>::at(memory).view = copy_tree<P>(tree, n, VariedTree<P>::constants(memory));
}
template <class P>
bool set_inertias_entry(const LinkPlacement* links, int link_count, const scalar_t<P>* parameters, void* memory) {
  BodyOf<P>* bodies = static_cast<BodyOf<P>*>(VariedTree<P>::constants(memory));  // the first of them
  const P stray =
      body_inertias(links, link_count, as<P>(parameters), VariedTree<P>::at(memory).view.body_count, bodies);
  if (const auto* nodes = VariedTree<P>::at(memory).view.nodes) {
    NodeOf<P>* list = const_cast<NodeOf<P>*>(nodes->nodes);  // they lie in `memory` too
    for (int i = 0; i < nodes->node_count; ++i) {
      NodeOf<P>& node = list[i];
      node.M = bodies[node.body[0]].M_B;
      node.rotor_share = 0;  // of other inertias
      node.centre = Offset::kAny;
      if (!node.leaf || node.gathers >= 0 || node.kind > NodeKind::kHinge) continue;
      node.last =
          eliminate_leaf(node.M, node.kind == NodeKind::kHinge ? 2 : int(node.kind), node.rotor[0], kPivotNoise<P>);
    }
  }
  bool none = true;
  for (int i = 0; i < P::width; ++i) none = none && stray[i] == 0;
  return none;
}

template <class P>
void varied_rnea_entry(void* memory, const scalar_t<P>* q, const scalar_t<P>* v, const scalar_t<P>* a,
                       const scalar_t<P>* fext, void* scratch, scalar_t<P>* tau) {
  const TreeViewOf<P>& tree = VariedTree<P>::at(memory).view;
  if (tree.nodes) {
    node_rnea(*tree.nodes, tree.gravity, as<P>(q), as<P>(v), as<P>(a), as<Force<P>>(fext), scratch, as<P>(tau));
    return;
  }
  Frame<P> frame(tree, q, scratch);
  const P* u = frame.expanded(tree, v);
  const P* a_tree = frame.expanded(tree, a);
  Motion<P>* V = frame.template take<Motion<P>>(tree.body_count);
  Motion<P>* A = frame.template take<Motion<P>>(tree.body_count);
  Force<P>* F = frame.template take<Force<P>>(tree.body_count);
  P* torque = frame.template take<P>(tree.nu);
  rnea(tree, frame.posture, u, a_tree, as<Force<P>>(fext), V, A, F, torque);
  reduce(tree, torque, as<P>(tau));
}

/// As crba_sparse_entry of dynamics, which says why an entry counts once, twice or not at all.
template <class P>
void varied_crba_entry(void* memory, const scalar_t<P>* q, void* scratch, const int* slot, int value_count,
                       scalar_t<P>* values) {
  const TreeViewOf<P>& tree = VariedTree<P>::at(memory).view;
  Frame<P> frame(tree, q, scratch);
  Inertia<P>* C = frame.template take<Inertia<P>>(tree.body_count);
  P* out = as<P>(values);
  for (int i = 0; i < value_count; ++i) out[i] = P(0);
  crba(tree, frame.posture, C, [&](int k, int l, const P& value) {
    for (int s = tree.rows[k].begin; s < tree.rows[k].end; ++s) {
      for (int t = tree.rows[l].begin; t < tree.rows[l].end; ++t, ++slot) {
        const CoordinateTermOf<P>&a = tree.terms[s], &b = tree.terms[t];
        const int twice = k != l && a.column == b.column ? 2 : 1;
        const int once = k == l && a.column < b.column ? 0 : twice;
        out[*slot] = madd(P(scalar_t<P>(once)) * a.ratio * b.ratio, value, out[*slot]);
      }
    }
  });
}

template <class P>
void varied_aba_entry(void* memory, const scalar_t<P>* q, const scalar_t<P>* v, const scalar_t<P>* tau,
                      const scalar_t<P>* fext, void* scratch, scalar_t<P>* vdot, scalar_t<P>* singular) {
  const TreeViewOf<P>& tree = VariedTree<P>::at(memory).view;
  if (tree.nodes) {
    node_aba(*tree.nodes, tree.gravity, as<P>(q), as<P>(v), as<P>(tau), as<Force<P>>(fext), scratch, as<P>(vdot),
             as<P>(singular));
    return;
  }
  Frame<P> frame(tree, q, scratch);
  const P* u = frame.expanded(tree, v);
  Motion<P>* V = frame.template take<Motion<P>>(tree.body_count);
  Motion<P>* A = frame.template take<Motion<P>>(tree.body_count);
  ArticulatedTree<P> art = carve_articulated(tree, frame.carver);
  art.singular = singular ? as<P>(singular) : frame.template take<P>(tree.nv);
  aba(tree, frame.posture, u, as<P>(tau), as<Force<P>>(fext), V, art, A, as<P>(vdot));
}

template <class P>
constexpr VariedKernels<scalar_t<P>> make_varied_table() {
  return {tree_size_entry<P>,   make_tree_entry<P>,   set_inertias_entry<P>,
          varied_rnea_entry<P>, varied_crba_entry<P>, varied_aba_entry<P>};
}

}  // namespace
}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
