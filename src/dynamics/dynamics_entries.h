#pragma once

#include "dynamics/dense/derivative_lanes.h"
#include "dynamics/dense/sparse_inverse.h"
#include "dynamics/general_kernel.h"
#include "dynamics/kernel_table.h"
#include "dynamics/limb_kernel.h"
#include "dynamics/link_kernel.h"
#include "dynamics/node_crba.h"
#include "dynamics/node_rnea.h"
#include "dynamics/product_kernel.h"
#include "dynamics/response_kernel.h"

/// The dynamic kernels as entry points of one instruction set. Included by the files that instantiate them.
namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

template <class T, class Const>
Motion<T> ground_acceleration(const TreeViewOf<Const>& tree) {
  return {{T(0), T(0), T(0)}, lift<T>(-tree.gravity)};
}

template <class T, class Const>
T* zeroed(const TreeViewOf<Const>& tree, Const* matrix) {
  T* M = as<T>(matrix);
  for (int i = 0; i < tree.nv * tree.nv; ++i) M[i] = T(0);
  return M;
}

template <class T, class Const>
void rnea_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, const Const* a, const Const* fext,
                void* scratch, Const* tau, Const* tau_tree) {
  if (tree.nodes && !tau_tree) {
    node_rnea(*tree.nodes, tree.gravity, as<T>(q), as<T>(v), as<T>(a), as<Force<T>>(fext), scratch, as<T>(tau));
    return;
  }
  general_rnea<T>(tree, q, v, a, as<Force<T>>(fext), scratch, as<T>(tau), as<T>(tau_tree));
}

/// Whether the columns of one state are computed a register full at a time: T is a plain number, and the columns are those
/// of v or the matrices over tree columns fit into memory.
template <class T, class Const>
bool takes_lanes(const TreeViewOf<Const>& tree) {
  if constexpr (std::is_floating_point_v<T>)
    return tree.nu > 0 && (tree.columns.ordered || tree.nu <= kMatrixColumns);
  else
    return false;
}

/// Registers of two numbers do not repay the extra work of M's six-row factors.
template <class T>
inline constexpr bool kMassMatrixLanes = std::is_floating_point_v<T> && NativePack<scalar_t<T>>::width > 2;

/// Whether the columns are those of v and the tables of paths and the matrices fit into memory.
template <class Const>
bool takes_paths(const TreeViewOf<Const>& tree) {
  return tree.columns.ordered && tree.nu <= kMatrixColumns;
}

/// Where a matrix over tree columns goes: `matrix` itself if these are its columns.
template <class T, class Const>
MatrixOut<T> tree_matrix(const TreeViewOf<Const>& tree, Frame<T>& frame, Const* matrix) {
  if (!matrix || tree.columns.ordered) return {matrix, tree.nu, tree.nu};
  return {frame.template take<T>(tree.columns.columns * tree.columns.columns), tree.nu, tree.columns.columns};
}
/// Gᵀ·(…)·G of a matrix over tree columns, if it is not the result itself.
template <class T, class Const>
void reduce_matrix(const TreeViewOf<Const>& tree, const MatrixOut<T>& from, Const* matrix) {
  if (!matrix || tree.columns.ordered) return;
  T* M = zeroed<T>(tree, matrix);
  for (int k = 0; k < tree.nu; ++k) {
    for (int l = 0; l < k; ++l) {
      if (tree.columns.end[l] <= k) continue;
      add_reduced(tree, l, k, from.data[k * from.stride + l], M);
      add_reduced(tree, k, l, from.data[l * from.stride + k], M);
    }
    add_reduced(tree, k, k, from.data[k * from.stride + k], M);
  }
}

template <class T, class Const>
void crba_lanes(const TreeViewOf<Const>& tree, const Const* q, void* scratch, Const* matrix) {
  Frame<T> frame(tree, q, scratch);
  const MassLanes<T> w(tree, frame.carver);
  const MatrixOut<T> M = tree_matrix(tree, frame, matrix);
  w.load(tree, frame.posture);
  mass_matrix_lanes(tree, w.lanes, M);
  reduce_matrix(tree, M, matrix);
}

