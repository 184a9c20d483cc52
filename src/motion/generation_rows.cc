#include <fmt/format.h>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/motion/generation.h"
#include "kansetsu/spatial/eigen.h"

namespace kansetsu {

AccelerationRows frame_rows(const Model& model, const State& state, const ik::FrameOn& frame,
                            const Motion<>& acceleration, ConstraintMask mask) {
  Workspace work(model);
  Jacobian jacobian_of(model);
  jacobian(model, state, frame.link, frame.X_LF, JacobianAxes::kLocalWorldAligned, work, jacobian_of);
  const Vector6d a = to_eigen(acceleration) - jacobian_of.drift;
  std::vector<int> rows;
  for (int k = 0; k < 6; ++k) {
    if (mask >> k & 1) rows.push_back(k);
  }
  return {model.link(frame.link).name, jacobian_of.J(rows, Eigen::all), a(rows)};
}

AccelerationRows com_rows(const Model& model, const State& state, const Vec3<>& acceleration) {
  const Centroidal c = centroidal(model, state);
  const Eigen::Vector3d drift = c.A_dot.bottomRows<3>() * state.v / c.mass;
  return {"centre of mass", c.A.bottomRows<3>() / c.mass, to_eigen(acceleration) - drift};
}

AccelerationRows momentum_rows(const Model& model, const State& state, const Force<>& rate) {
  const Centroidal c = centroidal(model, state);
  return {"momentum", c.A, to_eigen(rate) - c.A_dot * state.v};
}

AccelerationRows posture_rows(const Model& model, const VectorRef& vdot) {
  if (vdot.size() != model.nv())
    throw Error(fmt::format("posture_rows: {} accelerations for {} coordinates", vdot.size(), model.nv()));
  const int base = model.base_coordinates().nv, joints = model.nv() - base;
  AccelerationRows rows{"posture", Eigen::MatrixXd::Zero(joints, model.nv()), vdot.tail(joints)};
  rows.J.rightCols(joints).setIdentity();
  return rows;
}

}  // namespace kansetsu
