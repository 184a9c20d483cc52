#include <cmath>

#include "geometry/convex.h"
#include "geometry/pairs.h"
#include "geometry/terrain_walk.h"
#include "kansetsu/geometry/query.h"

/// All in the frame of the shape; directions are unit vectors there.
namespace kansetsu {
namespace {

struct Ray {
  Vec3<> p, d;
  double reach;
};
struct Hit {
  double t = kInfinity;
  Vec3<> normal{};
};

/// The stretch of the ray inside of what has been cut so far, and the normal where it enters.
struct Stretch {
  double from = -kInfinity, to = kInfinity;
  Vec3<> normal{};

  /// Keeps what is on the inner side of the plane n·x = offset.
  void cut(const Ray& ray, const Vec3<>& n, double offset) {
    const double height = dot(n, ray.p) - offset, slope = dot(n, ray.d);
    if (slope == 0) {
      if (height > 0) to = -kInfinity;
    } else if (slope < 0) {
      if (const double t = -height / slope; t > from) {
        from = t;
        normal = n;
      }
    } else {
      to = std::fmin(to, -height / slope);
    }
  }
  Hit hit(const Ray& ray) const {
    if (!(from <= to) || to < 0) return {};
    return from < 0 ? Hit{0, -ray.d} : Hit{from, normal};
  }
};

Hit hit_sphere(const Ray& ray, const Vec3<>& centre, double radius) {
  const Vec3<> x = ray.p - centre;
  const double b = dot(x, ray.d), c = dot(x, x) - radius * radius;
  if (c <= 0) return {0, -ray.d};
  const Vec3<> off = madd(-b, ray.d, x);  // from the centre to the ray, across it
  const double root = radius * radius - dot(off, off);
  if (b >= 0 || root < 0 || radius == 0) return {};
  const double t = -b - std::sqrt(root);
  return {t, (1 / radius) * madd(t, ray.d, x)};
}

/// The infinite cylinder about z.
Stretch cut_cylinder(const Ray& ray, double radius) {
  const double a = ray.d.x * ray.d.x + ray.d.y * ray.d.y, b = ray.p.x * ray.d.x + ray.p.y * ray.d.y,
               c = ray.p.x * ray.p.x + ray.p.y * ray.p.y - radius * radius;
  Stretch s;
  if (a == 0) {
    if (c > 0) s.to = -kInfinity;
    return s;
  }
  const double root = b * b - a * c;
  if (root < 0) {
    s.to = -kInfinity;
    return s;
  }
  s.from = (-b - std::sqrt(root)) / a;
  s.to = (-b + std::sqrt(root)) / a;
  const Vec3<> p = madd(s.from, ray.d, ray.p);
  const double r = std::hypot(p.x, p.y);
  s.normal = r > 0 ? Vec3<>{p.x / r, p.y / r, 0} : -ray.d;
  return s;
}

Hit hit_cylinder(const Ray& ray, double radius, double half) {
  Stretch s = cut_cylinder(ray, radius);
  s.cut(ray, {0, 0, 1}, half);
  s.cut(ray, {0, 0, -1}, half);
  return s.hit(ray);
}

Hit nearer(const Hit& a, const Hit& b) { return b.t < a.t ? b : a; }

Hit hit_capsule(const Ray& ray, double radius, double half) {
  const Hit ends = nearer(hit_sphere(ray, {0, 0, half}, radius), hit_sphere(ray, {0, 0, -half}, radius));
  return nearer(ends, hit_cylinder(ray, radius, half));
}

Hit hit_box(const Ray& ray, const Vec3<>& half) {
  Stretch s;
  s.cut(ray, {1, 0, 0}, half.x);
  s.cut(ray, {-1, 0, 0}, half.x);
  s.cut(ray, {0, 1, 0}, half.y);
  s.cut(ray, {0, -1, 0}, half.y);
  s.cut(ray, {0, 0, 1}, half.z);
  s.cut(ray, {0, 0, -1}, half.z);
  return s.hit(ray);
}

Hit hit_hull(const Ray& ray, const Geometry& geometry) {
  const HullData& hull = *geometry.hull_data();
  if (hull.faces.empty()) return {};
  Stretch s;
  for (const HullData::Face& f : hull.faces) s.cut(ray, f.normal, f.offset);
  if (hull.faces.size() == 2) {  // flat: the sides of its outline, too
    const HullData::Face& f = hull.faces[0];
    for (int i = 0; i < f.count; ++i) {
      const Vec3<>& a = hull.vertices[std::size_t(hull.loop[std::size_t(f.first + i)])];
      const Vec3<>& b = hull.vertices[std::size_t(hull.loop[std::size_t(f.first + (i + 1) % f.count)])];
      const Vec3<> m = cross(b - a, f.normal), normal = s.normal;
      s.cut(ray, m, dot(m, a));
      s.normal = normal;
    }
    s.to += 1e-12 * (1 + std::abs(s.to));  // the two planes are one
  }
  return s.hit(ray);
}

/// From either side ([Eri05] 5.3.6); the normal is turned against the ray.
Hit hit_triangle(const Ray& ray, const Vec3<>* c) {
  const Vec3<> e = c[1] - c[0], f = c[2] - c[0], n = cross(e, f), x = ray.p - c[0];
  const double det = -dot(ray.d, n);
  if (det == 0) return {};
  const double t = dot(x, n) / det;
  const Vec3<> w = cross(ray.d, x);
  const double u = -dot(f, w) / det, v = dot(e, w) / det;
  if (!(t >= 0) || u < 0 || v < 0 || u + v > 1) return {};
  return {t, ((det < 0 ? -1 : 1) / norm(n)) * n};
}

bool meets(const Ray& ray, const Aabb& box, double before) {
  double from = 0, to = before;
  const auto slab = [&](double p, double d, double low, double high) {
    if (d == 0) return low <= p && p <= high;
    const double a = (low - p) / d, b = (high - p) / d;
    from = std::fmax(from, std::fmin(a, b));
    to = std::fmin(to, std::fmax(a, b));
    return from <= to;
  };
  return slab(ray.p.x, ray.d.x, box.lower.x, box.upper.x) && slab(ray.p.y, ray.d.y, box.lower.y, box.upper.y) &&
         slab(ray.p.z, ray.d.z, box.lower.z, box.upper.z);
}

Hit hit_mesh(const Ray& ray, const MeshData& mesh) {
  Hit best;
  detail::walk_mesh(
      mesh, [&](const Aabb& box) { return meets(ray, box, std::fmin(best.t, ray.reach)); },
      [&](int triangle) { best = nearer(best, hit_triangle(ray, mesh_triangle(mesh, triangle).corner)); });
  return best;
}

/// Walks over the cells below the ray.
class FieldWalk {
 public:
  FieldWalk(const Ray& ray, const HeightFieldData& field) : ray_(ray), field_(field) {}

