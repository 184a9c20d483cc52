#include "constraint/mechanics_kernel.h"
#include "constraint/multiply_kernel.h"
#include "constraint/recursion_kernel.h"
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

/// x ← L⁻ᵀ·x
void half_solve_one(const MechanicsBlock& m, int nv, double* x) {
  for (int j = nv - 1; j >= 0; --j) {
    for (int k = m.below_begin[j]; k < m.below_begin[j + 1]; ++k) {
      x[j] = madd(m.L[m.below[k] * m.stride + j], x[m.below[k]], x[j]);
    }
  }
}

int factorise_matrix(const TreeView& tree, const double* extra, const double* tau, MechanicsBlock& m) {
  bias_records<P>(tree, m);
  bias_lanes<P>(tree, m, m.scratch);
  const ColumnLanes<double, kMassLanes> lanes{m.lanes};
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
  for (int k = 0; extra && k < tree.nv; ++k) m.H[k * m.stride + k] += extra[k];
  const int singular = factorise_pattern<P>(tree.nv, m);
  for (int k = 0; k < tree.nv; ++k) m.drive[k] = (tau ? tau[k] : 0) - m.bias[k];
  half_solve_one(m, tree.nv, m.drive);
  return singular;
}

int factorise_entry(const TreeView& tree, const double* extra, const double* tau, MechanicsBlock& m) {
  return m.recursive ? factorise_tree(tree, extra, tau, m) : factorise_matrix(tree, extra, tau, m);
}

void clear_entry(std::uint64_t* touched, int blocks, int words, double* Z, int stride) {
  const Eight zero(0.0);
  for (int b = 0; b < blocks; ++b, Z += kRowBlock) {
    for (int w = 0; w < words; ++w, ++touched) {
      for (std::uint64_t left = *touched; left != 0; left &= left - 1)
        store_eight(zero, Z + (64 * w + __builtin_ctzll(left)) * stride);
      *touched = 0;
    }
  }
}

void half_solve_entry(const MechanicsBlock& m, int nv, double* Z, int stride) {
  constexpr int kPacks = 16 / P::width;  // two blocks of rows
  for (int j = nv - 1; j >= 0; --j) {
    int c = 0;
    for (; c + kPacks * P::width <= stride; c += kPacks * P::width) gather_rows<kPacks, P>(m, j, Z, stride, c);
    for (; c < stride; c += P::width) gather_rows<1, P>(m, j, Z, stride, c);
  }
}

/// a += Zᵀ·D⁻¹·half
void add_rates(const MechanicsBlock& m, const std::uint64_t* touched, const double* Z, int stride, const double* half,
               double* a) {
  for (int r = 0; r < stride; r += kRowBlock, touched += m.words) {
    Eight sum = load_eight(a + r);
    for (int w = 0; w < m.words; ++w) {
      for (std::uint64_t left = touched[w]; left != 0; left &= left - 1) {
        const int i = 64 * w + __builtin_ctzll(left);
        sum = madd(Eight(m.D_inv[i] * half[i]), load_eight(Z + i * stride + r), sum);
      }
    }
    store_eight(sum, a + r);
  }
}

void delassus_entry(const MechanicsBlock& m, const std::uint64_t* touched, const int* used, const double* Z, int stride,
                    bool first, double* G, double* a) {
  if constexpr (kRegisterBytes == 64) {  // registers enough for all the sums of two feet
    if (stride == 2 * kRowBlock && m.words == 1 && first && used[0] <= TwoBlocks::kTile &&
        used[1] <= TwoBlocks::kTile && delassus_of_two(m, touched[0], touched[1], Z, G, a))
      return;
  }
  for (int r = 0; r < stride; r += kRowBlock) {
    const std::uint64_t* rows = touched + r / kRowBlock * m.words;
    for (int c = r; c < stride; c += P::width) {
      const std::uint64_t* columns = touched + c / kRowBlock * m.words;
      if (used[r / kRowBlock] > 6)
        delassus_tile<kRowBlock, P>(m, rows, columns, Z, stride, r, c, first, G);
      else if (used[r / kRowBlock] > 3)
        delassus_tile<6, P>(m, rows, columns, Z, stride, r, c, first, G);
      else
        delassus_tile<3, P>(m, rows, columns, Z, stride, r, c, first, G);
    }
  }
  add_rates(m, touched, Z, stride, m.drive, a);
}

