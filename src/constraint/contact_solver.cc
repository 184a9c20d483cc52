#include "kansetsu/constraint/contact_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "constraint/contact_impl.h"
#include "constraint/contact_thresholds.h"

namespace kansetsu {

using contact::ContactStep;
using kernel::BoundWork;
using kernel::ContactWork;
using kernel::PatchWork;
using namespace kernel::threshold;

ContactSolver::ContactSolver(const ContactOptions& o) : options(o), impl_(std::make_unique<Impl>()) {}
ContactSolver::ContactSolver(ContactSolver&&) noexcept = default;
ContactSolver& ContactSolver::operator=(ContactSolver&&) noexcept = default;
ContactSolver::~ContactSolver() = default;
void ContactSolver::reserve(int patches, int rows, int bounded) { impl_->reserve(patches, rows, bounded, rows); }
void ContactSolver::limit_systems(int count) { impl_->systems_left = count; }

namespace {

/// Least outcome of a touching vertex: what is apart may close. At acceleration level penetration is undone with limited acceleration; at the
/// end of a step solve_positions() does that.
double vertex_target(const ContactStep& s, const ContactVertex& v, double un, double bend) {
  const ContactOptions& o = s.options;
  if (v.gap < -o.slop && !s.end_of_step) {
    const double omega = o.baumgarte / s.h, depth = -v.gap - o.slop, brake = o.a_low * s.gravity;
    // No faster than the brake can stop it where it comes out: v²/2 = brake·(depth − h·v).
    const double fastest = std::sqrt(brake * s.h * brake * s.h + 2 * brake * depth) - brake * s.h;
    const double law = omega * omega * depth - 2 * o.damping * omega * un;
    const double wanted = std::clamp(std::min(law, (fastest - un) / s.h), -brake, o.a_max * s.gravity);
    // The law itself never leaves faster than ω·depth: what does so bounces, and needs no help.
    const bool leaves = un > 2 * omega * depth;
    return (leaves ? 0.0 : wanted) - bend;
  }
  if (v.gap > o.tol_gap) return -v.gap / (s.h * s.h) - (s.end_of_step ? 0.0 : un / s.h);  // anticipated
  return s.end_of_step ? 0.0 : -bend;
}

/// Whether the paper's spin mode applies: the patch turns about a centre inside it.
bool spins(const ContactOptions& o, const PatchWork& p, const double* u) {
  if (!o.paper_spin || !p.paper || !p.spans || std::abs(u[5]) <= o.w_eps) return false;
  const double x = -u[1] / u[5], y = u[0] / u[5];
  for (int i = 0; i < p.count; ++i) {
    const int j = i + 1 < p.count ? i + 1 : 0;
    if (p.turn * ((p.x[j] - p.x[i]) * (y - p.y[i]) - (p.y[j] - p.y[i]) * (x - p.x[i])) < 0) return false;
  }
  return true;
}

/// Friction acts around the last centre of pressure, if there is one; collect() has set the middle.
void set_centre(const ContactMemory& memory, PatchWork& p) {
  if (!memory.known || !(memory.wrench[2] > 0)) return;
  p.centre[0] = -memory.wrench[4] / memory.wrench[2], p.centre[1] = memory.wrench[3] / memory.wrench[2];
}

/// Coefficient of friction, and the slip where the law takes that of the velocities before the step.
void set_friction(const ContactStep& s, const ContactPatch& patch, const double* u, PatchWork& p) {
  const ContactOptions& o = s.options;
  const double x = p.centre[0], y = p.centre[1];
  const double mu_slip = std::min(patch.mu_dynamic, patch.mu_static), wz = p.rows == 6 ? u[5] : 0.0;
  const double vx = u[0] - wz * y, vy = u[1] + wz * x;
  p.paper = o.friction_set == FrictionSet::kPaper, p.known = kernel::KnownSlip::kNone;
  if (s.end_of_step && !p.paper) {
    // Stribeck: by the slip before the step, so that every step has one coefficient and a solution.
    const double slip = patch.mu_static > mu_slip ? std::hypot(vx, vy, p.arm * wz) / o.v_stribeck : 0;
    p.mu = mu_slip + (patch.mu_static - mu_slip) * std::exp(-slip * slip);
    return;
  }
  const bool turns = p.count > 1 && std::abs(wz) > o.w_eps;
  const bool moves = vx * vx + vy * vy > o.v_eps * o.v_eps || turns;
  p.mu = moves || p.begins ? mu_slip : patch.mu_static;
  // What friction may stop within the step has no slip that could be known before it: it would be turned round. How it stops is left
  // to the engine's own law, which is a projection.
  const double stops = s.end_of_step ? kStopped * mu_slip * s.gravity * s.h : 0;
  const bool fast = std::hypot(vx, vy) > stops || p.arm * std::abs(wz) > stops;
  if (moves && !fast) p.paper = false;
  if (!moves || !fast) return;
  p.known = kernel::KnownSlip::kSlide;
  p.motion[0] = u[0], p.motion[1] = u[1], p.motion[2] = wz;
  if (p.begins || !spins(o, p, u)) return;
  p.known = kernel::KnownSlip::kSpin;
  p.mu = patch.mu_static, p.mu_spin = mu_slip;
  p.centre[0] = -u[1] / wz, p.centre[1] = u[0] / wz;
}

}  // namespace

void contact::prepare_patch(const ContactStep& s, const ContactPatch& patch, const ContactMemory& memory,
                            const double* u, const double* a, PatchWork& p) {
  // What stops one vertex turns the others down, as fast as that one came: all that are within reach of the fastest take part.
  double reach = s.options.tol_gap;
  if (s.options.anticipate) {
    double fastest = 0;
    for (int i = 0; i < patch.vertex_count; ++i) {
      const ContactVertex& v = patch.vertices[std::size_t(i)];
      const double faster = a ? s.h * contact::vertex_velocity(patch, a, v) : 0.0;
      fastest = std::max(fastest, std::abs(contact::vertex_velocity(patch, u, v) + faster));
    }
    reach = std::max(reach, kAhead * s.h * (fastest + s.h * s.gravity));
  }
  bool touches[ContactPatch::kMaxVertices];
  for (int i = 0; i < patch.vertex_count; ++i) touches[i] = patch.vertices[std::size_t(i)].gap < reach;
  const bool begins = p.begins;
  contact::collect(patch, touches, p);
  p.begins = begins;
  const bool bends = !s.end_of_step && patch.row_count == 6;
  for (int i = 0; i < p.count; ++i) {
    const ContactVertex& v = patch.vertices[p.id[i]];
    const double bend = bends ? u[5] * (u[3] * v.x + u[4] * v.y) : 0.0;
    p.t[i] = s.h * vertex_target(s, v, contact::vertex_velocity(patch, u, v), bend);
  }
  if (p.count > 1 && p.rows == 6) set_centre(memory, p);
  set_friction(s, patch, u, p);
}

void contact::prepare_bound(const ContactStep& s, const BoundedRow& row, BoundWork& b) {
  b = {.row = row.row, .lower = s.h * row.lower, .upper = s.h * row.upper, .t = row.target};
  if (row.has_gap) b.t = row.gap > 0 ? -row.gap / s.h : 0;  // the way that is left may be used up
  b.f = std::clamp(s.h * row.last_force, b.lower, b.upper);
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
  m.force = {};
  for (int v = 0; v < p.count; ++v) m.force[p.id[v]] = {p.force[v][0], p.force[v][1], p.force[v][2]};
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

/// Forces of the last attempt to begin with; what begins to slide has friction of motion from then on. @return how far a centre of pressure
/// has moved [m]; 1 where there was none, or a state has changed
double follow_pressure(const ContactWork& k, double h, std::span<ContactMemory> memory) {
  double moved = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    ContactMemory& m = memory[std::size_t(i)];
    const double* f = k.f + p.row;
    if (p.slip == SlipMode::kSlide && p.known == kernel::KnownSlip::kNone && !p.begins) p.begins = true, moved = 1;
    if (p.rows < 6 || p.count < 2 || !(f[2] > 0)) continue;
    const bool known = m.known && m.wrench[2] > 0;
    const double x = known ? -m.wrench[4] / m.wrench[2] : 0, y = known ? m.wrench[3] / m.wrench[2] : 0;
    moved = std::max({moved, std::abs(-f[4] / f[2] - x), std::abs(f[3] / f[2] - y), known ? 0.0 : 1.0});
    m.known = true;
    for (std::size_t r = 0; r < 6; ++r) m.wrench[r] = f[r] / h;
    for (int v = 0; v < p.count; ++v) m.force[p.id[v]] = {p.force[v][0] / h, p.force[v][1] / h, p.force[v][2] / h};
  }
  return moved;
}

/// [NY00] (31), (32): a patch that turns and whose centre friction of rest cannot hold begins to slide.
/// @return whether there is one
bool begin_to_slide(const ContactWork& k, ContactTier tier) {
  constexpr double kRounding = 1e-9;
  bool any = false;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    if (p.known != kernel::KnownSlip::kSpin) continue;
    const double* f = k.f + p.row;
    const bool holds = std::hypot(f[0], f[1]) <= (1 - kRounding) * p.mu * f[2];
    if (!holds || tier == ContactTier::kUnsolved) p.begins = any = true;
  }
  return any;
}

}  // namespace

double contact::way_out(const ContactOptions& o, double depth, double h, double already) {
  if (!(depth > 0)) return -std::numeric_limits<double>::infinity();
  return std::min(o.push_share * depth, h * (o.push_speed + kDeep * depth)) - already;
}

bool ContactSolver::solve_positions(const ContactProblem& problem, ContactResult& out) {
  Impl& impl = *impl_;
  ContactWork& k = impl.work;  // velocities and touching vertices are those of solve_contact()
  constexpr double kFar = 1e30;
  double longest = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    const ContactPatch& patch = problem.patches[std::size_t(i)];
    for (int v = 0; v < p.count; ++v) {
      const double velocity = kernel::contact_velocity(p, k.w + p.row, v);
      const double way =
          contact::way_out(options, -patch.vertices[p.id[v]].gap - options.slop, problem.h, problem.h * velocity);
      p.t[v] = std::max(way, -kFar), longest = std::max(longest, way);
    }
    p.mu = 0;
  }
  for (int i = 0; i < k.bound_count; ++i) {
    const BoundedRow& row = problem.bounded[std::size_t(i)];
    BoundWork& b = k.bounds[i];
    const double way = row.has_gap ? contact::way_out(options, -row.gap, problem.h, problem.h * k.w[row.row]) : -kFar;
    b.t = std::max(way, -kFar), longest = std::max(longest, way);
    b.lower = 0, b.upper = row.has_gap ? std::numeric_limits<double>::infinity() : 0, b.f = 0;
  }
  if (!(longest > kShortestWay)) return false;
  for (int i = 0; i < k.n; ++i) k.c[i] = 0;
  impl.solve_newton(1, kWayTolerance * longest, {}, false, kWayYield);
  for (int i = 0; i < k.n; ++i) out.force[std::size_t(i)] = k.f[i];
  return true;
}

