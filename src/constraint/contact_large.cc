#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/aligned_memory.h"
#include "constraint/contact_impl.h"
#include "constraint/contact_thresholds.h"
#include "kansetsu/base/error.h"

namespace kansetsu {

using kernel::BoundWork;
using kernel::LawWork;
using kernel::PatchLaw;
using kernel::PatchWork;
using kernel::SweepJoint;
using kernel::SweepRows;
using kernel::SweepWork;
using namespace kernel::threshold;

namespace {

void check(const SparseContactProblem& q, std::size_t memory, std::size_t velocities) {
  const char* name = "solve_contact_large";
  check_size(name, "rows", long(q.rows.size()), long(q.patches.size()));
  check_size(name, "bounded_rows", long(q.bounded_rows.size()), long(q.bounded.size()));
  check_size(name, "bilateral_rows", long(q.bilateral_rows.size()), long(q.bilateral.size()));
  check_size(name, "memory", long(memory), long(q.patches.size()));
  check_size(name, "v", long(velocities), long(q.v_now.size()));
  if (!(q.h > 0)) throw Error(fmt::format("{}: h is {}, expected a positive step", name, q.h));
  const auto check_blocks = [&](const SparsePatch& rows) {
    for (int b = 0; b < rows.block_count; ++b) {
      const BodyBlock& block = rows.block[b];
      if (block.offset < 0 || block.size < 0 || std::size_t(block.offset + block.size) > velocities) {
        throw Error(fmt::format("{}: a block covers velocities {} to {} of {}", name, block.offset,
                                block.offset + block.size, velocities));
      }
    }
  };
  for (const SparsePatch& rows : q.rows) check_blocks(rows);
  for (const SparsePatch& rows : q.bounded_rows) check_blocks(rows);
  for (const SparsePatch& rows : q.bilateral_rows) check_blocks(rows);
  for (const ContactPatch& p : q.patches) {
    if (p.row < 0 || p.row + p.row_count > q.rows_total || p.vertex_count < 1 ||
        p.vertex_count > ContactPatch::kMaxVertices ||
        (p.row_count != 6 && !(p.row_count == 3 && p.vertex_count == 1))) {
      throw Error(fmt::format("{}: a patch has rows {} to {} of {} and {} vertices", name, p.row, p.row + p.row_count,
                              q.rows_total, p.vertex_count));
    }
  }
}

int whole_packs(int size) { return (size + 7) / 8 * 8; }

void velocities(const SweepRows& rows, const double* v, double* out) {
  for (int r = 0; r < rows.count; ++r) {
    out[r] = 0;
    for (int b = 0; b < rows.parts; ++b) {
      const SweepRows::Part& part = rows.part[b];
      for (int c = 0; c < part.size; ++c) out[r] += part.J[r * part.padded + c] * v[part.offset + c];
    }
  }
}

/// Of a symmetric positive semidefinite block; what depends on rows before it, is left out.
void invert_block(const SweepRows& rows, SweepJoint& joint) {
  const int n = rows.count;
  double A[6][12] = {};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) A[i][j] = rows.D[8 * i + j];
    A[i][n + i] = 1;
  }
  for (int k = 0; k < n; ++k) {
    if (!(A[k][k] > kDependent * rows.D[9 * k])) {
      for (int j = 0; j < 2 * n; ++j) A[k][j] = 0;
      for (int i = 0; i < n; ++i) A[i][k] = A[i][n + k] = 0;
      continue;
    }
    const double inverse = 1 / A[k][k];
    for (int j = 0; j < 2 * n; ++j) A[k][j] *= inverse;
    for (int i = 0; i < n; ++i) {
      const double factor = A[i][k];
      if (i == k || factor == 0) continue;
      for (int j = 0; j < 2 * n; ++j) A[i][j] -= factor * A[k][j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) joint.inverse[6 * i + j] = A[i][n + j];
  }
}

}  // namespace

