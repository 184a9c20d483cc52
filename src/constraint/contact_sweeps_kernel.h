#pragma once

#include "constraint/contact_law_kernel.h"

/// Heaps: no matrix over all rows. Sweeps visit one block after the other, a patch, a bounded row or the rows of a connection, solve its law for
/// the velocities that all others leave it, and hand the change to its one or two figures. Anderson's acceleration takes the best combination
/// of the last sweeps.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Writes eight numbers, of which those beyond the rows are zero.
inline void row_velocities(const SweepRows& rows, const double* v, double* w) {
  Eight sum(0.0);
  for (int b = 0; b < rows.parts; ++b) {
    const SweepRows::Part& part = rows.part[b];
    for (int c = 0; c < part.size; ++c) sum = madd(Eight(v[part.offset + c]), load_eight(part.columns + 8 * c), sum);
  }
  store_eight(sum, w);
}

/// v += lines of each part, times one number each.
inline void add_lines(const SweepRows& rows, const double* SweepRows::Part::* lines, const double* factor, double* v) {
  for (int b = 0; b < rows.parts; ++b) {
    const SweepRows::Part& part = rows.part[b];
    for (int p = 0; p < part.padded; p += 8) {
      const double* line = part.*lines + p;
      Eight sum = load_eight(v + part.offset + p);
      for (int r = 0; r < rows.count; ++r, line += part.padded) sum = madd(Eight(factor[r]), load_eight(line), sum);
      store_eight(sum, v + part.offset + p);
    }
  }
}
inline void apply_impulse(const SweepRows& rows, const double* delta, double* v) {
  add_lines(rows, &SweepRows::Part::Y, delta, v);
}

/// G of a block by itself.
inline void own_block(SweepRows& rows) {
  for (int b = 0; b < rows.count; ++b) {
    Eight sum(0.0);
    for (int i = 0; i < rows.parts; ++i) {
      const SweepRows::Part& part = rows.part[i];
      for (int c = 0; c < part.size; ++c)
        sum = madd(Eight(part.Y[b * part.padded + c]), load_eight(part.columns + 8 * c), sum);
    }
    store_eight(sum, rows.D + 8 * b);
  }
}

/// One vertex with the others of its patch as they are: pressure, then friction. Changes its unknowns x and the velocities w of the rows.
/// @return by how much a velocity was off [m/s]
inline double visit_vertex(const PatchLaw& law, VertexLaw& v, const double* D, double* w, double* x, double* delta) {
  if (!(v.rho > 0)) return 0;
  const auto apply = [&](int i, int j, int l, double a, double b,
                         double c) {  // on three rows; the first alone if rows are three
    delta[i] += a;
    Eight sum = madd(Eight(a), load_eight(D + 8 * i), load_eight(w));
    if (law.rows == 6) {
      delta[j] += b, delta[l] += c;
      sum = madd(Eight(c), load_eight(D + 8 * l), madd(Eight(b), load_eight(D + 8 * j), sum));
    }
    store_eight(sum, w);
  };
  Local u = local_velocity(law, v, w);
  const double pressure = larger(x[0] - v.rho * (u.n - v.t), 0), pressed = pressure - x[0];
  x[0] = pressure;
  if (pressed != 0) apply(2, 3, 4, pressed, v.y * pressed, -v.x * pressed);
  double off = absolute(pressed) / v.rho;
  if (pressed != 0) u = local_velocity(law, v, w);
  double z[3] = {0, 0, 0}, change[3] = {0, 0, 0}, most = 0;
  for (int k = 0; k < law.friction; ++k) z[k] = x[1 + k] - v.rho_friction * u.t[k];
  set_friction(law, v, pressure, z);
  for (int k = 0; k < law.friction; ++k) {
    change[k] = z[k] - x[1 + k];
    x[1 + k] = z[k];
    most = larger(most, absolute(change[k]));
  }
  if (most == 0) return off;
  if (v.rho_friction > 0) off = larger(off, most / v.rho_friction);
  delta[1] += change[1];
  store_eight(madd(Eight(change[1]), load_eight(D + 8), load_eight(w)), w);
  apply(0, 5, 5, change[0], v.a * change[1] - v.b * change[0] + v.d * change[2], 0);
  return off;
}

inline double visit_patch(SweepWork& k, int i) {
  constexpr int kInner = 2;  // visits of each vertex: more gain nothing, the rest of the heap moves on
  PatchLaw& law = k.patches[i];
  SweepRows& rows = k.rows[i];
  double w[8], delta[6] = {0, 0, 0, 0, 0, 0}, off = 0;
  row_velocities(rows, k.v, w);
  for (int n = 0; n < (law.count > 1 ? kInner : 1); ++n) {
    for (int v = 0; v < law.count; ++v) {
      const double one = visit_vertex(law, law.vertex[v], rows.D, w, k.x + law.at + v * (1 + law.friction), delta);
      if (n == 0) off = larger(off, one);
    }
  }
  apply_impulse(rows, delta, k.v);
  return off;
}

inline double visit_bound(SweepWork& k, int i) {
  BoundLaw& b = k.bounds[i];
  if (!(b.rho > 0)) return 0;
  SweepRows& rows = k.rows[k.patch_count + i];
  double w[8];
  row_velocities(rows, k.v, w);
  const double z = k.x[b.at] - b.rho * (w[0] - b.t), to = z < b.lower ? b.lower : z > b.upper ? b.upper : z;
  const double delta = to - k.x[b.at];
  k.x[b.at] = to;
  if (delta != 0) apply_impulse(rows, &delta, k.v);
  return absolute(delta) / b.rho;
}

/// The rows of a connection at once: to their targets.
inline double visit_joint(SweepWork& k, int i) {
  SweepJoint& joint = k.joints[i];
  SweepRows& rows = k.rows[k.patch_count + k.bound_count + i];
  double w[8], delta[6], off = 0;
  row_velocities(rows, k.v, w);
  for (int r = 0; r < rows.count; ++r) off = larger(off, absolute(w[r] - joint.t[r]));
  for (int r = 0; r < rows.count; ++r) {
    delta[r] = 0;
    for (int c = 0; c < rows.count; ++c) delta[r] -= joint.inverse[6 * r + c] * (w[c] - joint.t[c]);
    k.x[joint.at + r] += delta[r];
  }
  apply_impulse(rows, delta, k.v);
  return off;
}

/// All blocks once, forth or back. @return the largest velocity that was off
inline double sweep(SweepWork& k, bool forth) {
  const int count = k.patch_count + k.bound_count + k.joint_count;
  double off = 0;
  for (int n = 0; n < count; ++n) {
    const int i = forth ? n : count - 1 - n;
    const double one = i < k.patch_count                   ? visit_patch(k, i)
                       : i < k.patch_count + k.bound_count ? visit_bound(k, i - k.patch_count)
                                                           : visit_joint(k, i - k.patch_count - k.bound_count);
    off = larger(off, one);
  }
  return off;
}

/// v for the unknowns x, from the velocities without impulses.
inline void sweep_velocities(SweepWork& k) {
  for (int i = 0; i < k.velocities; ++i) k.v[i] = k.v_free[i];
  for (int i = 0; i < k.patch_count; ++i) {
    double r[6] = {0, 0, 0, 0, 0, 0};
    add_impulses(k.patches[i], k.x + k.patches[i].at, r);
    apply_impulse(k.rows[i], r, k.v);
  }
  for (int i = 0; i < k.bound_count; ++i) apply_impulse(k.rows[k.patch_count + i], k.x + k.bounds[i].at, k.v);
  for (int i = 0; i < k.joint_count; ++i)
    apply_impulse(k.rows[k.patch_count + k.bound_count + i], k.x + k.joints[i].at, k.v);
}

/// Natural residual of all blocks at the present unknowns.
inline double sweep_residual(SweepWork& k) {
  double residual = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchLaw& law = k.patches[i];
    double w[8], phi[4];
    row_velocities(k.rows[i], k.v, w);
    k.residual_of[i] = 0;
    for (int v = 0; v < law.count; ++v) {
      const double* x = k.x + law.at + v * (1 + law.friction);
      map_vertex(law, law.vertex[v], x, x, w, 0, phi, k.residual_of[i]);
    }
    residual = larger(residual, k.residual_of[i]);
  }
  for (int i = 0; i < k.bound_count; ++i) {
    double w[8], phi;
    row_velocities(k.rows[k.patch_count + i], k.v, w);
    const double x = k.x[k.bounds[i].at];
    map_bound(k.bounds[i], x, x, w[0], 0, phi, residual);
  }
  for (int i = 0; i < k.joint_count; ++i) {
    double w[8];
    const SweepRows& rows = k.rows[k.patch_count + k.bound_count + i];
    row_velocities(rows, k.v, w);
    for (int r = 0; r < rows.count; ++r) residual = larger(residual, absolute(w[r] - k.joints[i].t[r]));
  }
  return residual;
}

