#pragma once

#include <cstddef>

#include "model/nodes.h"
#include "model/scratch.h"
#include "model/tree.h"

/// The constants of a tree in another type: float, or packs where they differ from state to state. Everything else (parents,
/// steps, groups) is shared with the tree, which must outlive the copy.
namespace kansetsu::kernel {

struct ConstantCounts {
  int bodies, coordinates, terms, gamma, nodes;
};

inline namespace KANSETSU_ISA {

// Structured bindings below: a member added to the tree does not compile until it is copied here.
template <class Const>
KANSETSU_HD BodyOf<Const> copy_constants(const Body& body) {
  const auto& [parent, kind, aligned_axis, u, nu, large, step, X_PJ, pitch, M_B, massless, concurrent, leaf] = body;
  return {parent,           kind,     aligned_axis, u,   nu, large, step, lift<Const>(X_PJ), lift<Const>(pitch),
          lift<Const>(M_B), massless, concurrent,   leaf};
}
template <class Const>
KANSETSU_HD CoordinateTermOf<Const> copy_constants(const CoordinateTerm& term) {
  const auto& [column, position, ratio] = term;
  return {column, position, lift<Const>(ratio)};
}
template <class Const>
KANSETSU_HD CoordinateRowOf<Const> copy_constants(const CoordinateRow& row) {
  const auto& [begin, end, offset] = row;
  return {begin, end, lift<Const>(offset)};
}
template <class Const>
KANSETSU_HD LeafOf<Const> copy_constants(const LeafOf<double>& leaf) {
  const auto& [P, k, D_inv] = leaf;
  return {
      {lift<Const>(P.A), lift<Const>(P.B), lift<Const>(P.M)}, {lift<Const>(k.t), lift<Const>(k.f)}, lift<Const>(D_inv)};
}
template <class Const>
KANSETSU_HD NodeOf<Const> copy_constants(const NodeOf<double>& node) {
  const auto& [parent, kind, n, u, q, body, ball, gathers, from, leaf, massless, offset, centre, R0, Q, p, M, rotor,
               rotor_share, last] = node;
  return {parent,
          kind,
          n,
          u,
          q,
          {body[0], body[1], body[2], body[3]},
          ball,
          gathers,
          from,
          leaf,
          massless,
          offset,
          centre,
          lift<Const>(R0),
          lift<Const>(Q),
          lift<Const>(p),
          lift<Const>(M),
          {lift<Const>(rotor[0]), lift<Const>(rotor[1]), lift<Const>(rotor[2])},
          rotor_share,
          copy_constants<Const>(last)};
}
template <class Const>
KANSETSU_HD Const copy_constants(double x) {
  return lift<Const>(x);
}

template <class Item, class Const, class From>
KANSETSU_HD Item* copy_array(const From* from, int n, Carver<Const>& carver) {
  Item* out = carver.template take<Item>(n);
  for (int i = 0; i < n; ++i) out[i] = copy_constants<Const>(from[i]);
  return out;
}

/// Bytes that copy_tree() fills; each array begins on a cache line.
template <class Const>
KANSETSU_HD std::size_t copied_size(const ConstantCounts& n) {
  constexpr std::size_t kLines = 7 * 64;
  return kLines + std::size_t(n.bodies) * sizeof(BodyOf<Const>) +
         std::size_t(n.terms) * sizeof(CoordinateTermOf<Const>) +
         std::size_t(n.coordinates) * (sizeof(CoordinateRowOf<Const>) + sizeof(Const)) +
         std::size_t(n.gamma) * sizeof(Const) + std::size_t(n.nodes) * sizeof(NodeOf<Const>) +
         sizeof(NodeTreeViewOf<Const>);
}

/// @param block  memory for the constants, on a cache line
template <class Const>
KANSETSU_HD TreeViewOf<Const> copy_tree(const TreeView& tree, const ConstantCounts& n, void* block) {
  const auto& [bodies, large, rows, terms, rotor_inertia, groups, group_members, group_columns, group_gamma, steps,
               body_count, large_count, step_count, nq, nv, nu, group_scratch, free_base, simple, gravity, nodes, trunk,
               limbs, limb_count, columns] = tree;
  Carver<Const> carver(block);
  BodyOf<Const>* new_bodies = copy_array<BodyOf<Const>>(bodies, n.bodies, carver);
  const auto* new_rows = copy_array<CoordinateRowOf<Const>>(rows, n.coordinates, carver);
  const auto* new_terms = copy_array<CoordinateTermOf<Const>>(terms, n.terms, carver);
  const Const* new_rotors = copy_array<Const>(rotor_inertia, n.coordinates, carver);
  const Const* new_gamma = copy_array<Const>(group_gamma, n.gamma, carver);
  NodeTreeViewOf<Const>* new_nodes = nullptr;
  if (nodes) {
    new_nodes = carver.template take_bytes<NodeTreeViewOf<Const>>();
    const auto& [list, coordinates, lane_coordinates, quaternions, node_count, coordinate_count, ball_count,
                 gather_count, first_angle, angles_at, in_order] = *nodes;
    const auto* new_list = copy_array<NodeOf<Const>>(list, n.nodes, carver);
    *new_nodes = {new_list,   coordinates,  lane_coordinates, quaternions, node_count, coordinate_count,
                  ball_count, gather_count, first_angle,      angles_at,   in_order};
  }
  return {new_bodies, large,         new_rows,      new_terms, new_rotors,
          groups,     group_members, group_columns, new_gamma, steps,
          body_count, large_count,   step_count,    nq,        nv,
          nu,         group_scratch, free_base,     simple,    lift<Const>(gravity),
          new_nodes};
}

}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
