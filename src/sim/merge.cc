#include <algorithm>
#include <cmath>

#include "sim/contacts.h"
#include "sim/step_thresholds.h"

/// Several shapes of one link on one plane, such as the two capsules of a foot or the boxes of a sole, become one patch: as
/// separate contacts they would hold the same body more than once, and the split of the force between them would not be unique.
namespace kansetsu {
namespace {

struct Corner {
  double x, y;  ///< in the plane
  ContactPoint point;
};

/// Sorts corners counterclockwise. False unless each of them is a corner of their convex hull, and not a blunt one; two are the
/// ends of a line.
bool sort_around(Corner* corners, int count) {
  using namespace threshold;
  if (count == 2) return std::hypot(corners[1].x - corners[0].x, corners[1].y - corners[0].y) > kShortLine;
  for (int i = 1; i < count; ++i) {  // along x
    for (int k = i; k > 0 && corners[k].x < corners[k - 1].x; --k) std::swap(corners[k], corners[k - 1]);
  }
  // Corners to the right of the line from the first to the last come first, the others in reverse.
  const Corner first = corners[0], last = corners[count - 1];
  Corner back[kMaxManifoldPoints];
  int forth_count = 0, back_count = 0;
  for (int i = 0; i < count; ++i) {
    const Corner c = corners[i];
    const double side = (last.x - first.x) * (c.y - first.y) - (last.y - first.y) * (c.x - first.x);
    if (i == 0 || i == count - 1 || side < 0)
      corners[forth_count++] = c;
    else
      back[back_count++] = c;
  }
  for (int i = back_count; i-- > 0;) corners[forth_count++] = back[i];
  for (int i = 0; i < count; ++i) {
    const Corner &a = corners[i], &b = corners[(i + 1) % count], &c = corners[(i + 2) % count];
    const double ux = b.x - a.x, uy = b.y - a.y, vx = c.x - b.x, vy = c.y - b.y;
    if (!(ux * vy - uy * vx > kBluntCorner * std::hypot(ux, uy) * std::hypot(vx, vy))) return false;
  }
  return true;
}

}  // namespace

bool ContactFinder::on_one_plane(const PairKey& a, const PairKey& b) const {
  const auto plane_of = [&](const PairKey& key) {
    const int parent = shapes_[size_t(key.b)].figure < 0 ? key.b : key.a;
    return shapes_[size_t(parent)].figure < 0 && shapes_[size_t(parent)].geometry.kind() == ShapeKind::kPlane ? parent
                                                                                                              : -1;
  };
  const int plane = plane_of(a);
  if (plane < 0 || plane_of(b) != plane) return false;
  const int i = a.a + a.b - plane, j = b.a + b.b - plane;
  const WorldShape &x = shapes_[size_t(i)], &y = shapes_[size_t(j)];
  return x.figure == y.figure && x.link == y.link && x.material == y.material &&
         (pair_materials_.empty() || material_between(i, plane) == material_between(j, plane));
}

/// Adds the points of manifold j to manifold i; false, and nothing happens, if not all would be corners.
bool ContactFinder::join(size_t i, size_t j) {
  Manifold& to = manifolds_[i];
  const Manifold& from = manifolds_[j];
  const PairKey &key = keys_[i], &other = keys_[j];
  if (to.count + from.count > kMaxManifoldPoints || merged_[i].count == kMaxMerged) return false;
  const int plane = shapes_[size_t(key.b)].figure < 0 ? key.b : key.a, shape = other.a + other.b - plane;
  const Mat3<>& E = shapes_[size_t(plane)].plane_axes;
  Corner corners[kMaxManifoldPoints];
  int count = 0;
  const auto add = [&](const ContactPoint& p, std::uint32_t mark) {
    const Vec3<> r = transpose_times(E, p.p_W - to.points[0].p_W);
    corners[count] = {r.x, r.y, p};
    corners[count++].point.feature ^= mark;
  };
  for (const ContactPoint& p : to.used()) add(p, 0);
  // Features of different shapes may be equal: the shape's number distinguishes them.
  for (const ContactPoint& p : from.used()) add(p, (std::uint32_t(shape) * 40503u) << 16);
  if (!sort_around(corners, count)) return false;
  for (int k = 0; k < count; ++k) to.points[k] = corners[k].point;
  to.count = count;
  merged_[i].shape[merged_[i].count++] = shape;
  return true;
}

void ContactFinder::join_flat() {
  merged_.assign(keys_.size(), {});
  size_t kept = 0;
  for (size_t j = 0; j < keys_.size(); ++j) {
    const bool alone = shapes_[size_t(keys_[j].a)].is_alone && shapes_[size_t(keys_[j].b)].is_alone;
    bool joined = false;
    for (size_t i = 0; i < kept && !joined && !alone; ++i) joined = on_one_plane(keys_[i], keys_[j]) && join(i, j);
    if (joined) continue;
    if (kept != j) keys_[kept] = keys_[j], manifolds_[kept] = manifolds_[j];
    ++kept;
  }
  keys_.resize(kept);
  manifolds_.resize(kept);
}

}  // namespace kansetsu
