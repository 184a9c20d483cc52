#include <benchmark/benchmark.h>
#include <ccd/ccd.h>
#include <ccd/quat.h>

#include <cmath>
#include <random>
#include <vector>

#include "kansetsu/geometry/broad_phase.h"
#include "kansetsu/geometry/contact.h"
#include "kansetsu/geometry/contact_cache.h"
#include "kansetsu/spatial/quaternion.h"

#if KANSETSU_BENCH_FCL
#include <fcl/narrowphase/collision.h>
#endif

/// Nanoseconds per pair of shapes, compared with libccd (depth of a pair by MPR, one point) and FCL (contacts of a pair). Poses
/// are drawn once near contact: half of them touch.
namespace {

using namespace kansetsu;

constexpr int kPoses = 256;

struct Poses {
  std::vector<Quaternion<>> q;
  std::vector<Transform<>> X;
};

/// Random orientation; `flat`: upright, rotated about z only, as in resting contact.
Poses random_poses(double height, bool flat) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> u(-1, 1);
  Poses poses;
  for (int i = 0; i < kPoses; ++i) {
    Quaternion<> q{u(engine), u(engine), u(engine), u(engine)};
    if (flat) q = {0, 0, u(engine), u(engine)};
    poses.q.push_back(normalised(q));
    const double reach = flat ? 0.3 : 0.2;
    poses.X.push_back({to_mat3(poses.q.back()), {reach * u(engine), reach * u(engine), height + 0.01 * u(engine)}});
  }
  return poses;
}

void run_pair(benchmark::State& state, const Shape& A, const Shape& B, double height, bool flat) {
  const Geometry a(A), b(B);
  const Poses poses = random_poses(height, flat);
  std::size_t i = 0;
  std::int64_t points = 0;
  for (auto _ : state) {
    Manifold m;
    collide(a, poses.X[i], b, {}, 0.005, m);
    points += m.count;
    benchmark::DoNotOptimize(m);
    i = (i + 1) % kPoses;
  }
  state.counters["points"] = double(points) / double(state.iterations());
}

const Box kBox{{0.4, 0.3, 0.2}};
const Capsule kCapsule{0.1, 0.3};
const Cylinder kCylinder{0.15, 0.3};

ConvexHull hull() {
  std::mt19937_64 engine(5);
  std::normal_distribution<double> normal;
  ConvexHull h;
  for (int i = 0; i < 32; ++i) {
    const Vec3<> v{normal(engine), normal(engine), normal(engine)};
    h.vertices.push_back((0.2 / norm(v)) * v);
  }
  return h;
}

HeightField rough_ground() {
  HeightField field{41, 41, 4, 4, {}};
  for (int i = 0; i < 41 * 41; ++i) field.heights.push_back(0.02 * std::sin(0.7 * (i % 41)) * std::cos(0.9 * (i / 41)));
  return field;
}

TriangleMesh flat_mesh() {
  auto data = std::make_shared<TriangleMeshData>();
  for (int i = 0; i < 41 * 41; ++i) data->vertices.push_back({0.1 * (i % 41) - 2, 0.1 * (i / 41) - 2, 0});
  for (int i = 0; i < 40 * 41; ++i) {
    if (i % 41 == 40) continue;
    data->triangles.push_back({i, i + 1, i + 42});
    data->triangles.push_back({i, i + 42, i + 41});
  }
  return {data};
}

/// A box for libccd.
struct CcdBox {
  Vec3<> half;
  Transform<> X;
};
void ccd_support(const void* object, const ccd_vec3_t* d, ccd_vec3_t* out) {
  const auto& box = *static_cast<const CcdBox*>(object);
  const Vec3<> l = transpose_times(box.X.R, Vec3<>{d->v[0], d->v[1], d->v[2]});
  const Vec3<> p = box.X * Vec3<>{l.x < 0 ? -box.half.x : box.half.x, l.y < 0 ? -box.half.y : box.half.y,
                                  l.z < 0 ? -box.half.z : box.half.z};
  ccdVec3Set(out, p.x, p.y, p.z);
}
void ccd_centre(const void* object, ccd_vec3_t* out) {
  const auto& box = *static_cast<const CcdBox*>(object);
  ccdVec3Set(out, box.X.p.x, box.X.p.y, box.X.p.z);
}

void ccd_box_box(benchmark::State& state, bool flat) {
  const Poses poses = random_poses(0.2, flat);
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = ccd_support;
  ccd.center1 = ccd.center2 = ccd_centre;
  ccd.max_iterations = 100;
  CcdBox a{0.5 * kBox.size, {}}, b{0.5 * kBox.size, {}};
  std::size_t i = 0;
  for (auto _ : state) {
    a.X = poses.X[i];
    ccd_real_t depth;
    ccd_vec3_t direction, position;
    benchmark::DoNotOptimize(ccdMPRPenetration(&a, &b, &ccd, &depth, &direction, &position));
    i = (i + 1) % kPoses;
  }
}

