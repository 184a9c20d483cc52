#include "constraint/mechanics_kernel.h"
#include "kinematics/entry.h"

namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

using P = NativePack<double>;

void poses_entry(const TreeView& tree, const double* q, void* scratch, MechanicsBlock& m) {
  Carver<double> carver(scratch);
  Posture<double> posture = carve_posture(tree, carver);
  load_posture(tree, q, posture);
  world_records(tree, posture, m.X, m.S);
}

void motions_entry(const TreeView& tree, const double* v, MechanicsBlock& m) {
  if (tree.columns.ordered) return drift_records(tree, m.S, v, m.V, m.A);
  expand(tree, v, m.scratch);
  drift_records(tree, m.S, m.scratch, m.V, m.A);
}

int factorise_entry(const TreeView& tree, const double* extra, MechanicsBlock& m) {
  bias_records<P>(tree, m);
  const bool ordered = tree.columns.ordered;
  bias_lanes<P>(tree, m, ordered ? m.bias : m.scratch);
  const ColumnLanes<double, kMassLanes> lanes{m.lanes};
  const auto add_extra = [&] {
    for (int k = 0; extra && k < tree.nv; ++k) m.H[k * m.stride + k] += extra[k];
  };
  if (ordered) {
    mass_matrix_lanes(tree, lanes, MatrixOut<double>{m.H, tree.nu, m.stride});
    add_extra();
    return factorise_ordered<P>(tree.columns, tree.nu, m);
  }
  reduce(tree, m.scratch, m.bias);
  for (int k = 0; k < tree.nv * m.stride; ++k) m.H[k] = 0;
  struct Entries {
    double* H;
    int nv, stride;
    double& operator[](int at) const { return H[at / nv * stride + at % nv]; }
  };
  const Entries M{m.H, tree.nv, m.stride};
  for (int k = 0; k < tree.nu; ++k) {
    double F[6];
    for (int c = 0; c < 6; ++c) F[c] = lanes.at(k)[(kLaneF + c) * kColumnBlock];
    for (int l = 0; l <= k; ++l) {
      if (tree.columns.end[l] <= k) continue;
      double value = l == k ? tree.rotor_inertia[k] : 0;
      for (int c = 0; c < 6; ++c) value = madd(F[c], lanes.at(l)[(kLaneS + c) * kColumnBlock], value);
      add_reduced(tree, k, l, value, M);
      if (l != k) add_reduced(tree, l, k, value, M);
    }
  }
  add_extra();
  return factorise_pattern<P>(tree.nv, m);
}

void half_solve_entry(const MechanicsBlock& m, int nv, double* Z, int stride, unsigned char* touched) {
  for (int i = nv - 1; i >= 0; --i) {
    if (!touched[i]) continue;
    const double *L = m.L + i * m.stride, *row = Z + i * stride;
    for (int p = m.path_begin[i]; p < m.path_begin[i + 1]; ++p) {
      const int j = m.path[p];
      add_row<P>(L[j], row, Z + j * stride, stride);
      touched[j] = 1;
    }
  }
}

void delassus_entry(const MechanicsBlock& m, int nv, const double* Z, int stride, const unsigned char* touched,
                    double* G) {
  for (int r = 0; r < stride; r += kRowBlock) {
    for (int c = 0; c < stride; c += P::width) {
      delassus_tile<kRowBlock, P>(m, nv, Z, stride, touched, r, c, G);
    }
  }
}

/// x ← L⁻¹·x
void solve_lower(const MechanicsBlock& m, int nv, double* x) {
  for (int i = 0; i < nv; ++i) {
    const double* L = m.L + i * m.stride;
    for (int p = m.path_begin[i]; p < m.path_begin[i + 1]; ++p) x[i] = madd(L[m.path[p]], x[m.path[p]], x[i]);
  }
}

void respond_entry(const MechanicsBlock& m, int nv, const double* Z, int stride, const double* lambda, double* out) {
  for (int i = 0; i < nv; ++i) {
    P sum(0);
    for (int c = 0; c < stride; c += P::width) sum = madd(load<P>(Z + i * stride + c), load<P>(lambda + c), sum);
    double total = 0;
    for (int j = 0; j < P::width; ++j) total += sum[j];
    m.scratch[i] = m.D_inv[i] * total;
  }
  solve_lower(m, nv, m.scratch);
  for (int i = 0; i < nv; ++i) out[i] += m.scratch[i];
}

void solve_entry(const MechanicsBlock& m, int nv, double* x) {
  for (int i = nv - 1; i >= 0; --i) {
    const double* L = m.L + i * m.stride;
    for (int p = m.path_begin[i]; p < m.path_begin[i + 1]; ++p) x[m.path[p]] = madd(L[m.path[p]], x[i], x[m.path[p]]);
  }
  for (int i = 0; i < nv; ++i) x[i] *= m.D_inv[i];
  solve_lower(m, nv, x);
}

}  // namespace

extern const MechanicsKernels mechanics_table;
const MechanicsKernels mechanics_table = {poses_entry,    motions_entry, factorise_entry, half_solve_entry,
                                          delassus_entry, respond_entry, solve_entry};

}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
