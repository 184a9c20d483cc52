#pragma once

#include "constraint/contact_states_kernel.h"

/// The exact problem of one patch when everything else is held: normals in the cone of the vertices, friction in its set.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A·x = r for a symmetric 3×3 matrix by cofactors; false if it is singular to rounding.
inline bool solve3(const double A[3][3], const double* r, double* x) {
  const double c00 = A[1][1] * A[2][2] - A[1][2] * A[2][1], c01 = A[1][2] * A[2][0] - A[1][0] * A[2][2];
  const double c02 = A[1][0] * A[2][1] - A[1][1] * A[2][0];
  const double det = A[0][0] * c00 + A[0][1] * c01 + A[0][2] * c02;
  if (!(det > 1e-14 * A[0][0] * A[1][1] * A[2][2])) return false;
  const double c11 = A[0][0] * A[2][2] - A[0][2] * A[2][0], c12 = A[0][1] * A[2][0] - A[0][0] * A[2][1];
  const double c22 = A[0][0] * A[1][1] - A[0][1] * A[1][0];
  const double s = 1 / det;
  x[0] = (c00 * r[0] + c01 * r[1] + c02 * r[2]) * s;
  x[1] = (c01 * r[0] + c11 * r[1] + c12 * r[2]) * s;
  x[2] = (c02 * r[0] + c12 * r[1] + c22 * r[2]) * s;
  return true;
}

/// Normal forces of one patch. b: outcome of rows z, ωx, ωy without its normal force; A: their block of G.
struct NormalProblem {
  double A[3][3];
  double b[3];
  double tolerance;
};
inline void vertex_row(const PatchWork& p, int i, double* N) { N[0] = 1, N[1] = p.y[i], N[2] = -p.x[i]; }
inline double vertex_outcome(const PatchWork& p, const NormalProblem& q, const double* f, int i) {
  double N[3], w = -p.t[i];
  vertex_row(p, i, N);
  for (int a = 0; a < 3; ++a) w += N[a] * (q.b[a] + q.A[a][0] * f[0] + q.A[a][1] * f[1] + q.A[a][2] * f[2]);
  return w;
}
inline bool none_inwards(const PatchWork& p, const NormalProblem& q, const double* f, int skip0, int skip1) {
  for (int i = 0; i < p.count; ++i) {
    if (i != skip0 && i != skip1 && vertex_outcome(p, q, f, i) < -q.tolerance) return false;
  }
  return true;
}

inline bool try_surface(const PatchWork& p, const NormalProblem& q, double* f) {
  double r[3];
  for (int a = 0; a < 3; ++a) r[a] = (p.targets ? p.plane[a] : 0.0) - q.b[a];
  if (!solve3(q.A, r, f) || !(f[0] > 0)) return false;
  int edge = 0;
  return outside(p, f[0], -f[2], f[1], edge) <= 1e-12 * f[0];
}
/// Targets that are not in one plane: three closed vertices. Sets the plane through their targets.
inline bool try_three(PatchWork& p, const NormalProblem& q, int i, int j, int l, double* f) {
  const int corner[3] = {i, j, l};
  const double ax = p.x[j] - p.x[i], ay = p.y[j] - p.y[i], bx = p.x[l] - p.x[i], by = p.y[l] - p.y[i];
  const double det = ax * by - ay * bx;
  if (!(absolute(det) > 1e-9 * (ax * ax + ay * ay + bx * bx + by * by))) return false;
  const double dj = p.t[j] - p.t[i], dl = p.t[l] - p.t[i];
  const double by_x = (dj * by - dl * ay) / det, by_y = (ax * dl - bx * dj) / det;
  p.plane[0] = p.t[i] - by_x * p.x[i] - by_y * p.y[i], p.plane[1] = by_y, p.plane[2] = -by_x;
  p.three = true;
  for (int a = 0; a < 3; ++a) p.corner[a] = corner[a];
  if (!try_surface(p, q, f)) return false;
  for (int v = 0; v < p.count; ++v) {
    if (v != i && v != j && v != l && vertex_outcome(p, q, f, v) < -q.tolerance) return false;
  }
  return true;
}
inline bool try_any_three(PatchWork& p, const NormalProblem& q, double* f) {
  if (p.three && try_three(p, q, p.corner[0], p.corner[1], p.corner[2], f)) return true;
  for (int i = 0; i < p.count; ++i) {
    for (int j = i + 1; j < p.count; ++j) {
      for (int l = j + 1; l < p.count; ++l) {
        if (try_three(p, q, i, j, l, f)) return true;
      }
    }
  }
  return false;
}
inline bool try_line(const PatchWork& p, const NormalProblem& q, int i, int j, double* f) {
  double Ni[3], Nj[3], Ai[3], Aj[3], ri = p.t[i], rj = p.t[j];
  vertex_row(p, i, Ni);
  vertex_row(p, j, Nj);
  for (int a = 0; a < 3; ++a) {
    Ai[a] = q.A[a][0] * Ni[0] + q.A[a][1] * Ni[1] + q.A[a][2] * Ni[2];
    Aj[a] = q.A[a][0] * Nj[0] + q.A[a][1] * Nj[1] + q.A[a][2] * Nj[2];
    ri -= Ni[a] * q.b[a];
    rj -= Nj[a] * q.b[a];
  }
  const double Mii = Ni[0] * Ai[0] + Ni[1] * Ai[1] + Ni[2] * Ai[2], Mij = Ni[0] * Aj[0] + Ni[1] * Aj[1] + Ni[2] * Aj[2];
  const double Mjj = Nj[0] * Aj[0] + Nj[1] * Aj[1] + Nj[2] * Aj[2], det = Mii * Mjj - Mij * Mij;
  if (!(det > 1e-14 * Mii * Mjj)) return false;
  const double li = (Mjj * ri - Mij * rj) / det, lj = (Mii * rj - Mij * ri) / det;
  if (!(li >= 0) || !(lj >= 0)) return false;
  for (int a = 0; a < 3; ++a) f[a] = li * Ni[a] + lj * Nj[a];
  return none_inwards(p, q, f, i, j);
}
inline bool try_point(const PatchWork& p, const NormalProblem& q, int i, double* f) {
  double N[3], M = 0, r = p.t[i];
  vertex_row(p, i, N);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) M += N[a] * q.A[a][b] * N[b];
    r -= N[a] * q.b[a];
  }
  if (!(M > 0) || !(r > 0)) return false;
  for (int a = 0; a < 3; ++a) f[a] = r / M * N[a];
  return none_inwards(p, q, f, i, i);
}

