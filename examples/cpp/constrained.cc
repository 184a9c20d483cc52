// A figure on two soles, without a world: constraint forces at rest, a driven hip, and a landing on both soles.
#include <cstdio>

#include "kansetsu/constraint/constrained.h"
#include "kansetsu/model/figures.h"

int main() {
  using namespace kansetsu;
  const Model model = human28();
  const State upright(model);
  Constraints soles;
  for (const char* name : {"soleL", "soleR"}) soles.frames.push_back(constraint_on(model, name));

  const Eigen::VectorXd still = Eigen::VectorXd::Zero(model.nv());
  ConstrainedTorque hold = constrained_rnea(model, upright, still, soles);
  const LinkPoses poses = fk(model, upright.q);
  std::printf("stand: %.3f N under the left sole, %.0e missing\n",
              constraint_wrench(model, poses, soles, 0, hold.lambda).f.z, hold.missing < 1e-9 ? 0.0 : hold.missing);

  const CoordinateRange hip = model.coordinates(model.joint_id("hipL_y"));
  hold.tau[hip.v] += 20;
  const ConstrainedMotion motion = constrained_aba(model, upright, hold.tau, soles);
  std::printf("drive: %.4f rad/s² at the hip, rank %d of %d rows\n", motion.vdot[hip.v], motion.rank, soles.rows());

  const ConstrainedDerivatives d = constrained_aba_derivatives(model, upright, hold.tau, soles);
  std::printf("slope: %.6f rad/s² per N·m\n", d.vdot_dtau(hip.v, hip.v));

  State falling = upright;
  falling.v[5] = -1;  // the whole figure, downwards
  const ConstrainedImpulse hit = constrained_impulse(model, falling, soles);
  std::printf("land: %.3f N·s under the left sole, %.3f J lost\n",
              constraint_wrench(model, poses, soles, 0, hit.lambda).f.z, -hit.energy);
}
