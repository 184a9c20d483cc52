#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/aligned_memory.h"
#include "constraint/contact_impl.h"
#include "kansetsu/base/error.h"

namespace kansetsu {

void ContactResult::reserve(int patch_capacity, int row_capacity) {
  patches.reserve(std::size_t(patch_capacity));
  force.reserve(std::size_t(row_capacity));
}

namespace {

/// Scratch of a problem, in doubles.
struct Sizes {
  Sizes(int patches, int rows, int bounded)
      : columns(std::max(rows, 6 * patches + bounded) + kernel::kMaxTouching * std::min(patches, 16)),
        ld((columns + 2 + 8 + 7) / 8 * 8),
        blocks(2 * patches + bounded + 1),
        total((rows + 7) / 8 * 8 * rows + 12 * ld + 112 * blocks + 2 * (columns + 1) * ld + 8) {}
  int columns;  ///< unknowns: rows, and the vertices of the active-set tier, which is left out beyond 16 patches
  int ld;       ///< with the right side, and room for a pack that begins in the last column
  int blocks, total;
};

}  // namespace

void ContactSolver::Impl::reserve(int patch_count, int rows, int bounded) {
  const auto grow = [](auto& v, int size) {
    if (v.size() < std::size_t(size)) v.resize(std::size_t(size));
  };
  grow(patches, patch_count);
  grow(saved, patch_count);
  grow(bounds, bounded);
  grow(saved_bounds, bounded);
  const Sizes s(patch_count, rows, bounded);
  grow(blocks, 2 * patch_count + bounded + 1);
  grow(integers, s.ld);
  grow(hashes, 16 * (patch_count + 1) + 4 * bounded + 16);
  grow(numbers, s.total);
}

void ContactSolver::Impl::start(const ContactProblem& problem, const ContactOptions& chosen) {
  const int n = problem.rows, count = int(problem.patches.size()), bounded = int(problem.bounded.size());
  reserve(count, n, bounded);
  kernel::ContactWork& k = work;
  k = {};
  k.n = n;
  k.patches = patches.data();
  k.patch_count = count;
  k.bounds = bounds.data();
  k.saved = saved.data();
  k.saved_bounds = saved_bounds.data();
  k.blocks = blocks.data();
  k.set = chosen.friction_set;
  k.tolerance = chosen.tolerance;
  k.rank_tolerance = chosen.rank_tolerance;
  k.max_passes = chosen.max_passes;
  k.max_sweeps = chosen.max_sweeps;

  const Sizes s(count, n, bounded);
  k.column_capacity = s.columns;
  k.ld = s.ld;
  k.ldg = (n + 7) / 8 * 8;
  double* at = aligned(numbers.data());
  const auto take = [&at](int size) { return std::exchange(at, at + size); };
  if (problem.padded) {
    k.G = problem.G;
    k.ldg = problem.stride;
  } else {
    double* G = take(n * k.ldg);
    for (int i = 0; i < n; ++i) {
      const double* from = problem.G + i * problem.stride;
      double* to = G + i * k.ldg;
      for (int j = 0; j < n; ++j) to[j] = from[j];
      for (int j = n; j < k.ldg; ++j) to[j] = 0;
    }
    k.G = G;
  }
  for (double** v : {&k.x, &k.w, &k.f, &k.g, &k.best, &k.cut, &k.start, &k.record, &k.near, &c, &c_end, &u})
    *v = take(k.ld);
  k.columns = take(48 * s.blocks);
  k.equations = take(64 * s.blocks);
  k.matrix = take((s.columns + 1) * k.ld);
  k.matrix2 = take((s.columns + 1) * k.ld);
  k.order = integers.data();
  k.seen = hashes.data();
  k.seen_capacity = int(hashes.size());
}

namespace contact {

void check(const char* function, const ContactProblem& problem, std::size_t memory_size) {
  if (problem.rows < 0 || problem.stride < problem.rows || !(problem.h > 0)) {
    throw Error(fmt::format("{}: rows {}, stride {}, h {}: stride must not be below rows and h must be positive",
                            function, problem.rows, problem.stride, problem.h));
  }
  check_size(function, "memory", long(memory_size), long(problem.patches.size()));
  for (const ContactPatch& p : problem.patches) {
    const bool rows_fit = p.row >= 0 && p.row + p.row_count <= problem.rows;
    const bool shape_fits = (p.row_count == 6 || (p.row_count == 3 && p.vertex_count == 1)) && p.vertex_count >= 1 &&
                            p.vertex_count <= ContactPatch::kMaxVertices;
    if (!rows_fit || !shape_fits) {
      throw Error(fmt::format("{}: a patch has rows {} to {} of {} and {} vertices", function, p.row,
                              p.row + p.row_count, problem.rows, p.vertex_count));
    }
  }
  for (const BoundedRow& b : problem.bounded) {
    if (b.row < 0 || b.row >= problem.rows || b.lower > b.upper) {
      throw Error(
          fmt::format("{}: bounded row {} of {}, bounds {} and {}", function, b.row, problem.rows, b.lower, b.upper));
    }
  }
}

bool finite(const ContactProblem& problem, bool with_acceleration) {
  double sum = problem.h + problem.gravity;
  for (int i = 0; i < problem.rows; ++i) {
    sum += problem.u[i] * 0;
    if (with_acceleration) sum += problem.a[i] * 0;
    for (int j = 0; j < problem.rows; ++j) sum += problem.G[i * problem.stride + j] * 0;
  }
  for (const ContactPatch& p : problem.patches) {
    sum += (p.mu_static + p.mu_dynamic + p.restitution + p.arm) * 0;
    for (int i = 0; i < p.vertex_count; ++i) {
      const ContactVertex& v = p.vertices[std::size_t(i)];
      sum += (v.x + v.y + v.gap) * 0;
    }
  }
  for (const BoundedRow& b : problem.bounded) sum += (b.target + b.gap + b.restitution + b.last_force) * 0;
  return std::isfinite(sum);
}

double vertex_velocity(const ContactPatch& patch, const double* u, const ContactVertex& vertex) {
  return patch.row_count == 3 ? u[2] : u[2] + u[3] * vertex.y - u[4] * vertex.x;
}

namespace {

/// Leaves the two vertices farthest apart of points on one line, or one if all coincide.
void reduce_to_segment(kernel::PatchWork& p) {
  int a = 0, b = 0;
  double most = 0;  // squared
  for (int i = 0; i < p.count; ++i) {
    for (int j = i + 1; j < p.count; ++j) {
      const double dx = p.x[i] - p.x[j], dy = p.y[i] - p.y[j], d = dx * dx + dy * dy;
      if (d > most) most = d, a = i, b = j;
    }
  }
  const auto move = [&p](int from, int to) { p.x[to] = p.x[from], p.y[to] = p.y[from], p.id[to] = p.id[from]; };
  move(a, 0);
  p.count = 1;
  if (most > 0) {
    move(b, 1);
    p.count = 2;
  }
}

}  // namespace

void collect(const ContactPatch& patch, const bool* touches, kernel::PatchWork& p) {
  p.alpha = 0;
  p.row = patch.row, p.rows = patch.row_count;
  p.count = 0;
  for (int i = 0; i < patch.vertex_count; ++i) {
    if (!touches[i]) continue;
    const ContactVertex& v = patch.vertices[std::size_t(i)];
    p.x[p.count] = patch.row_count == 3 ? 0.0 : v.x;
    p.y[p.count] = patch.row_count == 3 ? 0.0 : v.y;
    p.id[p.count++] = static_cast<unsigned char>(i);
  }
  double area = 0, around = 0;
  for (int i = 0; i < p.count; ++i) {
    const int j = i + 1 < p.count ? i + 1 : 0;
    const double dx = p.x[j] - p.x[i], dy = p.y[j] - p.y[i];
    area += (p.x[i] - p.x[0]) * (p.y[j] - p.y[0]) - (p.x[j] - p.x[0]) * (p.y[i] - p.y[0]);
    around += dx * dx + dy * dy;
  }
  p.turn = area < 0 ? -1 : 1;
  p.spans = p.count >= 3 && std::abs(area) > 1e-6 * around;
  if (!p.spans && p.count >= 2) reduce_to_segment(p);
  p.length = p.along[0] = p.along[1] = 0;
  if (p.count == 2) {
    const double dx = p.x[1] - p.x[0], dy = p.y[1] - p.y[0];
    p.length = std::sqrt(dx * dx + dy * dy);
    p.along[0] = dx / p.length, p.along[1] = dy / p.length;
  }
  p.arm = p.count > 1 ? patch.arm : 0;
  p.band = p.spans ? std::min(p.arm, 0.25 * std::abs(area) / std::sqrt(p.count * around)) : 0.0;
}

void fit_targets(kernel::PatchWork& p) {
  p.targets = p.three = false;
  p.planar = true;
  for (int i = 0; i < p.count; ++i) p.targets = p.targets || p.t[i] != 0;
  if (!p.targets || !p.spans) return;
  // About the middle, so that the normal equations are 1 + 2×2: t = m + a·(y − y₀) − b·(x − x₀).
  double x0 = 0, y0 = 0, m = 0, xx = 0, xy = 0, yy = 0, tx = 0, ty = 0;
  for (int i = 0; i < p.count; ++i) x0 += p.x[i] / p.count, y0 += p.y[i] / p.count, m += p.t[i] / p.count;
  for (int i = 0; i < p.count; ++i) {
    const double x = p.x[i] - x0, y = p.y[i] - y0;
    xx += x * x, xy += x * y, yy += y * y, tx += (p.t[i] - m) * x, ty += (p.t[i] - m) * y;
  }
  const double det = xx * yy - xy * xy;
  const double by_x = (tx * yy - ty * xy) / det, by_y = (ty * xx - tx * xy) / det;
  p.plane[0] = m - by_x * x0 - by_y * y0, p.plane[1] = by_y, p.plane[2] = -by_x;
  double off = 0, size = 0;
  for (int i = 0; i < p.count; ++i) {
    off = std::max(off, std::abs(p.plane[0] + by_x * p.x[i] + by_y * p.y[i] - p.t[i]));
    size = std::max(size, std::abs(p.t[i]));
  }
  p.planar = off <= 1e-12 * size;
}

void clear(const ContactProblem& problem, ContactResult& out) {
  out.status = ContactStatus::kOk;
  out.force.assign(std::size_t(problem.rows), 0.0);
  out.patches.assign(problem.patches.size(), PatchReport{});
  out.residual = out.energy = 0;
  out.restitution_factor = 1;
  out.tier = ContactTier::kNone;
  out.solves = out.sweeps = out.rank_deficiency = 0;
  out.painleve = false;
}

void report_patch(const kernel::PatchWork& p, const double* force, ContactTier tier, PatchReport& r) {
  r.mode = p.mode, r.slip = p.slip;
  r.tier = p.count > 0 ? tier : ContactTier::kNone;
  r.solves = p.solves, r.sweeps = p.sweeps, r.residual = p.residual;
  for (int a = 0; a < p.rows; ++a) r.wrench[std::size_t(a)] = force[a];
  if (p.mode == ContactMode::kOpen) return;
  if (p.mode == ContactMode::kPoint || p.rows == 3) {
    r.pressure_x = p.x[p.i0], r.pressure_y = p.y[p.i0];
  } else if (force[2] > 0) {
    r.pressure_x = -force[4] / force[2], r.pressure_y = force[3] / force[2];
  }
}

void report(const ContactProblem& problem, const kernel::ContactWork& k, ContactTier tier, ContactResult& out) {
  out.tier = tier;
  out.solves += k.solves, out.sweeps += k.sweeps;
  out.residual = k.residual;
  out.rank_deficiency = k.rank_deficiency;
  if (tier == ContactTier::kBest) out.status = ContactStatus::kNotConverged;
  for (int i = 0; i < k.n; ++i) out.force[std::size_t(i)] = k.f[i];
  for (std::size_t i = 0; i < problem.patches.size(); ++i) {
    report_patch(k.patches[i], k.f + k.patches[i].row, tier, out.patches[i]);
  }
}

}  // namespace contact
}  // namespace kansetsu
