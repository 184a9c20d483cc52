// DART of Debian. It knows no rotor inertia: inverse dynamics and mass matrix get it added; in forward dynamics it is a
// damping coefficient d at a time step of 1, which DART's implicit form adds to the inertia, and d·q̇ is added to the torque.
#include <dart/config.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>

#include <string>
#include <vector>

#include "plugin.h"

namespace {

using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using RowMatrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

std::string last_error;

dart::dynamics::Inertia inertia_of(const BodyData& b) {
  const double* I = b.inertia;
  return {b.mass, Map<const Vector3d>(b.com),
          (Eigen::Matrix3d() << I[0], I[1], I[2], I[1], I[3], I[4], I[2], I[4], I[5]).finished()};
}

dart::dynamics::BodyNode* add_body(const dart::dynamics::SkeletonPtr& skeleton, dart::dynamics::BodyNode* parent,
                                   const BodyData& b) {
  using namespace dart::dynamics;
  const std::string name = std::to_string(skeleton->getNumBodyNodes());  // DART requires unique names
  const BodyNode::Properties body{BodyNode::AspectProperties(name, inertia_of(b))};
  if (b.type == kFreeBody) return skeleton->createJointAndBodyNodePair<FreeJoint>(parent, {}, body).second;
  Joint::Properties common;
  common.mName = name;
  common.mT_ParentBodyToJoint.linear() = Map<const RowMatrix3>(b.R);
  common.mT_ParentBodyToJoint.translation() = Map<const Vector3d>(b.p);
  const Vector3d axis = Map<const Vector3d>(b.axis);
  const auto finish = [&](auto pair) {
    pair.first->setAxis(axis);
    pair.first->setDampingCoefficient(0, b.rotor_inertia);
    return pair.second;
  };
  if (b.type == kRevoluteBody) {
    RevoluteJoint::Properties properties;
    static_cast<Joint::Properties&>(properties) = common;
    return finish(skeleton->createJointAndBodyNodePair<RevoluteJoint>(parent, properties, body));
  }
  PrismaticJoint::Properties properties;
  static_cast<Joint::Properties&>(properties) = common;
  return finish(skeleton->createJointAndBodyNodePair<PrismaticJoint>(parent, properties, body));
}

struct Instance {
  dart::dynamics::SkeletonPtr skeleton = dart::dynamics::Skeleton::create();
  std::vector<dart::dynamics::BodyNode*> bodies;
  VectorXd rotors, out;
  MatrixXd M;
  std::vector<VectorXd> q, v, a, tau;

  Instance(const ModelData& model, const StateData& states) : rotors(VectorXd::Zero(model.nv)), out(model.nv) {
    int k = 0;
    for (int i = 0; i < model.body_count; ++i) {
      const BodyData& b = model.bodies[i];
      bodies.push_back(add_body(skeleton, b.parent < 0 ? nullptr : bodies[size_t(b.parent)], b));
      rotors[k] = b.rotor_inertia;
      k += b.type == kFreeBody ? 6 : 1;
    }
    skeleton->setGravity(Map<const Vector3d>(model.gravity));
    skeleton->setTimeStep(1);
    const bool free = model.bodies[0].type == kFreeBody;
    for (int i = 0; i < states.count; ++i) {
      q.push_back(free ? free_positions(states.q + i * model.nq, model.nv)
                       : VectorXd(Map<const VectorXd>(states.q + i * model.nq, model.nv)));
      v.push_back(Map<const VectorXd>(states.v + i * model.nv, model.nv));
      a.push_back(Map<const VectorXd>(states.a + i * model.nv, model.nv));
      tau.push_back(Map<const VectorXd>(states.tau + i * model.nv, model.nv) + rotors.cwiseProduct(v.back()));
    }
  }
  static VectorXd free_positions(const double* x, int nv) {
    Eigen::Isometry3d X = Eigen::Isometry3d::Identity();
    X.translation() = Map<const Vector3d>(x);
    X.linear() = Eigen::Quaterniond(x[6], x[3], x[4], x[5]).toRotationMatrix();
    VectorXd out(nv);
    out << dart::dynamics::FreeJoint::convertToPositions(X), Map<const VectorXd>(x + 7, nv - 6);
    return out;
  }
};

void* create(const ModelData* model, const StateData* states) {
  for (int i = 0; i < model->body_count; ++i) {
    if (model->bodies[i].leader < 0 && model->bodies[i].mass > 0) continue;
    last_error = model->bodies[i].leader < 0 ? "no bodies without mass" : "mimic joints are actuators, not kinematics";
    return nullptr;
  }
  return new Instance(*model, *states);
}

const char* variant_name(void*, int algorithm, int variant) {
  const bool has = algorithm == kFk || algorithm == kRnea || algorithm == kCrba || algorithm == kAba;
  return has && variant == 0 ? "" : nullptr;
}

double run(void* instance, int algorithm, int, int state) {
  Instance& in = *static_cast<Instance*>(instance);
  const size_t i = size_t(state);
  dart::dynamics::Skeleton& s = *in.skeleton;
  s.setPositions(in.q[i]);
  switch (algorithm) {
    case kFk: {
      double sum = 0;  // poses are computed when asked for
      for (const auto* body : in.bodies) sum += body->getWorldTransform().translation()[0];
      return sum;
    }
    case kRnea:
      s.setVelocities(in.v[i]);
      s.setAccelerations(in.a[i]);
      s.computeInverseDynamics();
      in.out = s.getForces() + in.rotors.cwiseProduct(in.a[i]);
      return in.out[0];
    case kCrba:
      in.M = s.getMassMatrix();
      in.M.diagonal() += in.rotors;
      return in.M(0, 0);
    case kAba:
      s.setVelocities(in.v[i]);
      s.setForces(in.tau[i]);
      s.computeForwardDynamics();
      in.out = s.getAccelerations();
      return in.out[0];
  }
  return 0;
}

void result(void* instance, int algorithm, int variant, int state, double* out) {
  run(instance, algorithm, variant, state);
  const Instance& in = *static_cast<const Instance*>(instance);
  if (algorithm == kFk) {
    for (const auto* body : in.bodies) {
      Map<RowMatrix3>{out} = body->getWorldTransform().linear();
      Map<Vector3d>{out + 9} = body->getWorldTransform().translation();
      out += 12;
    }
  } else if (algorithm == kCrba) {
    Map<MatrixXd>(out, in.M.rows(), in.M.cols()) = in.M;
  } else {
    Map<VectorXd>(out, in.out.size()) = in.out;
  }
}

}  // namespace

const Plugin* bench_plugin() {
  static const Plugin plugin{.library = "dart",
                             .version = DART_VERSION,
                             .compiler = "Debian (as shipped)",
                             .flags = "as shipped in Debian",
                             .instruction_set = "baseline",
                             .create = create,
                             .destroy = [](void* instance) { delete static_cast<Instance*>(instance); },
                             .error = [] { return last_error.c_str(); },
                             .variant = variant_name,
                             .run = run,
                             .result = result};
  return &plugin;
}
