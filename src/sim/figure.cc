#include "sim/figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {

namespace {

/// exp_quaternion(φ). Rotations within a step are mostly so small that a few terms of the series are exact.
Quaternion<> turn_by(const Vec3<>& phi) {
  const double z = 0.25 * dot(phi, phi);  // (half the angle)²
  if (!(z < 0.01)) return exp_quaternion(phi);
  const double half_sinc = 0.5 + z * (-1.0 / 12 + z * (1.0 / 240 + z * (-1.0 / 10080 + z * (1.0 / 725760))));
  const double c = 1 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 - z * (1.0 / 3628800)))));
  return {half_sinc * phi.x, half_sinc * phi.y, half_sinc * phi.z, c};
}

Vec3<> at(const Eigen::VectorXd& x, int i) { return {x[i], x[i + 1], x[i + 2]}; }

}  // namespace

Mat3<> FigureData::base_axes() const { return to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]}); }

FigureData::FigureData(const Model& m, const FigureOptions& o)
    : model(m), options(o), mechanics(model), actuators(model, options), work(model), q(neutral(model)), trial(model) {
  for (Eigen::VectorXd* x : {&v,          &vdot,       &torque,        &external,      &tau,           &extra,
                             &effort,     &work_step,  &spring_torque, &medium_torque, &stored,        &stored_inertia,
                             &shift,      &net,        &products,      &products_due,  &products_next, &bias,
                             &first_bias, &first_kick, &still})
    *x = Eigen::VectorXd::Zero(model.nv());
  std::vector<int> position(size_t(model.nv()), -1);  // of each column
  if (model.base() == Base::kFree) rotations.push_back({3, 0, 4});
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange r = model.coordinates(JointId(j));
    for (int k = 0; r.nq == r.nv && k < r.nv; ++k) position[size_t(r.v + k)] = r.q + k;
    has_screws = has_screws || r.nq == 7;
    if (r.nq != r.nv) rotations.push_back({r.q, r.v, 4});
    if (r.nq != r.nv || r.nv == 0) continue;
    if (!runs.empty() && runs.back().q + runs.back().count == r.q && runs.back().v + runs.back().count == r.v)
      runs.back().count += r.nv;
    else
      runs.push_back({r.q, r.v, r.nv});
  }
  for (BallJoint& ball : limited_balls(model)) {
    const SwingTwistLimit& limit = *model.joint(ball.joint()).swing_twist;
    balls.push_back({std::move(ball), limit});
  }
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const CoordinateRange r = model.coordinates(JointId(j));
    const auto massless = [&](LinkId link) {
      const auto& inertial = model.link(link).inertial;
      return !inertial || inertial->mass == 0;
    };
    const bool singular = massless(model.parent_link(JointId(j))) || massless(model.child_link(JointId(j)));
    const auto chain = info(joint.type).chain;
    for (const Primitive& p : chain) {
      const bool hinge = p.kind == PrimitiveKind::kHinge || p.kind == PrimitiveKind::kScrew;
      if (r.nv == 0 || !hinge) continue;
      if (singular || chain.size() > 1) turns.push_back({r.v + p.coordinate, int(drives.size()) + p.coordinate});
    }
    for (int k = 0; k < info(joint.type).nv; ++k) {
      DriveCoordinate drive;
      drive.joint = JointId(j);
      drive.index = k;
      const Model::Row& row = model.row(JointId(j), k);
      drive.terms = row.terms;
      drive.offset = row.offset;
      drive.dof = model.dof(JointId(j), k);
      const bool own = row.terms.size() == 1 && row.terms[0] == std::pair{r.v + k, 1.0};
      if (r.nq == 4 && r.nv == 3 && own) drive.quaternion = r.q;
      bool vector = true;
      for (const auto& [column, ratio] : row.terms) vector = vector && position[size_t(column)] >= 0;
      for (const auto& [column, ratio] : row.terms) {
        if (vector) drive.positions.emplace_back(position[size_t(column)], ratio);
      }
      drives.push_back(std::move(drive));
    }
  }
  bound_force = Eigen::VectorXd::Zero(kBoundKinds * long(drives.size() + options.actuation.tendons.size()));
  const JointSwitches& on = options.switches;
  for (size_t i = 0; i < drives.size(); ++i) {
    const DofDescription& d = drives[i].dof;
    const PassiveDrive p{
        .drive = int(i),
        .damping = on.damping ? d.damping : 0,
        .stiffness = on.springs ? d.stiffness : 0,
        .limited = on.limits && !drives[i].positions.empty() && (d.lower > -kInfinity || d.upper < kInfinity),
        .friction = on.friction ? d.friction : 0};
    if (p.damping != 0 || p.stiffness != 0) springs.push_back(p);
    if (!drives[i].terms.empty() && (p.limited || p.friction > 0)) bounds.push_back(p);
  }
}

