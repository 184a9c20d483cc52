#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kansetsu::kernel {
struct TreeRowsView;
}

/// Plain data of the contact solver: what a contact is, what it remembers, what is reported about it.
/// Rules and derivations: docs/theory/contact.md.
namespace kansetsu {

/// How a patch touches: the features of its polygon whose gap stays closed.
enum class ContactMode : std::uint8_t { kOpen, kPoint, kLine, kSurface };
/// kSpin exists in the paper's mode only: x and y are held while the patch turns about its rotation centre.
enum class SlipMode : std::uint8_t { kStick, kSlide, kSpin };
/// The set of friction wrenches about the centre of pressure, f = |(fx, fy)|, n = |nz|, d = arm:
/// the ellipse (f/μfz)² + (n/μfz·d)² ≤ 1, or the paper's cone f + n/d ≤ μfz.
enum class FrictionSet : std::uint8_t { kEllipse, kPaper };
/// How the answer was found.
enum class ContactTier : std::uint8_t {
  kNone,      ///< nothing touches
  kNewton,    ///< Newton steps from the last forces
  kProximal,  ///< proximal steps around them; in a heap either, or sweeps
  kUnsolved,  ///< the best iterate: the tolerance was not met
};
inline constexpr int kContactTiers = 4;

/// A corner of the patch polygon, in the patch plane.
struct ContactVertex {
  double x = 0, y = 0;  ///< [m] from the patch origin
  double gap = 0;       ///< [m] signed distance of the surfaces; negative: penetration
};

/// One manifold between two bodies. Its frame has z along the outward normal of the parent's surface; the axes are fixed to
/// the parent, the origin is a point of the other ("real") body. It owns consecutive rows of the problem: six
/// [fx fy fz nx ny nz], the wrench on the real body at the origin in patch axes, or the first three of them if it has one
/// vertex, which is then the origin. Row velocities and accelerations are those of the real body relative to the parent.
struct ContactPatch {
  static constexpr int kMaxVertices = 8;

  int row = 0;                                         ///< first row
  int row_count = 6;                                   ///< 6 or 3
  int vertex_count = 0;                                ///< 1 … kMaxVertices
  std::array<ContactVertex, kMaxVertices> vertices{};  ///< convex polygon, in order (either sense)
  double mu_static = 0.8, mu_dynamic = 0.8;            ///< μ_D > μ_S counts as μ_S
  double restitution = 0;                              ///< 0 … 1
  double arm = 0;  ///< [m] mean distance of the pressure from its centre, see friction_arm(); 0: no torsional friction
};

/// What a contact carries from step to step; kept by the caller under the contact's identity. All zero: nothing known.
struct ContactMemory {
  ContactMode mode = ContactMode::kOpen;
  SlipMode slip = SlipMode::kStick;
  std::uint8_t closed = 0;         ///< bit i: vertex i is closed
  bool known = false;              ///< false: the contact is new, the other fields say nothing
  std::uint8_t steady = 0;         ///< steps since mode, slip and closed vertices have changed, 255 at most
  std::uint8_t stood = 0;          ///< how long they had been the same before; halved by every further change
  std::array<double, 6> wrench{};  ///< at the patch origin, patch axes [N, N·m]
  /// Pressure of each vertex, and its friction along x and y [N].
  std::array<std::array<double, 3>, ContactPatch::kMaxVertices> force{};
  /// Where the vertices of the contact were, in the axes of the patch, from its origin [m].
  std::array<std::array<double, 2>, ContactPatch::kMaxVertices> place{};

  /// After a long time it has just changed, and most likely for a moment only: all that touches will hold again.
  bool has_jerked() const { return known && steady == 0 && stood >= kLong; }
  static constexpr int kLong = 8;  ///< steps
};

/// A scalar row with a bounded force: lower ≤ f ≤ upper, and the velocity after the step is `target` unless a bound is met
/// (f = lower: not below it, f = upper: not above it). Joint limits, dry friction and motors are all of this form.
struct BoundedRow {
  int row = 0;
  double lower = 0, upper = std::numeric_limits<double>::infinity();
  double target = 0;  ///< wanted velocity [rad/s, m/s]
  bool has_gap = false;
  double gap = 0;          ///< limits: signed distance to the limit; the row may use it up within the step
  double restitution = 0;  ///< limits
  double last_force = 0;   ///< of the step before: the warm start

  /// A joint limit that may only push: gap ≥ 0, its rate is the row's velocity.
  static BoundedRow limit(int row, double gap, double restitution = 0) {
    BoundedRow r;
    r.row = row, r.has_gap = true, r.gap = gap, r.restitution = restitution;
    return r;
  }
  /// Dry friction of at most `force`.
  static BoundedRow friction(int row, double force) { return motor(row, 0, force); }
  /// A motor that reaches the velocity `target` with at most `force`.
  static BoundedRow motor(int row, double target, double force) {
    BoundedRow r;
    r.row = row, r.lower = -force, r.upper = force, r.target = target;
    return r;
  }
};

/// Defaults are those of the specification, section 10.
struct ContactOptions {
  double tol_gap = 1e-4;  ///< [m] a vertex with a smaller gap touches
  double slop = 4e-5;     ///< [m] penetration that is left alone; so what rests is less than 0.1 mm inside
  double v_eps = 1e-4;    ///< [m/s] slower is at rest; acceleration level
  double v_stribeck =
      1e-3;  ///< [m/s] slip before the step at which friction has come down from mu_static towards mu_dynamic
  double w_eps = 1e-3;     ///< [rad/s]
  double v_rest = -1;      ///< [m/s] slower impacts do not bounce; negative: max(2 g h, 1e-3)
  double v_impact = 1e-6;  ///< [m/s] a touching vertex that approaches faster is an impact

