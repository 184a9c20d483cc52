// MuJoCo's shared library, through the functions that its own pipeline consists of.
#include <mujoco/mujoco.h>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <algorithm>
#include <string>
#include <vector>

#include "plugin.h"

namespace {

using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Pose = Eigen::Isometry3d;
using RowMatrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

std::string last_error;

Pose pose_of(const BodyData& b) {
  Pose X = Pose::Identity();
  X.linear() = Map<const RowMatrix3>(b.R);
  X.translation() = Map<const Vector3d>(b.p);
  return X;
}

/// A model as MuJoCo's own description, without XML, whose nesting is limited. MuJoCo accepts no massless body but any number
/// of joints per body, so the hinges of massless bodies with one child become joints of that child.
class Description {
 public:
  explicit Description(const ModelData& model) : model_(model), children_(size_t(model.body_count)) {
    spec_->compiler.degree = spec_->compiler.autolimits = spec_->compiler.balanceinertia = 0;
    spec_->compiler.inertiafromgeom = mjINERTIAFROMGEOM_FALSE;
    std::copy(model.gravity, model.gravity + 3, spec_->option.gravity);
    spec_->option.disableflags |= mjDSBL_CONTACT | mjDSBL_CONSTRAINT;
    std::vector<int> roots;
    for (int i = 0; i < model.body_count; ++i) {
      (model.bodies[i].parent < 0 ? roots : children_[size_t(model.bodies[i].parent)]).push_back(i);
    }
    for (int root : roots) add(mjs_findBody(spec_, "world"), root);
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  ~Description() { mj_deleteSpec(spec_); }
  /// Null if it fails; see error().
  mjModel* compile() { return mj_compile(spec_, nullptr); }
  const char* error() { return mjs_getError(spec_); }

 private:
  bool folded(int i) const {
    return model_.bodies[i].mass == 0 && model_.bodies[i].type != kFreeBody && children_[size_t(i)].size() == 1;
  }
  void add(mjsBody* parent, int i) {
    std::vector<int> chain{i};
    std::vector<Pose> poses{pose_of(model_.bodies[i])};  // in MuJoCo's parent
    while (folded(chain.back())) {
      chain.push_back(children_[size_t(chain.back())][0]);
      poses.push_back(poses.back() * pose_of(model_.bodies[chain.back()]));
    }
    const BodyData& last = model_.bodies[chain.back()];
    mjsBody* body = mjs_addBody(parent, nullptr);
    mjs_setName(body->element, ("b" + std::to_string(chain.back())).c_str());
    const Eigen::Quaterniond r(poses.back().linear());
    Map<Vector3d>{body->pos} = poses.back().translation();
    Map<Eigen::Vector4d>{body->quat} << r.w(), r.vec();
    for (size_t k = 0; k < chain.size(); ++k)
      add_joint(body, model_.bodies[chain[k]], poses.back().inverse() * poses[k]);
    const double* I = last.inertia;
    body->explicitinertial = 1;
    body->mass = last.mass;
    Map<Vector3d>{body->ipos} = Map<const Vector3d>(last.com);
    Map<Eigen::Matrix<double, 6, 1>>{body->fullinertia} << I[0], I[3], I[5], I[1], I[2], I[4];
    for (int child : children_[size_t(chain.back())]) add(body, child);
  }
  /// @param X  the joint's frame in its MuJoCo body
  static void add_joint(mjsBody* body, const BodyData& b, const Pose& X) {
    if (b.type == kFreeBody) {
      mjs_addFreeJoint(body);
      return;
    }
    mjsJoint* joint = mjs_addJoint(body, nullptr);
    joint->type = b.type == kRevoluteBody ? mjJNT_HINGE : mjJNT_SLIDE;
    Map<Vector3d>{joint->pos} = X.translation();
    Map<Vector3d>{joint->axis} = X.linear() * Map<const Vector3d>(b.axis);
    joint->armature = b.rotor_inertia;
  }

  const ModelData& model_;
  std::vector<std::vector<int>> children_;
  mjSpec* spec_ = mj_makeSpec();
};

struct Instance {
  mjModel* m = nullptr;
  mjData* d = nullptr;
  bool free_base;
  std::vector<int> body;  ///< MuJoCo's number of each body, −1: folded
  std::vector<VectorXd> q, v, a, tau;
  VectorXd out;
  MatrixXd identity, inverse;
  std::vector<Vector3d> base_cross;  ///< ω × v of each state

  Instance(const ModelData& model, const StateData& states, mjModel* compiled) : m(compiled), d(mj_makeData(compiled)) {
    free_base = model.bodies[0].type == kFreeBody;
    for (int i = 0; i < model.body_count; ++i)
      body.push_back(mj_name2id(m, mjOBJ_BODY, ("b" + std::to_string(i)).c_str()));
    out = VectorXd::Zero(model.nv);
    identity = inverse = MatrixXd::Identity(model.nv, model.nv);
    for (int i = 0; i < states.count; ++i) {
      VectorXd position = Map<const VectorXd>(states.q + i * model.nq, model.nq);
      VectorXd velocity = Map<const VectorXd>(states.v + i * model.nv, model.nv);
      VectorXd acceleration = Map<const VectorXd>(states.a + i * model.nv, model.nv);
      VectorXd torque = Map<const VectorXd>(states.tau + i * model.nv, model.nv);
      if (free_base) {
        const Eigen::Matrix3d R =
            Eigen::Quaterniond(position[6], position[3], position[4], position[5]).toRotationMatrix();
        const VectorXd v0 = velocity.head(6), a0 = acceleration.head(6), t0 = torque.head(6);
        const Vector3d w = v0.head(3);
        base_cross.push_back(w.cross(Vector3d(v0.tail(3))));
        velocity.head(6) << R * v0.tail(3), w;
        acceleration.head(6) << R * (a0.tail(3) + base_cross.back()), a0.head(3);
        torque.head(6) << R * t0.tail(3), t0.head(3);
        const double w_quat = position[6];
        position.segment<3>(4) = Vector3d(position.segment<3>(3));
        position[3] = w_quat;
      }
      q.push_back(position), v.push_back(velocity), a.push_back(acceleration), tau.push_back(torque);
    }
  }
  ~Instance() {
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  Eigen::Matrix3d base_rotation(int state) const {
    const VectorXd& x = q[size_t(state)];
    return Eigen::Quaterniond(x[3], x[4], x[5], x[6]).toRotationMatrix();
  }
  /// B with v_mujoco = B·v
  MatrixXd basis(int state) const {
    MatrixXd B = MatrixXd::Identity(m->nv, m->nv);
    if (free_base) {
      B.topLeftCorner(6, 6).setZero();
      B.block<3, 3>(0, 3) = base_rotation(state);
      B.block<3, 3>(3, 0).setIdentity();
    }
    return B;
  }
};

void* create(const ModelData* model, const StateData* states) {
  for (int i = 0; i < model->body_count; ++i) {
    if (model->bodies[i].leader < 0) continue;
    last_error = "no exact mimic joints, only soft equality constraints";
    return nullptr;
  }
  Description description(*model);
  mjModel* m = description.compile();
  if (!m) last_error = description.error();
  if (!m) return nullptr;
  if (m->nq != model->nq || m->nv != model->nv) {
    last_error = "MuJoCo's model has other sizes";
    mj_deleteModel(m);
    return nullptr;
  }
  return new Instance(*model, *states, m);
}

/// No analytic derivatives in MuJoCo.
const char* variant_name(void*, int algorithm, int variant) {
  return variant == 0 && algorithm != kRneaDerivatives && algorithm != kAbaDerivatives ? "" : nullptr;
}

double run(void* instance, int algorithm, int, int state) {
  Instance& in = *static_cast<Instance*>(instance);
  const size_t i = size_t(state);
  mjModel* m = in.m;
  mjData* d = in.d;
  mju_copy(d->qpos, in.q[i].data(), m->nq);
  mj_kinematics(m, d);
  if (algorithm == kFk) return d->xpos[3 * (m->nbody - 1)];
  mj_comPos(m, d);
  if (algorithm == kJacobians) return d->cdof[6 * (m->nv - 1)];
  if (algorithm == kRnea || algorithm == kAba) {
    mju_copy(d->qvel, in.v[i].data(), m->nv);
    mj_comVel(m, d);
  }
  if (algorithm == kRnea) {
    mju_copy(d->qacc, in.a[i].data(), m->nv);
    mj_rne(m, d, 1, in.out.data());
    for (int k = 0; k < m->nv; ++k) in.out[k] += m->dof_armature[k] * d->qacc[k];
    return in.out[0];
  }
  mj_makeM(m, d);
  if (algorithm == kCrba) return d->M[0];
  mj_factorM(m, d);
  if (algorithm == kMinverse) {
    mj_solveM(m, d, in.inverse.data(), in.identity.data(), m->nv);
    return in.inverse(0, 0);
  }
  mj_rne(m, d, 0, in.out.data());
  mju_sub(in.out.data(), in.tau[i].data(), in.out.data(), m->nv);
  mj_solveM(m, d, d->qacc, in.out.data(), 1);
  return d->qacc[0];
}

void put_jacobians(const Instance& in, int state, double* out) {
  const mjModel* m = in.m;
  const Vector3d c = Map<const Vector3d>(in.d->subtree_com + 3 * m->body_rootid[m->nbody - 1]);
  MatrixXd J = Map<const MatrixXd>(in.d->cdof, 6, m->nv);
  for (int k = 0; k < m->nv; ++k) J.col(k).tail<3>() += c.cross(Vector3d(J.col(k).head<3>()));
  Map<MatrixXd>(out, 6, m->nv) = J * in.basis(state);
}

void put_poses(const Instance& in, double* out) {
  for (int b : in.body) {
    for (int k = 0; k < 9; ++k) *out++ = b < 0 ? kNotComputed : in.d->xmat[9 * b + k];
    for (int k = 0; k < 3; ++k) *out++ = b < 0 ? kNotComputed : in.d->xpos[3 * b + k];
  }
}

void result(void* instance, int algorithm, int variant, int state, double* out) {
  run(instance, algorithm, variant, state);
  Instance& in = *static_cast<Instance*>(instance);
  const int nv = int(in.m->nv);
  const MatrixXd B = in.basis(state), B_inv = B.transpose();  // a rotation and a permutation
  switch (algorithm) {
    case kFk:
      put_poses(in, out);
      break;
    case kJacobians:
      put_jacobians(in, state, out);
      break;
    case kRnea:
      Map<VectorXd>(out, nv) = B.transpose() * in.out;
      break;
    case kCrba: {
      MatrixXd M(nv, nv);
      mj_fullM(in.m, in.d, M.data());
      Map<MatrixXd>(out, nv, nv) = B.transpose() * M * B;
      break;
    }
    case kAba: {
      Map<VectorXd> vdot(out, nv);
      vdot = B_inv * Map<const VectorXd>(in.d->qacc, nv);
      if (in.free_base) vdot.segment<3>(3) -= in.base_cross[size_t(state)];
      break;
    }
    case kMinverse:
      Map<MatrixXd>(out, nv, nv) = B_inv * in.inverse * B_inv.transpose();
      break;
    default:
      break;
  }
}

}  // namespace

const Plugin* bench_plugin() {
  static const Plugin plugin{.library = "mujoco",
                             .version = mj_versionString(),
                             .compiler = "wheel (as shipped)",
                             .flags = "as shipped on PyPI",
                             .instruction_set = "unknown",
                             .create = create,
                             .destroy = [](void* instance) { delete static_cast<Instance*>(instance); },
                             .error = [] { return last_error.c_str(); },
                             .variant = variant_name,
                             .run = run,
                             .result = result};
  return &plugin;
}