/// Finds the state and the normal wrench (fz, nx, ny); the present state is tried first. The problem is convex: the first
/// state that fits is the answer. Leaves f as it is in the rare case that rounding lets none fit.
inline void solve_normals(PatchWork& p, const NormalProblem& q, double* f) {
  double z[3] = {0, 0, 0};
  const auto take = [&p, f](const double* from, ContactMode mode, int i, int j) {
    for (int a = 0; a < 3; ++a) f[a] = from[a];
    p.mode = mode, p.i0 = i, p.i1 = j;
  };
  if (p.mode == ContactMode::kLine && try_line(p, q, p.i0, p.i1, z)) return take(z, p.mode, p.i0, p.i1);
  if (p.mode == ContactMode::kPoint && try_point(p, q, p.i0, z)) return take(z, p.mode, p.i0, p.i0);
  if (p.spans && (p.planar ? try_surface(p, q, z) : try_any_three(p, q, z))) {
    return take(z, ContactMode::kSurface, 0, 0);
  }
  z[0] = z[1] = z[2] = 0;
  if (none_inwards(p, q, z, -1, -1)) return take(z, ContactMode::kOpen, 0, 0);
  const int edges = p.spans ? p.count : p.count - 1;
  for (int i = 0; i < edges; ++i) {
    const int j = i + 1 < p.count ? i + 1 : 0;
    if (try_line(p, q, i, j, z)) return take(z, ContactMode::kLine, i, j);
  }
  if (!p.planar) {  // then a diagonal may carry alone
    for (int i = 0; i < p.count; ++i) {
      for (int j = i + 2; j < p.count; ++j) {
        if (try_line(p, q, i, j, z)) return take(z, ContactMode::kLine, i, j);
      }
    }
  }
  for (int i = 0; i < p.count; ++i) {
    if (try_point(p, q, i, z)) return take(z, ContactMode::kPoint, i, i);
  }
}