/// Where the velocities of the figures that rows touch go, and room for their blocks.
void ContactSolver::Impl::place_figures(const SparseContactProblem& q) {
  heap_place.assign(q.v_now.size(), -1);
  heap_figures.clear();
  std::size_t needed = 0;
  const auto look = [&](std::span<const SparsePatch> all, auto&& count) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (int b = 0; b < all[i].block_count; ++b) {
        const BodyBlock& block = all[i].block[b];
        if (block.size == 0) continue;
        heap_place[std::size_t(block.offset)] = block.size;
        needed += std::size_t(2 * count(i) * whole_packs(block.size) + 8 * block.size);
      }
    }
  };
  look(q.rows, [&](std::size_t i) { return q.patches[i].row_count; });
  look(q.bounded_rows, [](std::size_t) { return 1; });
  look(q.bilateral_rows, [&](std::size_t i) { return q.bilateral[i].row_count; });
  int at = 0;
  for (std::size_t offset = 0; offset < heap_place.size(); ++offset) {
    const int size = heap_place[offset];
    if (size < 0) continue;
    heap_figures.push_back({int(offset), size, at});
    heap_place[offset] = std::exchange(at, at + whole_packs(size));
  }
  heap_velocities = at;
  if (block_numbers.size() < needed + 8) block_numbers.resize(needed + 8);
  block_next = aligned(block_numbers.data());
}

/// Blocks as lines of whole packs.
void ContactSolver::Impl::take_blocks(const SparsePatch& from, int count, SweepRows& to) {
  to.parts = from.block_count, to.count = count;
  for (int b = 0; b < from.block_count; ++b) {
    const BodyBlock& block = from.block[b];
    const int size = block.size, padded = whole_packs(size);
    double *J = block_next, *Y = J + count * padded, *columns = Y + count * padded;
    block_next = columns + 8 * size;
    std::fill(J, block_next, 0.0);
    for (int r = 0; r < count; ++r) {
      for (int i = 0; i < size; ++i) {
        J[r * padded + i] = columns[8 * i + r] = block.J[r * size + i];
        Y[r * padded + i] = block.Y[r * size + i];
      }
    }
    to.part[b] = {size > 0 ? heap_place[std::size_t(block.offset)] : 0, size, padded, J, Y, columns};
  }
  kernel::newton_kernels().own_block(to);
}

void ContactSolver::Impl::read_velocities(std::span<const double> from, double* to) const {
  std::fill(to, to + heap_velocities, 0.0);
  for (const HeapFigure& f : heap_figures) std::copy_n(from.data() + f.offset, f.size, to + f.place);
}
void ContactSolver::Impl::write_velocities(const double* from, std::span<double> to) const {
  for (const HeapFigure& f : heap_figures) std::copy_n(from + f.place, f.size, to.data() + f.offset);
}

/// Blocks, laws and memory of a heap; unknowns are zero.
SweepWork ContactSolver::Impl::begin_sweeps(const SparseContactProblem& q) {
  place_figures(q);
  SweepWork s;
  s.patch_count = int(q.patches.size()), s.bound_count = int(q.bounded.size()), s.joint_count = int(q.bilateral.size());
  s.velocities = heap_velocities;
  const auto grow = [](auto& v, int size) {
    if (v.size() < std::size_t(size)) v.resize(std::size_t(size));
  };
  grow(patches, s.patch_count), grow(laws, s.patch_count);
  grow(bounds, s.bound_count), grow(bound_laws, s.bound_count);
  grow(sweep_joints, s.joint_count), grow(sweep_rows, s.patch_count + s.bound_count + s.joint_count);
  s.unknowns = 4 * ContactPatch::kMaxVertices * s.patch_count + s.bound_count + 6 * s.joint_count;
  const std::size_t needed =
      std::size_t(s.unknowns) * (4 + 2 * SweepWork::kDepth) + std::size_t(3 * s.velocities + s.patch_count) + 8;
  if (sweep_numbers.size() < needed) sweep_numbers.resize(needed);
  double* next = aligned(sweep_numbers.data());
  const auto take = [&next](int count) { return std::exchange(next, next + count); };
  s.v = take(s.velocities), sweep_free = take(s.velocities), sweep_now = take(s.velocities);
  s.v_free = sweep_free, s.residual_of = take(s.patch_count);
  sweep_memory = next;
  s.patches = laws.data(), s.bounds = bound_laws.data(), s.joints = sweep_joints.data(), s.rows = sweep_rows.data();
  return s;
}

