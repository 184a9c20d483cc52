#pragma once

#include "constraint/contact_columns_kernel.h"
#include "constraint/contact_law_kernel.h"
#include "constraint/contact_thresholds.h"

/// Newton's method on the natural map of all contacts, limits and dry friction of an island at once, and the proximal iteration
/// around it. Every iteration solves one linear system through a Response: how rows answer impulses.
///
///   linearised law      dr = q − H·dw             per patch and per bounded row (contact_law_kernel.h)
///   response            dw = G·dr                 so that (1 + H·G)·dr = q
namespace kansetsu::kernel::inline KANSETSU_ISA {

using namespace threshold;

/// Σ g·Φ² at the unknowns and velocities of the work; Φ and the residual are in the work.
inline double map_all(LawWork& k) {
  double merit = 0;
  k.residual = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchLaw& law = k.patches[i];
    int at = law.at;
    for (int v = 0; v < law.count; ++v, at += 1 + law.friction) {
      merit += map_vertex(law, law.vertex[v], k.x + at, k.centre + at, k.w + law.row, k.kappa, k.phi + at, k.residual);
    }
  }
  for (int i = 0; i < k.bound_count; ++i) {
    BoundLaw& b = k.bounds[i];
    merit += map_bound(b, k.x[b.at], k.centre[b.at], k.w[b.row], k.kappa, k.phi[b.at], k.residual);
  }
  return merit;
}

/// r = Sᵀ·x
inline void sum_impulses(const LawWork& k, const double* x, double* r) {
  for (int i = 0; i < k.rows; ++i) r[i] = 0;
  for (int i = 0; i < k.patch_count; ++i) add_impulses(k.patches[i], x + k.patches[i].at, r + k.patches[i].row);
  for (int i = 0; i < k.bound_count; ++i) r[k.bounds[i].row] += x[k.bounds[i].at];
}

inline void copy_numbers(int n, const double* from, double* to) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}

/// Velocities of all rows for the unknowns as they are.
template <class Response>
void update_velocities(Response& response, LawWork& k) {
  sum_impulses(k, k.x, k.r);
  response.answer(k, k.r, k.w);
  for (int i = 0; i < k.rows; ++i) k.w[i] += k.c[i];
}

/// A direction dx with the velocities dw that belong to it. False: the system has no answer.
template <class Response>
bool newton_direction(Response& response, LawWork& k, double K) {
  for (int i = 0; i < k.rows; ++i) k.q[i] = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchLaw& law = k.patches[i];
    linearise_patch(law, k.phi + law.at, K, k.dx + law.at, k.q + law.row);
  }
  for (int i = 0; i < k.bound_count; ++i) {
    BoundLaw& b = k.bounds[i];
    b.H = b.free ? b.rho / K : 0;
    k.dx[b.at] = b.free ? -k.phi[b.at] / K : -k.phi[b.at];
    k.q[b.row] += k.dx[b.at];
  }
  ++k.systems;
  if (!response.solve(k, k.q, k.dw)) return false;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchLaw& law = k.patches[i];
    answer_patch(law, K, k.dw + law.row, k.dx + law.at);
  }
  for (int i = 0; i < k.bound_count; ++i) k.dx[k.bounds[i].at] -= k.bounds[i].H * k.dw[k.bounds[i].row];
  sum_impulses(k, k.dx, k.dr);
  response.answer(k, k.dr, k.dw);
  return true;
}

/// Share of the direction after which the first law changes its state: a pressure begins or ends, friction begins to slide or to hold, a
/// bound is met or left. Up to there the map is smooth; beyond, another direction may lead on.
inline double first_change(const LawWork& k) {
  double first = kEndless;
  const auto note = [&first](double share) {
    if (share > kNoStep && share < first) first = share;
  };
  const double rest = 1 - k.kappa;
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchLaw& law = k.patches[i];
    int at = law.at;
    for (int n = 0; n < law.count; ++n, at += 1 + law.friction) {
      const VertexLaw& v = law.vertex[n];
      if (!(v.rho > 0)) continue;
      const Local u = local_velocity(law, v, k.w + law.row), du = local_velocity(law, v, k.dw + law.row);
      const double z = rest * k.x[at] + k.kappa * k.centre[at] - v.rho * (u.n - v.t);
      const double dz = rest * k.dx[at] - v.rho * du.n;
      note(-z / dz);
      // |Z + s·dZ|² = μ²·(z + s·dz)², as a·s² + 2·b·s + c = 0
      double a = -law.mu * law.mu * dz * dz, b = -law.mu * law.mu * z * dz, c = -law.mu * law.mu * z * z;
      for (int f = 0; f < law.friction; ++f) {
        const int l = at + 1 + f;
        const double Z = rest * k.x[l] + k.kappa * k.centre[l] - v.rho_friction * u.t[f];
        const double dZ = rest * k.dx[l] - v.rho_friction * du.t[f];
        a += dZ * dZ, b += Z * dZ, c += Z * Z;
      }
      const double inside = b * b - a * c;
      if (inside < 0 || law.paper) continue;
      const double q = -(b + (b > 0 ? root(inside) : -root(inside)));
      for (const double share : {q / a, c / q}) {
        if (z + share * dz > 0) note(share);
      }
    }
  }
  for (int i = 0; i < k.bound_count; ++i) {
    const BoundLaw& b = k.bounds[i];
    if (!(b.rho > 0)) continue;
    const double z = rest * k.x[b.at] + k.kappa * k.centre[b.at] - b.rho * (k.w[b.row] - b.t);
    const double dz = rest * k.dx[b.at] - b.rho * k.dw[b.row];
    note((b.lower - z) / dz), note((b.upper - z) / dz);
  }
  return first;
}

/// Newton steps from unknowns and velocities that belong together. Full steps first: states may change several times before the residual
/// falls, so that up to kPatience in a row may raise Σ g·Φ². Then back to the best iterate, and from there just beyond the first change of
/// a state, where the sum is still lower and a new direction begins. Ends where that gains nothing.
/// @param enough  residual that will do [m/s]
template <class Response>
bool newton(Response& response, LawWork& k, double enough) {
  double least = map_all(k), merit = least;
  const auto keep = [&k] {
    copy_numbers(k.unknowns, k.x, k.before);
    copy_numbers(k.rows, k.w, k.w_before);
  };
  const auto move = [&k](const double* x, const double* w, double share) {
    for (int i = 0; i < k.unknowns; ++i) k.x[i] = x[i] + share * k.dx[i];
    for (int i = 0; i < k.rows; ++i) k.w[i] = w[i] + share * k.dw[i];
    return map_all(k);
  };
  keep();
  for (int n = 0, raised = 0; n < kNewtonSteps; ++n) {
    if (k.residual < enough) return true;
    if (!newton_direction(response, k, k.kappa + kRegular)) return false;
    const bool careful = raised >= kPatience;  // at the best iterate, from which full steps have led astray
    const double last = merit, beyond = careful ? kBeyond * first_change(k) : 1;
    merit = move(k.x, k.w, 1);
    bool full = true;
    if (!(merit < kGain * least) && beyond < 1) merit = move(k.before, k.w_before, beyond), full = false;
    if (k.residual < k.acceptable && merit > 0.25 * last) return true;
    if (merit < least) {
      const bool gains = !careful || merit < kLeastGain * least;
      least = merit;
      keep();
      if (full) raised = 0;
      if (!gains) break;
      continue;
    }
    if (careful) {  // nothing gained: the best iterate is the answer
      move(k.before, k.w_before, 0);
      break;
    }
    raised = merit < kWorst * least ? raised + 1 : kPatience;
    if (raised >= kPatience) merit = move(k.before, k.w_before, 0);
  }
  return k.residual < k.acceptable;
}

/// Forces of the start as the laws allow them.
inline void clamp_start(LawWork& k) {
  for (int i = 0; i < k.patch_count; ++i) clamp_patch(k.patches[i], k.x + k.patches[i].at);
  for (int i = 0; i < k.bound_count; ++i) {
    const BoundLaw& b = k.bounds[i];
    k.x[b.at] = b.rho > 0 ? smaller(larger(k.x[b.at], b.lower), b.upper) : 0;
  }
}

/// Laws that yield by a given share of their own response, and that is the answer: it exists whatever the targets ask for, and what
/// contradicts each other shares the error.
template <class Response>
void solve_soft_law(Response& response, LawWork& k) {
  clamp_start(k);
  k.systems = 0, k.kappa = k.softness;
  for (int i = 0; i < k.unknowns; ++i) k.centre[i] = 0;
  update_velocities(response, k);
  for (double before = kEndless; !(k.solved = newton(response, k, k.tolerance)) && k.systems < k.most_systems;) {
    if (!(k.residual < kLeastGain * before)) break;
    before = k.residual;
  }
  update_velocities(response, k);
}

