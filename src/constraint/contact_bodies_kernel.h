#pragma once

#include "constraint/contact_newton_kernel.h"
#include "constraint/contact_sweeps_kernel.h"

/// Newton's method for heaps: the systems of contact_newton_kernel.h on the velocities of all figures in place of the rows,
///
///     (M + Jᵀ·H·J)·dv = Jᵀ·q,
///
/// by blocks of a figure each, eliminated in an order that makes few new blocks (BodyPlan).
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// C −= A·B for free bodies: 6 × 6 blocks with lines of one pack.
inline void subtract_six(const double* A, const double* B, double* C) {
  Eight b[6];
  for (int l = 0; l < 6; ++l) b[l] = load_eight(B + 8 * l);
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
    const double* a = A + 8 * i;
    const Eight first =
        madd(Eight(-a[2]), b[2], madd(Eight(-a[1]), b[1], madd(Eight(-a[0]), b[0], load_eight(C + 8 * i))));
    store_eight(first + madd(Eight(-a[5]), b[5], madd(Eight(-a[4]), b[4], Eight(-a[3]) * b[3])), C + 8 * i);
  }
}

/// C −= A·B, lines of whole packs. A is m × k, B is k × n packs.
inline void subtract_product(int m, int k, int packs, const double* A, int lda, const double* B, int ldb, double* C,
                             int ldc) {
  if (m == 6 && k == 6 && lda == 8 && packs == 1) return subtract_six(A, B, C);
  for (int i = 0; i < m; ++i) {
    for (int p = 0; p < packs; ++p) {
      Eight sum = load_eight(C + i * ldc + 8 * p);
      for (int l = 0; l < k; ++l) sum = madd(Eight(-A[i * lda + l]), load_eight(B + l * ldb + 8 * p), sum);
      store_eight(sum, C + i * ldc + 8 * p);
    }
  }
}

/// The inverse of a block, by exchanges of lines: sliding friction makes it unsymmetric. False if it has none.
inline bool invert_pivot(int n, int ld, double* A, double* inverse) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < ld; ++j) inverse[i * ld + j] = i == j;
  }
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (absolute(A[i * ld + k]) > absolute(A[best * ld + k])) best = i;
    }
    if (!(absolute(A[best * ld + k]) > 0)) return false;
    const double scale = 1 / A[best * ld + k];
    for (int j = 0; j < ld; ++j) {
      const double a = A[best * ld + j], b = inverse[best * ld + j];
      A[best * ld + j] = A[k * ld + j], inverse[best * ld + j] = inverse[k * ld + j];
      A[k * ld + j] = scale * a, inverse[k * ld + j] = scale * b;
    }
    for (int i = 0; i < n; ++i) {
      const double factor = A[i * ld + k];
      if (i == k || factor == 0) continue;
      add_scaled(-factor, A + k * ld, ld, A + i * ld);
      add_scaled(-factor, inverse + k * ld, ld, inverse + i * ld);
    }
  }
  return true;
}

/// How rows answer impulses through the figures that they touch.
struct BodyResponse {
  SweepWork& s;
  const BodyPlan& plan;

  void answer(const LawWork&, const double* r, double* w) const {
    double* dv = plan.dv;
    for (int i = 0; i < s.velocities; ++i) dv[i] = 0;
    for (int i = 0; i < plan.block_count; ++i) apply_impulse(s.rows[i], r + plan.row[i], dv);
    all_rows(dv, w);
  }

  bool solve(LawWork& k, const double* q, double* dw) const {
    assemble(k);
    return factorise() && solve_again(k, q, dw);
  }
  /// With the last factor.
  bool solve_again(LawWork&, const double* q, double* dw) const {
    double* b = plan.dv;
    for (int i = 0; i < s.velocities; ++i) b[i] = 0;
    for (int i = 0; i < plan.block_count; ++i) add_lines(s.rows[i], &SweepRows::Part::J, q + plan.row[i], b);
    substitute(b);
    all_rows(b, dw);
    return true;
  }

