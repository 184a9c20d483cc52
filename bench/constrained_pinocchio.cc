#include "constrained_peer.h"
#include "pinocchio_model.h"

#include <pinocchio/algorithm/constrained-dynamics-derivatives.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <vector>

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Instance {
  pinocchio::Model model;
  pinocchio::Data data;
  bool free_base;
  std::vector<VectorXd> q, v, tau;
  std::vector<pinocchio::RigidConstraintModel> contacts;
  std::vector<pinocchio::RigidConstraintData> contact_data;
  pinocchio::ProximalSettings settings{1e-12, 0, 1};  // no regularisation, one step: the exact solution

  Instance(const ModelData& m, const StateData& states, const ContactData* given, int count)
      : model(build(m)), data(model), free_base(m.bodies[0].type == kFreeBody) {
    for (int i = 0; i < states.count; ++i) {
      q.push_back(Eigen::Map<const VectorXd>(states.q + i * m.nq, m.nq));
      v.push_back(reordered(states.v + i * m.nv));
      tau.push_back(reordered(states.tau + i * m.nv));
    }
    for (int i = 0; i < count; ++i) {
      const ContactData& c = given[i];
      const auto place = [](const double* R, const double* p) {
        return pinocchio::SE3(Eigen::Map<const RowMatrix3>(R), Eigen::Map<const Eigen::Vector3d>(p));
      };
      contacts.emplace_back(c.rows == 6 ? pinocchio::CONTACT_6D : pinocchio::CONTACT_3D, model, size_t(c.b + 1),
                            place(c.R_b, c.p_b), size_t(c.a + 1), place(c.R_a, c.p_a), pinocchio::LOCAL);
      contact_data.emplace_back(contacts.back());
    }
#if PINOCCHIO_MAJOR_VERSION >= 4
    pinocchio::initConstraintDynamics(model, data, contacts, contact_data);
#else
    pinocchio::initConstraintDynamics(model, data, contacts);
#endif
  }
  VectorXd reordered(const double* x) const {
    VectorXd out = Eigen::Map<const VectorXd>(x, model.nv);
    if (free_base) out.head<3>().swap(out.segment<3>(3));
    return out;
  }
  double forward(size_t i) {
    pinocchio::constraintDynamics(model, data, q[i], v[i], tau[i], contacts, contact_data, settings);
    return data.ddq[0];
  }
};

Instance& of(void* instance) { return *static_cast<Instance*>(instance); }

void result(void* instance, double* out) {
  const Instance& in = of(instance);
  const long n = in.model.nv;
  Eigen::Map<VectorXd>(out, n) = in.reordered(in.data.ddq.data());
  out += n;
  for (MatrixXd X : {MatrixXd(in.data.ddq_dq), MatrixXd(in.data.ddq_dv), MatrixXd(in.data.ddq_dtau)}) {
    if (in.free_base) {
      X.topRows<3>().swap(X.middleRows<3>(3));
      X.leftCols<3>().swap(X.middleCols<3>(3));
    }
    Eigen::Map<MatrixXd>(out, n, n) = X;
    out += n * n;
  }
}

}  // namespace

const ConstrainedPeer* bench_constrained() {
  static const ConstrainedPeer peer{
      .library = "pinocchio",
      .version = PINOCCHIO_VERSION,
      .flags = BENCH_FLAGS,
      .create = [](const ModelData* m, const StateData* s, const ContactData* c, int n) -> void* {
        return new Instance(*m, *s, c, n);
      },
      .destroy = [](void* instance) { delete &of(instance); },
      .forward = [](void* instance, int state) { return of(instance).forward(size_t(state)); },
      .derivatives =
          [](void* instance, int state) {
            Instance& in = of(instance);
            in.forward(size_t(state));
            pinocchio::computeConstraintDynamicsDerivatives(in.model, in.data, in.contacts, in.contact_data,
                                                            in.settings);
            return in.data.ddq_dq(0, 0);
          },
      .result = result};
  return &peer;
}