/// Friction that, within radius r of the set, dissipates most: A·F + b = U opposes F. True: it holds (U = 0).
/// @param close  how far |F| of sliding friction may be from its limit before it is put there, relative
/// @param alpha  in and out: U = −α·F where it slides, a guess on the way in
inline bool solve_friction(FrictionSet set, double A[3][3], const double* b, int dim, double hold, double slip,
                           double close, double& alpha, Triple& F) {
  double trace = 0;
  for (int i = 0; i < dim; ++i) trace += A[i][i];
  F = {0, 0, 0};
  if (!(trace > 0)) return true;
  for (int i = 0; i < 3; ++i) A[i][i] += i < dim ? 1e-13 * trace : trace;  // the unused third is decoupled
  double r[3] = {-b[0], -b[1], dim == 3 ? -b[2] : 0.0}, x[3] = {0, 0, 0};
  if (solve3(A, r, x)) {
    F = {x[0], x[1], x[2]};
    if (set_norm(set, F) <= hold) return true;
  }
  if (!(slip > 0)) {
    F = {0, 0, 0};
    return false;
  }
  if (set == FrictionSet::kPaper) {
    for (int n = 0; n < 20; ++n) {
      const Triple U{b[0] + A[0][0] * F.x + A[0][1] * F.y + A[0][2] * F.z,
                     b[1] + A[1][0] * F.x + A[1][1] * F.y + A[1][2] * F.z,
                     (dim == 3 ? b[2] : 0.0) + A[2][0] * F.x + A[2][1] * F.y + A[2][2] * F.z};
      const Triple o = opposing(set, U);
      F = {0.5 * (F.x - slip * o.x), 0.5 * (F.y - slip * o.y), 0.5 * (F.z - slip * o.z)};
    }
    const double size = set_norm(set, F);
    if (size > 0) F = {F.x * slip / size, F.y * slip / size, F.z * slip / size};
    return false;
  }
  // (A + α)·F = −b with |F| = slip: Hebden's iteration; from above the first step leads below, then it is monotone.
  for (int n = 0; n < 30; ++n) {
    double S[3][3];
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) S[i][j] = A[i][j] + (i == j ? alpha : 0.0);
    }
    if (!solve3(S, r, x)) {
      alpha += 1e-6 * trace;
      continue;
    }
    F = {x[0], x[1], x[2]};
    const double size = length(F);
    if (absolute(size - slip) <= close * slip) break;
    double d[3];
    const double Fx[3] = {F.x, F.y, F.z};
    if (!solve3(S, Fx, d)) break;
    const double curvature = d[0] * F.x + d[1] * F.y + d[2] * F.z;
    if (!(curvature > 0)) break;
    alpha += (size - slip) / slip * size * size / curvature;
    if (!(alpha > 0)) alpha = 0;
  }
  const double size = length(F);
  if (size > 0) F = {F.x * slip / size, F.y * slip / size, F.z * slip / size};
  return false;
}

/// Sliding friction of a point: (A + α)·F = −b with |F| = reach, from the α of the last visit on.
inline void slide_point(double a, double b, double c, double bx, double by, double reach, double close, double& alpha,
                        double* F) {
  constexpr int kMost = 30;
  const double goal = reach * reach;
  double x = 0, y = 0, square = 0;
  for (int n = 0; n < kMost; ++n) {
    const double A = a + alpha, C = c + alpha, inverse = 1 / (A * C - b * b);
    x = (b * by - C * bx) * inverse, y = (b * bx - A * by) * inverse;
    square = x * x + y * y;
    if (absolute(square - goal) <= 2 * close * goal) {
      const double scale = 1.5 - 0.5 * square / goal;  // reach/√square, to second order
      F[0] = x * scale, F[1] = y * scale;
      return;
    }
    const double curvature = (C * x * x - 2 * b * x * y + A * y * y) * inverse;  // Fᵀ·(A + α)⁻¹·F
    if (!(curvature > 0)) break;
    alpha = larger(alpha + (root(square) - reach) * square / (reach * curvature), 0);
  }
  if (!(square > 0 && square < 1e300)) return;  // rows that cannot move: no force
  const double scale = reach / root(square);
  F[0] = x * scale, F[1] = y * scale;
}

/// One visit of a patch of three rows; G: its block, w and f as in visit_patch(). delta: the change of f.
inline void visit_point(PatchWork& p, const double* G, int ldg, double close, const double* w, const double* f,
                        double* delta) {
  const double gxx = G[0], gxy = G[1], gxz = G[2], gyy = G[ldg + 1], gyz = G[ldg + 2];
  const double fz = larger(f[2] - (w[2] - p.t[0]) * p.normal_inverse, 0);
  p.i0 = p.i1 = 0;
  delta[2] = fz - f[2];
  if (!(fz > 0) || p.count == 0) {
    p.mode = ContactMode::kOpen;
    delta[2] = -f[2], delta[0] = -f[0], delta[1] = -f[1];
    return;
  }
  p.mode = ContactMode::kPoint;
  const double bx = w[0] + gxz * delta[2] - gxx * f[0] - gxy * f[1];
  const double by = w[1] + gyz * delta[2] - gxy * f[0] - gyy * f[1];
  const double det = gxx * gyy - gxy * gxy, hold = p.mu_hold * fz, reach = p.mu_slip * fz;
  const double x = gxy * by - gyy * bx, y = gxy * bx - gxx * by;  // stick: F = (x, y)/det
  p.slip = x * x + y * y <= hold * hold * det * det ? SlipMode::kStick : SlipMode::kSlide;
  double F[2] = {0, 0};
  if (p.slip == SlipMode::kStick) {
    F[0] = x * p.tangent_inverse, F[1] = y * p.tangent_inverse;
  } else if (reach > 0) {
    slide_point(gxx, gxy, gyy, bx, by, reach, close, p.alpha, F);
  }
  delta[0] = F[0] - f[0], delta[1] = F[1] - f[1];
}