/// Once the number of unknowns is known.
void ContactSolver::Impl::place_unknowns(SweepWork& s, int unknowns) {
  s.unknowns = unknowns;
  double* next = sweep_memory;
  const auto take = [&next](int count) { return std::exchange(next, next + count); };
  for (double** x : {&s.x, &s.start, &s.change, &s.result}) *x = take(unknowns);
  s.changes = take(SweepWork::kDepth * unknowns), s.results = take(SweepWork::kDepth * unknowns);
  std::fill(s.x, s.x + 4L * unknowns, 0.0);
}

void ContactSolver::Impl::refine_sweeps(const SparseContactProblem& q, double tolerance, long most_products) {
  SweepWork& s = sweeps;
  const std::size_t count = std::size_t(s.patch_count + s.bound_count + s.joint_count);
  heap_bodies.clear();
  for (const BodyMass& m : q.bodies) {
    const int place = heap_place[std::size_t(m.offset)];
    if (place >= 0) heap_bodies.push_back({place, m.size, m.M});
  }
  const kernel::BodyPlan& plan = planner.plan(heap_bodies, std::span(sweep_rows).first(count));
  LawWork k;
  k.patches = s.patches, k.patch_count = s.patch_count, k.unknowns = s.unknowns;
  row_laws.assign(s.bounds, s.bounds + s.bound_count);
  for (int i = 0; i < s.bound_count; ++i) row_laws[std::size_t(i)].row = plan.row[s.patch_count + i];
  for (int i = 0; i < s.joint_count; ++i) {
    const int block = s.patch_count + s.bound_count + i;
    const SweepRows& rows = s.rows[block];
    for (int r = 0; r < rows.count; ++r) {
      const double own = rows.D[9 * r], far = std::numeric_limits<double>::infinity();
      row_laws.push_back({.row = plan.row[block] + r,
                          .at = s.joints[i].at + r,
                          .lower = -far,
                          .upper = far,
                          .t = s.joints[i].t[r],
                          .rho = own > 0 ? 1 / own : 0});
    }
  }
  for (int i = 0; i < s.patch_count; ++i) s.patches[i].row = plan.row[i];
  k.bounds = row_laws.data(), k.bound_count = int(row_laws.size());
  k.rows = count > 0 ? plan.row[count - 1] + s.rows[count - 1].count : 0;
  k.tolerance = tolerance, k.acceptable = 3 * tolerance, k.far = true;
  k.most_systems =
      int(std::clamp(most_products / std::max(plan.products, 1L), long(kFewestSystems), long(kMostSystems)));
  const std::size_t rows = std::size_t(k.rows + 15) / 8 * 8, unknowns = std::size_t(k.unknowns + 7) / 8 * 8;
  if (row_numbers.size() < 7 * rows + 6 * unknowns) row_numbers.resize(7 * rows + 6 * unknowns);
  double* next = row_numbers.data();
  for (double** x : {&k.before, &k.dx, &k.phi, &k.centre, &k.best}) *x = std::exchange(next, next + unknowns);
  for (double** x : {&k.r, &k.w, &k.q, &k.dr, &k.dw, &k.w_before}) *x = std::exchange(next, next + rows);
  double* const free = next;
  for (std::size_t i = 0; i < count; ++i) velocities(s.rows[i], s.v_free, free + plan.row[i]);
  k.c = free, k.x = s.x;
  kernel::newton_kernels().bodies(k, s, plan);
  s.systems = k.systems;
  kernel::SweepWork look = s;  // velocities and residuals of what was found
  look.most = 0, look.sweeps = 0;
  kernel::newton_kernels().sweeps(look);
  s.residual = look.residual;
}

