#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/aligned_memory.h"
#include "constraint/contact_impl.h"
#include "constraint/contact_thresholds.h"
#include "constraint/tree_rows.h"

/// From the patches and rows of a problem to the unknowns of Newton's method, and back.
namespace kansetsu {

using kernel::BoundLaw;
using kernel::BoundWork;
using kernel::ContactWork;
using kernel::LawWork;
using kernel::PatchLaw;
using kernel::PatchWork;
using kernel::VertexLaw;
using namespace kernel::threshold;

namespace {

/// A number per vertex of a patch: its pressure, or its share of a load.
struct OfVertices {
  double number[kernel::kMaxTouching] = {};
  double& operator[](int i) { return number[i]; }
  double operator[](int i) const { return number[i]; }
};

/// Centre of points with weights that sum to one, and their second moments about it.
struct Spread {
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;

  template <class Point>
  Spread(int count, const OfVertices& weight, const Point& point) {
    for (int i = 0; i < count; ++i) {
      const auto [px, py] = point(i);
      x += weight[i] * px, y += weight[i] * py;
    }
    for (int i = 0; i < count; ++i) {
      const auto [px, py] = point(i);
      xx += weight[i] * (px - x) * (px - x), xy += weight[i] * (px - x) * (py - y);
      yy += weight[i] * (py - y) * (py - y);
    }
  }
};

/// Adds a normal force with its moments about the origin to the pressures of the vertices, by least norm of the changes per weight. Pressures
/// that would pull are left out.
void add_normal_load(const PatchWork& p, const OfVertices& weight, double force, double moment_x, double moment_y,
                     OfVertices& pressure) {
  const Spread s(p.count, weight, [&](int i) { return std::pair(p.x[i], p.y[i]); });
  // λ = w·(f + b_x·(x − x̄) + b_y·(y − ȳ)), with the moments about the centre
  const double X = -moment_y - force * s.x, Y = moment_x - force * s.y;
  const double soft = 1e-9 * (s.xx + s.yy), det = (s.xx + soft) * (s.yy + soft) - s.xy * s.xy;
  const double bx = det > 0 ? ((s.yy + soft) * X - s.xy * Y) / det : 0;
  const double by = det > 0 ? ((s.xx + soft) * Y - s.xy * X) / det : 0;
  double wanted = force, sum = 0;
  for (int i = 0; i < p.count; ++i) {
    wanted += pressure[i];
    pressure[i] = std::max(pressure[i] + weight[i] * (force + bx * (p.x[i] - s.x) + by * (p.y[i] - s.y)), 0.0);
    sum += pressure[i];
  }
  for (int i = 0; i < p.count && sum > 0; ++i) pressure[i] *= wanted / sum;
}

}  // namespace

namespace {

/// Direction of friction at a vertex of which the slip is known.
void set_known_slip(const PatchWork& p, VertexLaw& v) {
  v.known = p.known;
  if (p.known == kernel::KnownSlip::kNone) return;
  const double *m = p.motion, U[3] = {m[0] - m[2] * v.b, m[1] + m[2] * v.a, v.d * m[2]};
  if (p.known == kernel::KnownSlip::kSpin) {
    v.e[2] = std::copysign(1.0, -m[2]);
  } else if (
      p.paper) {  // (1 − exp(−l/d)) of the force and exp(−l/d) of the moment, l = distance of the rotation centre
    const double along = std::hypot(U[0], U[1]), share = U[2] != 0 ? std::exp(-along / std::abs(U[2])) : 0;
    for (int i = 0; i < 2; ++i) v.e[i] = along > 0 ? -(1 - share) * U[i] / along : 0;
    v.e[2] = std::copysign(share, -U[2]);
  } else {
    const double size = std::hypot(U[0], U[1], U[2]);
    for (int i = 0; i < 3; ++i) v.e[i] = size > 0 ? -U[i] / size : 0;
  }
}

}  // namespace

namespace {

/// Impulses that make up the remembered wrench: those of the vertices, and what the wrench has beyond them. Its friction acts at other points than in the
/// last step, and vertices may have come or gone.
void start_from(const PatchWork& p, const ContactMemory& m, double h, const PatchLaw& law, double* x) {
  const int n = p.count, stride = 1 + law.friction;
  const std::array<double, 6>& wrench = m.wrench;
  OfVertices pressure, weight;
  double sum = 0;
  for (int i = 0; i < n; ++i) pressure[i] = m.force[p.id[i]][0], sum += pressure[i];
  const bool known = sum > kForgotten * wrench[2];
  double moment_x = wrench[3], moment_y = wrench[4];
  for (int i = 0; i < n; ++i) {
    if (!known) pressure[i] = 0;
    weight[i] = known ? pressure[i] / sum : 1.0 / n;
    moment_x -= p.y[i] * pressure[i], moment_y += p.x[i] * pressure[i];
  }
  add_normal_load(p, weight, known ? wrench[2] - sum : wrench[2], moment_x, moment_y, pressure);
  double fx = wrench[0], fy = wrench[1], moment = p.rows == 6 ? wrench[5] : 0;
  sum = 0;
  for (int i = 0; i < n; ++i) sum += pressure[i];
  for (int i = 0; i < n; ++i, x += stride) {
    const VertexLaw& v = law.vertex[i];
    weight[i] = sum > 0 ? pressure[i] / sum : 1.0 / n;
    x[0] = h * pressure[i];
    if (!known) continue;
    const std::array<double, 3>& f = m.force[p.id[i]];
    x[1] = h * f[1], x[2] = h * f[2];
    fx -= f[1], fy -= f[2], moment -= v.a * f[2] - v.b * f[1];
  }
  x -= n * stride;
  const Spread s(n, weight, [&](int i) { return std::pair(law.vertex[i].a, law.vertex[i].b); });
  moment -= s.x * fy - s.y * fx;
  const double inertia = s.xx + s.yy, turn = law.friction == 2 && inertia > 0 ? moment / inertia : 0;
  for (int i = 0; i < n; ++i, x += stride) {
    const VertexLaw& v = law.vertex[i];
    x[1] += h * weight[i] * (fx - turn * (v.b - s.y));
    x[2] += h * weight[i] * (fy + turn * (v.a - s.x));
    if (law.friction == 3) x[3] = h * weight[i] * moment / v.d;
  }
}

}  // namespace

void contact::set_vertices(const PatchWork& p, const ContactMemory* m, double h, PatchLaw& law, double* x) {
  law.row = p.row, law.rows = p.rows, law.count = p.count;
  law.mu = p.mu, law.mu_spin = p.mu_spin, law.paper = p.paper;
  law.friction = (p.count == 1 || p.paper) && p.rows == 6 && p.arm > 0 ? 3 : 2;
  const int n = p.count;
  double mx = 0, my = 0;
  for (int i = 0; i < n; ++i) mx += p.x[i] / n, my += p.y[i] / n;
  const double px = p.centre[0], py = p.centre[1];
  double reach = 0;
  for (int i = 0; i < n && n > 1; ++i) {
    const double dx = p.x[i] - mx, dy = p.y[i] - my;
    reach += std::sqrt(dx * dx + dy * dy) / n;
  }
  const double share =
      reach > 0 && !p.paper ? std::min(p.arm / reach, 1.0) : 0;  // the paper's friction acts in one point
  for (int i = 0; i < n; ++i) {
    VertexLaw& v = law.vertex[i];
    v = {};
    v.x = p.x[i], v.y = p.y[i], v.t = p.t[i];
    v.a = px + share * (p.x[i] - px), v.b = py + share * (p.y[i] - py);
    v.d = law.friction == 3 ? p.arm : 0;
    set_known_slip(p, v);
  }
  std::fill_n(x, n * (1 + law.friction), 0.0);
  if (m && m->known && m->wrench[2] > 0 && n > 0) start_from(p, *m, h, law, x);
}

namespace {

/// A response that is a sum of terms, and what the sum would be if none of them cancelled another.
struct Response {
  double sum = 0, size = 0;
  void add(double term) { sum += term, size += std::abs(term); }
};

}  // namespace

void contact::set_scales(const double* G, int stride, double least, PatchLaw& law) {
  const auto g = [&](int i, int j) { return G[i * stride + j]; };
  const auto inverse = [least](const Response& a, const Response& other) {
    return a.sum > std::max(least, kCancelled * a.size) ? 1 / std::max(a.sum, kLeastShare * other.sum) : 0.0;
  };
  for (int i = 0; i < law.count; ++i) {
    VertexLaw& v = law.vertex[i];
    Response normal, friction;
    if (law.rows == 3) {
      normal.add(g(2, 2));
      friction.add(0.5 * (g(0, 0) + g(1, 1)));
    } else {
      const double n[3] = {1, v.y, -v.x};
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) normal.add(n[a] * n[b] * g(2 + a, 2 + b));
      }
      const double share = law.friction == 3 ? 1.0 / 3 : 0.5;
      friction.add(share * (g(0, 0) + g(1, 1)));
      friction.add(-2 * share * v.b * g(0, 5));
      friction.add(2 * share * v.a * g(1, 5));
      friction.add(share * (v.a * v.a + v.b * v.b + v.d * v.d) * g(5, 5));
    }
    v.rho = inverse(normal, friction), v.rho_friction = inverse(friction, normal);
  }
}

void contact::read_states(const PatchLaw& law, const double* x, const double* w, double near, PatchWork& p) {
  double sum = 0;
  int closed[kernel::kMaxTouching], count = 0;
  bool slides = false;
  for (int i = 0; i < p.count; ++i) {
    const VertexLaw& v = law.vertex[i];
    const bool wide = p.rows == 6;
    const double u = wide ? w[2] + w[3] * v.y - w[4] * v.x : w[2], spin = wide ? w[5] : 0;
    for (int k = 0; k < 3; ++k) p.force[i][k] = x[i * (1 + law.friction) + k];
    sum += p.force[i][0];
    if (v.pressed || u - v.t <= near) closed[count++] = i;
    const double sx = w[0] - spin * v.b, sy = w[1] + spin * v.a, sz = v.d * spin;
    slides = slides || (v.slides && sx * sx + sy * sy + sz * sz > near * near);
  }
  p.three = false;
  p.i0 = p.i1 = count > 0 ? closed[0] : 0;
  p.mode = !(sum > 0) ? ContactMode::kOpen : count <= 1 ? ContactMode::kPoint : ContactMode::kLine;
  if (p.mode == ContactMode::kLine) {
    p.i1 = closed[count - 1];
    if (p.spans && count == p.count) p.mode = ContactMode::kSurface;
    if (p.spans && count > 2 && count < p.count) {  // some corner is up: the others are a smaller surface
      p.mode = ContactMode::kSurface, p.three = true;
      p.corner[0] = closed[0], p.corner[1] = closed[1], p.corner[2] = closed[2];
    }
  }
  const SlipMode known = p.known == kernel::KnownSlip::kSpin ? SlipMode::kSpin : SlipMode::kSlide;
  if (p.known != kernel::KnownSlip::kNone) slides = true;
  p.slip = slides && p.mode != ContactMode::kOpen ? known : SlipMode::kStick;
}

