#pragma once

#include <limits>

#include "geometry/gjk.h"

/// From a direction of contact to all points of the patch.
namespace kansetsu::detail {

/// Cosine of 0.02 rad: if a face is tilted less against the direction of contact, the other shape lies on it. A resting body is never flat to
/// the last digit, and with a single contact point (a corner, or two crossing edges) it would rock from corner to corner. The gap of that
/// point is off by 1/5000 of itself at most.
inline constexpr double kLies = 0.9998;

/// Of the sizes of two shapes: distances that differ by less are the same. Coordinates of that size round to 1e-16 of it, and a dozen
/// operations on them to some 1e-15; a gap of that order means nothing.
inline constexpr double kSameDistance = 1e-10;
inline double same_distance(const Convex& A, const Convex& B) { return kSameDistance * (A.size + B.size); }

/// Puts points into a manifold while they are still in the common frame.
class PatchWriter {
 public:
  PatchWriter(Manifold& out, double radius_a, double radius_b, double margin)
      : out_(out), radius_a_(radius_a), radius_b_(radius_b), margin_(margin) {
    out_.count = 0;
    out_.part = 0;
  }
  void set_normal(const Vec3<>& n) { out_.normal_W = n; }
  const Vec3<>& normal() const { return out_.normal_W; }
  double margin() const { return margin_; }
  /// For contacts, not for the distance of two shapes: the supporting points count, not the nearest points alone.
  bool bounded() const { return margin_ < std::numeric_limits<double>::infinity(); }
  /// A point of the core of A, and how far the core of B is below it along the normal.
  void add_above(const Vec3<>& p_a, double core_gap, std::uint32_t feature) {
    const double gap = core_gap - radius_a_ - radius_b_;
    if (!(gap <= margin_) || out_.count == kMaxManifoldPoints) return;
    const double down = 0.5 * (radius_b_ - radius_a_ - core_gap);
    out_.points[out_.count++] = {madd(down, out_.normal_W, p_a), gap, feature};
  }
  bool within(double core_gap) const { return core_gap - radius_a_ - radius_b_ <= margin_; }
  int count() const { return out_.count; }

 private:
  Manifold& out_;
  double radius_a_, radius_b_, margin_;
};

/// Clips the facet of one shape against the sides of a face of the other and writes the rest.
/// @param face    the reference, whose normal is that of the contact (of B) or opposite to it (of A)
/// @param of_a    whether the reference is a face of A
void clip_to_face(const Facet& face, bool of_a, const Facet& other, double tolerance, PatchWriter& out);

/// Two collinear segments: the ends of their overlap. False if they cross, or share no more than
/// a point.
bool clip_edges(const Facet& a, const Facet& b, PatchWriter& out);

/// The patch of two shapes for a known separation of their cores, which is made exact where a face or two edges carry the
/// contact. False if nothing is within the margin.
bool make_patch(const Convex& A, const Convex& B, const Separation& found, double margin, Manifold& out);

/// separate() and make_patch() in one.
bool collide_convex(const Convex& A, const Convex& B, double margin, Manifold& out);

}  // namespace kansetsu::detail