/// Newton steps on the law itself; where they get stuck, proximal steps: laws that yield by κ·g about the forces there are, each solved by
/// the same Newton steps, well enough to go on. Forces that cancel each other (of redundant contacts) may have a long way to go: κ falls with
/// every success, and stays once where a smaller one has just failed. Near the answer Newton steps on the law itself find the rest. In heaps
/// they are of no use before that. Of all that was found the best by residual is kept: only starts and converged steps count, never an
/// iterate on the way.
template <class Response>
void solve_law(Response& response, LawWork& k) {
  if (k.softness > 0) return solve_soft_law(response, k);
  clamp_start(k);
  k.systems = 0;
  copy_numbers(k.unknowns, k.x, k.centre);
  double least = kEndless;
  const auto judge = [&] {  // the law itself at the present unknowns
    k.kappa = 0;
    update_velocities(response, k);
    map_all(k);
    if (k.residual < least) least = k.residual, copy_numbers(k.unknowns, k.x, k.best);
    return k.residual < k.acceptable;
  };
  judge();
  if ((k.solved = k.residual < k.tolerance)) return;
  double kappa = kYield, near = kNear * k.tolerance;
  double direct = k.far ? near : kEndless;  // residual below which the law itself is taken
  bool failed = false;
  while (k.systems < k.most_systems && kappa < kMostProximalYield) {
    copy_numbers(k.unknowns, k.x, k.centre);
    const bool directly = k.residual < direct;
    if (directly) direct = smaller(near, kAgain * k.residual);
    k.kappa = directly ? 0 : kappa, k.proximal = k.proximal || !directly;
    const bool found = newton(response, k, directly ? k.tolerance : larger(k.tolerance, kInexact * k.residual));
    if (found && judge()) break;
    if (found && !directly) {
      if (!failed) kappa *= kShrink;
      failed = false;
      continue;
    }
    copy_numbers(k.unknowns, k.centre, k.x);
    judge();
    if (!directly) kappa *= kGrow, failed = true;
  }
  copy_numbers(k.unknowns, k.best, k.x);
  k.solved = judge();
}

/// w = G·r for kPacks packs of w; line i of G begins at G + i·stride.
template <int kPacks>
void combine_lines(const double* G, int stride, int n, const double* r, double* w) {
  Eight sum[kPacks];
  for (int p = 0; p < kPacks; ++p) sum[p] = Eight(0.0);
  for (int i = 0; i < n; ++i, G += stride) {
    const Eight factor(r[i]);
    for (int p = 0; p < kPacks; ++p) sum[p] = madd(factor, load_eight(G + 8 * p), sum[p]);
  }
  for (int p = 0; p < kPacks; ++p) store_eight(sum[p], w + 8 * p);
}

/// Rows that answer by a dense matrix: (1 + H·G)·dr = q over the rows where H is not zero; or, where these are many, over the columns of
/// its factor.
struct DenseRows {
  const RowResponse& matrix;
  const RowScratch& scratch;
  ColumnSystem* columns;  ///< null: the factor is not known

  void answer(const LawWork& k, const double* r, double* w) const {
    const double* G = matrix.G;
    int packs = (k.rows + 7) / 8, at = 0;
    for (; packs >= 4; packs -= 4, at += 32) combine_lines<4>(G + at, matrix.stride, k.rows, r, w + at);
    if (packs == 3) combine_lines<3>(G + at, matrix.stride, k.rows, r, w + at);
    if (packs == 2) combine_lines<2>(G + at, matrix.stride, k.rows, r, w + at);
    if (packs == 1) combine_lines<1>(G + at, matrix.stride, k.rows, r, w + at);
  }
  /// dw for the right side q
  bool solve(LawWork& k, const double* q, double* dw) {
    double* const A = scratch.matrix;
    int *const row = scratch.row, ld = scratch.stride;
    int n = 0;
    bool others = false;
    const auto take = [&](bool active, int first, int count) {
      for (int a = 0; a < count; ++a) {
        if (active)
          row[n++] = first + a;
        else
          others = others || q[first + a] != 0;
      }
    };
    for (int i = 0; i < k.patch_count; ++i) take(k.patches[i].active, k.patches[i].row, k.patches[i].rows);
    for (int i = 0; i < k.bound_count; ++i) take(k.bounds[i].free, k.bounds[i].row, 1);
    if (columns && n > kManyRows * columns->columns() && columns->solve(k, q, dw)) return true;
    for (int i = 0; i < k.rows; ++i) k.dr[i] = q[i];
    if (n > 0) {
      if (others) {  // velocities that known impulses give
        for (int a = 0; a < n; ++a) k.dr[row[a]] = 0;
        answer(k, k.dr, dw);
      }
      assemble(k, q, others ? dw : nullptr, n);
      if (!solve_in_order(A, n, ld, scratch.right, scratch.x,
                          scratch.weight)) {  // a pivot vanishes, as it may where patches slide
        assemble(k, q, others ? dw : nullptr, n);
        for (int b = 0; b < n; ++b) A[b * ld + n] = scratch.right[b];
        for (int j = n + 1; j < (n + 8) / 8 * 8; ++j) {
          for (int b = 0; b < n; ++b) A[b * ld + j] = 0;
        }
        if (solve_general(A, n, ld, kSingular, scratch.x, scratch.weight, scratch.order) > 0) return false;
      }
      for (int b = 0; b < n; ++b) k.dr[row[b]] = scratch.x[b];
    }
    answer(k, k.dr, dw);
    return true;
  }

