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

}  // namespace kansetsu
