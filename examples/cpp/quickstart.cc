// Inverse and forward dynamics of a human figure.
#include <cstdio>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/figures.h"

int main() {
  using namespace kansetsu;
  const Model model = human28();  // or io::load_urdf("robot.urdf")
  const CoordinateRange elbow = model.coordinates(model.joint_id("elbowL_y"));
  State state(model);               // upright, at rest
  state.q[elbow.q] = -1.570796327;  // left forearm forward
  Eigen::VectorXd tau = rnea(model, state, Eigen::VectorXd::Zero(model.nv()));
  std::printf("to hold it: %.3f N at the pelvis, %.3f N·m at the elbow\n", tau[5], tau[elbow.v]);
  tau.head<6>().setZero();  // no external support; the joint torques stay
  const AbaResult fall = aba(model, state, tau);
  std::printf("without support: %.3f m/s² at the pelvis, %.3f rad/s² at the elbow\n", fall.vdot[5], fall.vdot[elbow.v]);
}
