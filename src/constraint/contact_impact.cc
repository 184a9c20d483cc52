#include <algorithm>
#include <cmath>

#include "constraint/contact_impl.h"

namespace kansetsu {

using kernel::BoundWork;
using kernel::ContactWork;
using kernel::PatchWork;

namespace {

struct Impact {
  const ContactProblem& problem;
  const ContactOptions& options;
  const double* u;  ///< velocities before
  double v_rest;
  ContactSolver::Impl& impl;
};

/// Touching vertices, velocities after the impact as targets; factor: what the energy guard leaves of the restitution.
/// @return whether a vertex approaches
bool prepare_patch(const Impact& s, const ContactPatch& patch, double factor, PatchWork& p) {
  const double* u = s.u + patch.row;
  bool touches[ContactPatch::kMaxVertices];
  for (int i = 0; i < patch.vertex_count; ++i) touches[i] = patch.vertices[std::size_t(i)].gap < s.options.tol_gap;
  contact::collect(patch, touches, p);
  bool approaches = false;
  for (int i = 0; i < p.count; ++i) {
    const double un = contact::vertex_velocity(patch, u, patch.vertices[p.id[i]]);
    p.t[i] = un < -s.v_rest ? -factor * patch.restitution * un : 0.0;
    approaches = approaches || un < -s.options.v_impact;
  }
  p.mu = patch.mu_static, p.paper = s.options.friction_set == FrictionSet::kPaper;
  return approaches;
}

/// Joint limits that are reached. @return whether one approaches
bool prepare_bounds(const Impact& s, double factor, ContactWork& k) {
  k.bound_count = 0;
  bool approaches = false;
  for (const BoundedRow& row : s.problem.bounded) {
    if (!row.has_gap || row.gap > s.options.tol_gap) continue;
    BoundWork& b = k.bounds[k.bound_count++];
    b = {};
    const double u = s.u[row.row];
    b.row = row.row, b.lower = row.lower, b.upper = std::numeric_limits<double>::infinity();
    b.t = u < -s.v_rest ? -factor * row.restitution * u : 0.0;
    approaches = approaches || u < -s.options.v_impact;
  }
  return approaches;
}

/// One solve for all that is prepared, by the method of a time step.
ContactTier solve(const ContactOptions& options, ContactSolver::Impl& impl, double gravity_step) {
  const ContactWork& k = impl.work;
  double fastest = gravity_step;
  for (int i = 0; i < k.bound_count; ++i) fastest = std::max(fastest, std::abs(k.c[k.bounds[i].row]));
  for (int i = 0; i < k.patch_count; ++i) {
    for (int r = 0; r < 3 && k.patches[i].count > 0; ++r)
      fastest = std::max(fastest, std::abs(k.c[k.patches[i].row + r]));
  }
  return impl.solve_newton(1, options.tolerance * fastest, {});
}

/// ½·Λᵀ·(u⁻ + u⁺): what the impulses do to the kinetic energy.
double work_of(const ContactWork& k, const double* u, const double* outcome, int row, int rows) {
  double sum = 0;
  for (int i = row; i < row + rows; ++i) sum += 0.5 * k.f[i] * (u[i] + outcome[i]);
  return sum;
}

struct Solved {
  ContactTier tier = ContactTier::kNone;
  double energy = 0;
};

/// All at once. `only`: index of the one patch that takes part, −1: all.
Solved attempt(const Impact& s, double factor, int only, ContactWork& k) {
  for (std::size_t i = 0; i < s.problem.patches.size(); ++i) {
    prepare_patch(s, s.problem.patches[i], factor, k.patches[i]);
    if (only >= 0 && int(i) != only) k.patches[i].count = 0;
  }
  if (only < 0) prepare_bounds(s, factor, k);
  Solved r;
  r.tier = solve(s.options, s.impl, s.problem.gravity * s.problem.h);
  r.energy = work_of(k, s.u, k.w, 0, k.n);
  return r;
}

/// Impulses that were not accepted may create energy whatever the restitution: of s·Λ those that leave the least are taken.
void shorten(const Impact& s, ContactWork& k, Solved& r) {
  double given = 0, twice = 0;  // Λᵀ·u⁻, Λᵀ·G·Λ
  for (int i = 0; i < k.n; ++i) {
    given += k.f[i] * s.u[i];
    twice += k.f[i] * (k.w[i] - s.u[i]);
  }
  const double share = given < 0 && twice > 0 ? std::min(1.0, -given / twice) : 0;
  for (int i = 0; i < k.n; ++i) {
    k.f[i] *= share;
    k.w[i] = s.u[i] + share * (k.w[i] - s.u[i]);
  }
  r.energy = share * (given + 0.5 * share * twice);
}

/// Newton's law with stick can create energy; then the restitution is cut by one common factor until it does not.
Solved guarded(const Impact& s, int only, ContactWork& k, double& factor) {
  factor = 1;
  Solved r = attempt(s, 1, only, k);
  double scale = 0;
  for (int i = 0; i < k.n; ++i) scale += std::abs(k.f[i] * s.u[i]);
  const double limit = 1e-13 * scale;
  if (r.energy <= limit) return r;
  factor = 0;
  r = attempt(s, 0, only, k);
  if (r.energy > limit) {  // not the restitution does it
    shorten(s, k, r);
    return r;
  }
  double low = 0, high = 1;
  for (int n = 0; n < 60 && high - low > 1e-13; ++n) {
    const double middle = 0.5 * (low + high);
    (attempt(s, middle, only, k).energy > limit ? high : low) = middle;
  }
  factor = low;
  return attempt(s, low, only, k);
}

}  // namespace

void ContactSolver::solve_impact(const ContactProblem& problem, ContactResult& out) {
  contact::check("solve_impact", problem, problem.patches.size());
  contact::clear(problem, out);
  Impl& impl = *impl_;
  impl.start(problem);
  ContactWork& k = impl.work;
  for (int i = 0; i < problem.rows; ++i) impl.u[i] = problem.u[i];
  const Impact impact{problem, options, impl.u, options.rest_speed(problem.gravity, problem.h), impl};
  k.c = impl.u;

  const auto any_approaches = [&] {
    bool any = prepare_bounds(impact, 1, k);
    for (std::size_t i = 0; i < problem.patches.size(); ++i) {
      any = prepare_patch(impact, problem.patches[i], 1, k.patches[i]) || any;
    }
    return any;
  };
  if (!any_approaches()) return;
  if (!contact::finite(problem, false)) {
    out.status = ContactStatus::kBadInput;
    return;
  }

  Solved solved;
  if (options.sequential_impacts) {
    const int most = 100 * int(problem.patches.size());
    for (int n = 0; n < most && any_approaches(); ++n) {
      int first = 0;
      double least = 0;
      for (std::size_t i = 0; i < problem.patches.size(); ++i) {
        const ContactPatch& patch = problem.patches[i];
        for (int v = 0; v < k.patches[i].count; ++v) {
          const double un = contact::vertex_velocity(patch, impl.u + patch.row, patch.vertices[k.patches[i].id[v]]);
          if (un < least) least = un, first = int(i);
        }
      }
      if (!(least < -options.v_impact)) break;  // only joint limits are left
      k.bound_count = 0;
      double factor = 1;
      const Solved one = guarded(impact, first, k, factor);
      out.restitution_factor = std::min(out.restitution_factor, factor);
      solved.tier = std::max(solved.tier, one.tier);
      solved.energy += one.energy;
      for (int i = 0; i < k.n; ++i) {
        out.force[std::size_t(i)] += k.f[i];
        impl.u[i] = k.w[i];
      }
      out.solves += k.solves;
      k.solves = 0;
    }
  }
  ContactResult& r = out;
  const bool rest = any_approaches();
  if (rest) {
    double factor = 1;
    const Solved all = guarded(impact, -1, k, factor);
    r.restitution_factor = std::min(r.restitution_factor, factor);
    solved.tier = std::max(solved.tier, all.tier);
    solved.energy += all.energy;
  } else {
    for (int i = 0; i < k.n; ++i) k.f[i] = 0;
  }
  for (int i = 0; i < k.n; ++i) k.f[i] += r.force[std::size_t(i)];  // those before, one after the other
  contact::report(problem, k, solved.tier, r);
  r.energy = solved.energy;
  for (std::size_t i = 0; i < problem.patches.size(); ++i) {
    const PatchWork& p = k.patches[i];
    r.patches[i].energy = work_of(k, problem.u, rest ? k.w : impl.u, p.row, p.rows);
  }
}

}  // namespace kansetsu
