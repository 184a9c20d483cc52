// What holds a figure, and what happens when nothing does.
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
  std::printf("hold: %.3f N under the pelvis, %.3f N·m at the elbow\n", tau[5], tau[elbow.v]);
  tau.head<6>().setZero();  // let go: the joints keep their torques
  const AbaResult fall = aba(model, state, tau);
  std::printf("fall: %.3f m/s² at the pelvis, %.3f rad/s² at the elbow\n", fall.vdot[5], fall.vdot[elbow.v]);
}