double DriveCoordinate::turn(const Eigen::VectorXd& q) const {
  const double* x = q.data() + quaternion;
  const Vec3<> r = log_rotation(Quaternion<>{x[0], x[1], x[2], x[3]});
  return index == 0 ? r.x : index == 1 ? r.y : r.z;
}

void FigureData::add_to_positions(double h) {
  if (has_screws) {
    work_step = h * v;
    if (model.base() == Base::kFree) work_step.segment<3>(3).setZero();
    return integrate(model, q, work_step, q);
  }
  for (const Run& r : runs) kernel::figures().advance(r.count, h, v.data() + r.v, q.data() + r.q);
  for (const Run& r : rotations) {
    const Quaternion<> before{q[r.q], q[r.q + 1], q[r.q + 2], q[r.q + 3]};
    const Quaternion<> after = normalised(before * turn_by(h * Vec3<>{v[r.v], v[r.v + 1], v[r.v + 2]}));
    q[r.q] = after.x, q[r.q + 1] = after.y, q[r.q + 2] = after.z, q[r.q + 3] = after.w;
  }
}

double FigureData::fastest(double h) const {
  const kernel::FigureKernels& kernels = kernel::figures();
  const int nv = int(v.size());
  if (model.base() != Base::kFree) return kernels.fastest(nv, h, v.data(), vdot.data());
  return std::max(kernels.fastest(3, h, v.data(), vdot.data()),
                  kernels.fastest(nv - 6, h, v.data() + 6, vdot.data() + 6));
}

void FigureData::drift(double h) {
  if (model.base() != Base::kFree) return add_to_positions(h);
  const Vec3<> v_W = base_axes() * at(v, 3);
  add_to_positions(h);
  const Vec3<> moved = at(q, 0) + h * v_W, turned = transpose_times(base_axes(), v_W);
  q.head<3>() << moved.x, moved.y, moved.z;
  v.segment<3>(3) << turned.x, turned.y, turned.z;
}

void FigureData::kick(double h) {
  const bool is_free = model.base() == Base::kFree;
  const Vec3<> turning = is_free ? h * cross(at(v, 0), at(v, 3)) : Vec3<>{};
  kernel::figures().advance(int(v.size()), h, vdot.data(), v.data());
  if (is_free) v[3] += turning.x, v[4] += turning.y, v[5] += turning.z;
}

void FigureData::begin_part(double h) {
  begins_far = is_far(h);
  drift(0.5 * h);
  set_mechanics();
  set_products(h);
  products_next.setZero();
}

void FigureData::finish_part(double h) {
  q_middle = q, v_middle = v;
  double done =
      kernel::figures().effort(int(v.size()), h, tau.data(), extra.data(), v.data(), vdot.data(), effort.data());
  torque_work = h * done + (struck ? struck_work : 0);
  if (has_stored) done -= (stored - stored_inertia.cwiseProduct(vdot)).dot(v + 0.5 * h * vdot);
  work_done = h * done + (struck ? struck_work - struck_stored : 0);
  set_acting();
  products_due = h * products_next;
  kick(h);
  drift(0.5 * h);
}

void FigureData::set_mechanics() {
  mechanics.set_pose(q.data());
  mechanics.set_motion(v.data());
}

void FigureData::set_net(double h) { net = tau - products - (1 / h) * products_due; }
void FigureData::factorise(double h) {
  set_net(h);
  mechanics.factorise(has_extra ? extra.data() : nullptr, net.data());
}

/// Bias torques of the motion v + after·v̇, gravity included, with the origin of the base at rest: they do not depend on its velocity.
void FigureData::bias_torques(double after, Eigen::VectorXd& out) {
  trial.q = q, trial.v = v + after * vdot;
  still_base_bias(out);
}
void FigureData::still_base_bias(Eigen::VectorXd& out) {
  if (model.base() == Base::kFree) trial.v.segment<3>(3).setZero();
  rnea(model, trial, still, work, out);
}