/// Anderson's acceleration of x ← sweep(x): the combination of the last sweeps whose changes cancel best.
class Anderson {
 public:
  void forget() { used_ = next_ = 0, started_ = false; }

  /// @param x, g  before and after a sweep; g becomes the start of the next. @return whether it is another than the sweep's own
  bool mix(SweepWork& k, const double* x, double* g) {
    const int n = k.unknowns, newest = next_;
    double *df = k.changes + newest * n, *dg = k.results + newest * n;
    for (int i = 0; i < n; ++i) {
      const double change = g[i] - x[i];
      df[i] = change - k.change[i], dg[i] = g[i] - k.result[i];
      k.change[i] = change, k.result[i] = g[i];
    }
    if (!started_) return started_ = true, false;
    used_ = used_ < kDepth ? used_ + 1 : kDepth;
    next_ = (next_ + 1) % kDepth;
    for (int a = 0; a < used_; ++a) gram_[a][newest] = gram_[newest][a] = inner_product(n, k.changes + a * n, df);
    double gamma[kDepth];
    weights(k, gamma);
    for (int a = 0; a < used_; ++a) {
      const double* from = k.results + a * n;
      for (int i = 0; i < n; ++i) g[i] -= gamma[a] * from[i];
    }
    return true;
  }

 private:
  static constexpr int kDepth = SweepWork::kDepth;

  static double inner_product(int n, const double* a, const double* b) {
    Eight sum(0.0);
    int i = 0;
    for (; i + 8 <= n; i += 8) sum = madd(load_eight(a + i), load_eight(b + i), sum);
    double rest = 0;
    for (; i < n; ++i) rest = madd(a[i], b[i], rest);
    return total(sum) + rest;
  }
  /// Least |change − Σ γ·changes|, slightly damped.
  void weights(const SweepWork& k, double (&gamma)[kDepth]) const {
    const int n = k.unknowns;
    double A[kDepth][kDepth + 1], trace = 0;
    for (int a = 0; a < used_; ++a) {
      for (int b = 0; b < used_; ++b) A[a][b] = gram_[a][b];
      A[a][used_] = inner_product(n, k.changes + a * n, k.change);
      trace += A[a][a];
    }
    for (int a = 0; a < used_; ++a) A[a][a] += 1e-10 * trace + 1e-300;
    for (int c = 0; c < used_; ++c) {
      for (int r = c + 1; r < used_; ++r) {
        const double factor = A[r][c] / A[c][c];
        for (int j = c; j <= used_; ++j) A[r][j] -= factor * A[c][j];
      }
    }
    for (int r = used_ - 1; r >= 0; --r) {
      gamma[r] = A[r][used_];
      for (int j = r + 1; j < used_; ++j) gamma[r] -= A[r][j] * gamma[j];
      gamma[r] /= A[r][r];
    }
  }

  double gram_[kDepth][kDepth] = {};  ///< inner products of the changes of the changes
  int used_ = 0, next_ = 0;
  bool started_ = false;
};

/// Whatever an unknown may be.
inline void clamp_unknowns(SweepWork& k) {
  for (int i = 0; i < k.patch_count; ++i) clamp_patch(k.patches[i], k.x + k.patches[i].at);
  for (int i = 0; i < k.bound_count; ++i) {
    double& x = k.x[k.bounds[i].at];
    x = smaller(larger(x, k.bounds[i].lower), k.bounds[i].upper);
  }
}

inline void solve_sweeps(SweepWork& k) {
  constexpr double kGrown = 4;  // of the smallest change so far: the combination has led astray
  clamp_unknowns(k);
  sweep_velocities(k);
  k.residual = sweep_residual(k);
  if (k.most == 0 || k.residual < k.tolerance) return;  // what rests keeps its forces
  Anderson anderson;
  double least = 1e300;
  while (k.sweeps < k.most) {
    for (int i = 0; i < k.unknowns; ++i) k.start[i] = k.x[i];
    const double first = sweep(k, true), off = larger(first, sweep(k, false));
    k.sweeps += 2;
    if (off < k.tolerance || k.sweeps >= k.most) break;
    if (off > kGrown * least) {
      anderson.forget(), least = off;
      continue;
    }
    least = smaller(least, off);
    if (!anderson.mix(k, k.start, k.x)) continue;
    clamp_unknowns(k);
    sweep_velocities(k);
  }
  k.residual = sweep_residual(k);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
