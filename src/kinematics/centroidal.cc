#include "kansetsu/kinematics/centroidal.h"

#include "kansetsu/base/error.h"
#include "kinematics/kernel_table.h"
#include "model/workspace_use.h"

namespace kansetsu {

Energy energy(const Model& model, const State& state, Workspace& work) {
  const WorkspaceUse use = use_workspace("energy", model, state, work);
  double out[2];
  kernel::kinematics().energy(model.tree().view(), state.q.data(), state.v.data(), work.data(), out);
  return {out[0], out[1]};
}

Energy energy(const Model& model, const State& state) {
  Workspace work(model);
  return energy(model, state, work);
}

Centroidal::Centroidal(const Model& model) : A(6, model.nv()), A_dot(6, model.nv()) {}

void centroidal(const Model& model, const State& state, Workspace& work, Centroidal& out) {
  const WorkspaceUse use = use_workspace("centroidal", model, state, work);
  check_size("centroidal", "columns of the result", out.A.cols(), model.nv());
  double x[13];
  kernel::kinematics().centroidal(model.tree().view(), state.q.data(), state.v.data(), work.data(), x, out.A.data(),
                                  out.A_dot.data());
  out.mass = x[0];
  out.com = {x[1], x[2], x[3]};
  out.com_velocity = {x[4], x[5], x[6]};
  out.h = {{x[7], x[8], x[9]}, {x[10], x[11], x[12]}};
}

Centroidal centroidal(const Model& model, const State& state) {
  Centroidal out(model);
  Workspace work(model);
  centroidal(model, state, work, out);
  return out;
}

Vec3<> center_of_mass(const Model& model, const VectorRef& q, Workspace& work) {
  const WorkspaceUse use = use_workspace("center_of_mass", model, q, work);
  double x[13];
  kernel::kinematics().centroidal(model.tree().view(), q.data(), nullptr, work.data(), x, nullptr, nullptr);
  return {x[1], x[2], x[3]};
}

Vec3<> center_of_mass(const Model& model, const VectorRef& q) {
  Workspace work(model);
  return center_of_mass(model, q, work);
}

}  // namespace kansetsu
