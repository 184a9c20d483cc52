#pragma once

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

/// Of which linearised laws a direction is: those at the present unknowns, or those of the direction before, whose factor is still there.
enum class Laws { kPresent, kLast };

/// Whether all laws are in the states in which they were linearised.
inline bool states_hold(const LawWork& k) {
  bool same = true;
  for (int i = 0; i < k.patch_count; ++i) {
    for (int n = 0; n < k.patches[i].count; ++n) {
      const VertexLaw& v = k.patches[i].vertex[n];
      same = same && v.pressed == v.linear.pressed && v.slides == v.linear.slides;
    }
  }
  for (int i = 0; i < k.bound_count; ++i) same = same && k.bounds[i].free == (k.bounds[i].H > 0);
  return same;
}

/// A direction dx with the velocities dw that belong to it. False: the system has no answer.
template <class Response>
bool newton_direction(Response& response, LawWork& k, double K, Laws laws) {
  for (int i = 0; i < k.rows; ++i) k.q[i] = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchLaw& law = k.patches[i];
    const auto linear = laws == Laws::kPresent ? linearise_patch : repeat_patch;
    linear(law, k.phi + law.at, K, k.dx + law.at, k.q + law.row);
  }
  for (int i = 0; i < k.bound_count; ++i) {
    BoundLaw& b = k.bounds[i];
    if (laws == Laws::kPresent) b.H = b.free ? b.rho / K : 0;
    k.dx[b.at] = b.H > 0 ? -k.phi[b.at] / K : -k.phi[b.at];
    k.q[b.row] += k.dx[b.at];
  }
  k.systems += laws == Laws::kPresent;
  if (!(laws == Laws::kPresent ? response.solve(k, k.q, k.dw) : response.solve_again(k, k.q, k.dw))) return false;
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
/// falls, so that Σ g·Φ² may rise as long as it falls again: kPatience steps may fail to. Then back to the
/// best iterate, and from there the best of halves of the way down
/// to just beyond the first change of a state: up to there the sum falls for certain, and among hundreds of contacts it falls far beyond. Ends
/// where that gains nothing. After a step that leaves little and changes no state the laws are hardly others: the next directions take the
/// factor that is there.
/// @param enough  residual that will do [m/s]
/// @param merit   of the start, where map_all() has been called
template <class Response>
bool newton(Response& response, LawWork& k, double enough, double merit) {
  double least = merit;
  const auto keep = [&k] {
    copy_numbers(k.unknowns, k.x, k.before);
    copy_numbers(k.rows, k.w, k.w_before);
  };
  const auto move = [&k](const double* x, const double* w, double share) {
    for (int i = 0; i < k.unknowns; ++i) k.x[i] = x[i] + share * k.dx[i];
    for (int i = 0; i < k.rows; ++i) k.w[i] = w[i] + share * k.dw[i];
    return map_all(k);
  };
  const auto search = [&](double first) {  // from the best iterate
    double share = first, lowest = move(k.before, k.w_before, first);
    for (double s = 0.5; s > larger(first, kLeastSearched); s *= 0.5) {
      const double sum = move(k.before, k.w_before, s);
      if (sum < lowest) lowest = sum, share = s;
    }
    return move(k.before, k.w_before, share);
  };
  keep();
  double before = 0;  // residual before the last direction
  for (int n = 0, raised = 0; n < kNewtonSteps; ++n) {
    if (k.residual < enough) return true;
    const double K = k.kappa + kRegular;
    const bool again = k.residual < kRepeat * before && states_hold(k) && newton_direction(response, k, K, Laws::kLast);
    if (!again && !newton_direction(response, k, K, Laws::kPresent)) return false;
    before = k.residual;
    const bool careful = raised >= kPatience;  // at the best iterate, from which full steps have led astray
    const double last = merit, beyond = careful ? kBeyond * first_change(k) : 1;
    merit = move(k.x, k.w, 1);
    const bool full = merit < kGain * least || !(beyond < 1);
    if (!full) merit = search(beyond);
    if (k.residual < k.acceptable && merit > 0.25 * last && !again) return true;
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
    if (!(merit < kWorst * least)) raised = kPatience;
    raised += merit > kFalls * last;
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
  for (double before = kEndless;
       !(k.solved = newton(response, k, k.tolerance, map_all(k))) && k.systems < k.most_systems;) {
    if (!(k.residual < kLeastGain * before)) break;
    before = k.residual;
  }
  update_velocities(response, k);
}

/// Newton steps on the law itself; where they get stuck, proximal steps: laws that yield by κ·g about the forces there are, each solved by
/// the same Newton steps, well enough to go on. Forces that cancel each other (of redundant contacts) may have a long way to go: κ falls with
/// every success, and stays for a while where a smaller one has just failed. Near the answer Newton steps on the law itself find the rest. In heaps
/// they are of no use before that. Of all that was found the best by residual is kept: only starts and converged steps count, never an
/// iterate on the way.
template <class Response>
void solve_law(Response& response, LawWork& k) {
  if (k.softness > 0) return solve_soft_law(response, k);
  clamp_start(k);
  k.systems = 0;
  copy_numbers(k.unknowns, k.x, k.centre);
  double least = kEndless, merit = 0;
  const auto judge = [&] {  // the law itself at the present unknowns
    k.kappa = 0;
    update_velocities(response, k);
    merit = map_all(k);
    if (k.residual < least) least = k.residual, copy_numbers(k.unknowns, k.x, k.best);
    return k.residual < k.acceptable;
  };
  judge();
  if ((k.solved = k.residual < k.tolerance)) return;
  double kappa = k.far ? kHeapYield : kYield, near = kNear * k.tolerance;
  double direct = k.far ? near : kEndless;  // residual below which the law itself is taken
  int wait = 0;                             // proximal steps before κ falls again
  while (k.systems < k.most_systems && kappa < kMostProximalYield) {
    copy_numbers(k.unknowns, k.x, k.centre);
    const bool directly = k.residual < direct;
    if (directly) direct = smaller(near, kAgain * k.residual);
    k.kappa = directly ? 0 : kappa, k.proximal = k.proximal || !directly;
    const double enough = directly ? k.tolerance : larger(k.tolerance, kInexact * k.residual);
    const int before = k.systems;
    const bool found = newton(response, k, enough, directly ? merit : map_all(k));
    if (found && judge()) break;
    if (found && !directly) {
      if (wait > 0)
        --wait;
      else
        kappa *= k.systems - before <= kEasySystems ? kEasyShrink : kShrink;
      continue;
    }
    copy_numbers(k.unknowns, k.centre, k.x);
    judge();
    if (!directly) kappa *= kGrow, wait = kWait;
  }
  if (!(k.residual <= least)) {  // else the last that was judged is the best
    copy_numbers(k.unknowns, k.best, k.x);
    judge();
  }
  k.solved = k.residual < k.acceptable;
}

/// Whether all numbers of a matrix are finite.
inline bool finite_matrix(const double* G, int lines, int columns, int stride) {
  Eight sum(0.0);
  double rest = 0;
  for (int i = 0; i < lines; ++i, G += stride) {
    int j = 0;
    for (; j + 8 <= columns; j += 8) sum = madd(load_eight(G + j), Eight(0.0), sum);
    for (; j < columns; ++j) rest += G[j] * 0;
  }
  return total(sum) + rest == 0;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
