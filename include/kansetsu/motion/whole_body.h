#pragma once

#include <vector>

#include "kansetsu/base/owner.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/kinematics/kinematics.h"

/// Whole-body control: accelerations, support forces and joint torques together, for loops of 1 kHz and more.
/// docs/theory/walking.md §1.
namespace kansetsu {

/// The rectangle by which a foot or a hand rests on a surface: origin in its middle, z out of the surface.
struct Sole {
  LinkId link{0};
  Transform<> X_LS{};
  double half_length = 0, half_width = 0;  ///< [m] along x and y
};

enum class Edge { kNone, kFront, kRear };

/// What a support holds, and what it can give.
enum class SupportKind {
  kSole,   ///< a patch: place and orientation; pressure within its rectangle
  kPoint,  ///< a point: its place only; pushes without a moment
  kGrip,   ///< a point that is held: pushes and pulls in any direction
};

struct SupportLimits {
  double friction = 0.6;          ///< μ; forces stay in a pyramid inside the cone
  double least = 0, most = 1e30;  ///< of the force along the normal [N]
  double inset = 0;               ///< [m] how far from the rim the centre of pressure stays
  Edge pivot = Edge::kNone;  ///< it turns freely about this edge, and pushes there: the heel or the toes are in the air
  SupportKind kind = SupportKind::kSole;
};

struct WholeBodyOptions {
  double force_weight = 1e-3;   ///< on squares of support forces, in units of a tenth of the weight
  double motion_weight = 1e-4;  ///< on squares of v̇, beside those of the tasks
  double limit_rate = 30;       ///< [1/s] how fast a joint may run towards its end
  bool position_limits = true, effort_limits = true;
};

struct WholeBodyResult {
  enum class Status {
    kSolved,
    kInfeasible,    ///< some limits contradict the supports and were given up
    kNotConverged,  ///< limits hold, tasks may not be served as well as they could
  } status = Status::kSolved;
  Eigen::VectorXd vdot, tau;      ///< the entries of tau for a free base are zero
  std::vector<Force<>> wrenches;  ///< of each support on its link, at the sole's origin, in the sole's axes
  std::vector<Vec3<>>
      pressure;      ///< centre of pressure of each support, in the world; its origin where it carries nothing
  int changes = 0;   ///< of the active set
  int given_up = 0;  ///< limits
};

/// A problem is put together for each state: begin(), supports, tasks, solve(). The equations of motion and the supports hold
/// exactly, forces stay in their limits, and the tasks are served as well as that allows, by the weights.
/// Nothing is allocated between begin() and the end of solve() once a problem of the same size has been solved.
class WholeBody {
 public:
  explicit WholeBody(const Model& model, const WholeBodyOptions& options = {}, int most_supports = 4);

  void begin(const State& state);
  const Centroidal& centroidal() const;
  /// Pose, velocity, and the acceleration it would have with v̇ = 0.
  FrameMotion motion(LinkId link, const Transform<>& X_LF = {}) const;

  /// The sole pushes and stays where it is, or accelerates as given (in its own axes; to settle flat). Throws Error beyond
  /// most_supports.
  void support(const Sole& sole, const SupportLimits& limits = {}, const Motion<>& A_S = {});

  // Tasks: wanted accelerations, world axes; weights on the squared errors, zero: ignored.
  void link(LinkId link, const Transform<>& X_LF, const Motion<>& A, const Motion<>& weight);
  void com(const Vec3<>& a, const Vec3<>& weight);
  void angular_momentum(const Vec3<>& rate, const Vec3<>& weight);
  void posture(const VectorRef& vdot, const VectorRef& weight);

  const WholeBodyResult& solve();
  /// The next solve() starts from nothing, as the first one did: equal states then give equal bits.
  void forget();

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu
