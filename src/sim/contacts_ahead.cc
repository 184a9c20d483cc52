#include <algorithm>
#include <cmath>

#include "constraint/contact_thresholds.h"
#include "sim/contacts.h"

/// How far ahead contacts are looked for, and the kept contacts of pairs at rest.
namespace kansetsu {

/// How far each body may move within the step: twice the way at its present speed and by gravity.
void ContactFinder::look_ahead(const Figures& figures, double time, const Ahead& ahead) {
  if (!found_) list_movers();
  const double fall = ahead.h * ahead.h * ahead.gravity;
  for (Mover& m : movers_) {
    m.ahead = 0;
    if (!(ahead.h > 0) || (m.figure >= 0 && figures[size_t(m.figure)]->nap >= 0)) continue;
    Vec3<> v, w;
    if (m.figure >= 0) {
      const Mechanics& mechanics = figures[size_t(m.figure)]->mechanics;
      const Motion<> V = mechanics.velocity(m.body);
      const double* X = mechanics.body_axes(m.body);
      v = V.v + cross(V.w, Vec3<>{X[12], X[13], X[14]}), w = V.w;
    } else {
      const WorldShape& s = shapes_[size_t(m.shape)];
      const MotionSample sample = kansetsu::sample(*s.motion, s.X_BS, time);
      v = sample.V_WB.v, w = sample.V_WB.w;
    }
    m.ahead =
        2 * (ahead.h * std::sqrt(2 * (dot(v, v) + dot(w, w) * m.reach * m.reach)) + fall);  // (a + b)² ≤ 2·(a² + b²)
    if (m.ahead > m.allowed) found_ = false;
  }
}

/// Distance up to which a pair is examined.
double ContactFinder::margin_of(const ShapePair& pair, double margin) const {
  const auto ahead = [&](int shape) {
    const int m = mover_of_[size_t(shape)];
    return m < 0 ? 0.0 : movers_[size_t(m)].ahead;
  };
  return std::max(margin, ahead(pair.a) + ahead(pair.b));
}

/// Points of a contact that are closer than this take part in the step: they touch, or may do so before it ends. A body that is
/// stopped at one point turns about it, and the others come down as fast as that one did.
double ContactFinder::near_of(const Manifold& m, const PairKey& key, double tol_gap, const Ahead& ahead) const {
  if (!(ahead.h > 0)) return tol_gap;
  const Sides sides = sides_of({key.a, key.b});
  const auto& [parent, real] = sides;
  const Vec3<>& first = m.points[0].p_W;
  const PointMotion A = point_motion(parent.end, first), B = point_motion(real.end, first);
  double fastest = 0;
  for (const ContactPoint& point : m.used())
    fastest = std::max(fastest, std::abs(dot(m.normal_W, B.v - A.v + cross(B.w - A.w, point.p_W - first))));
  return std::max(tol_gap, kernel::threshold::kAhead * ahead.h * (fastest + ahead.h * ahead.gravity));
}

bool ContactFinder::lie_still(const ShapePair& pair, const Figures& figures) const {
  const auto lies = [&](int shape) {
    const WorldShape& s = shapes_[size_t(shape)];
    return s.figure < 0 ? !s.motion : figures[size_t(s.figure)]->nap >= 0;
  };
  return lies(pair.a) && lies(pair.b);
}
void ContactFinder::repeat_pair(size_t near) {
  const Kept& kept = kept_of_[near];
  for (int k = kept.first; k < kept.first + kept.count; ++k)
    append(still_keys_[size_t(k)], still_manifolds_[size_t(k)]);
}
void ContactFinder::keep_pair(size_t near, size_t first) {
  kept_of_[near] = {int(still_manifolds_.size()), int(keys_.size() - first)};
  for (size_t k = first; k < keys_.size(); ++k) {
    still_manifolds_.push_back(manifolds_[k]);
    still_keys_.push_back(keys_[k]);
  }
}

}  // namespace kansetsu