/// A step with the targets and slips of the end of the step or of the acceleration level; velocities and impulses throughout.
ContactTier ContactSolver::Impl::attempt(const ContactProblem& problem, std::span<const ContactMemory> memory,
                                         const ContactStep& step) {
  ContactWork& k = work;
  const double h = problem.h;
  for (int i = 0; i < k.n; ++i) k.c[i] = h * problem.a[i] + (step.end_of_step ? problem.u[i] : 0.0);
  double fastest = std::max(problem.gravity * h, kLeastSpeed);  // what the tolerance is a part of
  for (int i = 0; i < k.bound_count; ++i) {
    const BoundedRow& row = problem.bounded[std::size_t(i)];
    contact::prepare_bound(step, row, k.bounds[i]);
    k.c[row.row] = h * problem.a[row.row] + problem.u[row.row];
    fastest = std::max(fastest, std::abs(k.c[row.row]));
  }
  for (int i = 0; i < k.patch_count; ++i) {
    const ContactPatch& patch = problem.patches[std::size_t(i)];
    PatchWork& p = k.patches[i];
    contact::prepare_patch(step, patch, memory[std::size_t(i)], problem.u + patch.row, problem.a + patch.row, p);
    for (int r = 0; r < 3 && p.count > 0; ++r) fastest = std::max(fastest, std::abs(k.c[p.row + r]));
  }
  const ContactOptions& o = step.options;
  return solve_newton(h, o.tolerance * fastest, memory, o.start > ContactTier::kNewton);
}

void ContactSolver::solve_contact(const ContactProblem& problem, std::span<ContactMemory> memory, ContactResult& out) {
  contact::check("solve_contact", problem, memory.size());
  contact::clear(problem, out);
  Impl& impl = *impl_;
  impl.start(problem);
  ContactWork& k = impl.work;
  k.bound_count = int(problem.bounded.size());
  if (!contact::finite(problem, true)) {
    out.status = ContactStatus::kBadInput;
    return;
  }
  ContactStep step{options, problem.h, problem.gravity, options.end_of_step};
  for (int i = 0; i < k.patch_count; ++i) k.patches[i].begins = false;
  ContactTier tier = impl.attempt(problem, memory, step);
  if (begin_to_slide(k, tier)) tier = impl.attempt(problem, memory, step);
  // At acceleration level friction of what slides acts in the centre of pressure of the answer.
  for (int n = 0; n < kMostCentres && !step.end_of_step && tier != ContactTier::kUnsolved; ++n) {
    if (!(follow_pressure(k, problem.h, memory) > kCentreFound)) break;
    tier = impl.attempt(problem, memory, step);
  }
  if (tier == ContactTier::kUnsolved &&
      !step.end_of_step) {  // no acceleration need do: then velocities at the end of the step
    out.painleve = step.end_of_step = true;
    tier = impl.attempt(problem, memory, step);
    if (tier == ContactTier::kNewton) tier = ContactTier::kProximal;
  }
  for (int i = 0; i < k.n; ++i) k.f[i] /= problem.h;
  bool any = k.bound_count > 0;
  for (int i = 0; i < k.patch_count; ++i) {
    any = any || k.patches[i].count > 0;
    for (auto& vertex : k.patches[i].force) {
      for (double& f : vertex) f /= problem.h;
    }
  }
  if (any) contact::report(problem, k, tier, out);
  remember_all(k, memory);
  if (tier != ContactTier::kUnsolved) return;
  for (ContactMemory& m : memory) m.known = false;  // forces that are no answer are no start either
}

}  // namespace kansetsu
