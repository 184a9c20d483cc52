#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/base/id.h"
#include "kansetsu/model/description.h"
#include "kansetsu/spatial/eigen_abi.h"

namespace kansetsu {

struct Tree;  // the compiled form that kernels read; private

/// The position coordinates and velocity coordinates of one joint (or of the free base) in q and v. A coordinate that a
/// coupling determines is not part of the state: then nq, nv are 0 and the joint follows others.
struct CoordinateRange {
  int q = 0, nq = 0, v = 0, nv = 0;
};

/// An immutable mechanism: a tree of links, compiled for the algorithms. Cheap to copy, safe to share between threads.
/// Links and joints are numbered depth first, children in the order of the description; the root link is 0, and the joint
/// that carries link i is i − 1.
class Model {
 public:
  /// Checks and compiles. Diagnostics hold every problem found; warnings do not prevent a model.
  static Loaded<Model> build(ModelDescription description);

  const std::string& name() const;
  int nq() const;  ///< position coordinates
  int nv() const;  ///< velocity coordinates = degrees of freedom
  Base base() const;
  const Vec3<>& gravity() const;
  double mass() const;

  int link_count() const;
  int joint_count() const;
  int frame_count() const;
  const LinkDescription& link(LinkId id) const;
  const JointDescription& joint(JointId id) const;
  const FrameDescription& frame(FrameId id) const;
  LinkId frame_link(FrameId id) const;
  std::optional<LinkId> parent(LinkId id) const;  ///< none for the root
  LinkId parent_link(JointId id) const;
  LinkId child_link(JointId id) const;

  std::optional<LinkId> find_link(std::string_view name) const;
  std::optional<JointId> find_joint(std::string_view name) const;
  std::optional<FrameId> find_frame(std::string_view name) const;
  /// As find_…, but an unknown name throws Error with the known ones.
  LinkId link_id(std::string_view name) const;
  JointId joint_id(std::string_view name) const;
  FrameId frame_id(std::string_view name) const;

  CoordinateRange coordinates(JointId id) const;
  CoordinateRange base_coordinates() const;           ///< {0, 7, 0, 6} with a free base
  const std::vector<std::string>& dof_names() const;  ///< nv names: base.omega_x … joint … hip.wx

  /// Joint coordinates as affine functions of the state: the row of coordinate `index` of the joint is
  /// q_joint = Σ ratio·q[…] + offset, v_joint = Σ ratio·v[column].
  struct Row {
    std::vector<std::pair<int, double>> terms;  ///< (column of v, ratio)
    double offset = 0;
  };
  const Row& row(JointId id, int index) const;

  const Eigen::VectorXd& lower_position() const;  ///< nq; −∞ where there is none (quaternions included)
  const Eigen::VectorXd& upper_position() const;
  const Eigen::VectorXd& velocity_limit() const;  ///< nv
  const Eigen::VectorXd& effort_limit() const;    ///< nv
  const DofDescription& dof(JointId id, int index) const;

  /// Actuation matrix columns: τ = Σ gear·u over the actuators; dependent coordinates act through their gears.
  Eigen::MatrixXd actuation() const;
  /// Whether collisions between the two links are detected: not joined by a joint, nor filtered, they or what is rigid with them.
  bool may_collide(LinkId a, LinkId b) const;

  /// The joints whose motion moves no inertia, so that the mass matrix is singular in every posture.
  const std::vector<JointId>& massless_joints() const;

  const ModelDescription& description() const&;
  ModelDescription description() &&;  ///< of a temporary: by value, since a reference would dangle
  const Tree& tree() const;

 private:
  struct Data;
  explicit Model(std::shared_ptr<const Data> data);
  std::shared_ptr<const Data> data_;
};

/// Configuration and velocity. q of a free base is [p_WB, quaternion x y z w], v is [ω; v] of the base in base axes.
struct State {
  Eigen::VectorXd q, v;

  State() = default;
  explicit State(const Model& model);  ///< neutral configuration, at rest
  State(Eigen::VectorXd q_, Eigen::VectorXd v_) : q(std::move(q_)), v(std::move(v_)) {}
};

/// Scratch memory for one thread. Nothing is read from it that the same call did not write.
class Workspace {
 public:
  explicit Workspace(const Model& model);
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  ~Workspace();

  std::byte* data() { return memory_; }
  /// Throws Error if this workspace is too small for the model.
  void check(const char* function, const Model& model) const;

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kansetsu