  Hit run() {
    const double size_x = field_.field.size_x, size_y = field_.field.size_y;
    Stretch s;
    s.cut(ray_, {1, 0, 0}, 0.5 * size_x);
    s.cut(ray_, {-1, 0, 0}, 0.5 * size_x);
    s.cut(ray_, {0, 1, 0}, 0.5 * size_y);
    s.cut(ray_, {0, -1, 0}, 0.5 * size_y);
    const double from = std::fmax(s.from, 0), to = std::fmin(s.to, ray_.reach);
    if (!(from <= to)) return {};
    const Vec3<> start = madd(from, ray_.d, ray_.p);
    int column = cell((start.x + 0.5 * size_x) / field_.step_x, field_.field.columns - 1);
    int row = cell((start.y + 0.5 * size_y) / field_.step_y, field_.field.rows - 1);
    if (start.z <= height(start, column, row))
      return from > 0 ? Hit{from, s.normal} : Hit{0, -ray_.d};  // a wall, or inside
    for (double t = from; t <= to;) {
      const int index = 2 * (row * (field_.field.columns - 1) + column);
      Hit hit = nearer(hit_triangle(ray_, height_field_triangle(field_, index).corner),
                       hit_triangle(ray_, height_field_triangle(field_, index + 1).corner));
      if (hit.t < kInfinity) return hit;
      const double next_x = leaves(ray_.p.x, ray_.d.x, -0.5 * size_x, field_.step_x, column);
      const double next_y = leaves(ray_.p.y, ray_.d.y, -0.5 * size_y, field_.step_y, row);
      t = std::fmin(next_x, next_y);
      (next_x <= next_y ? column : row) += (next_x <= next_y ? ray_.d.x : ray_.d.y) > 0 ? 1 : -1;
      if (column < 0 || row < 0 || column >= field_.field.columns - 1 || row >= field_.field.rows - 1) break;
    }
    return {};
  }

