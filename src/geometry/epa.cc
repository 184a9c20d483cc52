#include <cmath>
#include <limits>
#include <utility>

#include "geometry/simplex.h"

/// The expanding polytope algorithm (van den Bergen 2001) in memory of fixed size: the face of the difference set nearest to the
/// origin gives the depth. A polyhedron's face is met exactly, a curved one until the polytope is full.
namespace kansetsu::detail {
namespace {

constexpr int kMaxVertices = 96, kMaxFaces = 2 * kMaxVertices;

struct PolytopeFace {
  int v[3];
  int beyond[3];  ///< the face on the other side of the edge from v[k] to v[k + 1]
  Vec3<> normal;
  double offset;  ///< distance of its plane from the origin; infinite if it has no area, or is free
};

class Polytope {
 public:
  Polytope(const Convex& A, const Convex& B, double scale) : A_(A), B_(B), scale_(scale) {
    const bool curved = A.kind == ShapeKind::kCylinder || B.kind == ShapeKind::kCylinder;
    enough_ = (curved ? 1e-12 : 1e-13) * scale;
  }

  Separation run(const Simplex& simplex) {
    for (int i = 0; i < simplex.count; ++i) p_[i] = simplex.p[i];
    count_ = simplex.count;
    Vec3<> flat_normal;
    if (!complete(flat_normal)) return flat(flat_normal);
    start();
    PolytopeFace found = faces_[nearest_face()];
    double least = std::numeric_limits<double>::infinity(), last = -least;
    for (;;) {  // offsets are lower bounds of the depth and grow, heights are upper bounds
      const int nearest = nearest_face();
      const PolytopeFace face = faces_[nearest];
      const DifferencePoint p = difference_support(A_, B_, face.normal);
      const double height = dot(face.normal, p.w);
      const bool worn_out = face.offset < last - enough_;  // faces have become too small for their normals
      last = face.offset;
      if (height < least && !worn_out) {
        least = height;
        found = face;
      }
      if (worn_out || least - face.offset <= enough_ || count_ == kMaxVertices || !grow(p, nearest))
        return result(found);
    }
  }

