#pragma once

#include <cstddef>

#include "batch/tree_copy.h"

/// Kernels of batches besides those of kinematics and dynamics, per instruction set. A pack is `width` contiguous numbers, see
/// kinematics/kernel_table.h.
namespace kansetsu::kernel {

/// Rows of the states of one block: row i begins at first + i·stride. There may be fewer than `width`.
template <class Real>
struct BlockRows {
  Real* first;
  std::ptrdiff_t stride;
  int count;

  Real* at(int i) const { return first + i * stride; }
};

/// A stretch of q and v: n plain numbers, a quaternion, or a pose.
struct CoordinateStretch {
  enum Kind { kVector, kBall, kFree } kind;
  int q, v, n;  ///< n position coordinates
};

/// The links of body b, −1 for the ground: list[begin[b + 1] … begin[b + 2]).
struct LinksOfBodies {
  const LinkPlacement* placements;
  const int *begin, *list;
};

template <class Real>
struct BatchKernels {
  int width;
  /// n numbers of each row into n packs; missing rows are copies of the last. Returns whether all numbers are finite.
  bool (*gather)(const BlockRows<const Real>&, int n, Real* packs);
  /// n packs into n numbers of each row, number k from the pack at packs[order[k]] (pack k if null). spare: n numbers, for
  /// missing rows.
  void (*scatter)(const Real* packs, const int* order, int n, const BlockRows<Real>&, Real* spare);

  /// Poses of all links into the rows, only of trees with nodes. spare: a row's numbers, for missing rows.
  void (*link_pose_rows)(const TreeViewOf<Real>&, const LinksOfBodies&, const Real* q, void* scratch,
                         const BlockRows<Real>&, Real* spare);
  /// Poses of the links `moved` from those of the bodies
  void (*link_poses)(const LinkPlacement* links, const int* moved, int moved_count, const Real* X_WB, Real* X_WL);
  /// Wrenches on bodies, in B, from wrenches on links, in world axes
  void (*body_wrenches)(const LinkPlacement* links, int link_count, int body_count, const Real* X_WB,
                        const Real* wrenches, Real* out);

  /// The first state with a quaternion that is not a rotation, −1 if there is none. at: first entry of each quaternion in q
  int (*find_no_rotation)(const int* at, int count, const Real* q);
  /// Whether one of n packs has an exact zero
  bool (*has_zero)(const Real* packs, int n);
  /// q ⊕ dt·v
  void (*integrate)(const CoordinateStretch*, int count, const Real* q, const Real* v, Real dt, Real* out);
  /// to = x + dt·rate, n packs
  void (*advance)(int n, const Real* x, const Real* rate, Real dt, Real* to);
};

/// Dynamics of trees whose inertias differ from lane to lane. `tree` is memory of tree_size() bytes on a cache line, filled
/// by make_tree() once and by set_inertias() per block of states.
template <class Real>
struct VariedKernels {
  std::size_t (*tree_size)(const ConstantCounts&);
  void (*make_tree)(const TreeView&, const ConstantCounts&, void* tree);
  /// parameters: ten packs per link. Returns whether massless bodies stay massless: kernels skip them.
  bool (*set_inertias)(const LinkPlacement* links, int link_count, const Real* parameters, void* tree);
  /// As those of DynamicsKernels
  void (*rnea)(void* tree, const Real* q, const Real* v, const Real* a, const Real* fext, void* scratch, Real* tau);
  void (*crba_sparse)(void* tree, const Real* q, void* scratch, const int* slot, int value_count, Real* values);
  void (*aba)(void* tree, const Real* q, const Real* v, const Real* tau, const Real* fext, void* scratch, Real* vdot,
              Real* singular);
};

template <class Real>
const BatchKernels<Real>& batch_packs();
template <class Real>
const VariedKernels<Real>& varied_packs();
template <>
const BatchKernels<double>& batch_packs<double>();
template <>
const BatchKernels<float>& batch_packs<float>();
template <>
const VariedKernels<double>& varied_packs<double>();
template <>
const VariedKernels<float>& varied_packs<float>();

}  // namespace kansetsu::kernel
