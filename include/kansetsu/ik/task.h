#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "kansetsu/base/owner.h"
#include "kansetsu/geometry/geometry.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/loop_closure.h"
#include "kansetsu/spatial/euler.h"

/// Tasks of inverse kinematics. A task measures an error e(q), zero where it is met; units are metres and radians.
/// Definitions and Jacobians: docs/theory/ik.md §2.
namespace kansetsu::ik {

/// Parametrisations of rotations, see method.h.
enum class Method {
  kTangent,        ///< a rotation relative to the present one: R ← R·exp(x). No singularity
  kLogQuaternion,  ///< u of R = exp(2u), half the rotation vector ([Tmps]). Not beyond a whole turn, |u| = π
  kEuler,          ///< three angles of one of twelve orders. Rates without bound at gimbal lock
};

/// A frame on a link: that of the link itself, a named frame of the model, or a tool.
struct FrameOn {
  LinkId link{0};
  Transform<> X_LF{};
};
/// By the name of a link or of a frame, with a tool's pose on it. An unknown name throws Error with the known ones.
FrameOn frame_on(const Model& model, std::string_view name, const Transform<>& tool = {});

/// Each weight multiplies a component of the error; a component of weight 0 is free.
struct PositionTask {
  FrameOn frame{};
  Vec3<> target{};         ///< of the frame's origin, world
  Vec3<> weight{1, 1, 1};  ///< world axes
};
struct OrientationTask {
  FrameOn frame{};
  Mat3<> target = Mat3<>::identity();  ///< R_WF
  Vec3<> weight{1, 1, 1};              ///< axes of the target: {1, 1, 0} leaves the turn about its z axis free
};
struct PoseTask {
  FrameOn frame{};
  Transform<> target{};         ///< X_WF
  Vec3<> turn_weight{1, 1, 1};  ///< axes of the target
  Vec3<> weight{1, 1, 1};       ///< world axes
};
/// An axis of the frame shall point in a direction of the world; the rotation about it is free.
struct AxisTask {
  FrameOn frame{};
  Vec3<> axis{0, 0, 1};       ///< in F
  Vec3<> direction{0, 0, 1};  ///< world
  double weight = 1;
};
/// An axis of the frame shall point from its origin to a point of the world.
struct LookAtTask {
  FrameOn frame{};
  Vec3<> axis{0, 0, 1};  ///< in F
  Vec3<> point{};        ///< world
  double weight = 1;
};
/// Centre of mass of everything that moves.
struct ComTask {
  Vec3<> target{};
  Vec3<> weight{1, 1, 1};
};
/// Pose of one frame relative to another that moves, too: two hands on one tool, or a loop that must stay closed.
struct RelativePoseTask {
  FrameOn frame{}, base{};
  Transform<> target{};         ///< X_BaseFrame
  Vec3<> turn_weight{1, 1, 1};  ///< axes of the target
  Vec3<> weight{1, 1, 1};       ///< axes of the base
};
/// Points on links and their measured positions.
struct MarkerTask {
  struct Marker {
    LinkId link{0};
    Vec3<> p_L{};
    Vec3<> seen{};  ///< world
    double weight = 1;
  };
  std::vector<Marker> markers{};
};
/// Joint coordinates: q ⊖ target, weighted. Weights of 0 leave coordinates free.
struct PostureTask {
  Eigen::VectorXd target{};  ///< nq
  Eigen::VectorXd weight{};  ///< nv; empty: all 1
};
/// A point that must stay where it is in the configuration the solver starts from, e.g. a foot on the ground.
struct StayTask {
  FrameOn frame{};
  bool orientation = false;            ///< stays, too
  std::optional<Transform<>> place{};  ///< X_WF; none: where it is when the solver starts
};

using AnyTask = std::variant<PositionTask, OrientationTask, PoseTask, AxisTask, LookAtTask, ComTask, RelativePoseTask,
                             MarkerTask, PostureTask, StayTask>;

/// A loop as a task: the second frame relative to the first, in the directions that the loop constrains.
RelativePoseTask loop_task(const Model& model, const LoopClosure& loop);

/// A shape on a link, or in the world, for distances.
struct ShapeOn {
  Geometry geometry;
  std::optional<LinkId> link{};  ///< none: fixed to the world
  Transform<> X_LS{};            ///< on the link, or in the world
};
/// The two must stay apart: signed distance of their surfaces ≥ least. An inequality with priority over all tasks.
struct Clearance {
  ShapeOn first, second;
  double least = 0;
};
/// One for each pair of collision shapes of links that may collide (Model::may_collide). Meshes that are not loaded are
/// omitted.
std::vector<Clearance> self_clearances(const Model& model, double least);
/// One for each collision shape that moves, against something in the world.
std::vector<Clearance> obstacle_clearances(const Model& model, const ShapeOn& obstacle, double least);

/// An upper bound of the rows of a task.
int row_count(const AnyTask& task, const Model& model);

/// Evaluates tasks, one configuration at a time; allocates at construction only.
class TaskEvaluator {
 public:
  explicit TaskEvaluator(const Model& model);

  /// Rotation numbers in which rows() writes orientation errors; tangents until set. error() always gives the rotation vector.
  void set_method(Method method, EulerOrder order);
  /// Sets the configuration.
  void set(const VectorRef& q);
  /// Weighted errors. @param e  out, row_count()
  void error(const AnyTask& task, Eigen::Ref<Eigen::VectorXd> e);
  /// The errors and J = −∂e/∂v, row by row: J·v removes the error. @param J  out, row_count() × nv
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  void rows(const AnyTask& task, Eigen::Ref<Eigen::VectorXd> e, Eigen::Ref<RowMajor> J);
  /// Signed distance of the surfaces, and its derivative by v.
  double distance(const Clearance& clearance, Eigen::Ref<Eigen::VectorXd> gradient);
  /// √det(J·Jᵀ) of the frame's pose over the joints (Yoshikawa); in a singular configuration 0.
  double manipulability(const FrameOn& frame);
  Transform<> pose(const FrameOn& frame) const;

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu::ik