 private:
  /// Adds points until the first four span a volume. False if the set of differences is flat; then its normal.
  bool complete(Vec3<>& normal) {
    const double tolerance = 1e-12 * scale_;
    static constexpr double kAxes[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    const auto axis = [](int k) { return Vec3<>{kAxes[k][0], kAxes[k][1], kAxes[k][2]}; };
    for (int k = 0; k < 6 && count_ < 2; ++k)
      try_point(axis(k), [&](const Vec3<>& w) { return norm(w - p_[0].w) > tolerance; });
    normal = {0, 0, 1};
    if (count_ < 2) return false;
    if (count_ == 2) {
      const Vec3<> e = p_[1].w - p_[0].w, u = (1 / norm(e)) * e;
      for (int k = 0; k < 6 && count_ < 3; ++k) {
        const Vec3<> d = axis(k) - dot(axis(k), u) * u;
        if (dot(d, d) < 0.1) continue;
        normal = (1 / norm(d)) * d;
        try_point(d, [&](const Vec3<>& w) { return norm(cross(u, w - p_[0].w)) > tolerance; });
      }
      if (count_ < 3) return false;
    }
    if (count_ == 3) {
      const Vec3<> n = cross(p_[1].w - p_[0].w, p_[2].w - p_[0].w);
      const double length = norm(n);
      if (!(length > 0)) return false;
      normal = (1 / length) * n;
      const Vec3<> up = normal;
      const auto off_plane = [&](const Vec3<>& w) { return std::abs(dot(up, w - p_[0].w)) > tolerance; };
      try_point(up, off_plane);
      if (count_ < 4) try_point(-up, off_plane);
    }
    return count_ >= 4;
  }

  template <class Accept>
  void try_point(const Vec3<>& d, Accept&& accept) {
    const DifferencePoint p = difference_support(A_, B_, d);
    if (accept(p.w)) p_[count_++] = p;
  }

  void start() {
    const Vec3<> n = cross(p_[1].w - p_[0].w, p_[2].w - p_[0].w);
    if (dot(n, p_[3].w - p_[0].w) > 0) std::swap(p_[1], p_[2]);
    set_face(0, 0, 1, 2);
    set_face(1, 0, 3, 1);
    set_face(2, 1, 3, 2);
    set_face(3, 2, 3, 0);
    face_count_ = 4;
    static constexpr int kBeyond[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
    for (int f = 0; f < 4; ++f) {
      for (int k = 0; k < 3; ++k) faces_[f].beyond[k] = kBeyond[f][k];
    }
  }

  void set_face(int index, int a, int b, int c) {
    PolytopeFace& f = faces_[index];
    f.v[0] = a;
    f.v[1] = b;
    f.v[2] = c;
    const Vec3<> n = cross(p_[b].w - p_[a].w, p_[c].w - p_[a].w);
    const double length = norm(n);
    if (length > 1e-20 * scale_ * scale_) {
      f.normal = (1 / length) * n;
      f.offset = dot(f.normal, p_[a].w);
    } else {
      f.normal = {};
      f.offset = std::numeric_limits<double>::infinity();
    }
  }

  int nearest_face() const {
    int best = 0;
    for (int i = 1; i < face_count_; ++i) {
      if (faces_[i].offset < faces_[best].offset) best = i;
    }
    return best;
  }

  /// Replaces the faces around `seed` that the new point sees by a fan to it. The faces that go are connected, whatever
  /// rounding says about those in the plane of the point. False if there is no room.
  bool grow(const DifferencePoint& p, int seed) {
    struct Edge {
      int from, to, face;  ///< the face that stays, beyond the edge
    };
    Edge horizon[kMaxFaces];
    bool seen[kMaxFaces] = {};
    int stack[kMaxFaces], depth = 0, edges = 0, gone[kMaxFaces], gone_count = 0;
    seen[seed] = true;
    stack[depth++] = seed;
    while (depth > 0) {
      const int index = stack[--depth];
      gone[gone_count++] = index;
      for (int other : faces_[index].beyond) {
        const PolytopeFace& f = faces_[other];
        if (seen[other] || !(dot(f.normal, p.w) - f.offset > 0)) continue;
        seen[other] = true;
        stack[depth++] = other;
      }
    }
    for (int i = 0; i < gone_count; ++i) {
      const PolytopeFace& f = faces_[gone[i]];
      for (int k = 0; k < 3; ++k) {
        if (!seen[f.beyond[k]]) horizon[edges++] = {f.v[k], f.v[(k + 1) % 3], f.beyond[k]};
      }
    }
    if (edges < 3 || face_count_ - gone_count + edges > kMaxFaces) return false;
    p_[count_] = p;
    int fan[kMaxFaces];
    for (int i = 0; i < edges; ++i) fan[i] = i < gone_count ? gone[i] : face_count_++;
    for (int i = gone_count; i > edges; --i) free_face(gone[i - 1]);
    for (int i = 0; i < edges; ++i) {
      set_face(fan[i], horizon[i].from, horizon[i].to, count_);
      faces_[fan[i]].beyond[0] = horizon[i].face;
      link(horizon[i].face, horizon[i].to, horizon[i].from, fan[i]);
      for (int k = 0; k < edges; ++k) {
        if (horizon[k].from == horizon[i].to) faces_[fan[i]].beyond[1] = fan[k];
        if (horizon[k].to == horizon[i].from) faces_[fan[i]].beyond[2] = fan[k];
      }
    }
    ++count_;
    return true;
  }

  /// More faces went than came: the slot stays empty and is never nearest.
  void free_face(int index) {
    faces_[index].offset = std::numeric_limits<double>::infinity();
    faces_[index].normal = {};
  }

  void link(int face, int from, int to, int beyond) {
    PolytopeFace& f = faces_[face];
    for (int k = 0; k < 3; ++k) {
      if (f.v[k] == from && f.v[(k + 1) % 3] == to) f.beyond[k] = beyond;
    }
  }

  Separation result(const PolytopeFace& face) const {
    Simplex s;
    for (int k = 0; k < 3; ++k) s.p[k] = p_[face.v[k]];
    const Vec3<> foot = face.offset * face.normal;
    const Vec3<>&x = s.p[0].w, &y = s.p[1].w, &z = s.p[2].w;
    const Vec3<> n = cross(y - x, z - x);
    const double n2 = dot(n, n);
    double weight[3] = {1, 0, 0};
    if (n2 > 0) {
      weight[0] = dot(n, cross(y - foot, z - foot)) / n2;
      weight[1] = dot(n, cross(z - foot, x - foot)) / n2;
      weight[2] = dot(n, cross(x - foot, y - foot)) / n2;
      double sum = 0;
      for (double& w : weight) {
        w = w < 0 ? 0 : w;
        sum += w;
      }
      for (double& w : weight) w /= sum;
    }
    Separation out;
    out.normal = -face.normal;
    out.distance = -face.offset;
    for (int k = 0; k < 3; ++k) {
      out.a = madd(weight[k], s.p[k].a, out.a);
      out.b = madd(weight[k], s.p[k].b, out.b);
    }
    return out;
  }

  /// The difference set is flat: the shapes touch, and any motion along the normal separates them.
  Separation flat(const Vec3<>& normal) const {
    Separation out;
    out.normal = normal;
    out.distance = 0;
    out.a = p_[0].a;
    out.b = p_[0].b;
    if (count_ > 1) {
      Simplex s;
      s.count = count_ < 3 ? count_ : 3;
      for (int i = 0; i < s.count; ++i) s.p[i] = p_[i];
      reduce(s);
      out.a = out.b = {};
      for (int i = 0; i < s.count; ++i) {
        out.a = madd(s.weight[i], s.p[i].a, out.a);
        out.b = madd(s.weight[i], s.p[i].b, out.b);
      }
    }
    return out;
  }

  const Convex &A_, &B_;
  double scale_, enough_;  ///< size of the shapes; bounds of the depth as close as this are one
  int count_ = 0, face_count_ = 0;
  Scratch<DifferencePoint, kMaxVertices> p_;
  Scratch<PolytopeFace, kMaxFaces> faces_;
};

}  // namespace

Separation expand_polytope(const Convex& A, const Convex& B, const Simplex& simplex, double scale) {
  return Polytope(A, B, scale).run(simplex);
}

}  // namespace kansetsu::detail
