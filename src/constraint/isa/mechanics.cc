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

void half_solve_entry(const MechanicsBlock& m, int nv, double* Z, int stride) {
  constexpr int kPacks = 16 / P::width;  // two blocks of rows
  for (int j = nv - 1; j >= 0; --j) {
    int c = 0;
    for (; c + kPacks * P::width <= stride; c += kPacks * P::width) gather_rows<kPacks, P>(m, j, Z, stride, c);
    for (; c < stride; c += P::width) gather_rows<1, P>(m, j, Z, stride, c);
  }
}

void delassus_entry(const MechanicsBlock& m, int nv, const double* Z, int stride, double* G) {
  for (int r = 0; r < stride; r += kRowBlock) {
    for (int c = r; c < stride; c += P::width) delassus_tile<kRowBlock, P>(m, nv, Z, stride, r, c, G);
  }
}

double sum_of(const P& x) {
  double total = 0;
  for (int j = 0; j < P::width; ++j) total += x[j];
  return total;
}

/// x ← L⁻¹·x, for vectors padded to whole blocks. Rows of L are zero off their paths.
void solve_lower(const MechanicsBlock& m, int nv, double* x) {
  for (int i = 1; i < nv; ++i) {
    const double* L = m.L + i * m.stride;
    const int full = i / P::width * P::width;
    P sum(0);
    for (int c = 0; c < full; c += P::width) sum = madd(load<P>(L + c), load<P>(x + c), sum);
    double total = sum_of(sum);
    for (int c = full; c < i; ++c) total = madd(L[c], x[c], total);
    x[i] += total;
  }
}

void respond_entry(const MechanicsBlock& m, int nv, const double* Z, int stride, const double* lambda, double* out) {
  for (int i = 0; i < nv; ++i) {
    P sum(0);
    for (int c = 0; c < stride; c += P::width) sum = madd(load<P>(Z + i * stride + c), load<P>(lambda + c), sum);
    m.scratch[i] = m.D_inv[i] * sum_of(sum);
  }
  solve_lower(m, nv, m.scratch);
  for (int i = 0; i < nv; ++i) out[i] += m.scratch[i];
}

void solve_entry(const MechanicsBlock& m, int nv, double* x) {
  for (int j = nv - 1; j >= 0; --j) {
    for (int k = m.below_begin[j]; k < m.below_begin[j + 1]; ++k) {
      x[j] = madd(m.L[m.below[k] * m.stride + j], x[m.below[k]], x[j]);
    }
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