void ContactSolver::Impl::reserve_laws(int patch_count, int rows, int bounded, int dense) {
  const auto grow = [](auto& v, int size) {
    if (v.size() < std::size_t(size)) v.resize(std::size_t(size));
  };
  grow(laws, patch_count), grow(bound_laws, bounded);
  const int padded = (rows + 7) / 8 * 8, stride = padded + 16;
  const int unknowns = (4 * kernel::kMaxTouching * patch_count + bounded + 7) / 8 * 8;
  grow(law_numbers, 6 * unknowns + 9 * stride + 2 * (dense + 1) * stride + 8);
  grow(law_integers, 2 * padded);
}

std::pair<const double*, int> ContactSolver::Impl::own_block(int row) const {
  if (work.tree) return {work.tree->own + long(kernel::kRowBlock) * row, kernel::kRowBlock};
  return {work.G + long(row) * work.ldg + row, work.ldg};
}

ContactTier ContactSolver::Impl::solve_newton(double h, double tolerance, std::span<const ContactMemory> memory,
                                              bool far, double softness) {
  ContactWork& k = work;
  LawWork s;
  s.patch_count = k.patch_count, s.bound_count = k.bound_count, s.rows = k.n;
  reserve_laws(k.patch_count, k.n, k.bound_count, k.tree == nullptr ? k.n : 0);
  s.patches = laws.data(), s.bounds = bound_laws.data();
  for (int i = 0; i < k.patch_count; ++i) s.unknowns += 4 * k.patches[i].count;
  const int bounds_at = s.unknowns;
  s.unknowns += k.bound_count;
  for (int i = 0; i < k.bound_count; ++i) {
    const BoundWork& b = k.bounds[i];
    bound_laws[std::size_t(i)] = {.row = b.row, .at = bounds_at + i, .lower = b.lower, .upper = b.upper, .t = b.t};
  }
  const int padded = (k.n + 7) / 8 * 8, unknowns = (s.unknowns + 7) / 8 * 8, stride = padded + 16;
  std::fill(law_numbers.begin(), law_numbers.begin() + long(6 * unknowns + 8), 0.0);  // some unknowns stand for none
  double* next = aligned(law_numbers.data());
  const auto take = [&next](int count) { return std::exchange(next, next + count); };
  for (double** x : {&s.x, &s.before, &s.dx, &s.phi, &s.centre, &s.best}) *x = take(unknowns);
  for (double** x : {&s.r, &s.w, &s.q, &s.dr, &s.dw, &s.w_before}) {
    *x = take(stride);
    std::fill(*x, *x + stride, 0.0);
  }
  kernel::RowScratch scratch;
  scratch.x = take(stride), scratch.inverse = take(stride), scratch.right = take(stride);
  for (double** x : {&scratch.matrix, &scratch.lower}) *x = k.tree ? nullptr : take((k.n + 1) * stride);
  scratch.stride = stride;
  scratch.order = law_integers.data(), scratch.row = law_integers.data() + padded;
  const kernel::RowResponse response{k.G, k.ldg};

  double most = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    const auto [own, ld] = own_block(k.patches[i].row);
    for (int r = 0; r < k.patches[i].rows; ++r) most = std::max(most, own[r * ld + r]);
  }
  for (int i = 0; i < k.bound_count; ++i) most = std::max(most, *own_block(k.bounds[i].row).first);
  const double least = kernel::threshold::kImmovable * most;
  for (int i = 0, at = 0; i < k.patch_count; ++i) {
    PatchLaw& law = laws[std::size_t(i)];
    law.at = at;
    contact::set_vertices(k.patches[i], memory.empty() ? nullptr : &memory[std::size_t(i)], h, law, s.x + at);
    const auto [own, ld] = own_block(law.row);
    contact::set_scales(own, ld, least, law);
    at += 4 * law.count;
  }
  for (int i = 0; i < k.bound_count; ++i) {
    BoundLaw& b = bound_laws[std::size_t(i)];
    const double own = *own_block(b.row).first;
    b.rho = own > least ? 1 / own : 0;
    s.x[b.at] = k.bounds[i].f;
  }
  s.c = k.c;
  s.tolerance = tolerance, s.acceptable = kAcceptable * tolerance;
  s.most_systems = softness > 0 ? kMostWaySystems : systems_left > 0 ? kMostSystems : kNewtonSteps;
  s.far = far, s.softness = softness;
  if (k.tree)
    kernel::newton_kernels().tree(s, *k.tree);
  else
    kernel::newton_kernels().rows(s, response, scratch);

  systems_left = std::max(systems_left - s.systems, 0);
  k.solves += s.systems;
  k.residual = s.residual;
  for (int i = 0; i < k.n; ++i) k.f[i] = s.r[i], k.w[i] = s.w[i];
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    p.solves = s.systems, p.residual = s.residual;
    contact::read_states(laws[std::size_t(i)], s.x + laws[std::size_t(i)].at, s.w + p.row, s.acceptable, p);
  }
  return !s.solved ? ContactTier::kUnsolved : s.proximal ? ContactTier::kProximal : ContactTier::kNewton;
}

}  // namespace kansetsu
