#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/geometry/shape.h"
#include "kansetsu/model/joint_type.h"

/// A model as plain data, as a user would write it down: links, joints, couplings and their attachments, all by name.
/// Readers and ModelBuilder make descriptions, editing changes them, Model::build() checks and compiles them.
/// Every member has an initialiser, so that {.name = …, .mass = …} draws no warning about those left out.
namespace kansetsu {

/// Position and roll–pitch–yaw (R = Rz(yaw) Ry(pitch) Rx(roll)), kept as written so that files survive a round trip.
struct Pose {
  Vec3<> p{};
  Vec3<> rpy{};

  friend bool operator==(const Pose&, const Pose&) = default;
};
Transform<> to_transform(const Pose& pose);
Pose to_pose(const Transform<>& X);

/// Mass, and the inertia about the centre of mass, in the frame `origin` of the link whose origin is that centre.
struct Inertial {
  double mass = 0;
  Pose origin{};
  Sym3<> inertia{};

  friend bool operator==(const Inertial&, const Inertial&) = default;
};

struct Material {
  std::string name{};
  std::optional<std::vector<double>> rgba{};  ///< four numbers in 0…1
  std::string texture{};

  friend bool operator==(const Material&, const Material&) = default;
};

/// A shape on a link, for looks or for collision.
struct LinkShape {
  std::string name{};
  Pose origin{};
  Shape shape{};
  std::optional<Material> material{};
  /// Collision only: two shapes may touch if one's contype and the other's conaffinity have a bit in common.
  std::uint32_t contype = 1, conaffinity = 1;
  std::string surface{};  ///< collision only: a Surface of the scene; empty: the figure's

  friend bool operator==(const LinkShape&, const LinkShape&) = default;
};

struct LinkDescription {
  std::string name{};
  std::optional<Inertial> inertial{};  ///< none: massless
  std::vector<LinkShape> visuals{};
  std::vector<LinkShape> collisions{};
  int line = 0;  ///< in the source file, for diagnostics

  friend bool operator==(const LinkDescription& a, const LinkDescription& b) {
    return a.name == b.name && a.inertial == b.inertial && a.visuals == b.visuals && a.collisions == b.collisions;
  }
};

/// Data of one joint coordinate. Dynamics functions use the rotor inertia; the rest is applied only on request.
struct DofDescription {
  double lower = -kInfinity, upper = kInfinity;  ///< position limits [rad, m]
  double velocity = kInfinity;                   ///< |v| limit
  double effort = kInfinity;                     ///< |τ| limit
  double rotor_inertia = 0;                      ///< reflected to the joint [kg·m², kg]
  double damping = 0;                            ///< viscous [N·m·s, N·s/m]
  double friction = 0;                           ///< dry [N·m, N]
  double stiffness = 0, rest = 0;                ///< spring τ = −stiffness·(q − rest)

  friend bool operator==(const DofDescription&, const DofDescription&) = default;
};

/// Limits of a ball joint: swing = angle between the z axes of socket and plug, twist = turn about the plug's z axis.
struct SwingTwistLimit {
  double swing = kInfinity;
  double twist_lower = -kInfinity, twist_upper = kInfinity;

  friend bool operator==(const SwingTwistLimit&, const SwingTwistLimit&) = default;
};

struct JointDescription {
  std::string name{};
  JointType type = JointType::kFixed;
  std::string parent{}, child{};       ///< link names
  Pose socket{};                       ///< joint frame on the parent link
  Pose plug{};                         ///< joint frame on the child link
  Vec3<> axis{0, 0, 1};                ///< in socket axes; normalised on build
  Vec3<> second_axis{0, 1, 0};         ///< universal joints only
  double pitch = 0;                    ///< helical joints only [m/rad]
  std::vector<DofDescription> dofs{};  ///< one per velocity coordinate; missing ones are defaults
  std::optional<SwingTwistLimit> swing_twist{};
  bool continuous = false;  ///< a revolute joint written as "continuous"
  int line = 0;

  friend bool operator==(const JointDescription& a, const JointDescription& b) {
    return a.name == b.name && a.type == b.type && a.parent == b.parent && a.child == b.child && a.socket == b.socket &&
           a.plug == b.plug && a.axis == b.axis && a.second_axis == b.second_axis && a.pitch == b.pitch &&
           a.dofs == b.dofs && a.swing_twist == b.swing_twist && a.continuous == b.continuous;
  }
};

/// A joint coordinate by name, e.g. {"knee"} or {"shoulder", 2}.
struct DofRef {
  std::string joint{};
  int index = 0;

  friend bool operator==(const DofRef&, const DofRef&) = default;
};

/// Gear: q[dependent] = Σ ratio·q[term] + offset. Removes the dependent coordinate from the model's state.
/// A whole ball joint is geared by coupling each of its coordinates.
struct Coupling {
  struct Term {
    DofRef dof{};
    double ratio = 1;
    friend bool operator==(const Term&, const Term&) = default;
  };
  DofRef dependent{};
  std::vector<Term> terms{};
  double offset = 0;
  int line = 0;

  friend bool operator==(const Coupling& a, const Coupling& b) {
    return a.dependent == b.dependent && a.terms == b.terms && a.offset == b.offset;
  }
};

/// A named operational point on a link.
struct FrameDescription {
  std::string name{}, link{};
  Pose origin{};

  friend bool operator==(const FrameDescription&, const FrameDescription&) = default;
};

/// A motor: τ[dof] = gear·u.
struct Actuator {
  std::string name{};
  DofRef dof{};
  double gear = 1;
  double effort = kInfinity;

  friend bool operator==(const Actuator&, const Actuator&) = default;
};

/// A pair of links that never collide.
struct CollisionFilter {
  std::string a{}, b{};
  friend bool operator==(const CollisionFilter&, const CollisionFilter&) = default;
};

enum class Base { kFixed, kFree };

struct ModelDescription {
  std::string name{};
  std::string file{};  ///< source, for diagnostics
  Base base = Base::kFixed;
  Pose base_pose{};             ///< of the root link in the world; fixed base only
  Vec3<> gravity{0, 0, -9.81};  ///< [m/s²]
  std::vector<LinkDescription> links{};
  std::vector<JointDescription> joints{};
  std::vector<Coupling> couplings{};
  std::vector<FrameDescription> frames{};
  std::vector<Actuator> actuators{};
  std::vector<CollisionFilter> collision_filters{};
  std::vector<Material> materials{};  ///< global ones, by name

  friend bool operator==(const ModelDescription& a, const ModelDescription& b) {
    return a.name == b.name && a.base == b.base && a.base_pose == b.base_pose && a.gravity == b.gravity &&
           a.links == b.links && a.joints == b.joints && a.couplings == b.couplings && a.frames == b.frames &&
           a.actuators == b.actuators && a.collision_filters == b.collision_filters && a.materials == b.materials;
  }
};

/// Every problem of a description at once: names, tree structure, numbers, inertias, couplings. Codes MODELnnn.
std::vector<Diagnostic> validate(const ModelDescription& description);

}  // namespace kansetsu
