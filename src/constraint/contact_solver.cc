#include "kansetsu/constraint/contact_solver.h"

#include <algorithm>
#include <cmath>

#include "constraint/contact_impl.h"

namespace kansetsu {

using contact::ContactStep;
using kernel::BoundWork;
using kernel::ContactWork;
using kernel::PatchWork;

ContactSolver::ContactSolver(const ContactOptions& o) : options(o), impl_(std::make_unique<Impl>()) {}
ContactSolver::ContactSolver(ContactSolver&&) noexcept = default;
ContactSolver& ContactSolver::operator=(ContactSolver&&) noexcept = default;
ContactSolver::~ContactSolver() = default;
void ContactSolver::reserve(int patches, int rows, int bounded) { impl_->reserve(patches, rows, bounded); }

namespace {

/// Least outcome of a touching vertex: penetration is undone with limited acceleration, what is apart may close.
double vertex_target(const ContactStep& s, const ContactVertex& v, double un, double bend) {
  const ContactOptions& o = s.options;
  if (v.gap < -o.slop) {
    const double omega = o.baumgarte / s.h, depth = -v.gap - o.slop, brake = o.a_low * s.gravity;
    // No faster than the brake can stop it where it comes out: v²/2 = brake·(depth − h·v).
    const double fastest = std::sqrt(brake * s.h * brake * s.h + 2 * brake * depth) - brake * s.h;
    const double law = omega * omega * depth - 2 * o.damping * omega * un;
    const double wanted = std::clamp(std::min(law, (fastest - un) / s.h), -brake, o.a_max * s.gravity);
    // The law itself never leaves faster than ω·depth: what does so bounces, and needs no help.
    const bool leaves = un > 2 * omega * depth;
    if (!s.end_of_step) return (leaves ? 0.0 : wanted) - bend;
    return leaves ? 0.0 : std::max(0.0, wanted + un / s.h);
  }
  if (v.gap > o.tol_gap) return -v.gap / (s.h * s.h) - (s.end_of_step ? 0.0 : un / s.h);  // anticipated
  return s.end_of_step ? 0.0 : -bend;
}

/// Slip before the step about a point of the patch: direction in the metric of the friction set.
void set_direction(const ContactOptions& o, PatchWork& p, const double* u, double px, double py, double arm) {
  const double wz = p.rows == 6 ? u[5] : 0.0;
  double U[3] = {u[0] - wz * py, u[1] + wz * px, arm * wz};
  if (o.friction_set == FrictionSet::kPaper) {
    const double v = std::hypot(U[0], U[1]), w = std::abs(U[2]);
    const double share = w > 0 ? std::exp(-v / w) : 0.0, along = v > 0 ? (1 - share) / v : 0.0;
    p.e[0] = along * U[0], p.e[1] = along * U[1], p.e[2] = std::copysign(share, U[2]);
    return;
  }
  const double size = std::sqrt(U[0] * U[0] + U[1] * U[1] + U[2] * U[2]);
  for (int i = 0; i < 3; ++i) p.e[i] = size > 0 ? U[i] / size : 0.0;
  p.U0 = size;
}

/// Whether the paper's spin mode applies: the patch turns about a centre inside it.
bool spins(const ContactOptions& o, const PatchWork& p, const double* u) {
  if (!o.paper_spin || o.friction_set != FrictionSet::kPaper || !p.spans || std::abs(u[5]) <= o.w_eps) return false;
  const double x = -u[1] / u[5], y = u[0] / u[5];
  for (int i = 0; i < p.count; ++i) {
    const int j = i + 1 < p.count ? i + 1 : 0;
    if (p.turn * ((p.x[j] - p.x[i]) * (y - p.y[i]) - (p.y[j] - p.y[i]) * (x - p.x[i])) < 0) return false;
  }
  return true;
}

void start_modes(PatchWork& p, const ContactMemory& memory) {
  p.i0 = p.i1 = 0;
  p.mode = p.count == 0   ? ContactMode::kOpen
           : p.count == 1 ? ContactMode::kPoint
           : p.spans      ? ContactMode::kSurface
                          : ContactMode::kLine;
  if (p.mode == ContactMode::kLine) p.i1 = 1;
  if (memory.has_jerked()) return;
  if (!memory.known || memory.mode == ContactMode::kSurface || memory.mode == ContactMode::kOpen) return;
  int closed[kernel::kMaxTouching], count = 0;
  for (int i = 0; i < p.count; ++i) {
    if (memory.closed >> p.id[i] & 1) closed[count++] = i;
  }
  if (memory.mode == ContactMode::kLine && count == 2) p.mode = ContactMode::kLine, p.i0 = closed[0], p.i1 = closed[1];
  if (memory.mode == ContactMode::kPoint && count == 1) p.mode = ContactMode::kPoint, p.i0 = p.i1 = closed[0];
}

void start_friction(const ContactStep& s, const ContactPatch& patch, const ContactMemory& memory, const double* u,
                    PatchWork& p) {
  const ContactOptions& o = s.options;
  const double mu_slip = std::min(patch.mu_dynamic, patch.mu_static);
  double x = 0, y = 0;
  if (memory.known && memory.wrench[2] > 0 && p.count > 1) {
    x = -memory.wrench[4] / memory.wrench[2], y = memory.wrench[3] / memory.wrench[2];
  } else if (p.count > 0) {
    for (int i = 0; i < p.count; ++i) x += p.x[i], y += p.y[i];
    x /= p.count, y /= p.count;
  }
  p.p0[0] = x, p.p0[1] = y;
  const double wz = p.rows == 6 ? u[5] : 0.0;
  const bool turns = p.count > 1 && std::abs(wz) > o.w_eps;
  const double vx = u[0] - wz * y, vy = u[1] + wz * x;
  const bool moves = vx * vx + vy * vy > o.v_eps * o.v_eps || turns;
  p.mu_slip = mu_slip;
  p.mu_hold = moves ? mu_slip : patch.mu_static;
  p.d = p.mode == ContactMode::kSurface ? p.arm
        : p.mode == ContactMode::kLine && p.arm > 0
            ? 0.25 * (p.spans ? std::hypot(p.x[p.i1] - p.x[p.i0], p.y[p.i1] - p.y[p.i0]) : p.length)
            : 0.0;
  p.dx = p.dy = 0;
  p.slip = SlipMode::kStick;
  p.newton = p.stopped = p.given = p.slid = false;
  if (!moves || p.mode == ContactMode::kOpen) return;
  p.slip = SlipMode::kSlide;
  set_direction(o, p, u, x, y, p.d);
  if (!s.end_of_step) {
    p.given = true;
    p.motion[0] = u[0], p.motion[1] = u[1], p.motion[2] = wz;
    if (spins(o, p, u)) {
      p.slip = SlipMode::kSpin, p.mu_hold = patch.mu_static;
      p.centre[0] = -u[1] / wz, p.centre[1] = u[0] / wz, p.e[2] = std::copysign(1.0, wz);
    }
  } else if (o.friction_set == FrictionSet::kEllipse && memory.known && memory.slip == SlipMode::kSlide &&
             memory.wrench[2] > 0 && mu_slip > 0) {
    p.newton = true;
    p.U0 /= s.h, p.fz0 = memory.wrench[2], p.wz0 = wz / s.h;
  }
}

}  // namespace

void contact::prepare_patch(const ContactStep& s, const ContactPatch& patch, const ContactMemory& memory,
                            const double* u, const double* a, PatchWork& p) {
  bool touches[ContactPatch::kMaxVertices];
  for (int i = 0; i < patch.vertex_count; ++i) {
    const ContactVertex& v = patch.vertices[std::size_t(i)];
    touches[i] = v.gap < s.options.tol_gap;
    if (!touches[i] && s.options.anticipate && patch.restitution == 0) {
      const double faster = a ? s.h * contact::vertex_velocity(patch, a, v) : 0.0;
      touches[i] = v.gap + s.h * (contact::vertex_velocity(patch, u, v) + faster) < 0;
    }
  }
  contact::collect(patch, touches, p);
  const bool bends = !s.end_of_step && patch.row_count == 6 && (u[3] != 0 || u[4] != 0);
  for (int i = 0; i < 3; ++i) p.omega[i] = bends ? u[3 + i] : 0.0;
  for (int i = 0; i < p.count; ++i) {
    const ContactVertex& v = patch.vertices[p.id[i]];
    const double bend = bends ? u[5] * (u[3] * v.x + u[4] * v.y) : 0.0;
    p.t[i] = vertex_target(s, v, contact::vertex_velocity(patch, u, v), bend);
  }
  contact::fit_targets(p);
  start_modes(p, memory);
  start_friction(s, patch, memory, u, p);
  for (int i = 0; i < 6; ++i) p.f[i] = 0;
  p.solves = p.sweeps = 0;
  p.residual = 0;
}

void contact::prepare_bound(const ContactStep& s, const BoundedRow& row, BoundWork& b) {
  b = {};
  b.row = row.row, b.lower = row.lower, b.upper = row.upper;
  b.t = row.target / s.h;
  if (row.has_gap) {
    // The way that is left may be used up; what is past the limit comes back, not faster than 2 rad/s or m/s.
    const double velocity = row.gap > 0 ? -row.gap / s.h : std::min(-s.options.baumgarte * row.gap / s.h, 2.0);
    b.t = velocity / s.h;
  }
  const double f = std::clamp(row.last_force, row.lower, row.upper);
  b.side = f <= row.lower ? -1 : f >= row.upper ? 1 : 0;
  b.f = b.side == 0 ? 0 : f;
}

void contact::remember(const PatchWork& p, const double* force, ContactMemory& m) {
  const ContactMemory before = m;
  m.known = true, m.mode = p.mode, m.slip = p.slip, m.closed = 0;
  for (int v = 0; v < p.count; ++v) {
    const bool on_surface = !p.three || v == p.corner[0] || v == p.corner[1] || v == p.corner[2];
    const bool closed =
        p.mode == ContactMode::kSurface ? on_surface : p.mode != ContactMode::kOpen && (v == p.i0 || v == p.i1);
    if (closed) m.closed = std::uint8_t(m.closed | 1u << p.id[v]);
  }
  for (int r = 0; r < 6; ++r) m.wrench[std::size_t(r)] = r < p.rows ? force[r] : 0.0;
  const bool same = before.known && before.mode == m.mode && before.slip == m.slip && before.closed == m.closed;
  m.steady = same ? std::uint8_t(std::min(before.steady + 1, 255)) : std::uint8_t(0);
  if (!same) m.stood = std::uint8_t(std::max<int>(before.steady, before.stood / 2));
}

namespace {

void remember_all(const ContactWork& k, std::span<ContactMemory> memory) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    contact::remember(k.patches[i], k.f + k.patches[i].row, memory[i]);
  }
}

/// Start of the sweeps: the forces of the last step where they push.
void warm_start(const ContactProblem& problem, std::span<const ContactMemory> memory, ContactWork& k) {
  for (int i = 0; i < k.n; ++i) k.start[i] = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    PatchWork& p = k.patches[i];
    if (p.count == 0 || !memory[i].known || !(memory[i].wrench[2] > 0)) continue;
    for (int r = 0; r < p.rows; ++r) k.start[p.row + r] = memory[i].wrench[std::size_t(r)];
  }
  for (std::size_t i = 0; i < problem.bounded.size(); ++i) {
    const BoundedRow& b = problem.bounded[i];
    k.start[b.row] = std::clamp(b.last_force, b.lower, b.upper);
  }
}

/// Forces that were not accepted may add energy, beyond what the correction of penetration takes: then all of them are cut by
/// one factor, so that they do not.
void shorten(const ContactProblem& problem, ContactWork& k) {
  const double h = problem.h;
  double given = 0, twice = 0, wanted = 0;  // h·fᵀ·(u + h·a/2), h²·fᵀ·G·f; what the targets allow
  for (int i = 0; i < k.n; ++i) {
    double answer = 0;
    for (int j = 0; j < k.n; ++j) answer += problem.G[i * problem.stride + j] * k.f[j];
    given += h * k.f[i] * (problem.u[i] + 0.5 * h * problem.a[i]);
    twice += h * h * k.f[i] * answer;
  }
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchWork& p = k.patches[i];
    double fastest = 0;
    for (int v = 0; v < p.count; ++v) fastest = std::max(fastest, p.t[v]);
    wanted += 0.5 * h * h * fastest * std::max(k.f[p.row + 2], 0.0);
  }
  for (int i = 0; i < k.bound_count; ++i) wanted += 0.5 * h * h * std::abs(k.bounds[i].t * k.f[k.bounds[i].row]);
  if (!(given + 0.5 * twice > wanted)) return;
  const double share = std::clamp((wanted - given) / (0.5 * twice), 0.0, 1.0);
  for (int i = 0; i < k.n; ++i) k.f[i] *= std::isfinite(share) ? share : 0;
}

}  // namespace

