#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kansetsu/geometry/geometry.h"

/// Contact patches of two shapes that touch or nearly do, with features that identify them. The result for each pair of
/// shapes, and the numbers in limit cases, are in docs/theory/collision.md.
namespace kansetsu {

inline constexpr int kMaxManifoldPoints = 8;

struct ContactPoint {
  Vec3<> p_W;    ///< midpoint between the two surfaces
  double gap{};  ///< distance of the surfaces along the normal [m]; negative: penetration
  /// Which vertex, edge or face of A (upper 16 bits) meets which of B (lower 16 bits). The same number from step to step
  /// while the same features touch; different for the points of one manifold.
  std::uint32_t feature{};
};

/// The patch in which two convex pieces touch: a point, the two ends of a line, or all corners of a polygon, counterclockwise
/// around the normal. A box on a plane gives 4 points, on an edge 2, on a corner 1; a cylinder standing on its base 8 points of the
/// rim, lying 2; a sphere 1.
struct Manifold {
  Vec3<> normal_W{};       ///< unit, from B to A
  int count = 0;           ///< points in use
  std::uint32_t part = 0;  ///< which piece of a height field or mesh this is: stable; 0 for convex pairs
  ContactPoint points[kMaxManifoldPoints];

  std::span<const ContactPoint> used() const { return {points, std::size_t(count)}; }
};

/// The output of collide(): memory of the caller, fixed in size. A manifold that does not fit replaces the shallowest entry of
/// the same call if that is shallower; dropped manifolds are counted.
class ManifoldList {
 public:
  explicit ManifoldList(std::span<Manifold> memory) : memory_(memory) {}

  int size() const { return size_; }
  int capacity() const { return int(memory_.size()); }
  int dropped() const { return dropped_; }  ///< manifolds that did not fit since clear()
  Manifold& operator[](int i) { return memory_[std::size_t(i)]; }
  const Manifold& operator[](int i) const { return memory_[std::size_t(i)]; }
  void clear() { size_ = dropped_ = 0; }
  /// Appends a copy; if the memory is full, an entry from `first` on may be replaced.
  void push(const Manifold& manifold, int first);

 private:
  std::span<Manifold> memory_;
  int size_ = 0, dropped_ = 0;
};

/// The patch of two convex shapes: all its points with gap ≤ margin. False, and a count of 0, if there is none, also where
/// a pose is not finite. Of a height field or mesh, the manifold with the deepest point. Never allocates.
///
/// collide(B, A) gives the same points with the opposite normal, order and swapped features.
/// @param margin  ≥ 0: largest gap that is reported [m]
bool collide(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB, double margin,
             Manifold& out);

/// The same for any two shapes: appends one manifold per touching convex piece, at most one for convex pairs, in the order
/// of their parts, and returns how many. Never allocates.
int collide(const Geometry& A, const Transform<>& X_WA, const Geometry& B, const Transform<>& X_WB, double margin,
            ManifoldList& out);

}  // namespace kansetsu