/// One Gauss–Seidel visit. block: the patch's rows × rows of G; w: its outcome, f: its force, both updated.
inline void visit_patch(FrictionSet set, PatchWork& p, const double* block, int ldb, double tolerance, double close,
                        double* w, double* f) {
  double was[6] = {0, 0, 0, 0, 0, 0};
  const auto apply = [&](const double* from) {
    for (int j = 0; j < p.rows; ++j) {
      const double d = f[j] - from[j];
      for (int i = 0; i < p.rows; ++i) w[i] += block[i * ldb + j] * d;
    }
  };
  for (int r = 0; r < p.rows; ++r) was[r] = f[r];
  if (p.rows == 3) {
    const double free = w[2] - block[2 * ldb + 2] * f[2] - p.t[0];
    f[2] = free < 0 && block[2 * ldb + 2] > 0 ? -free / block[2 * ldb + 2] : 0.0;
    p.mode = f[2] > 0 ? ContactMode::kPoint : ContactMode::kOpen, p.i0 = p.i1 = 0;
  } else {
    NormalProblem q;
    q.tolerance = tolerance;
    for (int a = 0; a < 3; ++a) {
      q.b[a] = w[2 + a];
      for (int b = 0; b < 3; ++b) {
        q.A[a][b] = block[(2 + a) * ldb + 2 + b];
        q.b[a] -= q.A[a][b] * f[2 + b];
      }
    }
    solve_normals(p, q, f + 2);
  }
  apply(was);
  for (int r = 0; r < p.rows; ++r) was[r] = f[r];
  const Pressure c = pressure_of(p, f);
  const double arm = arm_at(p, c.x, c.y).d;
  const int dim = arm > 0 && p.rows == 6 ? 3 : 2;
  const double px = p.rows == 6 ? c.x : 0.0, py = p.rows == 6 ? c.y : 0.0;
  if (p.mode == ContactMode::kOpen || !(f[2] > 0)) {
    f[0] = f[1] = 0;
    if (p.rows == 6) f[5] = 0;
    apply(was);
    return;
  }
  if (p.given) {  // acceleration level: friction opposes a velocity that is known
    const double m[6] = {p.motion[0], p.motion[1], 0, 0, 0, p.motion[2]};
    const Triple e = opposing(set, slip_at(p, m, px, py, arm));
    const double reach = -p.mu_slip * f[2];
    f[0] = reach * e.x, f[1] = reach * e.y;
    if (p.rows == 6) f[5] = arm * reach * e.z + px * f[1] - py * f[0];
    p.slip = SlipMode::kSlide;
    apply(was);
    return;
  }
  // (fx, fy, nz) = M·F about the centre of pressure; U = Mᵀ·w.
  const double M[3][3] = {{1, 0, 0}, {0, 1, 0}, {-py, px, dim == 3 ? arm : 0.0}};
  const int at[3] = {0, 1, p.rows == 6 ? 5 : 0};
  const int rows = p.rows == 6 ? 3 : 2;
  double AM[3][3], A[3][3], b[3], free[3];
  for (int i = 0; i < 3; ++i) {
    free[i] = 0;
    for (int j = 0; j < 3; ++j) AM[i][j] = 0;
  }
  for (int i = 0; i < rows; ++i) {
    free[i] = w[at[i]];
    for (int j = 0; j < rows; ++j) {
      const double g = block[at[i] * ldb + at[j]];
      free[i] -= g * f[at[j]];
      for (int l = 0; l < 3; ++l) AM[i][l] += g * M[j][l];
    }
  }
  for (int i = 0; i < 3; ++i) {
    b[i] = M[0][i] * free[0] + M[1][i] * free[1] + M[2][i] * free[2];
    for (int j = 0; j < 3; ++j) A[i][j] = M[0][i] * AM[0][j] + M[1][i] * AM[1][j] + M[2][i] * AM[2][j];
  }
  Triple F;
  const bool held = solve_friction(set, A, b, dim, p.mu_hold * f[2], p.mu_slip * f[2], close, p.alpha, F);
  p.slip = held ? SlipMode::kStick : SlipMode::kSlide;
  f[0] = F.x, f[1] = F.y;
  if (p.rows == 6) f[5] = arm * F.z + px * F.y - py * F.x;
  apply(was);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