 private:
  static int cell(double x, int cells) {
    const int i = int(std::floor(x));
    return i < 0 ? 0 : (i >= cells ? cells - 1 : i);
  }
  static double leaves(double p, double d, double low, double step, int cell) {
    if (d == 0) return kInfinity;
    return (low + (d > 0 ? cell + 1 : cell) * step - p) / d;
  }
  double height(const Vec3<>& p, int column, int row) const {
    const int index = 2 * (row * (field_.field.columns - 1) + column);
    double z = -kInfinity;
    for (int k = 0; k < 2; ++k) {  // the triangle that p is over; on a border both say the same
      const TerrainTriangle t = height_field_triangle(field_, index + k);
      bool over = true;
      for (int i = 0; i < 3; ++i) {
        const Vec3<> e = t.corner[(i + 1) % 3] - t.corner[i], x = p - t.corner[i];
        over = over && e.x * x.y - e.y * x.x >= -1e-12 * (field_.step_x * field_.step_y);
      }
      if (over)
        z = std::fmax(
            z, t.corner[0].z - (t.normal.x * (p.x - t.corner[0].x) + t.normal.y * (p.y - t.corner[0].y)) / t.normal.z);
    }
    return z;
  }

  const Ray& ray_;
  const HeightFieldData& field_;
};

Hit hit_shape(const Ray& ray, const Geometry& g) {
  switch (g.kind()) {
    case ShapeKind::kPlane: {
      Stretch s;
      s.cut(ray, {0, 0, 1}, 0);
      return s.hit(ray);
    }
    case ShapeKind::kSphere:
      return hit_sphere(ray, {}, g.radius());
    case ShapeKind::kCapsule:
      return hit_capsule(ray, g.radius(), g.half().z);
    case ShapeKind::kBox:
      return hit_box(ray, g.half());
    case ShapeKind::kCylinder:
      return hit_cylinder(ray, g.radius(), g.half().z);
    case ShapeKind::kConvexHull:
      return hit_hull(ray, g);
    case ShapeKind::kHeightField:
      return FieldWalk(ray, *g.height_field_data()).run();
    default:
      return hit_mesh(ray, *g.mesh_data());
  }
}

}  // namespace

std::optional<RayHit> ray_cast(const Geometry& geometry, const Transform<>& X_WG, const Vec3<>& p_WO,
                               const Vec3<>& direction_W, double reach) {
  const double length = norm(direction_W);
  if (!(length > 0) || !std::isfinite(length) || !(reach >= 0)) return std::nullopt;
  const Vec3<> d_W = (1 / length) * direction_W;
  const Ray ray{transpose_times(X_WG.R, p_WO - X_WG.p), transpose_times(X_WG.R, d_W), reach};
  const Hit hit = hit_shape(ray, geometry);
  if (!(hit.t <= reach) || !std::isfinite(hit.t)) return std::nullopt;
  return RayHit{hit.t, madd(hit.t, d_W, p_WO), X_WG.R * hit.normal};
}

}  // namespace kansetsu
