#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "constraint/contact_impl.h"
#include "kansetsu/base/error.h"

namespace kansetsu {

using kernel::BoundWork;
using kernel::LargeRow;
using kernel::LargeWork;
using kernel::PatchWork;

namespace {

void check(const SparseContactProblem& q, std::size_t memory, std::size_t velocities) {
  const char* name = "solve_contact_large";
  check_size(name, "rows", long(q.rows.size()), long(q.patches.size()));
  check_size(name, "bounded_rows", long(q.bounded_rows.size()), long(q.bounded.size()));
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
  for (const ContactPatch& p : q.patches) {
    if (p.row < 0 || p.row + p.row_count > q.rows_total || p.vertex_count < 1 ||
        p.vertex_count > ContactPatch::kMaxVertices ||
        (p.row_count != 6 && !(p.row_count == 3 && p.vertex_count == 1))) {
      throw Error(fmt::format("{}: a patch has rows {} to {} of {} and {} vertices", name, p.row, p.row + p.row_count,
                              q.rows_total, p.vertex_count));
    }
  }
}

void take_blocks(const SparsePatch& from, LargeRow& to) {
  to.parts = from.block_count;
  for (int b = 0; b < from.block_count; ++b) {
    to.part[b] = {from.block[b].offset, from.block[b].size, from.block[b].J, from.block[b].Y};
  }
}

void velocities(const SparsePatch& rows, int count, std::span<const double> v, double* out) {
  for (int r = 0; r < count; ++r) {
    out[r] = 0;
    for (int b = 0; b < rows.block_count; ++b) {
      const BodyBlock& block = rows.block[b];
      for (int c = 0; c < block.size; ++c) out[r] += block.J[r * block.size + c] * v[std::size_t(block.offset + c)];
    }
  }
}

}  // namespace

void ContactSolver::solve_contact_large(const SparseContactProblem& q, std::span<ContactMemory> memory,
                                        std::span<double> v, ContactResult& out) {
  check(q, memory.size(), v.size());
  ContactProblem sizes;
  sizes.rows = q.rows_total, sizes.patches = q.patches;
  contact::clear(sizes, out);
  Impl& impl = *impl_;
  const std::size_t count = q.patches.size(), bounds = q.bounded.size();
  if (impl.patches.size() < count) impl.patches.resize(count);
  if (impl.bounds.size() < bounds) impl.bounds.resize(bounds);
  if (impl.large.size() < count + bounds) impl.large.resize(count + bounds);
  bool finite = true;
  for (const double x : v) finite = finite && std::isfinite(x);
  if (!finite) {
    out.status = ContactStatus::kBadInput;
    return;
  }

  const contact::ContactStep step{options, q.h, q.gravity, true};
  for (std::size_t i = 0; i < count; ++i) {
    PatchWork& p = impl.patches[i];
    double u[6] = {0, 0, 0, 0, 0, 0};
    velocities(q.rows[i], q.patches[i].row_count, q.v_now, u);
    contact::prepare_patch(step, q.patches[i], memory[i], u, nullptr, p);
    for (int j = 0; j < p.count; ++j) p.t[j] *= q.h;  // to velocities
    for (double& t : p.plane) t *= q.h;
    LargeRow& row = impl.large[i];
    take_blocks(q.rows[i], row);
    const bool warm = p.count > 0 && memory[i].known && memory[i].wrench[2] > 0;
    for (std::size_t r = 0; r < 6; ++r) row.f[r] = warm ? q.h * memory[i].wrench[r] : 0.0;
  }
  for (std::size_t i = 0; i < bounds; ++i) {
    BoundWork& b = impl.bounds[i];
    contact::prepare_bound(step, q.bounded[i], b);
    b.t *= q.h, b.lower *= q.h, b.upper *= q.h;
    take_blocks(q.bounded_rows[i], impl.large[count + i]);
    impl.large[count + i].f[0] = std::clamp(q.h * q.bounded[i].last_force, b.lower, b.upper);
  }

  LargeWork k;
  k.patches = impl.patches.data(), k.patch_count = int(count);
  k.bounds = impl.bounds.data(), k.bound_count = int(bounds);
  k.rows = impl.large.data();
  k.v = v.data();
  k.set = options.friction_set;
  k.push_tolerance = 0.1 * options.sweep_tolerance;
  k.sweep_tolerance = options.sweep_tolerance;
  k.max_sweeps = options.max_sweeps_large;
  kernel::contact_kernels().large(k);

  out.sweeps = k.sweeps;
  out.residual = k.residual;
  out.tier = k.converged ? ContactTier::kComplementarity : ContactTier::kBest;
  if (!k.converged) out.status = ContactStatus::kNotConverged;
  for (std::size_t i = 0; i < count; ++i) {
    const PatchWork& p = impl.patches[i];
    double force[6];
    for (int r = 0; r < p.rows; ++r) {
      force[r] = impl.large[i].f[r] / q.h;
      out.force[std::size_t(p.row + r)] = force[r];
    }
    contact::report_patch(p, force, out.tier, out.patches[i]);
    contact::remember(p, force, memory[i]);
  }
  for (std::size_t i = 0; i < bounds; ++i) {
    const int row = q.bounded[i].row;
    if (row >= 0 && row < q.rows_total) out.force[std::size_t(row)] = impl.large[count + i].f[0] / q.h;
  }
}

}  // namespace kansetsu