#if KANSETSU_BENCH_FCL
template <class A, class B>
void fcl_pair(benchmark::State& state, std::shared_ptr<A> a, std::shared_ptr<B> b, double height, bool flat) {
  const Poses poses = random_poses(height, flat);
  fcl::CollisionObjectd first(a), second(b);
  fcl::CollisionRequestd request(8, true);
  std::size_t i = 0;
  for (auto _ : state) {
    const Quaternion<>& q = poses.q[i];
    const Vec3<>& p = poses.X[i].p;
    first.setTransform(fcl::Quaterniond(q.w, q.x, q.y, q.z), fcl::Vector3d(p.x, p.y, p.z));
    fcl::CollisionResultd result;
    benchmark::DoNotOptimize(fcl::collide(&first, &second, request, result));
    i = (i + 1) % kPoses;
  }
}
#endif

/// Boxes of about one metre in a volume that leaves each a handful of neighbours; they move a little between updates.
void broad_phase(benchmark::State& state) {
  const auto n = std::size_t(state.range(0));
  std::mt19937_64 engine(2);
  const double size = std::cbrt(double(n));
  std::uniform_real_distribution<double> place(0, size), step(-0.01, 0.01);
  BroadPhase broad;
  std::vector<Aabb> boxes;
  for (std::size_t i = 0; i < n; ++i) {
    broad.add(int(i));
    const Vec3<> p{place(engine), place(engine), place(engine)};
    boxes.push_back({p, p + Vec3<>{0.8, 0.8, 0.8}});
  }
  for (auto _ : state) {
    state.PauseTiming();
    for (Aabb& box : boxes) {
      const Vec3<> d{step(engine), step(engine), step(engine)};
      box = {box.lower + d, box.upper + d};
    }
    state.ResumeTiming();
    broad.update(boxes);
    benchmark::DoNotOptimize(broad.pairs().data());
  }
  state.counters["pairs"] = double(broad.pairs().size());
}

void contact_cache(benchmark::State& state) {
  const int n = int(state.range(0));
  std::vector<PairKey> keys;
  Manifold m;
  m.count = 4;
  for (int i = 0; i < 4; ++i) m.points[i] = {{double(i), 0, 0}, 0, std::uint32_t(i)};
  for (int i = 0; i < n; ++i) keys.push_back({i, i + 1, 0});
  const std::vector<Manifold> manifolds(std::size_t(n), m);
  ContactCache cache;
  for (auto _ : state) {
    cache.update(keys, manifolds);
    benchmark::DoNotOptimize(cache.matches().data());
  }
}

#define PAIR(name, ...) BENCHMARK_CAPTURE(run_pair, name, __VA_ARGS__)
PAIR(sphere_plane, Sphere{0.1}, Plane{}, 0.1, false);
PAIR(capsule_plane, kCapsule, Plane{}, 0.1, false);
PAIR(box_plane, kBox, Plane{}, 0.1, true);
PAIR(cylinder_plane, kCylinder, Plane{}, 0.15, true);
PAIR(sphere_sphere, Sphere{0.1}, Sphere{0.1}, 0.1, false);
PAIR(sphere_box, Sphere{0.1}, kBox, 0.2, false);
PAIR(capsule_capsule, kCapsule, kCapsule, 0.1, false);
PAIR(capsule_box, kCapsule, kBox, 0.2, false);
PAIR(box_box_resting, kBox, kBox, 0.2, true);
PAIR(box_box_tumbling, kBox, kBox, 0.25, false);
PAIR(cylinder_box_resting, kCylinder, kBox, 0.25, true);
PAIR(cylinder_cylinder, kCylinder, kCylinder, 0.25, false);
PAIR(hull_plane, hull(), Plane{}, 0.2, false);
PAIR(hull_box, hull(), kBox, 0.3, false);
PAIR(hull_hull, hull(), hull(), 0.35, false);
PAIR(box_height_field, kBox, rough_ground(), 0.12, true);
PAIR(sphere_height_field, Sphere{0.1}, rough_ground(), 0.1, true);
PAIR(box_mesh, kBox, flat_mesh(), 0.1, true);
BENCHMARK_CAPTURE(ccd_box_box, resting, true);
BENCHMARK_CAPTURE(ccd_box_box, tumbling, false);
#if KANSETSU_BENCH_FCL
BENCHMARK_CAPTURE(fcl_pair, box_box_resting, std::make_shared<fcl::Boxd>(0.4, 0.3, 0.2),
                  std::make_shared<fcl::Boxd>(0.4, 0.3, 0.2), 0.2, true);
BENCHMARK_CAPTURE(fcl_pair, box_box_tumbling, std::make_shared<fcl::Boxd>(0.4, 0.3, 0.2),
                  std::make_shared<fcl::Boxd>(0.4, 0.3, 0.2), 0.25, false);
BENCHMARK_CAPTURE(fcl_pair, capsule_capsule, std::make_shared<fcl::Capsuled>(0.1, 0.3),
                  std::make_shared<fcl::Capsuled>(0.1, 0.3), 0.1, false);
BENCHMARK_CAPTURE(fcl_pair, box_plane, std::make_shared<fcl::Boxd>(0.4, 0.3, 0.2),
                  std::make_shared<fcl::Halfspaced>(fcl::Vector3d(0, 0, 1), 0), 0.1, true);
BENCHMARK_CAPTURE(fcl_pair, sphere_box, std::make_shared<fcl::Sphered>(0.1), std::make_shared<fcl::Boxd>(0.4, 0.3, 0.2),
                  0.2, false);
#endif
BENCHMARK(broad_phase)->Arg(100)->Arg(400)->Arg(2000);
BENCHMARK(contact_cache)->Arg(100);

}  // namespace

BENCHMARK_MAIN();