void ContactSolver::solve_contact_large(const SparseContactProblem& q, std::span<ContactMemory> memory,
                                        std::span<double> v, ContactResult& out) {
  check(q, memory.size(), v.size());
  ContactProblem sizes;
  sizes.rows = q.rows_total, sizes.patches = q.patches;
  contact::clear(sizes, out);
  Impl& impl = *impl_;
  if (!std::ranges::all_of(v, [](double x) { return std::isfinite(x); })) {
    out.status = ContactStatus::kBadInput;
    return;
  }
  SweepWork& s = impl.sweeps = impl.begin_sweeps(q);
  impl.read_velocities(v, impl.sweep_free);
  impl.read_velocities(q.v_now, impl.sweep_now);
  const contact::ContactStep step{options, q.h, q.gravity, true};
  int unknowns = 0;
  double fastest = std::max(q.gravity * q.h, kLeastSpeed);
  for (int i = 0; i < s.patch_count; ++i) {
    const ContactPatch& patch = q.patches[std::size_t(i)];
    PatchWork& p = impl.patches[std::size_t(i)];
    SweepRows& rows = impl.sweep_rows[std::size_t(i)];
    impl.take_blocks(q.rows[std::size_t(i)], patch.row_count, rows);
    double u[6] = {0, 0, 0, 0, 0, 0}, next[6], a[6];
    velocities(rows, impl.sweep_now, u);
    velocities(rows, impl.sweep_free, next);
    for (int r = 0; r < 6; ++r) a[r] = r < rows.count ? (next[r] - u[r]) / q.h : 0;
    contact::prepare_patch(step, patch, memory[std::size_t(i)], u, a, p);
    for (int r = 0; r < 3 && p.count > 0; ++r) fastest = std::max(fastest, std::abs(next[r]));
    impl.laws[std::size_t(i)].at = unknowns;
    unknowns += 4 * p.count;
  }
  const int bounds_at = unknowns;
  unknowns += s.bound_count;
  for (int i = 0; i < s.joint_count; ++i) {
    impl.sweep_joints[std::size_t(i)].at = unknowns;
    unknowns += q.bilateral[std::size_t(i)].row_count;
  }
  impl.place_unknowns(s, unknowns);
  double most = 0;
  for (const SweepRows& rows : std::span(impl.sweep_rows).first(std::size_t(s.patch_count)))
    most = std::max(most, rows.D[18]);
  const double least = kernel::threshold::kImmovable * most;
  for (int i = 0; i < s.patch_count; ++i) {
    PatchLaw& law = impl.laws[std::size_t(i)];
    contact::set_vertices(impl.patches[std::size_t(i)], &memory[std::size_t(i)], q.h, law, s.x + law.at);
    contact::set_scales(impl.sweep_rows[std::size_t(i)].D, 8, least, law);
  }
  for (int i = 0; i < s.bound_count; ++i) {
    const BoundedRow& row = q.bounded[std::size_t(i)];
    SweepRows& rows = impl.sweep_rows[std::size_t(s.patch_count + i)];
    impl.take_blocks(q.bounded_rows[std::size_t(i)], 1, rows);
    BoundWork& b = impl.bounds[std::size_t(i)];
    contact::prepare_bound(step, row, b);
    impl.bound_laws[std::size_t(i)] = {.row = row.row,
                                       .at = bounds_at + i,
                                       .lower = b.lower,
                                       .upper = b.upper,
                                       .t = b.t,
                                       .rho = rows.D[0] > 0 ? 1 / rows.D[0] : 0};
    s.x[bounds_at + i] = b.f;
  }
  for (int i = 0; i < s.joint_count; ++i) {
    const BilateralBlock& block = q.bilateral[std::size_t(i)];
    SweepRows& rows = impl.sweep_rows[std::size_t(s.patch_count + s.bound_count + i)];
    SweepJoint& joint = impl.sweep_joints[std::size_t(i)];
    impl.take_blocks(q.bilateral_rows[std::size_t(i)], block.row_count, rows);
    invert_block(rows, joint);
    for (int r = 0; r < block.row_count; ++r) {
      joint.t[r] = block.target[std::size_t(r)];
      s.x[joint.at + r] = q.h * block.last_force[std::size_t(r)];
    }
  }
  s.tolerance = kHeapAim * options.sweep_tolerance * fastest;
  s.most = q.bodies.empty() ? options.max_sweeps_large : kFirstSweeps;
  kernel::newton_kernels().sweeps(s);
  if (s.residual > s.tolerance && !q.bodies.empty()) impl.refine_sweeps(q, s.tolerance, options.max_products_large);

  impl.write_velocities(s.v, v);
  out.sweeps = s.sweeps, out.solves = s.systems, out.residual = s.residual;
  const double accepted = options.sweep_tolerance * fastest;
  const bool solved = s.residual <= accepted;
  out.tier = solved ? ContactTier::kProximal : ContactTier::kUnsolved;
  if (!solved) out.status = ContactStatus::kNotConverged;
  for (int i = 0; i < s.patch_count; ++i) {
    PatchWork& p = impl.patches[std::size_t(i)];
    const PatchLaw& law = impl.laws[std::size_t(i)];
    double force[6] = {0, 0, 0, 0, 0, 0}, w[6];
    kernel::add_impulses(law, s.x + law.at, force);
    velocities(impl.sweep_rows[std::size_t(i)], s.v, w);
    contact::read_states(law, s.x + law.at, w, 10 * accepted, p);
    for (int r = 0; r < p.rows; ++r) out.force[std::size_t(p.row + r)] = force[r] /= q.h;
    for (auto& vertex : p.force) {
      for (double& f : vertex) f /= q.h;
    }
    p.sweeps = s.sweeps, p.solves = s.systems, p.residual = s.residual_of[i];
    const ContactTier tier = p.residual <= accepted ? ContactTier::kProximal : ContactTier::kUnsolved;
    contact::report_patch(p, force, tier, out.patches[std::size_t(i)]);
    contact::remember(p, force, memory[std::size_t(i)]);
  }
  for (int i = 0; i < s.bound_count; ++i)
    out.force[std::size_t(q.bounded[std::size_t(i)].row)] = s.x[bounds_at + i] / q.h;
  for (int i = 0; i < s.joint_count; ++i) {
    const BilateralBlock& block = q.bilateral[std::size_t(i)];
    for (int r = 0; r < block.row_count; ++r)
      out.force[std::size_t(block.row + r)] = s.x[impl.sweep_joints[std::size_t(i)].at + r] / q.h;
  }
}

