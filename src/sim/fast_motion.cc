#include <algorithm>
#include <cmath>

#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/spatial/rotations.h"
#include "sim/figure.h"

/// Velocity products are taken at the beginning of a semi-implicit step, so that steps in fast motion add energy, the more the longer
/// they are, and in the end without bound. What they add is measured, and beyond a share it is taken back. docs/theory/contact.md §8.
namespace kansetsu {
namespace {

constexpr double kShare = 0.02;  // of the kinetic energy about the centre of mass: what steps may have added

Mat3<> base_axes(const Eigen::VectorXd& q) { return to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]}); }
Vec3<> linear(const Eigen::VectorXd& x) { return {x[3], x[4], x[5]}; }

}  // namespace

double FigureData::fastest(double h) const {
  const kernel::FigureKernels& kernels = kernel::figures();
  const int nv = int(v.size());
  if (model.base() != Base::kFree) return kernels.fastest(nv, h, v.data(), vdot.data());
  return std::max(kernels.fastest(3, h, v.data(), vdot.data()),
                  kernels.fastest(nv - 6, h, v.data() + 6, vdot.data() + 6));
}

/// Of the centre of mass of a free figure at q, moving with v, world axes: by the momentum M·v, from which rnea() takes the weight.
Vec3<> FigureData::com_velocity() {
  trial.q = q;
  trial.v.setZero();
  rnea(model, trial, v, work, work_step);
  return (1 / model.mass()) * (base_axes(q) * linear(work_step)) + model.gravity();
}

void FigureData::advance(double h, double torque_work) {
  constexpr double kFar = 0.02;  // [rad, m]: what is slower adds too little energy to be looked at
  if (!(h * speed > kFar)) return add_acceleration(h);
  trial.q = q, trial.v = v;
  const bool known = mechanics.recursive() && model.mass() > 0;  // then they tell energy and momentum at the beginning
  const Mechanics::Totals before = known ? mechanics.totals(v.data()) : Mechanics::Totals{};
  const Energy start = known ? Energy{before.kinetic, before.potential} : energy(model, trial, work);
  // All forces but gravity: their work with the mean velocity, and on a free base their sum.
  const bool is_free = model.base() == Base::kFree, told = known && rows_known;
  if (!told) rnea(model, trial, vdot, work, work_step);
  const double done = told ? torque_work + row_work : h * work_step.dot(trial.v + 0.5 * h * vdot);
  Vec3<> com{};  // velocity of the centre of mass afterwards
  if (known && is_free) {
    const Vec3<> force = told ? base_axes(q) * linear(effort) + contact_force : base_axes(q) * linear(work_step);
    com = (1 / model.mass()) * (before.momentum + h * force) + h * model.gravity();
  }
  add_acceleration(h);
  trial.q = q, trial.v = v;
  const Energy end = energy(model, trial, work);
  const double error = end.kinetic + end.potential - start.kinetic - start.potential - done;
  if (!is_free || !known || !keeps_energy(error, end.kinetic, com)) limit_energy(error, end.kinetic);
}

/// Whether the energy that steps have added stays within its share; then it is noted. `com` is known to first order, which is enough
/// where it is not close.
bool FigureData::keeps_energy(double error, double kinetic, const Vec3<>& com) {
  constexpr double kClose = 0.9;
  const double about = kinetic - std::min(0.5 * model.mass() * dot(com, com), kinetic);
  if (!(surplus + error < kClose * kShare * about)) return false;
  surplus = std::max(surplus + error, -kShare * about);
  return true;
}

/// Takes energy back, from the motion about the centre of mass as long as there is any.
/// @param error  energy that the step has added
void FigureData::limit_energy(double error, double kinetic) {
  const Vec3<> com = model.base() == Base::kFree ? com_velocity() : Vec3<>{};
  const double along = std::min(0.5 * model.mass() * dot(com, com), kinetic), about = kinetic - along;
  surplus = std::max(surplus + error, -kShare * about);
  const double excess = surplus - kShare * about;
  if (!(excess > 0)) return;
  const auto factor = [](double take, double from) { return take < from ? std::sqrt(1 - take / from) : 0; };
  const double scale = factor(excess, about), slower = factor(std::max(excess - about, 0.0), along);
  v *= scale;
  if (along > 0) {
    const Vec3<> x = transpose_times(base_axes(q), (slower - scale) * com);
    v[3] += x.x, v[4] += x.y, v[5] += x.z;
  }
  surplus -= (1 - scale * scale) * about + (1 - slower * slower) * along;
}

}  // namespace kansetsu