template <class T, class Const>
void crba_entry(const TreeViewOf<Const>& tree, const Const* q, void* scratch, Const* matrix) {
  if constexpr (kMassMatrixLanes<T>) {
    if (takes_lanes<T>(tree)) return crba_lanes<T>(tree, q, scratch, matrix);
  }
  general_crba<T>(tree, q, scratch, zeroed<T>(tree, matrix));
}

/// The rows of the lower triangle of an ordered tree are its paths, each with its own column at the end.
template <class T, class Const>
void crba_sparse_lanes(const TreeViewOf<Const>& tree, const Const* q, void* scratch, Const* values) {
  Frame<T> frame(tree, q, scratch);
  const MassLanes<T> w(tree, frame.carver);
  const ColumnView& view = tree.columns;
  const MatrixOut<T> M{frame.template take<T>(view.columns * view.columns), tree.nu, view.columns};
  w.load(tree, frame.posture);
  mass_matrix_lanes(tree, w.lanes, M);
  for (int k = 0; k < tree.nu; ++k) {
    const T* row = M.data + k * M.stride;
    for (int p = view.path_begin[k]; p < view.path_begin[k + 1]; ++p) *values++ = row[view.path[p]];
    *values++ = row[k];
  }
}

/// Where the entries of the mass matrix are stored: in sequence, or each in its slot.
template <class T>
struct InOrder {
  T* next;
  KANSETSU_HD void put(const T& value) { *next++ = value; }
  KANSETSU_HD void skip(int n) { next += n; }
};
template <class T>
struct BySlot {
  const int* next;
  T* out;
  KANSETSU_HD void put(const T& value) { out[*next++] = value; }
  KANSETSU_HD void skip(int n) { next += n; }
};

/// For packs of trees with nodes the entries stay in the order in which they are computed.
template <class T, class Const>
void crba_sparse_entry(const TreeViewOf<Const>& tree, const Const* q, void* scratch, const int* slot, int value_count,
                       Const* values) {
  if constexpr (kMassMatrixLanes<T>) {
    if (takes_lanes<T>(tree) && takes_paths(tree)) return crba_sparse_lanes<T>(tree, q, scratch, values);
  }
  T* out = as<T>(values);
  if (tree.nodes) {
    if constexpr (std::is_floating_point_v<T>) {
      node_crba(*tree.nodes, as<T>(q), scratch, BySlot<T>{slot, out});
    } else {
      node_crba(*tree.nodes, as<T>(q), scratch, InOrder<T>{out});
    }
    return;
  }
  general_crba_sparse<T>(tree, q, scratch, slot, value_count, out);
}

template <class T, class Const>
void aba_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, const Const* tau, const Const* fext,
               void* scratch, Const* vdot, Const* singular) {
  if (tree.nodes) {
    if constexpr (std::is_same_v<T, double>) {
      limb_aba(*tree.trunk, tree.limbs, tree.limb_count, tree.gravity, q, v, tau, as<Force<T>>(fext), scratch, vdot,
               singular);
    } else {
      node_aba(*tree.nodes, tree.gravity, as<T>(q), as<T>(v), as<T>(tau), as<Force<T>>(fext), scratch, as<T>(vdot),
               as<T>(singular));
    }
    return;
  }
  general_aba<T>(tree, q, v, as<T>(tau), as<Force<T>>(fext), scratch, as<T>(vdot), as<T>(singular));
}

template <class T, class Const>
void solve_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* x, void* scratch, Const* out,
                 Const* singular) {
  TreeViewOf<Const> weightless = tree;
  weightless.gravity = {0, 0, 0};
  aba_entry<T, Const>(weightless, q, nullptr, x, nullptr, scratch, out, singular);
}

template <class T, class Const>
void factorise_entry(const TreeViewOf<Const>& tree, const Const* q, void* block, Const* singular) {
  Factor<T> f(tree, block);
  load_posture(tree, as<T>(q), f.posture);
  factorise(tree, f.posture, f.art, f.A, f.u, f.r);
  for (int k = 0; k < tree.nv; ++k) as<T>(singular)[k] = f.art.singular[k];
}

template <class T, class Const>
void inverse_entry(const TreeViewOf<Const>& tree, void* block, Const* M_inv) {
  Factor<T> f(tree, block);
  mass_matrix_inverse(tree, f.posture, f.art, f.carver, as<T>(M_inv));
}

template <class T, class Const>
void respond_wrench_entry(const TreeViewOf<Const>& tree, void* block, int body, const Const* F, int target, Const* A,
                          Const* vdot) {
  Factor<T> f(tree, block);
  for (int k = 0; k < tree.nv; ++k) f.r[k] = T(0);
  const Vec3<T> zero{T(0), T(0), T(0)};
  const Force<T> Z = body < 0 ? Force<T>{zero, zero} : -*as<Force<T>>(F);
  Motion<T>* acceleration = as<Motion<T>>(A);
  T* out = as<T>(vdot);
  ascend(tree, f.posture, f.art, body < 0 ? -1 : tree.bodies[body].step, body, Z, f.r, acceleration, out);
  if (target < 0) {
    descend_all(tree, f.posture, f.art, tree.step_count - 1, f.r, acceleration, out);
    return;
  }
  int count = 0;
  for (int i = target; i >= 0 && tree.bodies[i].step >= 0; i = tree.steps[tree.bodies[i].step].parent) {
    f.path[count++] = tree.bodies[i].step;
  }
  const Motion<T> A_ground{zero, zero};
  while (count-- > 0) {
    const int p = tree.steps[f.path[count]].parent;
    descend(tree, f.posture, f.art, f.path[count], p < 0 ? A_ground : acceleration[p], f.r, acceleration, out);
  }
}

template <class T, class Const>
void respond_torque_entry(const TreeViewOf<Const>& tree, void* block, const Const* tau, Const* A, Const* vdot) {
  Factor<T> f(tree, block);
  for (int k = 0; k < tree.nv; ++k) f.r[k] = as<T>(tau)[k];
  respond_to_torques(tree, f.posture, f.art, f.art.Z, f.r, as<Motion<T>>(A), as<T>(vdot));
}

template <class T, class Const>
void rnea_derivatives_lanes_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, const Const* a,
                                  const Const* fext, void* scratch, Const* dq, Const* dv, Const* da) {
  Frame<T> frame(tree, q, scratch);
  // Signs of an ordered tree are in S.
  const T* u = tree.columns.ordered && v ? v : frame.expanded(tree, v);
  const T* a_tree = tree.columns.ordered && a ? a : frame.expanded(tree, a);
  DerivativeLanes<T> w(tree, frame.carver);
  const DerivativesOut<T> out{tree_matrix(tree, frame, dq), tree_matrix(tree, frame, dv), tree_matrix(tree, frame, da)};
  rnea_derivatives_lanes(tree, frame.posture, u, a_tree, as<ExternalWrench<T>>(fext), w, out);
  reduce_matrix(tree, out.dq, dq);
  reduce_matrix(tree, out.dv, dv);
  reduce_matrix(tree, out.da, da);
}