bool ContactSolver::solve_positions_large(const SparseContactProblem& q, std::span<double> way) {
  Impl& impl = *impl_;
  SweepWork& s = impl.sweeps;
  double longest = 0;
  const double far = 1e30;
  for (int i = 0; i < s.patch_count; ++i) {
    PatchLaw& law = impl.laws[std::size_t(i)];
    const PatchWork& p = impl.patches[std::size_t(i)];
    double w[6];
    velocities(impl.sweep_rows[std::size_t(i)], s.v, w);
    for (int v = 0; v < law.count; ++v) {
      const double gap = q.patches[std::size_t(i)].vertices[p.id[v]].gap;
      const double out = contact::way_out(options, -gap - options.slop, q.h, q.h * kernel::contact_velocity(p, w, v));
      law.vertex[v].t = std::max(out, -far), longest = std::max(longest, out);
    }
    law.mu = 0;
  }
  for (int i = 0; i < s.bound_count; ++i) {
    const BoundedRow& row = q.bounded[std::size_t(i)];
    kernel::BoundLaw& b = impl.bound_laws[std::size_t(i)];
    double w;
    velocities(impl.sweep_rows[std::size_t(s.patch_count + i)], s.v, &w);
    const double out = row.has_gap ? contact::way_out(options, -row.gap, q.h, q.h * w) : -far;
    b.t = std::max(out, -far), longest = std::max(longest, out);
    b.lower = 0, b.upper = row.has_gap ? std::numeric_limits<double>::infinity() : 0;
  }
  if (!(longest > kShortestWay)) return false;
  for (int i = 0; i < s.joint_count; ++i) std::fill_n(impl.sweep_joints[std::size_t(i)].t, 6, 0.0);
  std::fill(s.x, s.x + s.unknowns, 0.0);
  std::fill(impl.sweep_free, impl.sweep_free + s.velocities, 0.0);
  s.most = options.max_sweeps_large / 2, s.sweeps = 0;
  s.tolerance = kHeapWayTolerance * longest;
  kernel::newton_kernels().sweeps(s);
  std::ranges::fill(way, 0.0);
  impl.write_velocities(s.v, way);
  return true;
}

}  // namespace kansetsu
