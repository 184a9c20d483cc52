#pragma once

/// A model of the benchmark as Pinocchio's; its headers only, with its own instantiations
/// (PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION not defined). Versions 3 and 4.
#if __has_include(<pinocchio/multibody.hpp>)  // since 4.0, which leaves the limits of Boost's lists to its users
#define BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
#define BOOST_MPL_LIMIT_LIST_SIZE 30
#define BOOST_MPL_LIMIT_VECTOR_SIZE 30
#define BOOST_FUSION_INVOKE_MAX_ARITY 12
#endif
#include <pinocchio/fwd.hpp>
#include <unsupported/Eigen/CXX11/Tensor>

// Data always holds tensors for second derivatives, 4·nv³ numbers: 34 GB for the longest chain. Nothing measured here uses
// them, so they take no memory.
template <>
class Eigen::Tensor<double, 3, 0, Eigen::DenseIndex> {
 public:
  Tensor() = default;
  Tensor(Eigen::DenseIndex, Eigen::DenseIndex, Eigen::DenseIndex) {}
  void setZero() {}
  Eigen::DenseIndex dimension(int) const { return 0; }
};

#if __has_include(<pinocchio/multibody.hpp>)
#include <pinocchio/multibody.hpp>
#else
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#endif

#include <string>

#include "plugin.h"

namespace {

using RowMatrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

/// The most specialised joint type that fits, as in Pinocchio's own URDF reader.
pinocchio::JointModel joint_of(const BodyData& body) {
  const Eigen::Vector3d axis = Eigen::Map<const Eigen::Vector3d>(body.axis);
  const bool x = axis == Eigen::Vector3d::UnitX(), y = axis == Eigen::Vector3d::UnitY(),
             z = axis == Eigen::Vector3d::UnitZ();
  if (body.type == kFreeBody) return pinocchio::JointModelFreeFlyer();
  if (body.type == kRevoluteBody) {
    if (x) return pinocchio::JointModelRX();
    if (y) return pinocchio::JointModelRY();
    if (z) return pinocchio::JointModelRZ();
    return pinocchio::JointModelRevoluteUnaligned(axis);
  }
  if (x) return pinocchio::JointModelPX();
  if (y) return pinocchio::JointModelPY();
  if (z) return pinocchio::JointModelPZ();
  return pinocchio::JointModelPrismaticUnaligned(axis);
}

pinocchio::Model build(const ModelData& data) {
  pinocchio::Model model;
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(data.gravity);
  for (int i = 0; i < data.body_count; ++i) {
    const BodyData& b = data.bodies[i];
    const pinocchio::SE3 placement(Eigen::Map<const RowMatrix3>(b.R), Eigen::Map<const Eigen::Vector3d>(b.p));
    pinocchio::JointModel type = joint_of(b);
    if (b.leader >= 0) {
      const pinocchio::JointModel& leader = model.joints[size_t(b.leader + 1)];
      type = pinocchio::JointModelMimic(type, leader, b.ratio, b.offset);
    }
    const auto joint = model.addJoint(size_t(b.parent + 1), type, placement, "joint" + std::to_string(i));
    Eigen::Matrix3d I;
    I << b.inertia[0], b.inertia[1], b.inertia[2], b.inertia[1], b.inertia[3], b.inertia[4], b.inertia[2], b.inertia[4],
        b.inertia[5];
    model.appendBodyToJoint(joint, pinocchio::Inertia(b.mass, Eigen::Map<const Eigen::Vector3d>(b.com), I));
    if (b.type != kFreeBody && b.leader < 0) model.armature[model.joints[joint].idx_v()] = b.rotor_inertia;
  }
  return model;
}

}  // namespace