 private:
  /// 1 + H·G over the n rows of the system, and its right side. @param known  velocities that impulses of other rows give, or null
  void assemble(const LawWork& k, const double* q, const double* known, int n) const {
    const int* row = scratch.row;
    bool ordered = true;  // the system takes the first n rows, one after the other
    for (int j = 0; j < n; ++j) ordered = ordered && row[j] == j;
    const int packs = ((ordered ? n : k.rows) + 7) / 8, ld = scratch.stride;
    int a = 0;
    /// `count` lines of H·G; `first`: line of G that belongs to the first column of H
    const auto fill = [&](const double* H, int ldh, int first, int count, bool follows) {
      double* const lines = scratch.matrix + a * ld;
      const double* const G = matrix.G + long(first) * matrix.stride;
      for (int p = 0; p < packs; ++p) {
        Eight g[6];
        for (int l = 0; l < count; ++l) g[l] = load_eight(G + l * matrix.stride + 8 * p);
        const auto put = [&](int i, const Eight& sum) { store_eight(sum, lines + i * ld + 8 * p); };
        if (count == 1) {
          put(0, Eight(H[0]) * g[0]);
        } else if (count == 3) {
          for (int i = 0; i < 2; ++i) {
            Eight sum = madd(Eight(H[i * ldh + 1]), g[1], Eight(H[i * ldh]) * g[0]);
            put(i, follows ? madd(Eight(H[i * ldh + 2]), g[2], sum) : sum);
          }
          put(2, Eight(H[2 * ldh + 2]) * g[2]);
        } else {
          for (const int i : {0, 1, 5}) {
            const double* h = H + i * ldh;
            Eight sum = madd(Eight(h[5]), g[5], madd(Eight(h[1]), g[1], Eight(h[0]) * g[0]));
            if (follows) sum = madd(Eight(h[4]), g[4], madd(Eight(h[3]), g[3], madd(Eight(h[2]), g[2], sum)));
            put(i, sum);
          }
          for (const int i : {2, 3, 4}) {
            const double* h = H + i * ldh;
            put(i, madd(Eight(h[4]), g[4], madd(Eight(h[3]), g[3], Eight(h[2]) * g[2])));
          }
        }
      }
      for (int i = 0; i < count; ++i, ++a) {
        double* line = lines + i * ld;
        double right = q[first + i];
        for (int l = 0; l < count && known; ++l) right -= H[i * ldh + l] * known[first + l];
        if (!ordered) {  // of all rows the system takes some, in its own order
          for (int p = 0; p < packs; ++p) store_eight(load_eight(line + 8 * p), scratch.x + 8 * p);
          for (int j = 0; j < n; ++j) line[j] = scratch.x[row[j]];
          for (int j = n; j < (n + 7) / 8 * 8; ++j) line[j] = 0;
        }
        line[a] += 1;
        scratch.right[a] = right;
      }
    };
    for (int i = 0; i < k.patch_count; ++i) {
      const PatchLaw& law = k.patches[i];
      if (law.active) fill(law.H, 6, law.row, law.rows, law.follows);
    }
    for (int i = 0; i < k.bound_count; ++i) {
      if (k.bounds[i].free) fill(&k.bounds[i].H, 1, k.bounds[i].row, 1, false);
    }
  }
};

inline void newton_rows(LawWork& k, const RowResponse& matrix, const RowScratch& scratch, const RowFactor* factor,
                        const ColumnScratch& column_scratch) {
  if (!factor) {
    DenseRows rows{matrix, scratch, nullptr};
    return solve_law(rows, k);
  }
  ColumnSystem columns(*factor, column_scratch);
  DenseRows rows{matrix, scratch, &columns};
  solve_law(rows, k);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
