#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kansetsu/base/owner.h"
#include "kansetsu/dynamics/dynamics.h"

/// Forward dynamics by constraint forces, divide and conquer: O(N) on one processor, O(log N) on many, for trees and closed
/// loops alike, with structure that changes at run time. [Yama01]; docs/theory/assembly.md.
namespace kansetsu {

/// The directions constrained by a closure: bits 0…2 rotation about x, y, z of the plug, bits 3…5 translation along them.
using RowMask = std::uint8_t;
inline constexpr RowMask kAllRows = 0b111111;

/// A frame J on a link of a figure, or on the world.
struct ClosureAnchor {
  int figure = 0;
  std::optional<LinkId> link{};  ///< none: the world; X_LJ is then X_WJ
  Transform<> X_LJ{};
};

/// Holds two frames together: the motion of the plug (on b) relative to the socket (on a), in plug axes, is zero in the rows
/// of the mask. Poses and velocities are not corrected; set_bias() can stabilise drift.
struct Closure {
  ClosureAnchor a{}, b{};
  RowMask rows = kAllRows;
};
using ClosureId = Id<struct ClosureTag>;

/// The role of a closure in a solve.
enum class ClosureRole {
  kClosed,  ///< its rows are enforced, its force is computed
  kOpen,    ///< its rows stay open, for delassus(), free_acceleration() and apply()
};

enum class AssemblyOrder {
  kBalanced,  ///< clusters of equal size are joined: O(log N) levels
  kSerial,    ///< one link after the other, the recursion of [Yama01] §2.2; the fewest operations on one processor
};

struct AssemblyOptions {
  AssemblyOrder order = AssemblyOrder::kBalanced;
  int threads = 1;
  int refinements = 1;               ///< largest number of sweeps that solve for the residual of the constraints
  bool springs_and_dampers = false;  ///< include the torques of stiffness, rest and damping of the model's joints
  bool reactions = true;             ///< compute wrenches and torques of the joints, not only v̇
};

/// State and forces of one figure.
struct FigureInput {
  const State* state = nullptr;
  const Eigen::VectorXd* tau = nullptr;      ///< nv numbers; null: none
  const ExternalForces* external = nullptr;  ///< null: none
};

class Assembly;

/// The solution for one figure.
struct FigureMotion {
  explicit FigureMotion(const Model& model);
  Eigen::VectorXd vdot;
  Reactions reactions;  ///< wrench through every joint, torque (gears included) of every joint coordinate
};

struct AssemblyResult {
  explicit AssemblyResult(const Assembly& assembly);
  std::vector<FigureMotion> figures;
  Status status = Status::kOk;  ///< kSingular: the projected inertia of some joint vanishes; its v̇ is zero
  int rows = 0;                 ///< of all closed closures together
  int rank = 0;                 ///< of these, how many are independent; forces of the others are zero
  double residual = 0;          ///< largest constraint residual, before the last refinement if there was one

  const Eigen::VectorXd& vdot() const { return figures[0].vdot; }
};

/// The mechanism as clusters that are joined in a fixed order. Made once per structure; connect() and cut() change
/// O(log N) clusters of it and allocate only if the structure becomes larger than ever before.
class Assembly {
 public:
  /// Throws Error if a figure is not supported; unsupported() gives the reason beforehand.
  explicit Assembly(std::vector<Model> figures, const AssemblyOptions& options = {});
  explicit Assembly(const Model& figure, const AssemblyOptions& options = {});

  /// Why forward dynamics by assembly does not support a model (a link with mass but without inertia about some axis, a
  /// massless link that carries several joints or a gear), or none.
  static std::optional<std::string> unsupported(const Model& model);

  int figure_count() const;
  const Model& figure(int index) const;

  ClosureId connect(const Closure& closure, ClosureRole role = ClosureRole::kClosed);
  void cut(ClosureId id);
  /// Stabilises drift: added to the right side of the six rows (those outside the mask are ignored), e.g.
  /// −2ζω·φ̇ − ω²·φ.
  void set_bias(ClosureId id, const Motion<>& bias);
  /// Makes a new order of joining, as a new Assembly of the same structure would. Edits do so when the order has become more
  /// than twice as expensive or deep as a new one was.
  void rebuild();

  /// Accelerations and all forces; those of open rows are zero. Never allocates.
  void solve(std::span<const FigureInput> inputs, AssemblyResult& out);
  void solve(const State& state, const Eigen::VectorXd& tau, AssemblyResult& out,
             const ExternalForces* external = nullptr);
  /// Wrench of a closure on b at its link's origin, in its axes, in the last solve; of an open one, that of apply().
  Force<> wrench_on_b(ClosureId id) const;

  /// The response operator of the open rows, in the order in which they were opened: acceleration of the rows
  /// = delassus·forces + free_acceleration, at the state of the last assemble(), which must be called first.
  void assemble(std::span<const FigureInput> inputs);
  int open_rows() const;
  int open_row(ClosureId id) const;  ///< first row of an open closure
  void free_acceleration(Eigen::Ref<Eigen::VectorXd> out) const;
  void delassus(Eigen::Ref<Eigen::MatrixXd> out) const;
  /// The solution for given forces of the open rows.
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
  int last_edit() const;  ///< number of clusters changed by the last connect() or cut()

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu
