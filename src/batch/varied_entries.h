#pragma once

#include "batch/kernel_table.h"
#include "batch/link_kernel.h"
#include "dynamics/general_kernel.h"
#include "dynamics/node_aba.h"
#include "dynamics/node_rnea.h"

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
    NodeOf<P>* list = const_cast<NodeOf<P>*>(nodes->nodes);  // they are in `memory`, too
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
  general_rnea<P>(tree, q, v, a, as<Force<P>>(fext), scratch, as<P>(tau), static_cast<P*>(nullptr));
}

template <class P>
void varied_crba_entry(void* memory, const scalar_t<P>* q, void* scratch, const int* slot, int value_count,
                       scalar_t<P>* values) {
  general_crba_sparse<P>(VariedTree<P>::at(memory).view, q, scratch, slot, value_count, as<P>(values));
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
  general_aba<P>(tree, q, v, as<P>(tau), as<Force<P>>(fext), scratch, as<P>(vdot), as<P>(singular));
}

template <class P>
constexpr VariedKernels<scalar_t<P>> make_varied_table() {
  return {tree_size_entry<P>,   make_tree_entry<P>,   set_inertias_entry<P>,
          varied_rnea_entry<P>, varied_crba_entry<P>, varied_aba_entry<P>};
}

}  // namespace
}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
