#include <cmath>
#include <limits>

#include "geometry/pairs.h"
#include "geometry/terrain_contact.h"
#include "kansetsu/geometry/contact.h"

namespace kansetsu {
namespace {

using detail::Placed;
using Pair = bool (*)(const Placed& A, const Placed& B, double margin, Manifold& out);

bool never(const Placed&, const Placed&, double, Manifold& out) {
  out.count = 0;
  return false;
}

/// By kind of A and of B, the kind of A not below that of B.
constexpr Pair kPairs[6][6] = {{never},
                               {detail::sphere_plane, detail::sphere_sphere},
                               {detail::capsule_plane, detail::capsule_sphere, detail::capsule_capsule},
                               {detail::box_plane, detail::box_sphere, detail::convex_convex, detail::box_box},
                               {detail::convex_plane, detail::cylinder_sphere, detail::convex_convex,
                                detail::convex_convex, detail::convex_convex},
                               {detail::convex_plane, detail::convex_convex, detail::convex_convex,
                                detail::convex_convex, detail::convex_convex, detail::convex_convex}};

bool is_finite(const Transform<>& X) {
  const Vec3<> sum = X.p + X.R.x + X.R.y + X.R.z;
  return std::isfinite(sum.x + sum.y + sum.z);
}

bool collide_convex_pair(const Placed& A, const Placed& B, double margin, Manifold& out) {
  const int a = int(A.geometry.kind()), b = int(B.geometry.kind());
  if (a >= b) return kPairs[a][b](A, B, margin, out);
  if (!kPairs[b][a](B, A, margin, out)) return false;
  detail::flip(out);
  return true;
}

double deepest(const Manifold& m) {
  double gap = std::numeric_limits<double>::infinity();
  for (const ContactPoint& p : m.used()) gap = p.gap < gap ? p.gap : gap;
  return gap;
}

}  // namespace

void ManifoldList::push(const Manifold& manifold, int first) {
  if (size_ < capacity()) {
    memory_[std::size_t(size_++)] = manifold;
    return;
  }
  ++dropped_;
  int shallowest = -1;
  double gap = deepest(manifold);
  for (int i = first; i < size_; ++i) {
    if (const double g = deepest((*this)[i]); g > gap) {
      gap = g;
      shallowest = i;
    }
  }
  if (shallowest >= 0) (*this)[shallowest] = manifold;
}

bool collide(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB, double margin,
             Manifold& out) {
  out.count = 0;
  if (!is_finite(X_WA) || !is_finite(X_WB)) return false;
  if (A.is_convex() && B.is_convex()) return collide_convex_pair({A, X_WA}, {B, X_WB}, margin, out);
  ManifoldList list(std::span<Manifold>(&out, 1));
  return collide(A, X_WA, B, X_WB, margin, list) > 0;
}

int collide(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB, double margin,
            ManifoldList& out) {
  if (!is_finite(X_WA) || !is_finite(X_WB)) return 0;
  const int first = out.size();
  if (A.is_convex() && B.is_convex()) {
    Manifold manifold;
    if (collide_convex_pair({A, X_WA}, {B, X_WB}, margin, manifold)) out.push(manifold, first);
  } else {
    detail::collide_terrain({A, X_WA}, {B, X_WB}, margin, out);
  }
  return out.size() - first;
}

}  // namespace kansetsu
