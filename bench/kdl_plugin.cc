// KDL of Debian: serial chains on a fixed base, through its solvers for chains.
#include <kdl/config.h>
#include <kdl/chain.hpp>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>

#include <string>
#include <vector>

#include "plugin.h"

namespace {

std::string last_error;

KDL::Vector vector_of(const double* x) { return {x[0], x[1], x[2]}; }

KDL::Segment segment_of(const BodyData& b) {
  const double* R = b.R;
  const KDL::Rotation rotation(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]);
  const KDL::Vector origin = vector_of(b.p), axis = rotation * vector_of(b.axis);
  const auto type = b.type == kRevoluteBody ? KDL::Joint::RotAxis : KDL::Joint::TransAxis;
  const double* I = b.inertia;
  const KDL::RotationalInertia inertia(I[0], I[3], I[5], I[1], I[2], I[4]);
  return KDL::Segment(KDL::Joint(origin, axis, type, 1, 0, b.rotor_inertia), KDL::Frame(rotation, origin),
                      KDL::RigidBodyInertia(b.mass, vector_of(b.com), inertia));
}

KDL::Chain build(const ModelData& model) {
  KDL::Chain chain;
  for (int i = 0; i < model.body_count; ++i) chain.addSegment(segment_of(model.bodies[i]));
  return chain;
}

struct Instance {
  KDL::Chain chain;
  unsigned n;
  KDL::ChainFkSolverPos_recursive fk;
  KDL::ChainIdSolver_RNE inverse;
  KDL::ChainFdSolver_RNE forward;
  KDL::ChainDynParam parameters;
  std::vector<KDL::Frame> frames;
  KDL::Wrenches no_wrenches;
  KDL::JntArray out;
  KDL::JntSpaceInertiaMatrix M;
  std::vector<KDL::JntArray> q, v, a, tau;

  Instance(const ModelData& model, const StateData& states)
      : chain(build(model)),
        n(chain.getNrOfJoints()),
        fk(chain),
        inverse(chain, vector_of(model.gravity)),
        forward(chain, vector_of(model.gravity)),
        parameters(chain, vector_of(model.gravity)),
        frames(chain.getNrOfSegments()),
        no_wrenches(chain.getNrOfSegments(), KDL::Wrench::Zero()),
        out(n),
        M(n) {
    const auto copy = [&](const double* from, std::vector<KDL::JntArray>& to) {
      for (int i = 0; i < states.count; ++i) {
        to.emplace_back(n);
        to.back().data = Eigen::Map<const Eigen::VectorXd>(from + i * int(n), n);
      }
    };
    copy(states.q, q), copy(states.v, v), copy(states.a, a), copy(states.tau, tau);
  }
};

void* create(const ModelData* model, const StateData* states) {
  for (int i = 0; i < model->body_count; ++i) {
    const BodyData& b = model->bodies[i];
    if (b.type != kFreeBody && b.parent == i - 1 && b.leader < 0) continue;
    last_error = "its solvers of dynamics take serial chains on a fixed base";
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
  switch (algorithm) {
    case kFk:
      in.fk.JntToCart(in.q[i], in.frames);
      return in.frames.back().p.x();
    case kRnea:
      in.inverse.CartToJnt(in.q[i], in.v[i], in.a[i], in.no_wrenches, in.out);
      return in.out(0);
    case kCrba:
      in.parameters.JntToMass(in.q[i], in.M);
      return in.M(0, 0);
    case kAba:
      in.forward.CartToJnt(in.q[i], in.v[i], in.tau[i], in.no_wrenches, in.out);
      return in.out(0);
  }
  return 0;
}

void result(void* instance, int algorithm, int variant, int state, double* out) {
  run(instance, algorithm, variant, state);
  const Instance& in = *static_cast<const Instance*>(instance);
  if (algorithm == kFk) {
    for (const KDL::Frame& frame : in.frames) {
      for (double x : frame.M.data) *out++ = x;
      for (int k = 0; k < 3; ++k) *out++ = frame.p[k];
    }
  } else if (algorithm == kCrba) {
    Eigen::Map<Eigen::MatrixXd>(out, in.n, in.n) = in.M.data;
  } else {
    Eigen::Map<Eigen::VectorXd>(out, in.n) = in.out.data;
  }
}

}  // namespace

const Plugin* bench_plugin() {
  static const Plugin plugin{.library = "kdl",
                             .version = KDL_VERSION_STRING,
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
