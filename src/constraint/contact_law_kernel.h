#pragma once

#include "constraint/contact_law.h"
#include "constraint/contact_linear_kernel.h"

/// The natural map of Alart and Curnier for a vertex and for a bounded row, and how it answers velocities:
///
///   pressure   z = λ − ρ·(u − t)                    Φ_n = λ − max(z, 0)
///   friction   z_t = F − ρ_t·U,  R = μ·max(z, 0)    Φ_t = F − z_t·min(1, R/|z_t|)
///   bounded    z = b − ρ·(w − t)                    Φ_b = b − clamp(z, lower, upper)
///
/// with F = (f_x, f_y, n/d) and U = (u_x, u_y, d·ω). A law that yields has u + κ·g·(x − centre) in place of u. Where the slip is known
/// friction is R·e with a direction e that is given; of the paper's cone |(f_x, f_y)| + |n|/d takes the place of |z_t|.
namespace kansetsu::kernel::inline KANSETSU_ISA {

struct Local {
  double n, t[3];  ///< along the normal; along friction
};
/// Velocities of a vertex by those of its patch's rows.
inline Local local_velocity(const PatchLaw& law, const VertexLaw& v, const double* w) {
  if (law.rows == 3) return {w[2], {w[0], w[1], 0}};
  return {w[2] + w[3] * v.y - w[4] * v.x, {w[0] - w[5] * v.b, w[1] + w[5] * v.a, v.d * w[5]}};
}

/// Friction coefficient of what slides.
inline double sliding_friction(const PatchLaw& law, const VertexLaw& v) {
  return v.known == KnownSlip::kSpin && v.linear.share > 0 ? law.mu_spin : law.mu;
}

/// Where the law of friction takes Z = F − ρ·U when the vertex presses with `pressure`; sets what the vertex does. Z becomes the friction.
inline void set_friction(const PatchLaw& law, VertexLaw& v, double pressure, double (&Z)[3]) {
  const double reach = law.mu * pressure, square = Z[0] * Z[0] + Z[1] * Z[1];
  v.share = 1, v.slides = false;
  if (!(pressure > 0)) {
    v.share = 0;
  } else if (v.known == KnownSlip::kSlide) {
    v.slides = true, v.share = 0;
    for (int k = 0; k < 3; ++k) Z[k] = reach * v.e[k], v.grows[k] = v.e[k];
    return;
  } else if (v.known == KnownSlip::kSpin) {  // held in x and y; along e the moment follows the pressure
    v.slides = true;
    const double size = root(square), moment = v.e[2] < 0 ? -law.mu_spin : law.mu_spin;
    const bool cut = size > reach && law.mu > 0;  // then the force follows the pressure as well
    v.share = cut ? 0 : 1;
    for (int k = 0; k < 2; ++k) v.e[k] = cut ? Z[k] / size : 0, Z[k] = cut ? reach * v.e[k] : Z[k];
    v.e[2] = cut ? moment / law.mu : moment < 0 ? -1 : 1, Z[2] = moment * pressure;
    v.grows[0] = v.grows[1] = 0, v.grows[2] = v.e[2] < 0 ? -1 : 1;
    return;
  } else if (law.paper) {
    const double along = root(square), size = along + absolute(Z[2]);
    if (size > reach) {
      v.slides = true, v.share = reach / size;
      for (int k = 0; k < 3; ++k) v.e[k] = Z[k] / size;
      for (int k = 0; k < 2; ++k) v.grows[k] = along > 0 ? Z[k] / along : 0;
      v.grows[2] = Z[2] < 0 ? -1 : 1;
    }
  } else if (square + Z[2] * Z[2] > reach * reach) {
    const double size = root(square + Z[2] * Z[2]);
    v.slides = true, v.share = reach / size;
    for (int k = 0; k < 3; ++k) v.e[k] = v.grows[k] = Z[k] / size;
  }
  for (int k = 0; k < 3; ++k) Z[k] *= v.share;
}

/// Φ of a vertex. @return Σ g·Φ²
inline double map_vertex(const PatchLaw& law, VertexLaw& v, const double* x, const double* centre, const double* w,
                         double kappa, double* phi, double& residual) {
  v.pressed = v.slides = false;
  if (!(v.rho > 0)) {  // nothing answers: no force
    for (int k = 0; k <= law.friction; ++k) phi[k] = x[k];
    return 0;
  }
  const Local u = local_velocity(law, v, w);
  const double z = x[0] - v.rho * (u.n - v.t) - kappa * (x[0] - centre[0]);
  v.pressed = z > 0;
  phi[0] = z > 0 ? x[0] - z : x[0];
  const double merit = phi[0] * phi[0] / v.rho;
  residual = larger(residual, absolute(phi[0]) / v.rho);
  double Z[3] = {0, 0, 0}, sum = 0;
  for (int k = 0; k < law.friction; ++k) Z[k] = x[1 + k] - v.rho_friction * u.t[k] - kappa * (x[1 + k] - centre[1 + k]);
  set_friction(law, v, larger(z, 0), Z);
  for (int k = 0; k < law.friction; ++k) {
    phi[1 + k] = x[1 + k] - Z[k];
    sum += phi[1 + k] * phi[1 + k];
  }
  if (!(v.rho_friction > 0)) return merit;
  residual = larger(residual, root(sum) / v.rho_friction);
  return merit + sum / v.rho_friction;
}

inline double map_bound(BoundLaw& b, double x, double centre, double w, double kappa, double& phi, double& residual) {
  if (!(b.rho > 0)) {
    phi = x, b.free = false;
    return 0;
  }
  const double z = x - b.rho * (w - b.t) - kappa * (x - centre);
  b.free = z > b.lower && z < b.upper;
  phi = x - (z < b.lower ? b.lower : z > b.upper ? b.upper : z);
  residual = larger(residual, absolute(phi) / b.rho);
  return phi * phi / b.rho;
}

/// The linear answer of a vertex at Φ, dx = dx₀ − D·du with u = (u_n, U):
///
///   D = | pressure         0       |     pressure = ρ/K,  friction = ρ_t/K                        it holds
///       | pressure·μ·e   across·T  |     T = 1 − e·∂|z_t|, across = c·ρ_t/(1 − c + c·K)           it slides
struct VertexAnswer {
  double pressure = 0, across = 0, follow = 0;  ///< follow: pressure·μ where it slides
};

/// dx₀ and D of a vertex as it was linearised. K = κ + ε: what the law yields, of g.
inline VertexAnswer linear_answer(const PatchLaw& law, const VertexLaw& v, const double* phi, double K, double* dx) {
  const VertexState& s = v.linear;
  if (!s.pressed) {
    for (int k = 0; k <= law.friction; ++k) dx[k] = -phi[k];
    return {};
  }
  const double stiff = 1 / K;
  dx[0] = -phi[0] * stiff;
  if (!s.slides) {
    for (int k = 1; k <= law.friction; ++k) dx[k] = -phi[k] * stiff;
    return {v.rho * stiff, v.rho_friction * stiff, 0};
  }
  // Along e friction follows the pressure, across it turns: dF = e·(−Φ_e + μ·(dλ + Φ_n)) − (Φ_T + c·ρ·dU_T)/(1 − c + c·K), Φ_T = T·Φ.
  const double c = s.share, soft = 1 / (1 - c + c * K);
  double along = 0;
  for (int i = 0; i < law.friction; ++i) along += s.grows[i] * phi[1 + i];
  const double mu = sliding_friction(law, v), push = -along + mu * (dx[0] + phi[0]) + along * soft;
  for (int i = 0; i < law.friction; ++i) dx[1 + i] = -phi[1 + i] * soft + push * s.e[i];
  return {v.rho * stiff, c * v.rho_friction * soft, mu * v.rho * stiff};
}

/// All vertices of a patch: dx₀, and summed up over its rows dr = q − H·dw. Pressure is in rows 2 to 4, friction in rows 0, 1 and 5;
/// pressure does not answer slip, so that this part of H stays zero.
inline void linearise_patch(PatchLaw& law, const double* phi, double K, double* dx, double* q) {
  double P[6] = {0, 0, 0, 0, 0, 0}, T[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
         F[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  bool any = false, follows = false;
  const int stride = 1 + law.friction;
  for (int i = 0; i < law.count; ++i, phi += stride, dx += stride) {
    VertexLaw& v = law.vertex[i];
    v.linear = v;
    const VertexAnswer D = linear_answer(law, v, phi, K, dx);
    if (!v.pressed) continue;
    any = true;
    const double n = D.pressure, t = D.across;
    P[0] += n, P[1] += n * v.y, P[2] -= n * v.x;
    P[3] += n * v.y * v.y, P[4] -= n * v.x * v.y, P[5] += n * v.x * v.x;
    // T on the rows 0, 1 and 5, of which (1, 0, −b), (0, 1, a), (0, 0, d) make the slip
    T[0][0] += t, T[1][1] += t, T[2][2] += t * (v.a * v.a + v.b * v.b + v.d * v.d);
    T[0][2] -= t * v.b, T[2][0] -= t * v.b, T[1][2] += t * v.a, T[2][1] += t * v.a;
    if (!v.slides) continue;
    follows = true;
    const double *e = v.e, *g = v.grows;
    const double along[3] = {e[0], e[1], v.a * e[1] - v.b * e[0] + v.d * e[2]};
    const double grows[3] = {t * g[0], t * g[1], t * (v.a * g[1] - v.b * g[0] + v.d * g[2])};
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) T[k][l] -= along[k] * grows[l];
    }
    const double m[3] = {D.follow * along[0], D.follow * along[1], D.follow * along[2]};
    for (int k = 0; k < 3; ++k) F[k][0] += m[k], F[k][1] += m[k] * v.y, F[k][2] -= m[k] * v.x;
  }
  law.active = any, law.follows = follows;
  dx -= stride * law.count;
  for (int i = 0; i < law.rows; ++i) q[i] = 0;
  add_impulses(law, dx, q);
  if (!any) return;
  double* H = law.H;
  H[0] = T[0][0], H[1] = T[0][1], H[6] = T[1][0], H[7] = T[1][1];
  H[2] = F[0][0], H[8] = F[1][0], H[14] = P[0];
  if (law.rows == 3) return;
  H[5] = T[0][2], H[11] = T[1][2], H[30] = T[2][0], H[31] = T[2][1], H[35] = T[2][2];
  H[15] = H[20] = P[1], H[16] = H[26] = P[2], H[21] = P[3], H[22] = H[27] = P[4], H[28] = P[5];
  H[3] = F[0][1], H[4] = F[0][2], H[9] = F[1][1], H[10] = F[1][2];
  H[32] = F[2][0], H[33] = F[2][1], H[34] = F[2][2];
}

/// dx₀ and q of a patch at another Φ, by the law as it was linearised.
inline void repeat_patch(PatchLaw& law, const double* phi, double K, double* dx, double* q) {
  const int stride = 1 + law.friction;
  for (int i = 0; i < law.count; ++i) linear_answer(law, law.vertex[i], phi + i * stride, K, dx + i * stride);
  add_impulses(law, dx, q);
}

/// dx of a patch when the velocities of its rows change by dw: dx₀, less its answer.
inline void answer_patch(const PatchLaw& law, double K, const double* dw, double* dx) {
  if (!law.active) return;
  for (int i = 0; i < law.count; ++i, dx += 1 + law.friction) {
    const VertexLaw& v = law.vertex[i];
    const VertexState& s = v.linear;
    if (!s.pressed) continue;
    const Local u = local_velocity(law, v, dw);
    const double change = v.rho / K * u.n;
    dx[0] -= change;
    if (!s.slides) {
      for (int k = 0; k < law.friction; ++k) dx[1 + k] -= v.rho_friction / K * u.t[k];
      continue;
    }
    const double k = s.share * v.rho_friction / (1 - s.share + s.share * K);
    double along = 0;
    for (int a = 0; a < law.friction; ++a) along += s.grows[a] * u.t[a];
    const double mu = sliding_friction(law, v);
    for (int a = 0; a < law.friction; ++a) dx[1 + a] -= k * (u.t[a] - along * s.e[a]) + mu * change * s.e[a];
  }
}

/// Pressures that push, friction within its bound.
inline void clamp_patch(const PatchLaw& law, double* x) {
  for (int i = 0; i < law.count; ++i, x += 1 + law.friction) {
    x[0] = law.vertex[i].rho > 0 ? larger(x[0], 0) : 0;
    double square = 0;
    for (int k = 1; k <= law.friction; ++k) square += x[k] * x[k];
    const double reach = law.mu * x[0];
    if (!(square > reach * reach)) continue;
    const double share = reach / root(square);
    for (int k = 1; k <= law.friction; ++k) x[k] *= share;
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