  /// Sticking rows and closed gaps end the step at zero velocity (acceleration −u/h), so that resting contacts never
  /// creep, and sliding friction opposes the velocity at the end of the step. Off: the acceleration level of the paper,
  /// for exact comparisons: targets are zero accelerations, sliding friction opposes the present velocity.
  bool end_of_step = true;
  /// Vertices that do not touch yet may not pass the surface within the step: what falls ends at it, not up to v·h below. For
  /// contacts without restitution; such a landing is a force of one step, not an impact.
  bool anticipate = false;

  FrictionSet friction_set = FrictionSet::kEllipse;
  bool paper_spin = false;          ///< hold the rotation centre of a spinning patch (FrictionSet::kPaper only)
  bool sequential_impacts = false;  ///< Newton's cradle: one impact after the other instead of all at once

  double push_share = 0.2;  ///< of a penetration beyond the slop that is taken back in a step, by positions alone
  double push_speed = 0.5;  ///< [m/s] no faster than this

  double baumgarte =
      0.2;             ///< acceleration level: ω·h of the penetration correction; stable below 0.828, no hop up to 0.2
  double damping = 1;  ///< ζ
  double a_low = 0.5;  ///< braking limit of the correction, in gravities
  double a_max = 5;    ///< limit of the correction, in gravities

  int max_sweeps_large = 60;  ///< of solve_contact_large
  /// Multiplications that solve_contact_large spends on linear systems in a step. A heap of 100 boxes hardly meets the bound, one of 300 takes
  /// about 20 systems and leaves the rest to the steps to come: with four times as many products 300 boxes rest after 4 s as well, a step
  /// takes 45 in place of 16 ms, and 17 in place of 29 % of the contacts are unsolved until then.
  long max_products_large = 100'000'000;
  double sweep_tolerance = 1e-5;  ///< of the fastest contact, or of g·h: how well solve_contact_large meets the law
  double tolerance =
      1e-11;  ///< natural residual that is aimed at, of the fastest contact or of g·h; a thousand times as much is accepted
  double rank_tolerance = 1e-10;             ///< pivots below this share of the largest diagonal count as zero
  ContactTier start = ContactTier::kNewton;  ///< first method to try (tests and measurements)

  /// Friction and spin of patches as [NY00] has them, sections 4.3 to 4.5; the world still holds at the end of the step.
  void take_law_of_2000() { friction_set = FrictionSet::kPaper, paper_spin = true; }

  /// v_rest as it applies.
  double rest_speed(double gravity, double h) const {
    const double automatic = 2 * gravity * h;
    return v_rest >= 0 ? v_rest : automatic > 1e-3 ? automatic : 1e-3;
  }
};

/// The matrix problem. Rows that are not in a patch or bounded row are ignored (their force is zero).
struct ContactProblem {
  int rows = 0;
  const double* G = nullptr;  ///< J·M⁻¹·Jᵀ, symmetric positive semidefinite, row i at G + i·stride
  int stride = 0;
  /// G is at a multiple of 64 bytes, its stride a multiple of 8, and rows are zero from `rows` to there: it is used where it is.
  bool padded = false;
  const kernel::TreeRowsView* tree =
      nullptr;  ///< rows on trees of bodies that answer by their recursion: G is not read then
  const double* a =
      nullptr;  ///< accelerations of the rows without contact forces; u + h·a: their velocity after the step
  const double* u = nullptr;  ///< velocities of the rows
  double h = 1e-3;            ///< [s]
  double gravity = 9.81;      ///< [m/s²] magnitude, a scale for thresholds
  std::span<const ContactPatch> patches{};
  std::span<const BoundedRow> bounded{};
};

struct PatchReport {
  ContactMode mode = ContactMode::kOpen;
  SlipMode slip = SlipMode::kStick;
  ContactTier tier = ContactTier::kNone;
  std::array<double, 6>
      wrench{};  ///< on the real body at the origin, patch axes; [N, N·m] or, for impacts, [N·s, N·m·s]
  double pressure_x = 0, pressure_y = 0;  ///< centre of pressure in the patch plane [m]
  int solves = 0;                         ///< linear solves in which this patch took part
  int sweeps = 0;                         ///< of the complementarity solver
  double residual = 0;                    ///< complementarity residual [m/s, N·s], see docs/theory/contact.md
  double energy = 0;                      ///< impacts: work of this patch's impulse on the bodies [J]
};

enum class ContactStatus : std::uint8_t {
  kOk,
  kNotConverged,  ///< tier kUnsolved: forces are usable, `residual` says how good
  kBadInput,      ///< not finite, or sizes out of range: all forces are zero
};

/// Everything a solve found. Reserve once; solves within the capacity never allocate.
struct ContactResult {
  ContactStatus status = ContactStatus::kOk;
  std::vector<double> force;  ///< per row [N, N·m]; impulses for solve_impact
  std::vector<PatchReport> patches;
  double residual = 0;            ///< worst of all patches and bounded rows
  double energy = 0;              ///< impacts: change of the kinetic energy [J], never positive
  double restitution_factor = 1;  ///< impacts: what the energy guard left of the restitution
  ContactTier tier = ContactTier::kNone;
  int solves = 0, sweeps = 0;
  bool painleve = false;  ///< a sliding contact had no definite answer at acceleration level

  void reserve(int patch_capacity, int row_capacity);
};

}  // namespace kansetsu
