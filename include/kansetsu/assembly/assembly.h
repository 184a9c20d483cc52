#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kansetsu/base/owner.h"
#include "kansetsu/dynamics/dynamics.h"

/// Forward dynamics by constraint forces, divide and conquer: O(N) on one processor, O(log N) on many, for trees and closed
/// loops alike, with structure that changes at run time. [Yama01]; docs/theory/assembly.md.
namespace kansetsu {

/// Directions in which a closure holds: bits 0…2 turning about x, y, z of the plug, bits 3…5 moving along them.
using RowMask = std::uint8_t;
inline constexpr RowMask kAllRows = 0b111111;

/// A frame J on a link of a figure, or on the world.
struct ClosureAnchor {
  int figure = 0;
  std::optional<LinkId> link{};  ///< none: the world; X_LJ is then X_WJ
  Transform<> X_LJ{};
};

/// Holds two frames together: the motion of the plug (on b) relative to the socket (on a), in plug axes, is zero in the rows
/// of the mask. Poses and velocities are taken as they are; what has drifted is pulled back by `bias`.
struct Closure {
  ClosureAnchor a{}, b{};
  RowMask rows = kAllRows;
};
using ClosureId = Id<struct ClosureTag>;

/// What a closure does in a solve.
enum class ClosureRole {
  kClosed,  ///< its rows hold, its force is found
  kOpen,    ///< its rows stay open: delassus(), free_acceleration() and apply() answer for them
};

enum class AssemblyOrder {
  kBalanced,  ///< clusters of equal size are joined: O(log N) levels
  kSerial,    ///< one link after the other, the recursion of [Yama01] §2.2; the least work on one processor
};

struct AssemblyOptions {
  AssemblyOrder order = AssemblyOrder::kBalanced;
  int threads = 1;
  int refinements = 1;               ///< most sweeps that solve for the residual of the constraints
  bool springs_and_dampers = false;  ///< add what stiffness, rest and damping of the model's joints exert
  bool reactions = true;             ///< find wrenches and torques of the joints, not only v̇
};

/// State and forces of one figure.
struct FigureInput {
  const State* state = nullptr;
  const Eigen::VectorXd* tau = nullptr;      ///< nv numbers; null: none
  const ExternalForces* external = nullptr;  ///< null: none
};

class Assembly;

/// One figure's share of a solution.
struct FigureMotion {
  explicit FigureMotion(const Model& model);
  Eigen::VectorXd vdot;
  Reactions reactions;  ///< wrench through every joint, torque (gears included) of every joint coordinate
};

struct AssemblyResult {
  explicit AssemblyResult(const Assembly& assembly);
  std::vector<FigureMotion> figures;
  Status status = Status::kOk;  ///< kSingular: some joint moves no inertia; its v̇ is zero
  int rows = 0;                 ///< of all closed closures together
  int rank = 0;                 ///< of these, how many are independent; forces of the others are zero
  double residual = 0;          ///< largest constraint residual, before the last refinement if there was one

  const Eigen::VectorXd& vdot() const { return figures[0].vdot; }
};

/// The mechanism as clusters that are joined in a fixed order. Made once per structure; connect() and cut() change
/// O(log N) clusters of it and allocate only while they grow beyond what was there before.
class Assembly {
 public:
  /// Throws Error if a figure has what this form cannot hold; unsupported() gives the reason beforehand.
  explicit Assembly(std::vector<Model> figures, const AssemblyOptions& options = {});
  explicit Assembly(const Model& figure, const AssemblyOptions& options = {});

  /// Why forward dynamics by assembly cannot take a model (a link with mass but without inertia about some axis, a
  /// massless link that carries several joints or a gear), or none.
  static std::optional<std::string> unsupported(const Model& model);

  int figure_count() const;
  const Model& figure(int index) const;

  ClosureId connect(const Closure& closure, ClosureRole role = ClosureRole::kClosed);
  void cut(ClosureId id);
  /// Pulls drifted rows back: added to the right side of the six rows (those outside the mask are ignored), e.g.
  /// −2ζω·φ̇ − ω²·φ.
  void set_bias(ClosureId id, const Motion<>& bias);
  /// Joins from scratch, as a new Assembly of the same structure would. Edits do it themselves when the order has become
  /// more than twice as costly or deep as it was when last made.
  void rebuild();

  /// Accelerations and all forces; open rows carry no force. Never allocates.
  void solve(std::span<const FigureInput> inputs, AssemblyResult& out);
  void solve(const State& state, const Eigen::VectorXd& tau, AssemblyResult& out,
             const ExternalForces* external = nullptr);
  /// Wrench of a closure on b at its link's origin, in its axes, in the last solve; of an open one what apply() gave it.
  Force<> wrench_on_b(ClosureId id) const;

  /// The response operator of the open rows, in the order in which they were opened: acceleration of the rows
  /// = delassus·forces + free_acceleration. assemble() must come first; every matrix is at its state.
  void assemble(std::span<const FigureInput> inputs);
  int open_rows() const;
  int open_row(ClosureId id) const;  ///< first row of an open closure
  void free_acceleration(Eigen::Ref<Eigen::VectorXd> out) const;
  void delassus(Eigen::Ref<Eigen::MatrixXd> out) const;
  /// The solution when the open rows exert these forces.
  void apply(const VectorRef& forces, AssemblyResult& out);

  /// The order of joining, for tests and benchmarks.
  struct Shape {
    int clusters = 0, levels = 0;
    int most_rows = 0;      ///< largest number of open rows of a cluster
    double multiplies = 0;  ///< of one solve, estimated
    int scan_levels = 0;    ///< of the scan of poses and velocities, above the bodies
    int scan_nodes = 0;     ///< in all of these together
  };
  Shape shape() const;
  int last_edit() const;  ///< clusters that the last connect or cut touched

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu
