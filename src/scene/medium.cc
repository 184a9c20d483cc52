#include "kansetsu/scene/medium.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kansetsu {

Vec3<> inertia_box(double mass, const Vec3<>& moments) {
  if (!(mass > 0)) return {};
  const auto edge = [mass](double sum) { return std::sqrt(6 * std::max(sum, 0.0) / mass); };
  const Vec3<>& I = moments;
  return {edge(I.y + I.z - I.x), edge(I.x + I.z - I.y), edge(I.x + I.y - I.z)};
}

Force<> drag_on_box(const Medium& medium, const Vec3<>& edges, const Motion<>& V) {
  const double d = (edges.x + edges.y + edges.z) / 3, ball = std::numbers::pi * medium.viscosity * d;
  Force<> F{-ball * d * d * V.w, -3 * ball * V.v};
  const Vec3<>& e = edges;
  const auto square = [](double x) { return x * std::abs(x); };
  const auto fourth = [](double x) { return x * x * x * x; };
  const double rho = medium.density;
  F.f -= 0.5 * rho * Vec3<>{e.y * e.z * square(V.v.x), e.x * e.z * square(V.v.y), e.x * e.y * square(V.v.z)};
  F.t -= rho / 64 *
         Vec3<>{e.x * (fourth(e.y) + fourth(e.z)) * square(V.w.x), e.y * (fourth(e.x) + fourth(e.z)) * square(V.w.y),
                e.z * (fourth(e.x) + fourth(e.y)) * square(V.w.z)};
  return F;
}

namespace {

/// Carlson's symmetric integral of the second kind, 3/2·∫₀^∞ dt/((t+z)·√((t+x)·(t+y)·(t+z))), by duplication [Carlson 1995, "Numerical computation
/// of real or complex elliptic integrals", §2]. All positive.
double carlson_rd(double x, double y, double z) {
  constexpr double kNear = 1.5e-3;  // the series of fifth order is then exact to rounding: its error is of sixth order
  double sum = 0, share = 1;
  for (int i = 0; i < 100; ++i) {
    const double mean = (x + y + 3 * z) / 5, X = (mean - x) / mean, Y = (mean - y) / mean, Z = (mean - z) / mean;
    if (std::max({std::abs(X), std::abs(Y), std::abs(Z)}) < kNear) {
      const double ea = X * Y, eb = Z * Z, ec = ea - eb, ed = ea - 6 * eb, ee = ed + ec + ec;
      const double series = 1 + ed * (-3.0 / 14 + 9.0 / 88 * ed - 4.5 / 26 * Z * ee) +
                            Z * (ee / 6 + Z * (-9.0 / 22 * ec + 3.0 / 26 * Z * ea));
      return 3 * sum + share * series / (mean * std::sqrt(mean));
    }
    const double a = std::sqrt(x), b = std::sqrt(y), c = std::sqrt(z), lambda = a * (b + c) + b * c;
    sum += share / (c * (z + lambda));
    share *= 0.25;
    x = 0.25 * (x + lambda), y = 0.25 * (y + lambda), z = 0.25 * (z + lambda);
  }
  return 3 * sum;
}

Vec3<> times(const Vec3<>& a, const Vec3<>& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }

}  // namespace

/// [Tuckerman 1925; Lamb 1932, ch. 5]: κᵢ = rx·ry·rz·∫₀^∞ dλ/((rᵢ²+λ)·√((rx²+λ)·(ry²+λ)·(rz²+λ))).
AddedInertia added_inertia(const Vec3<>& radii) {
  const double r[3] = {radii.x, radii.y, radii.z}, product = r[0] * r[1] * r[2];
  const double volume = 4.0 / 3 * std::numbers::pi * product;
  double kappa[3], mass[3], inertia[3];
  for (int i = 0; i < 3; ++i) {
    const double a = r[i], b = r[(i + 1) % 3], c = r[(i + 2) % 3];
    kappa[i] = 2.0 / 3 * product * carlson_rd(b * b, c * c, a * a);
    mass[i] = volume * kappa[i] / (2 - kappa[i]);
  }
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double apart = r[j] * r[j] - r[k] * r[k], both = r[j] * r[j] + r[k] * r[k];
    const double below = 2 * apart + both * (kappa[j] - kappa[k]);
    constexpr double kRound = 1e-7;  // of r²: what turns about its own axis of symmetry moves nothing
    const bool turns = std::abs(apart) > kRound * both;
    inertia[i] = turns ? volume / 5 * apart * apart * (kappa[k] - kappa[j]) / below : 0;
  }
  return {{mass[0], mass[1], mass[2]}, {inertia[0], inertia[1], inertia[2]}};
}

Force<> force_on_ellipsoid(const Medium& medium, const EllipsoidDrag& drag, const AddedInertia& added,
                           const Motion<>& V) {
  const Vec3<>&r = drag.radii, &v = V.v, &w = V.w;
  const double rho = medium.density, pi = std::numbers::pi;
  const double volume = 4.0 / 3 * pi * r.x * r.y * r.z, mean = (r.x + r.y + r.z) / 3;
  const double largest = std::max({r.x, r.y, r.z}), smallest = std::min({r.x, r.y, r.z});
  const double middle = r.x + r.y + r.z - largest - smallest;
  // Inertia of the medium, at v̇ = 0.
  const Vec3<> p = times(added.mass, v), l = times(added.inertia, w);
  Force<> F{rho * (cross(p, v) + cross(l, w)), rho * cross(p, w)};
  // Stokes's law for a ball, and the lift of what spins.
  F.f -= 6 * pi * mean * medium.viscosity * v;
  F.t -= 8 * pi * mean * mean * mean * medium.viscosity * w;
  F.f += drag.magnus_lift * rho * volume * cross(w, v);
  // Moment of inertia of the ellipsoid that its turn about each axis sweeps.
  const auto swept = [&](double along, double a, double b) {
    const double far = std::max(a, b);
    return 8.0 / 15 * pi * along * far * far * far * far;
  };
  const Vec3<> I{swept(r.x, r.y, r.z), swept(r.y, r.z, r.x), swept(r.z, r.x, r.y)};
  const double most = std::max({I.x, I.y, I.z});
  const auto resists = [&](double own) { return drag.angular_drag * own + drag.slender_drag * (most - own); };
  F.t -= rho * norm(Vec3<>{resists(I.x) * w.x, resists(I.y) * w.y, resists(I.z) * w.z}) * w;
  const double speed = norm(v);
  if (!(speed > 0)) return F;
  // The area that the motion sees, and the normal of the section whose shadow that is.
  const Vec3<> sides{r.y * r.z, r.z * r.x, r.x * r.y}, squares = times(sides, sides), toward = times(squares, v);
  const double seen = dot(toward, v);
  const double area = pi * norm(toward) / std::sqrt(seen);
  const Vec3<> n = (1 / norm(toward)) * toward;
  F.f -= rho * (drag.blunt_drag * area + drag.slender_drag * (pi * largest * middle - area)) * speed * v;
  F.f += drag.kutta_lift * rho * area * (dot(v, n) / speed) * cross(cross(n, v), v);
  return F;
}

}  // namespace kansetsu