void ContactSolver::solve_contact(const ContactProblem& problem, std::span<ContactMemory> memory, ContactResult& out) {
  contact::check("solve_contact", problem, memory.size());
  contact::clear(problem, out);
  Impl& impl = *impl_;
  impl.start(problem, options);
  ContactWork& k = impl.work;
  k.bound_count = int(problem.bounded.size());
  k.scale = problem.h;
  k.push_tolerance = 0.1 * options.tolerance / problem.h;
  const ContactStep step{options, problem.h, problem.gravity, options.end_of_step};

  bool any = k.bound_count > 0;
  for (std::size_t i = 0; i < problem.patches.size(); ++i) {
    const int row = problem.patches[i].row;
    contact::prepare_patch(step, problem.patches[i], memory[i], problem.u + row, problem.a + row, k.patches[i]);
    any = any || k.patches[i].count > 0;
    k.changeable = k.changeable || (memory[i].known && memory[i].steady == 0 && !memory[i].has_jerked());
  }
  for (int i = 0; i < k.bound_count; ++i) contact::prepare_bound(step, problem.bounded[std::size_t(i)], k.bounds[i]);
  if (!any) {
    for (int i = 0; i < k.n; ++i) k.f[i] = 0;
    return remember_all(k, memory);
  }

  const double rate = 1 / problem.h;
  for (int i = 0; i < k.n; ++i) impl.c_end[i] = problem.a[i] + problem.u[i] * rate;
  k.c = impl.c_end;
  if (!options.end_of_step) {
    for (int i = 0; i < k.n; ++i) impl.c[i] = problem.a[i];
    for (const BoundedRow& b : problem.bounded) impl.c[b.row] = impl.c_end[b.row];
    k.c = impl.c;
  }

  warm_start(problem, memory, k);
  const kernel::ContactKernels& kernels = kernel::contact_kernels();
  ContactTier tier = ContactTier::kFast;
  bool done = options.start <= ContactTier::kFast && kernels.fast(k);
  out.painleve = k.indefinite;
  if (!done && options.start <= ContactTier::kActiveSet) {
    tier = ContactTier::kActiveSet;
    done = kernels.active_set(k);
  }
  if (!done) {
    if (!contact::finite(problem, true)) {
      out.status = ContactStatus::kBadInput;
      return;
    }
    tier = ContactTier::kComplementarity;
    k.c = impl.c_end;
    if (!options.end_of_step) {  // the sweeps work on velocities at the end of the step
      const ContactStep end{options, problem.h, problem.gravity, true};
      k.swept = false;
      for (std::size_t i = 0; i < problem.patches.size(); ++i) {
        const int row = problem.patches[i].row;
        contact::prepare_patch(end, problem.patches[i], memory[i], problem.u + row, problem.a + row, k.patches[i]);
      }
    }
    done = kernels.complementarity(k);
    if (!done) tier = ContactTier::kBest, shorten(problem, k);
  }
  contact::report(problem, k, tier, out);
  remember_all(k, memory);
}

}  // namespace kansetsu
