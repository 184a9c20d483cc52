#include "sim/figure.h"

#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {

namespace {

/// exp_quaternion(φ). A step mostly turns so little that a few terms of its series are exact.
Quaternion<> turn_by(const Vec3<>& phi) {
  const double z = 0.25 * dot(phi, phi);  // (half the angle)²
  if (!(z < 0.01)) return exp_quaternion(phi);
  const double half_sinc = 0.5 + z * (-1.0 / 12 + z * (1.0 / 240 + z * (-1.0 / 10080 + z * (1.0 / 725760))));
  const double c = 1 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 - z * (1.0 / 3628800)))));
  return {half_sinc * phi.x, half_sinc * phi.y, half_sinc * phi.z, c};
}

}  // namespace

FigureData::FigureData(const Model& m, const FigureOptions& o)
    : model(m), options(o), mechanics(model), work(model), q(neutral(model)), trial(model) {
  for (Eigen::VectorXd* x :
       {&v, &vdot, &torque, &external, &tau, &extra, &effort, &work_step, &spring_torque, &stored, &stored_inertia})
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
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const CoordinateRange r = model.coordinates(JointId(j));
    if (r.nq == 4 && joint.swing_twist) balls.push_back({r.q, r.v, *joint.swing_twist});
    const auto massless = [&](LinkId link) {
      const auto& inertial = model.link(link).inertial;
      return !inertial || inertial->mass == 0;
    };
    const bool singular = massless(model.parent_link(JointId(j))) || massless(model.child_link(JointId(j)));
    const auto chain = info(joint.type).chain;
    for (const Primitive& p : chain) {
      const bool hinge = p.kind == PrimitiveKind::kHinge || p.kind == PrimitiveKind::kScrew;
      if (r.nv == 0 || !hinge) continue;
      turns.push_back({r.v + p.coordinate, singular || chain.size() > 1 ? int(drives.size()) + p.coordinate : -1});
    }
    for (int k = 0; k < info(joint.type).nv; ++k) {
      DriveCoordinate drive;
      drive.joint = JointId(j);
      drive.index = k;
      const Model::Row& row = model.row(JointId(j), k);
      drive.terms = row.terms;
      drive.offset = row.offset;
      drive.dof = model.dof(JointId(j), k);
      bool vector = true;
      for (const auto& [column, ratio] : row.terms) vector = vector && position[size_t(column)] >= 0;
      for (const auto& [column, ratio] : row.terms) {
        if (vector) drive.positions.emplace_back(position[size_t(column)], ratio);
      }
      drives.push_back(std::move(drive));
    }
  }
  for (const Run& r : rotations) {
    for (int k = 0; k < 3; ++k) turns.push_back({r.v + k, -1});
  }
  bound_force = Eigen::VectorXd::Zero(kBoundKinds * long(drives.size()));
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

void FigureData::add_acceleration(double h) {
  if (model.base() != Base::kFree) {
    kernel::figures().advance(int(v.size()), h, vdot.data(), v.data());
    return add_to_positions(h);
  }
  const auto at = [](const Eigen::VectorXd& x, int i) { return Vec3<>{x[i], x[i + 1], x[i + 2]}; };
  const auto rotation = [&] { return to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]}); };
  const Mat3<> R = rotation();
  const Vec3<> p = at(q, 0), w = at(v, 0), u = at(v, 3);
  const double mass = model.mass();
  const Vec3<> lasting = model.gravity() + (mass > 0 ? 1 / mass : 0) * contact_force;
  const Vec3<> turning = at(vdot, 3) + cross(w, u) - transpose_times(R, lasting);
  const Vec3<> v_W = R * (u + h * rotate(turn_by((0.5 * h) * w), turning)) + h * lasting;
  kernel::figures().advance(int(v.size()), h, vdot.data(), v.data());
  add_to_positions(h);
  const Vec3<> moved = p + h * v_W, turned = transpose_times(rotation(), v_W);
  q.head<3>() << moved.x, moved.y, moved.z;
  v.segment<3>(3) << turned.x, turned.y, turned.z;
}

void FigureData::add_turning(double sign) {
  if (model.base() != Base::kFree) return;
  const Vec3<> turning = sign * cross(Vec3<>{v[0], v[1], v[2]}, Vec3<>{v[3], v[4], v[5]});
  vdot[3] += turning.x, vdot[4] += turning.y, vdot[5] += turning.z;
}

void FigureData::begin_stages(int stages) {
  q0 = q, v0 = v;
  while (int(rate_q.size()) < stages) {
    rate_q.push_back(Eigen::VectorXd::Zero(model.nq()));
    rate_v.push_back(Eigen::VectorXd::Zero(model.nv()));
  }
}

}  // namespace kansetsu
