#pragma once

#include <array>
#include <optional>

#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu {

/// A ball joint of a model as one rotation R_SP of its plug in its socket, whether a quaternion or ZYX angles are kept, and
/// whether they are its own or follow others by gears. What acts on balls (swing and twist limits) sees them through this.
class BallJoint {
 public:
  /// Nothing if the joint is not a ball joint.
  static std::optional<BallJoint> find(const Model& model, JointId joint);

  JointId joint() const { return joint_; }
  bool independent() const { return independent_; }  ///< no coordinate follows others by a gear

  Quaternion<> rotation(const VectorRef& q) const;
  /// Of independent balls only. Of the angles that mean the same rotation, those nearest to the ones in q.
  void set_rotation(const Quaternion<>& R_SP, Eigen::Ref<Eigen::VectorXd> q) const;

  /// A row on ω, the angular velocity of the plug in the socket in plug axes, as one on the joint's own rates.
  Vec3<> rate_row(const VectorRef& q, const Vec3<>& row) const;
  /// Σ row_k·(rate k of the joint) = Σ value·v[column]: calls visit(column, value).
  template <class Visit>
  void for_each_term(const Vec3<>& rate_row, Visit&& visit) const {
    const double row[3] = {rate_row.x, rate_row.y, rate_row.z};
    for (std::size_t k = 0; k < 3; ++k) {
      for (const auto& [column, ratio] : coordinates_[k].terms) visit(column, row[k] * ratio);
    }
  }

  /// Where it is, or will be `ahead` from now [s] at the rates v.
  struct Posture {
    Quaternion<> rotation;
    Vec3<> angles;  ///< of ZYX
  };
  Posture posture(const VectorRef& q, const VectorRef& v, double ahead) const;
  Vec3<> rate_row(const Posture& posture, const Vec3<>& row) const;

 private:
  struct Coordinate {
    std::vector<std::pair<int, double>> terms, positions;  ///< in v; in q, of ZYX angles
    double offset = 0;
  };
  Vec3<> angles(const VectorRef& q) const;

  JointId joint_{0};
  bool zyx_ = false, independent_ = true;
  int quaternion_ = 0;  ///< place in q
  std::array<Coordinate, 3> coordinates_{};
};

/// The balls of a model that have swing and twist limits, in the order of its joints.
std::vector<BallJoint> limited_balls(const Model& model);

}  // namespace kansetsu
