#include "dynamics/crba_kernel.h"
#include "dynamics/derivatives_kernel.h"
#include "dynamics/kernel_table.h"
#include "dynamics/link_kernel.h"
#include "dynamics/product_kernel.h"
#include "dynamics/response_kernel.h"
#include "dynamics/rnea_kernel.h"
#include "kinematics/entry.h"

/// The dynamic kernels as entry points of one instruction set.
namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

template <class T>
Motion<T> ground_acceleration(const TreeView& tree) {
  return {{T(0), T(0), T(0)}, lift<T>(-tree.gravity)};
}

/// Tree coordinates of a vector that may be null, then zero.
template <class T>
T* expanded_or_zero(const TreeView& tree, Frame<T>& frame, const double* v) {
  if (v) return frame.expanded(tree, v);
  T* u = frame.template take<T>(tree.nu);
  for (int k = 0; k < tree.nu; ++k) u[k] = T(0);
  return u;
}

/// Adds an entry of a matrix over tree coordinates to the matrix over v, column by column: M += Gᵀ·(…)·G.
template <class T>
KANSETSU_HD void add_reduced(const TreeView& tree, int row, int column, const T& value, T* M) {
  if (tree.simple) {
    const CoordinateTerm &r = tree.terms[row], &c = tree.terms[column];
    M[c.column * tree.nv + r.column] = T(r.ratio * c.ratio) * value;
    return;
  }
  for (int s = tree.rows[column].begin; s < tree.rows[column].end; ++s) {
    for (int t = tree.rows[row].begin; t < tree.rows[row].end; ++t) {
      T& entry = M[tree.terms[s].column * tree.nv + tree.terms[t].column];
      entry = madd(T(tree.terms[t].ratio * tree.terms[s].ratio), value, entry);
    }
  }
}

template <class T>
T* zeroed(const TreeView& tree, double* matrix) {
  T* M = as<T>(matrix);
  for (int i = 0; i < tree.nv * tree.nv; ++i) M[i] = T(0);
  return M;
}

template <class T>
void rnea_entry(const TreeView& tree, const double* q, const double* v, const double* a, const double* fext,
                void* scratch, double* tau, double* tau_tree) {
  Frame<T> frame(tree, q, scratch);
  const T* u = expanded_or_zero(tree, frame, v);
  const T* a_tree = expanded_or_zero(tree, frame, a);
  Motion<T>* V = frame.template take<Motion<T>>(tree.body_count);
  Motion<T>* A = frame.template take<Motion<T>>(tree.body_count);
  Force<T>* F = frame.template take<Force<T>>(tree.body_count);
  T* torque = tau_tree ? as<T>(tau_tree) : frame.template take<T>(tree.nu);
  rnea(tree, frame.posture, u, a_tree, as<Force<T>>(fext), V, A, F, torque);
  if (tau) reduce(tree, torque, as<T>(tau));
}

template <class T>
void crba_entry(const TreeView& tree, const double* q, void* scratch, double* matrix) {
  Frame<T> frame(tree, q, scratch);
  Inertia<T>* C = frame.template take<Inertia<T>>(tree.body_count);
  T* M = zeroed<T>(tree, matrix);
  crba(tree, frame.posture, C, [&](int k, int l, const T& value) {
    add_reduced(tree, k, l, value, M);
    if (k != l) add_reduced(tree, l, k, value, M);
  });
}

/// With gears a tree entry (k, l) feeds several places, and one on or below the diagonal twice if k and l meet there.
template <class T>
void crba_sparse_entry(const TreeView& tree, const double* q, void* scratch, const int* slot, int value_count,
                       double* values) {
  Frame<T> frame(tree, q, scratch);
  Inertia<T>* C = frame.template take<Inertia<T>>(tree.body_count);
  T* out = as<T>(values);
  for (int i = 0; i < value_count; ++i) out[i] = T(0);
  crba(tree, frame.posture, C, [&](int k, int l, const T& value) {
    for (int s = tree.rows[k].begin; s < tree.rows[k].end; ++s) {
      for (int t = tree.rows[l].begin; t < tree.rows[l].end; ++t, ++slot) {
        const CoordinateTerm &a = tree.terms[s], &b = tree.terms[t];
        const double twice = k != l && a.column == b.column ? 2.0 : 1.0;
        const double once = k == l && a.column < b.column ? 0.0 : twice;  // (a, b) and (b, a) of one row are one entry
        out[*slot] = madd(T(once * a.ratio * b.ratio), value, out[*slot]);
      }
    }
  });
}

template <class T>
void aba_entry(const TreeView& tree, const double* q, const double* v, const double* tau, const double* fext,
               void* scratch, double* vdot, double* singular) {
  Frame<T> frame(tree, q, scratch);
  const T* u = expanded_or_zero(tree, frame, v);
  Motion<T>* V = frame.template take<Motion<T>>(tree.body_count);
  Motion<T>* A = frame.template take<Motion<T>>(tree.body_count);
  ArticulatedTree<T> art = carve_articulated(tree, frame.carver);
  art.singular = as<T>(singular);
  art.merged = frame.template take<MergedFactor<T>>(tree.body_count);
  aba(tree, frame.posture, u, as<T>(tau), as<Force<T>>(fext), V, art, A, as<T>(vdot));
}

template <class T>
void solve_entry(const TreeView& tree, const double* q, const double* x, void* scratch, double* out, double* singular) {
  TreeView weightless = tree;
  weightless.gravity = {0, 0, 0};
  aba_entry<T>(weightless, q, nullptr, x, nullptr, scratch, out, singular);
}

template <class T>
void factorise_entry(const TreeView& tree, const double* q, void* block, double* singular) {
  Factor<T> f(tree, block);
  load_posture(tree, as<T>(q), f.posture);
  factorise(tree, f.posture, f.art, f.A, f.u, f.r);
  for (int k = 0; k < tree.nv; ++k) as<T>(singular)[k] = f.art.singular[k];
}

template <class T>
void inverse_entry(const TreeView& tree, void* block, double* M_inv) {
  Factor<T> f(tree, block);
  mass_matrix_inverse(tree, f.posture, f.art, f.carver, as<T>(M_inv));
}

template <class T>
void respond_wrench_entry(const TreeView& tree, void* block, int body, const double* F, int target, double* A,
                          double* vdot) {
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

template <class T>
void respond_torque_entry(const TreeView& tree, void* block, const double* tau, double* A, double* vdot) {
  Factor<T> f(tree, block);
  for (int k = 0; k < tree.nv; ++k) f.r[k] = as<T>(tau)[k];
  respond_to_torques(tree, f.posture, f.art, f.art.Z, f.r, as<Motion<T>>(A), as<T>(vdot));
}

template <class T>
void rnea_derivatives_entry(const TreeView& tree, const double* q, const double* v, const double* a, const double* fext,
                            void* scratch, double* dq, double* dv, double* da) {
  Frame<T> frame(tree, q, scratch);
  const T* u = expanded_or_zero(tree, frame, v);
  const T* a_tree = expanded_or_zero(tree, frame, a);
  DerivativeScratch<T> w = carve_derivatives(tree, frame.carver);
  T* by_q = zeroed<T>(tree, dq);
  T* by_v = zeroed<T>(tree, dv);
  T* M = da ? zeroed<T>(tree, da) : nullptr;
  rnea_derivatives(
      tree, frame.posture, u, a_tree, as<ExternalWrench<T>>(fext), w,
      [&](int row, int column, const T& value) { add_reduced(tree, row, column, value, by_q); },
      [&](int row, int column, const T& value) { add_reduced(tree, row, column, value, by_v); },
      [&](int row, int column, const T& value) {
        if (!M) return;
        add_reduced(tree, row, column, value, M);
        if (row != column) add_reduced(tree, column, row, value, M);
      });
}

template <class T>
void apply_inverse_entry(const TreeView& tree, const double* M_inv, void* scratch, double* dq, double* dv) {
  Carver<T> carver(scratch);
  multiply_in_place(as<T>(M_inv), tree.nv, as<T>(dq), carver.template take<T>(kTileColumns * tree.nv));
  multiply_in_place(as<T>(M_inv), tree.nv, as<T>(dv), carver.template take<T>(kTileColumns * tree.nv));
}

template <class T>
void coriolis_entry(const TreeView& tree, const double* q, const double* v, void* scratch, double* matrix) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  DerivativeScratch<T> w = carve_derivatives(tree, frame.carver);
  T* C = zeroed<T>(tree, matrix);
  coriolis(tree, frame.posture, u, w,
           [&](int row, int column, const T& value) { add_reduced(tree, row, column, value, C); });
}

template <class T>
void regressor_entry(const TreeView& tree, const LinkPlacement* links, int link_count, const double* q, const double* v,
                     const double* a, void* scratch, double* Y) {
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

template <class T>
void reactions_entry(const TreeView& tree, const LinkPlacement* links, const int* parents, int link_count,
                     const double* q, const double* v, const double* a, const double* fext, void* scratch, double* F) {
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
constexpr DynamicsKernels make_table(int width) {
  return {width,
          rnea_entry<T>,
          crba_entry<T>,
          crba_sparse_entry<T>,
          aba_entry<T>,
          solve_entry<T>,
          factorise_entry<T>,
          inverse_entry<T>,
          respond_wrench_entry<T>,
          respond_torque_entry<T>,
          rnea_derivatives_entry<T>,
          apply_inverse_entry<T>,
          coriolis_entry<T>,
          regressor_entry<T>,
          reactions_entry<T>};
}

}  // namespace

extern const DynamicsKernels dynamics_table;
extern const DynamicsKernels dynamics_pack_table;
const DynamicsKernels dynamics_table = make_table<double>(1);
const DynamicsKernels dynamics_pack_table = make_table<NativePack<double>>(NativePack<double>::width);

}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