 private:
  /// Each block writes a whole pack: what is too much belongs to the next one, which follows.
  void all_rows(const double* dv, double* w) const {
    for (int i = 0; i < plan.block_count; ++i) row_velocities(s.rows[i], dv, w + plan.row[i]);
  }
  /// A = M + Jᵀ·H·J
  void assemble(const LawWork& k) const {
    for (long i = 0; i < plan.numbers; ++i) plan.A[i] = 0;
    for (int f = 0; f < plan.figure_count; ++f) {
      const int n = plan.size[f], ld = plan.padded[f];
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) plan.A[plan.diagonal[f] + i * ld + j] = plan.M[f][i * n + j];
      }
    }
    const auto add = [&](int block, const double* H, int ldh) {
      const SweepRows& rows = s.rows[block];
      if (rows.count == 6 && is_of_bodies(rows)) return add_six(block, H);
      for (int b = 0; b < rows.parts; ++b) {  // columns
        const SweepRows::Part& right = rows.part[b];
        const int ld = right.padded;
        double* HJ = plan.scratch;  // count lines of ld
        for (int r = 0; r < rows.count; ++r) {
          for (int c = 0; c < ld; c += 8) {
            Eight sum(0.0);
            for (int l = 0; l < rows.count; ++l)
              sum = madd(Eight(H[r * ldh + l]), load_eight(right.J + l * ld + c), sum);
            store_eight(sum, HJ + r * ld + c);
          }
        }
        for (int a = 0; a < rows.parts; ++a) {  // lines
          const SweepRows::Part& left = rows.part[a];
          double* to = plan.A + plan.place[4 * block + 2 * a + b];
          for (int c = 0; c < ld; c += 8) {
            for (int i = 0; i < left.size; ++i) {
              Eight sum = load_eight(to + i * ld + c);
              for (int r = 0; r < rows.count; ++r)
                sum = madd(Eight(left.J[r * left.padded + i]), load_eight(HJ + r * ld + c), sum);
              store_eight(sum, to + i * ld + c);
            }
          }
        }
      }
    };
    for (int i = 0; i < k.patch_count; ++i) {
      if (k.patches[i].active) add(i, k.patches[i].H, 6);
    }
    for (int i = 0; i < s.bound_count; ++i) {
      if (k.bounds[i].H > 0) add(s.patch_count + i, &k.bounds[i].H, 1);
    }
    for (int i = 0, at = s.bound_count; i < s.joint_count; ++i) {  // rows of connections follow one after the other
      double H[36] = {};
      const int count = s.rows[s.patch_count + s.bound_count + i].count;
      for (int r = 0; r < count; ++r, ++at) H[7 * r] = k.bounds[at].H;
      add(s.patch_count + s.bound_count + i, H, 6);
    }
  }

  static bool is_of_bodies(const SweepRows& rows) {
    for (int b = 0; b < rows.parts; ++b) {
      if (rows.part[b].size != 6) return false;
    }
    return true;
  }
  /// A += Jᵀ·H·J of a patch of six rows between free bodies.
  void add_six(int block, const double* H) const {
    const SweepRows& rows = s.rows[block];
    for (int b = 0; b < rows.parts; ++b) {
      Eight J[6], HJ[6];
      for (int l = 0; l < 6; ++l) J[l] = load_eight(rows.part[b].J + 8 * l);
#pragma GCC unroll 6
      for (int r = 0; r < 6; ++r) {
        const double* h = H + 6 * r;
        HJ[r] = madd(Eight(h[2]), J[2], madd(Eight(h[1]), J[1], Eight(h[0]) * J[0])) +
                madd(Eight(h[5]), J[5], madd(Eight(h[4]), J[4], Eight(h[3]) * J[3]));
      }
      for (int a = 0; a < rows.parts; ++a) {
        const double* columns = rows.part[a].columns;  // of J: eight numbers per velocity
        double* to = plan.A + plan.place[4 * block + 2 * a + b];
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) {
          const double* j = columns + 8 * i;
          const Eight first =
              madd(Eight(j[2]), HJ[2], madd(Eight(j[1]), HJ[1], madd(Eight(j[0]), HJ[0], load_eight(to + 8 * i))));
          store_eight(first + madd(Eight(j[5]), HJ[5], madd(Eight(j[4]), HJ[4], Eight(j[3]) * HJ[3])), to + 8 * i);
        }
      }
    }
  }

  bool factorise() const {
    for (int n = 0; n < plan.figure_count; ++n) {
      const int f = plan.order[n], size = plan.size[f], ld = plan.padded[f];
      double* inverse = plan.inverse + plan.inverse_at[f];
      if (!invert_pivot(size, ld, plan.A + plan.diagonal[f], inverse)) return false;
      const int first = plan.begin[f], last = plan.begin[f + 1];
      for (int e = first; e < last; ++e) {  // T = P⁻¹·U in place of −U
        const int j = plan.neighbour[e], ldj = plan.padded[j];
        double *U = plan.A + plan.upper[e], *T = plan.scratch;
        for (int i = 0; i < size * ldj; ++i) T[i] = 0;
        subtract_product(size, size, ldj / 8, inverse, ld, U, ldj, T, ldj);
        for (int i = 0; i < size * ldj; ++i) U[i] = -T[i];
      }
      for (int e = first; e < last; ++e) {
        const int i = plan.neighbour[e], ldi = plan.padded[i];
        const double* L = plan.A + plan.lower[e];  // A_if: size_i lines of ld
        subtract_product(plan.size[i], size, ldi / 8, L, ld, plan.A + plan.upper[e], ldi, plan.A + plan.diagonal[i],
                         ldi);
        int at = plan.begin[i];
        for (int g = e + 1; g < last; ++g) {
          const int j = plan.neighbour[g], ldj = plan.padded[j];
          while (plan.neighbour[at] != j) ++at;  // both lists are in the order of elimination
          subtract_product(plan.size[i], size, ldj / 8, L, ld, plan.A + plan.upper[g], ldj, plan.A + plan.upper[at],
                           ldj);
          subtract_product(plan.size[j], size, ldi / 8, plan.A + plan.lower[g], ld, plan.A + plan.upper[e], ldi,
                           plan.A + plan.lower[at], ldi);
        }
      }
    }
    return true;
  }

  void substitute(double* b) const {
    double* z = plan.scratch;
    for (int n = 0; n < plan.figure_count; ++n) {
      const int f = plan.order[n], size = plan.size[f], ld = plan.padded[f];
      const double* inverse = plan.inverse + plan.inverse_at[f];
      double* x = b + plan.offset[f];
      for (int i = 0; i < size; ++i) {
        z[i] = 0;
        for (int c = 0; c < size; ++c) z[i] += inverse[i * ld + c] * x[c];
      }
      for (int i = 0; i < size; ++i) x[i] = z[i];
      for (int e = plan.begin[f]; e < plan.begin[f + 1]; ++e) {
        const int j = plan.neighbour[e];
        const double* L = plan.A + plan.lower[e];
        double* to = b + plan.offset[j];
        for (int i = 0; i < plan.size[j]; ++i) {
          for (int c = 0; c < size; ++c) to[i] -= L[i * ld + c] * x[c];
        }
      }
    }
    for (int n = plan.figure_count; n-- > 0;) {
      const int f = plan.order[n], size = plan.size[f];
      double* x = b + plan.offset[f];
      for (int e = plan.begin[f]; e < plan.begin[f + 1]; ++e) {
        const int j = plan.neighbour[e], ldj = plan.padded[j];
        const double *T = plan.A + plan.upper[e], *from = b + plan.offset[j];
        for (int i = 0; i < size; ++i) {
          for (int c = 0; c < plan.size[j]; ++c) x[i] -= T[i * ldj + c] * from[c];
        }
      }
    }
  }
};

inline void newton_bodies(LawWork& k, SweepWork& s, const BodyPlan& plan) {
  BodyResponse bodies{s, plan};
  solve_law(bodies, k);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