/// x ← L⁻¹·x, for vectors padded to whole blocks. Rows of L are zero off their paths. Eight sums whatever a register holds:
/// every instruction set adds in the same order.
void solve_lower(const MechanicsBlock& m, int nv, double* x) {
  for (int i = 1; i < nv; ++i) {
    const double* L = m.L + i * m.stride;
    const int full = i / Eight::width * Eight::width;
    Eight sum(0.0);
    for (int c = 0; c < full; c += Eight::width) sum = madd(load_eight(L + c), load_eight(x + c), sum);
    double value = total(sum);
    for (int c = full; c < i; ++c) value = madd(L[c], x[c], value);
    x[i] += value;
  }
}

void respond_entry(const MechanicsBlock& m, int nv, const std::uint64_t* any, const double* Z, int stride,
                   const double* lambda, double share, double* out) {
  for (int i = 0; i < nv; ++i) m.scratch[i] = m.D_inv[i] * (share * m.drive[i]);
  for (int w = 0; w < m.words; ++w) {
    for (std::uint64_t left = any[w]; left != 0; left &= left - 1) {
      const int i = 64 * w + __builtin_ctzll(left);
      Eight sum(0);
      for (int c = 0; c < stride; c += kRowBlock) {
        sum = madd(load_eight(Z + i * stride + c), load_eight(lambda + c), sum);
      }
      m.scratch[i] = madd(m.D_inv[i], total(sum), m.scratch[i]);
    }
  }
  m.recursive ? descend(m, m.scratch) : solve_lower(m, nv, m.scratch);
  for (int i = 0; i < nv; ++i) out[i] += m.scratch[i];
}

void half_solve_torques(const MechanicsBlock& m, int nv, double* x) {
  m.recursive ? ascend(m, nv, x) : half_solve_one(m, nv, x);
}

void solve_entry(const MechanicsBlock& m, int nv, double* x) {
  half_solve_torques(m, nv, x);
  for (int i = 0; i < nv; ++i) x[i] *= m.D_inv[i];
  m.recursive ? descend(m, x) : solve_lower(m, nv, x);
}

void drive_entry(const MechanicsBlock& m, int nv, double* torques) {
  half_solve_torques(m, nv, torques);
  for (int i = 0; i < nv; ++i) m.drive[i] += torques[i];
}

void add_product_entry(const double* G, int rows, int stride, const double* f, double* y) {
  for (int c = 0; c < stride; c += kRowBlock) {
    Eight sum = load_eight(y + c);
    for (int r = 0; r < rows; ++r) sum = madd(Eight(f[r]), load_eight(G + r * stride + c), sum);
    store_eight(sum, y + c);
  }
}

void mirror_entry(double* G, int stride) {
  for (int r = kRowBlock; r < stride; r += P::width) {
    for (int c = 0; c < r / kRowBlock * kRowBlock; c += P::width) {
      P tile[P::width];
      for (int i = 0; i < P::width; ++i) tile[i] = load<P>(G + (c + i) * stride + r);
      transpose(tile);
      for (int i = 0; i < P::width; ++i) store(tile[i], G + (r + i) * stride + c);
    }
  }
}

double largest_change_entry(const MechanicsBlock& m, const BodyBefore* bodies, int count, const double* shift,
                            double little) {
  static constexpr double kAxes[8] = {1, 1, 1, 1, 0, 0, 0, 0}, kPlace[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  const Eight minus(-1.0), origin = load_eight(shift), axes = load_eight(kAxes), place = load_eight(kPlace);
  const auto changes = [&](const BodyBefore& b) __attribute__((always_inline)) {
    const double* X = m.X + b.body * kPoseRecord;
    const Eight low = madd(minus, load_eight(b.X), load_eight(X));
    const Eight high = madd(minus, load_eight(b.X + 8), load_eight(X + 8)) + origin;
    const Eight weight(b.weight);
    return madd(high * madd(weight, axes, place), high, low * weight * low);
  };
  Eight sum(0.0);  // of figures that stand, little: one total for all bodies
  for (int i = 0; i < count; ++i) sum = sum + changes(bodies[i]);
  if (const double all = total(sum); all < little) return all;
  double largest = 0;
  for (int i = 0; i < count; ++i) {
    if (const double change = total(changes(bodies[i])); !(change <= largest))
      largest = change;  // what is not a number counts
  }
  return largest;
}

void totals_entry(const MechanicsBlock& m, double* numbers) { total_records<P>(m, numbers); }

}  // namespace

extern const MechanicsKernels mechanics_table;
const MechanicsKernels mechanics_table = {poses_entry,       motions_entry, factorise_entry,      climb,
                                          climb_torques,     clear_entry,   half_solve_entry,     delassus_entry,
                                          add_rates,         respond_entry, solve_entry,          drive_entry,
                                          add_product_entry, mirror_entry,  largest_change_entry, multiply,
                                          totals_entry};

}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
