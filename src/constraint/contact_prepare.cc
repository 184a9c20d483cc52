#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/aligned_memory.h"
#include "constraint/contact_impl.h"
#include "constraint/contact_thresholds.h"
#include "constraint/tree_rows.h"
#include "kansetsu/base/error.h"

namespace kansetsu {

void ContactResult::reserve(int patch_capacity, int row_capacity) {
  patches.reserve(std::size_t(patch_capacity));
  force.reserve(std::size_t(row_capacity));
}

void ContactSolver::Impl::reserve(int patch_count, int rows, int bounded, int dense) {
  const auto grow = [](auto& v, int size) {
    if (v.size() < std::size_t(size)) v.resize(std::size_t(size));
  };
  grow(patches, patch_count), grow(bounds, bounded);
  const int padded = (rows + 7) / 8 * 8;
  grow(numbers, (dense + 4) * padded + 8);
  reserve_laws(patch_count, rows, bounded, dense);
}

void ContactSolver::Impl::start(const ContactProblem& problem) {
  const int n = problem.rows;
  reserve(int(problem.patches.size()), n, int(problem.bounded.size()), problem.tree ? 0 : n);
  kernel::ContactWork& k = work;
  k = {};
  k.n = n, k.tree = problem.tree;
  k.patches = patches.data(), k.patch_count = int(problem.patches.size());
  k.bounds = bounds.data();
  k.ldg = (n + 7) / 8 * 8;
  double* at = aligned(numbers.data());
  for (double** v : {&k.w, &k.f, &k.c, &u}) *v = std::exchange(at, at + k.ldg);
  if (problem.tree) return;
  if (problem.padded) {
    k.G = problem.G, k.ldg = problem.stride;
    return;
  }
  k.G = at;
  for (int i = 0; i < n; ++i, at += k.ldg) {
    const double* from = problem.G + i * problem.stride;
    std::copy(from, from + n, at);
    std::fill(at + n, at + k.ldg, 0.0);
  }
}

namespace contact {

void check(const char* function, const ContactProblem& problem, std::size_t memory_size) {
  if (problem.rows < 0 || (!problem.tree && problem.stride < problem.rows) || !(problem.h > 0)) {
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
  // With trees the own response of a row has met all that could be wrong with it.
  const bool matrix = problem.tree == nullptr;
  if (!kernel::newton_kernels().finite(matrix ? problem.G : problem.tree->own, problem.rows, matrix ? problem.rows : 8,
                                       matrix ? problem.stride : 8))
    return false;
  double sum = problem.h + problem.gravity;
  for (int i = 0; i < problem.rows; ++i) {
    sum += problem.u[i] * 0;
    if (with_acceleration) sum += problem.a[i] * 0;
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
  p = {};
  p.row = patch.row, p.rows = patch.row_count;
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
  p.spans = p.count >= 3 && std::abs(area) > kernel::threshold::kFlat * around;
  if (!p.spans && p.count >= 2) reduce_to_segment(p);
  p.arm = p.count > 1 || patch.vertex_count == 1 ? patch.arm : 0;
  for (int i = 0; i < p.count; ++i) p.centre[0] += p.x[i] / p.count, p.centre[1] += p.y[i] / p.count;
}

void clear(const ContactProblem& problem, ContactResult& out) {
  out.status = ContactStatus::kOk;
  out.force.assign(std::size_t(problem.rows), 0.0);
  out.patches.assign(problem.patches.size(), PatchReport{});
  out.residual = out.energy = 0;
  out.restitution_factor = 1;
  out.tier = ContactTier::kNone;
  out.solves = out.sweeps = 0;
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
  out.solves += k.solves;
  out.residual = k.residual;
  if (tier == ContactTier::kUnsolved) out.status = ContactStatus::kNotConverged;
  for (int i = 0; i < k.n; ++i) out.force[std::size_t(i)] = k.f[i];
  for (std::size_t i = 0; i < problem.patches.size(); ++i) {
    report_patch(k.patches[i], k.f + k.patches[i].row, tier, out.patches[i]);
  }
}

}  // namespace contact

int redundancy(const ContactProblem& problem, const ContactResult& result) {
  std::vector<int> rows;
  for (std::size_t i = 0; i < problem.patches.size(); ++i) {
    for (int r = 0; r < problem.patches[i].row_count && result.patches[i].wrench[2] > 0; ++r)
      rows.push_back(problem.patches[i].row + r);
  }
  const std::size_t n = rows.size();
  std::vector<double> A(n * n), own(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) A[i * n + j] = problem.G[rows[i] * problem.stride + rows[j]];
    own[i] = A[i * n + i];
  }
  int dropped = 0;
  for (std::size_t k = 0; k < n; ++k) {
    if (!(A[k * n + k] > kernel::threshold::kDependent * own[k])) {
      ++dropped;
      continue;
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] / A[k * n + k];
      for (std::size_t j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
    }
  }
  return dropped;
}

}  // namespace kansetsu