bool FigureData::is_fast(double h) const {
  const double most = fastest(h);
  return 0.5 * h * most * most > threshold::kProductsGain;
}

bool FigureData::is_far(double h) const { return !(h * fastest(h) < threshold::kFar); }

void FigureData::set_products(double h) {
  products_change = std::numeric_limits<double>::infinity();
  struck = false;
  moves = is_fast(h);
  if (!moves) {
    products.setZero(), products_due.setZero();
    return;
  }
  bias_torques(0, bias);
  mean_bias(h, work_step);
  products = work_step - bias;
}

void FigureData::begin_impact(double after) {
  mechanics.free_acceleration(vdot.data());
  first_kick = after * vdot;
  bias_torques(0.5 * after, first_bias);
}

void FigureData::finish_impact(double h, const Eigen::VectorXd& before) {
  mechanics.set_motion(v.data());
  products_change = std::numeric_limits<double>::infinity();
  // Torques have acted on the velocities before the impact for half of the step; implicit parts have resisted the impulse.
  const auto missing = [&](const Eigen::VectorXd& torques, const Eigen::VectorXd& inertia) {
    const auto jump = v - before;
    return -0.5 * (h * torques + inertia.cwiseProduct(v + before)).dot(jump);
  };
  struck_work = missing(tau, extra), struck_stored = has_stored ? missing(stored, stored_inertia) : 0;
  struck = moves = true;
  bias_torques(0, bias);
  mean_bias(h, work_step);
  products = work_step - bias;
}

void FigureData::mean_bias(double h, Eigen::VectorXd& out) {
  if (!struck) return bias_torques(0.5 * h, out);
  trial.q = q, trial.v = v + 0.5 * (first_kick + h * vdot);
  still_base_bias(out);
  out = 0.5 * (first_bias + out);
}

ProductsState FigureData::correct_products(double h, bool held) {
  using namespace threshold;
  if (!moves && !is_fast(h)) return ProductsState::kSettled;
  if (!moves) bias_torques(0, bias);
  moves = true;
  const Eigen::VectorXd& mean = trial.v;
  mean_bias(h, work_step);
  double power = 0, change = 0;
  for (int k = 0; k < work_step.size(); ++k) {
    change += std::abs((work_step[k] - bias[k] - products[k]) * mean[k]);
    power += std::abs(work_step[k] * mean[k]);
  }
  work_step -= bias;
  // [W] A body at rest gains this from its weight in a step: products below a share of it are settled. Those of a ball or a cube,
  // which are rounding errors, always are.
  const double weight = model.mass() * norm(model.gravity()), least = weight * h * norm(model.gravity());
  const bool strict = held || is_far(h);
  const bool again = !(change <= (strict ? kProductsSettle : kSlowProductsSettle) * (power + least));
  if (!strict && !again) products_next = work_step - products;
  if (!again) return ProductsState::kSettled;
  if (!(change < kProductsGrowth * products_change)) return ProductsState::kRunAway;
  products = work_step, products_change = change;
  return ProductsState::kChanged;
}

Energy FigureData::energy_of(const Eigen::VectorXd& place, const Eigen::VectorXd& motion) {
  trial.q = place, trial.v = motion;
  return energy(model, trial, work);
}

void FigureData::set_acting() {
  if (model.base() != Base::kFree) return;
  const Mat3<> R = base_axes();
  const Vec3<> force = R * at(effort, 3);
  acting = {R * at(effort, 0) + cross(at(q, 0), force), force};
}

void FigureData::add_turning(double sign) {
  if (model.base() != Base::kFree) return;
  const Vec3<> turning = sign * cross(Vec3<>{v[0], v[1], v[2]}, Vec3<>{v[3], v[4], v[5]});
  vdot[3] += turning.x, vdot[4] += turning.y, vdot[5] += turning.z;
}

void FigureData::begin_stages(int stages) {
  q0 = q, v0 = v;
  actuators.start = actuators.activation;
  while (int(rate_q.size()) < stages) {
    actuators.rates.push_back(Eigen::VectorXd::Zero(actuators.activation.size()));
    rate_q.push_back(Eigen::VectorXd::Zero(model.nq()));
    rate_v.push_back(Eigen::VectorXd::Zero(model.nv()));
  }
}

}  // namespace kansetsu
