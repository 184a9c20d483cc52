#include "pinocchio_model.h"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <Eigen/Cholesky>
#include <string>
#include <vector>

#include "plugin.h"

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using pinocchio::Convention;

std::string last_error;

struct Instance {
  pinocchio::Model model;
  pinocchio::Data data;
  bool free_base, mimic;
  bool has_crba = true;
  std::vector<VectorXd> q, v, a, tau;
  VectorXd zero;
  Eigen::LLT<MatrixXd, Eigen::Upper> factor;  ///< of M, if aba does not support the model

  Instance(const ModelData& m, const StateData& states)
      : model(build(m)),
        data(model),
        free_base(m.body_count > 0 && m.bodies[0].type == kFreeBody),
        mimic(!model.mimicking_joints.empty()),
        zero(VectorXd::Zero(m.nv)),
        factor(m.nv) {
    // Pinocchio 3.7 reads before the beginning of an array where a joint follows the first one.
    for (size_t j : model.mimicking_joints) has_crba = has_crba && model.joints[j].idx_v() > 0;
    for (int i = 0; i < states.count; ++i) {
      q.push_back(Eigen::Map<const VectorXd>(states.q + i * m.nq, m.nq));
      v.push_back(reordered(states.v + i * m.nv));
      a.push_back(reordered(states.a + i * m.nv));
      tau.push_back(reordered(states.tau + i * m.nv));
    }
  }
  /// Converts between angular first and linear first, at the base.
  VectorXd reordered(const double* x) const {
    VectorXd out = Eigen::Map<const VectorXd>(x, model.nv);
    if (free_base) out.head<3>().swap(out.segment<3>(3));
    return out;
  }
  void put(const VectorXd& x, double* out) const { Eigen::Map<VectorXd>(out, model.nv) = reordered(x.data()); }
  double* put_matrix(MatrixXd m, double* out, bool complete) const {
    if (complete) m.triangularView<Eigen::StrictlyLower>() = m.transpose().triangularView<Eigen::StrictlyLower>();
    if (free_base) {
      m.topRows<3>().swap(m.middleRows<3>(3));
      m.leftCols<3>().swap(m.middleCols<3>(3));
    }
    Eigen::Map<MatrixXd>(out, model.nv, model.nv) = m;
    return out + model.nv * model.nv;
  }
};

void* create(const ModelData* model, const StateData* states) try {
  auto* instance = new Instance(*model, *states);
  if (instance->model.nq != model->nq || instance->model.nv != model->nv) {
    delete instance;
    last_error = "Pinocchio's model has other sizes";
    return nullptr;
  }
  return instance;
} catch (const std::exception& e) {
  last_error = e.what();
  return nullptr;
}

/// aba, computeMinverse and the derivatives refuse mimic joints, and the columns of their Jacobians are not merged.
const char* variant_name(void* instance, int algorithm, int variant) {
  static const char* const conventions[] = {"local", "world", nullptr};
  static const char* const by_factor[] = {"crba, rnea, LLT", nullptr};
  const Instance& in = *static_cast<const Instance*>(instance);
  if (!in.has_crba && (algorithm == kCrba || algorithm == kAba)) return nullptr;
  if (in.mimic && algorithm == kAba) return by_factor[variant];
  if (in.mimic && algorithm != kFk && algorithm != kRnea && algorithm != kCrba) return nullptr;
  if (algorithm == kCrba || algorithm == kAba) return conventions[variant];
  return variant == 0 ? "" : nullptr;
}

/// Forward dynamics of a model with mimic joints, as far as this library supports it.
double solve(Instance& in, size_t i) {
  pinocchio::crba(in.model, in.data, in.q[i], Convention::WORLD);
  in.data.ddq = in.tau[i] - pinocchio::rnea(in.model, in.data, in.q[i], in.v[i], in.zero);
  in.factor.compute(in.data.M);
  in.factor.solveInPlace(in.data.ddq);
  return in.data.ddq[0];
}

double run(void* instance, int algorithm, int variant, int state) {
  Instance& in = *static_cast<Instance*>(instance);
  const size_t i = size_t(state);
  const Convention convention = variant == 0 ? Convention::LOCAL : Convention::WORLD;
  switch (algorithm) {
    case kFk:
      pinocchio::forwardKinematics(in.model, in.data, in.q[i]);
      return in.data.oMi.back().translation()[0];
    case kJacobians:
      pinocchio::computeJointJacobians(in.model, in.data, in.q[i]);
      return in.data.J(5, in.model.nv - 1);
    case kRnea:
      return pinocchio::rnea(in.model, in.data, in.q[i], in.v[i], in.a[i])[0];
    case kCrba:
      return pinocchio::crba(in.model, in.data, in.q[i], convention)(0, 0);
    case kAba:
      if (in.mimic) return solve(in, i);
      return pinocchio::aba(in.model, in.data, in.q[i], in.v[i], in.tau[i], convention)[0];
    case kMinverse:
      return pinocchio::computeMinverse(in.model, in.data, in.q[i])(0, 0);
    case kRneaDerivatives:
      pinocchio::computeRNEADerivatives(in.model, in.data, in.q[i], in.v[i], in.a[i]);
      return in.data.dtau_dq(0, 0);
    case kAbaDerivatives:
      pinocchio::computeABADerivatives(in.model, in.data, in.q[i], in.v[i], in.tau[i]);
      return in.data.ddq_dq(0, 0);
  }
  return 0;
}

void result(void* instance, int algorithm, int variant, int state, double* out) {
  run(instance, algorithm, variant, state);
  const Instance& in = *static_cast<Instance*>(instance);
  const pinocchio::Data& data = in.data;
  switch (algorithm) {
    case kFk:
      for (size_t j = 1; j < data.oMi.size(); ++j, out += 12) {
        Eigen::Map<RowMatrix3>{out} = data.oMi[j].rotation();
        Eigen::Map<Eigen::Vector3d>{out + 9} = data.oMi[j].translation();
      }
      break;
    case kJacobians: {
      Eigen::Map<Eigen::Matrix<double, 6, Eigen::Dynamic>> J(out, 6, in.model.nv);
      J.topRows<3>() = data.J.bottomRows<3>();
      J.bottomRows<3>() = data.J.topRows<3>();
      if (in.free_base) J.leftCols<3>().swap(J.middleCols<3>(3));
      break;
    }
    case kRnea:
      in.put(data.tau, out);
      break;
    case kCrba:
      in.put_matrix(data.M, out, true);
      break;
    case kAba:
      in.put(data.ddq, out);
      break;
    case kMinverse:
      in.put_matrix(data.Minv, out, true);
      break;
    case kRneaDerivatives:
      out = in.put_matrix(data.dtau_dq, out, false);
      out = in.put_matrix(data.dtau_dv, out, false);
      in.put_matrix(data.M, out, true);
      break;
    case kAbaDerivatives:
      out = in.put_matrix(data.ddq_dq, out, false);
      out = in.put_matrix(data.ddq_dv, out, false);
      in.put_matrix(data.Minv, out, true);
      break;
  }
}

}  // namespace

const Plugin* bench_plugin() {
  static const Plugin plugin{.library = "pinocchio",
                             .version = PINOCCHIO_VERSION,
                             .compiler = BENCH_COMPILER " " BENCH_COMPILER_VERSION,
                             .flags = BENCH_FLAGS,
                             .instruction_set = "native",
                             .create = create,
                             .destroy = [](void* instance) { delete static_cast<Instance*>(instance); },
                             .error = [] { return last_error.c_str(); },
                             .variant = variant_name,
                             .run = run,
                             .result = result};
  return &plugin;
}