template <class T, class Const>
void rnea_derivatives_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, const Const* a,
                            const Const* fext, void* scratch, Const* dq, Const* dv, Const* da) {
  if constexpr (std::is_floating_point_v<T>) {
    if (takes_lanes<T>(tree)) return rnea_derivatives_lanes_entry<T>(tree, q, v, a, fext, scratch, dq, dv, da);
  }
  T* by_q = zeroed<T>(tree, dq);
  T* by_v = zeroed<T>(tree, dv);
  T* M = da ? zeroed<T>(tree, da) : nullptr;
  general_rnea_derivatives<T>(
      tree, q, v, a, as<ExternalWrench<T>>(fext), scratch,
      [&](int row, int column, const T& value) { add_reduced(tree, row, column, value, by_q); },
      [&](int row, int column, const T& value) { add_reduced(tree, row, column, value, by_v); },
      [&](int row, int column, const T& value) {
        if (!M) return;
        add_reduced(tree, row, column, value, M);
        if (row != column) add_reduced(tree, column, row, value, M);
      });
}

template <class T, class Const>
void apply_inverse_entry(const TreeViewOf<Const>& tree, const Const* M_inv, void* scratch, Const* dq, Const* dv) {
  Carver<T> carver(scratch);
  multiply_in_place(as<T>(M_inv), tree.nv, as<T>(dq), carver.template take<T>(kTileColumns * tree.nv));
  multiply_in_place(as<T>(M_inv), tree.nv, as<T>(dv), carver.template take<T>(kTileColumns * tree.nv));
}

template <class T, class Const>
bool mass_matrix_inverse_lanes(const TreeViewOf<Const>& tree, const Const* q, void* scratch, Const* M_inv) {
  using P = NativePack<T>;
  Frame<T> frame(tree, q, scratch);
  const MassLanes<T> w(tree, frame.carver);
  const SparseFactor<T> f(tree, frame.carver);
  w.load(tree, frame.posture);
  mass_matrix_lanes(tree, w.lanes, f.mass_matrix());
  pivot_scales<P>(tree, w.lanes, f.scale);
  if (!factorise_sparse<P>(tree.columns, f)) return false;
  invert_sparse<P>(tree.columns, f, MatrixOut<T>{M_inv, tree.nu, tree.nu});
  return true;
}

template <class T, class Const>
void mass_matrix_inverse_entry(const TreeViewOf<Const>& tree, const Const* q, void* scratch, Const* M_inv) {
  if constexpr (std::is_floating_point_v<T>) {
    if (takes_lanes<T>(tree) && takes_paths(tree) && mass_matrix_inverse_lanes<T>(tree, q, scratch, M_inv)) return;
  }
  Carver<T> carver(scratch);
  T* singular = carver.template take<T>(tree.nv);
  factorise_entry<T, Const>(tree, q, carver.rest(), as<Const>(singular));
  inverse_entry<T, Const>(tree, carver.rest(), M_inv);
}

template <class T, class Const>
bool aba_derivatives_lanes(const TreeViewOf<Const>& tree, const Const* q, const Const* v, const Const* vdot,
                           const Const* fext, void* scratch, Const* dq, Const* dv, Const* M_inv) {
  using P = NativePack<T>;
  Frame<T> frame(tree, q, scratch);
  DerivativeLanes<T> w(tree, frame.carver);
  const SparseFactor<T> f(tree, frame.carver);
  const MatrixOut<T> by_q{dq, tree.nu, tree.nu}, by_v{dv, tree.nu, tree.nu};
  rnea_derivatives_lanes(tree, frame.posture, v, vdot, as<ExternalWrench<T>>(fext), w,
                         DerivativesOut<T>{by_q, by_v, f.mass_matrix()});
  pivot_scales<P>(tree, w.lanes, f.scale);
  if (!factorise_sparse<P>(tree.columns, f)) return false;
  invert_sparse<P>(tree.columns, f, MatrixOut<T>{M_inv, tree.nu, tree.nu});
  FreeBase<T> base;
  if (tree.free_base) {
    base = {transpose_times(frame.posture.X_PB[0].R, lift<T>(tree.gravity)), {v[0], v[1], v[2]}, fext == nullptr};
  }
  apply_sparse<P>(tree.columns, f, tree.free_base ? &base : nullptr, by_q, by_v);
  return true;
}

template <class T, class Const>
void aba_derivatives_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, const Const* vdot,
                           const Const* fext, void* scratch, Const* dq, Const* dv, Const* M_inv) {
  if constexpr (std::is_floating_point_v<T>) {
    if (takes_lanes<T>(tree) && takes_paths(tree) &&
        aba_derivatives_lanes<T>(tree, q, v, vdot, fext, scratch, dq, dv, M_inv))
      return;
  }
  mass_matrix_inverse_entry<T, Const>(tree, q, scratch, M_inv);
  rnea_derivatives_entry<T, Const>(tree, q, v, vdot, fext, scratch, dq, dv, nullptr);
  apply_inverse_entry<T, Const>(tree, M_inv, scratch, dq, dv);
}

template <class T, class Const>
void coriolis_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, void* scratch, Const* matrix) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  DerivativeScratch<T> w = carve_derivatives(tree, frame.carver);
  T* C = zeroed<T>(tree, matrix);
  coriolis(tree, frame.posture, u, w,
           [&](int row, int column, const T& value) { add_reduced(tree, row, column, value, C); });
}

template <class T, class Const>
void regressor_entry(const TreeViewOf<Const>& tree, const LinkPlacement* links, int link_count, const Const* q,
                     const Const* v, const Const* a, void* scratch, Const* Y) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  const T* a_tree = frame.expanded(tree, a);
  Motion<T>* V = frame.template take<Motion<T>>(tree.body_count);
  Motion<T>* A = frame.template take<Motion<T>>(tree.body_count);
  const Motion<T> A_ground = ground_acceleration<T>(tree);
  velocities(tree, frame.posture, u, V);
  accelerations(tree, frame.posture, u, a_tree, V, A_ground, A);
  regressor(tree, frame.posture, links, link_count, V, A, A_ground, as<T>(Y));
}

template <class T, class Const>
void reactions_entry(const TreeViewOf<Const>& tree, const LinkPlacement* links, const int* parents, int link_count,
                     const Const* q, const Const* v, const Const* a, const Const* fext, void* scratch, Const* F) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  const T* a_tree = frame.expanded(tree, a);
  Transform<T>* X = frame.template take<Transform<T>>(tree.body_count);
  Motion<T>* V = frame.template take<Motion<T>>(tree.body_count);
  Motion<T>* A = frame.template take<Motion<T>>(tree.body_count);
  Transform<T>* X_WL = frame.template take<Transform<T>>(link_count);
  const Motion<T> A_ground = ground_acceleration<T>(tree);
  poses(tree, frame.posture, false, X);
  velocities(tree, frame.posture, u, V);
  accelerations(tree, frame.posture, u, a_tree, V, A_ground, A);
  reactions(links, parents, link_count, X, V, A, A_ground, as<Force<T>>(fext), X_WL, as<Force<T>>(F));
}

template <class T>
constexpr DynamicsKernels<scalar_t<T>> make_table(int width) {
  return {width,
          rnea_entry<T, scalar_t<T>>,
          crba_entry<T, scalar_t<T>>,
          crba_sparse_entry<T, scalar_t<T>>,
          aba_entry<T, scalar_t<T>>,
          solve_entry<T, scalar_t<T>>,
          factorise_entry<T, scalar_t<T>>,
          inverse_entry<T, scalar_t<T>>,
          respond_wrench_entry<T, scalar_t<T>>,
          respond_torque_entry<T, scalar_t<T>>,
          rnea_derivatives_entry<T, scalar_t<T>>,
          apply_inverse_entry<T, scalar_t<T>>,
          mass_matrix_inverse_entry<T, scalar_t<T>>,
          aba_derivatives_entry<T, scalar_t<T>>,
          coriolis_entry<T, scalar_t<T>>,
          regressor_entry<T, scalar_t<T>>,
          reactions_entry<T, scalar_t<T>>};
}

}  // namespace
}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
