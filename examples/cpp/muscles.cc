// An elbow with three muscles holds 5 kg: how long they are, their moment arms, and which of them carry how much.
#include <cstdio>

#include "kansetsu/actuation/actuation.h"
#include "kansetsu/actuation/static_optimization.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/builder.h"

namespace {

using namespace kansetsu;

/// From the upper arm, which stands still, to the forearm `out` from the elbow.
void add_muscle(ActuationDescription& out, const char* name, double height, double outward, double front,
                const HillMuscle& hill) {
  out.tendons.push_back(
      {.name = name, .path = {{.at = {"", {{front, 0, height}, {}}}}, {.at = {"forearm", {{outward, 0, 0}, {}}}}}});
  ActuatorDescription muscle{.name = name, .transmission = Transmission::kTendon, .target = name};
  muscle.gain = GainLaw::kHill, muscle.bias = BiasLaw::kHill, muscle.activation = ActivationLaw::kMuscle;
  muscle.hill = hill;
  out.actuators.push_back(muscle);
}

}  // namespace

int main() {
  // The forearm points along x when the elbow is at zero; a hand with 5 kg is 0.3 m from it.
  ModelDescription arm{.name = "arm"};
  arm.links = {{.name = "upper_arm"}, {.name = "forearm", .inertial = Inertial{}}};
  arm.links[1].inertial->mass = 6.5, arm.links[1].inertial->origin.p = {0.26, 0, 0};
  arm.links[1].inertial->inertia = {0.001, 0, 0, 0.05, 0, 0.05};
  arm.joints = {{.name = "elbow", .type = JointType::kRevolute, .parent = "upper_arm", .child = "forearm"}};
  arm.joints[0].axis = {0, -1, 0};  // bending lifts the hand
  arm.base = Base::kFixed;
  const Model model = value_or_throw(Model::build(arm));

  ActuationDescription muscles;
  add_muscle(muscles, "biceps", 0.28, 0.04, 0.02,
             {.force = 850, .fibre_length = 0.13, .tendon_length = 0.15, .curves = HillCurves::kMillard});
  add_muscle(muscles, "brachialis", 0.10, 0.025, 0.01,
             {.force = 990, .fibre_length = 0.086, .tendon_length = 0.03, .curves = HillCurves::kMillard});
  add_muscle(muscles, "triceps", 0.20, -0.022, -0.02,
             {.force = 1200, .fibre_length = 0.09, .tendon_length = 0.12, .curves = HillCurves::kMillard});
  Actuation actuation(model, muscles);

  State state(model);
  actuation.place(state);
  Workspace work(model);
  Eigen::VectorXd moment(1);
  rnea(model, state, Eigen::VectorXd::Zero(1), work, moment);
  Eigen::MatrixXd A(1, 3);
  for (int i = 0; i < 3; ++i) {
    const double active = actuation.force(i, 1, 1).force - actuation.force(i, 0, 0).force;
    A(0, i) = active * actuation.actuator_moment(i).values[0];
  }
  StaticOptimization optimum;
  const SharedMoments& shared =
      optimum.solve(A, moment, Eigen::VectorXd::Constant(3, 0.01), Eigen::VectorXd::Constant(3, 1));
  std::printf("the elbow has to give %.1f N m; muscles leave %.3f\n", moment[0], shared.reserves[0]);
  for (int i = 0; i < 3; ++i)
    std::printf("%-10s %.3f m long, arm %+.1f mm, activation %.2f\n", actuation.actuator(i).name.c_str(),
                actuation.actuator_length(i), -1000 * actuation.actuator_moment(i).values[0], shared.activations[i]);
  const bool met = shared.solved && std::abs((A * shared.activations)[0] + shared.reserves[0] - moment[0]) < 1e-6;
  std::printf("moments add up: %s\n", met ? "yes" : "no");
  return met ? 0 : 1;
}
