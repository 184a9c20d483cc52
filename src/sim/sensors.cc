#include "sim/sensors.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/spatial/quaternion.h"
#include "model/tendon_path.h"
#include "sim/actuators.h"

namespace kansetsu {
namespace {

void put(const Vec3<>& x, double* out) { out[0] = x.x, out[1] = x.y, out[2] = x.z; }
void put(const Force<>& F, double* out) { put(F.t, out), put(F.f, out + 3); }
void put(const Quaternion<>& q, double* out) { out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z; }

/// Directions and rotations have no cutoff; quantities that cannot be negative are cut above only.
void cut(const SensorDescription& s, std::vector<double>& value) {
  using enum SensorKind;
  switch (s.kind) {
    case kFrameQuaternion:
    case kFrameXAxis:
    case kFrameYAxis:
    case kFrameZAxis:
    case kBallPosition:
    case kNormal:
    case kFromTo:
      return;
    case kTouch:
    case kRangefinder:
    case kDistance:
      for (double& x : value) x = std::min(x, s.cutoff);
      return;
    default:
      for (double& x : value) x = std::clamp(x, -s.cutoff, s.cutoff);
  }
}

/// Distance to the nearer limit, and on which side it is.
struct Nearest {
  double gap, sign;
};
Nearest nearest(double x, double lower, double upper) {
  return x - lower <= upper - x ? Nearest{x - lower, 1} : Nearest{upper - x, -1};
}

}  // namespace

/// Motion of a place on a link, or in the world, at the end of the step.
FrameMotion SensorReader::motion_of(const BodyRef& body, const Transform<>& X_LS) {
  if (body.is_world()) return {X_LS, {}, {}};
  FigureData& f = world_.figure(body.figure.value());
  if (!f.motions) f.motions = std::make_unique<LinkMotions>(f.model);
  if (!f.motions_known) {
    f.trial.q = f.q, f.trial.v = f.v;
    link_motions(f.model, f.trial, f.vdot, f.work, *f.motions);
    f.motions_known = true;
  }
  return frame_motion(*f.motions, body.link, X_LS);
}

/// Wrench across a joint, on its child link, in link axes: inverse dynamics with the forces of contacts, connections and springs,
/// and with applied wrenches.
Force<> SensorReader::joint_wrench(const BodyRef& body) {
  FigureData& f = world_.figure(body.figure.value());
  if (!f.reactions) f.reactions = std::make_unique<Reactions>(f.model);
  if (f.reactions_known) return f.reactions->wrench[size_t(body.link.value())];
  f.reactions_known = true;
  motion_of(body, {});
  const LinkPoses& poses = f.motions->poses;
  ExternalForces external(f.model);
  const auto add = [&](LinkId link, const Force<>& F, const Vec3<>& p) {
    external[link] += Force<>{F.t + cross(p - poses[link].p, F.f), F.f};
  };
  const int self = body.figure.value();
  for (const ContactReport& c : reports_.contacts) {
    if (c.b.figure.value() == self) add(c.b.link, c.wrench, c.p);
    if (c.a.figure.value() == self) add(c.a.link, -c.wrench, c.p);
  }
  for (const ConnectionReport& c : reports_.connections) {  // one that broke in this step has acted in it
    if (c.b.figure.value() == self) add(c.b.link, c.wrench, c.p);
    if (c.a.figure.value() == self) add(c.a.link, -c.wrench, c.p);
  }
  for (const SpringData& spring : world_.springs) {
    if (spring.a.figure.value() == self) add(spring.a.link, {{}, spring.pull}, spring.at_a);
    if (spring.b.figure.value() == self) add(spring.b.link, {{}, -spring.pull}, spring.at_b);
  }
  for (const MediumPart& part : f.medium_parts) add(part.link, part.force, part.p);
  for (const auto& [applied, F] : world_.wrenches) {
    if (applied.figure.value() == self) add(applied.link, F, {});
  }
  for (int i = 0; i < f.actuators.actuation.tendon_count(); ++i) {  // tendons pull past joints
    const double force = tendon_force(f, i);
    for (const Pull& pull : f.actuators.actuation.tendon_pulls(i)) {
      if (pull.link >= 0) add(LinkId(pull.link), {force * pull.t, force * pull.f}, pull.p);
    }
  }
  f.trial.q = f.q, f.trial.v = f.v;
  reactions(f.model, f.trial, f.vdot, f.work, *f.reactions, &external);
  return f.reactions->wrench[size_t(body.link.value())];
}

void SensorReader::measure_contact(const SensorData& s, double* out) const {
  Force<> sum{};
  int count = 0;
  for (size_t i = 0; i < reports_.contacts.size(); ++i) {
    const ContactReport& c = reports_.contacts[i];
    if (c.mode == ContactMode::kOpen) continue;
    const bool first = matches(world_, s.description.contact, world_.contacts.shapes()[size_t(c.shape_a.value())]);
    const bool second = matches_real(world_, s.description.contact, world_.contacts.touches()[i]);
    if (first == second) continue;
    const double sign = second ? 1 : -1;
    sum += Force<>{sign * (c.wrench.t + cross(c.p, c.wrench.f)), sign * c.wrench.f};
    ++count;
  }
  out[0] = count;
  put(sum, out + 1);
}

double SensorReader::measure_touch(const SensorData& s) {
  double sum = 0;
  const Transform<> X_WS = motion_of(s.body, s.X_LS).X_WF;
  for (const ContactReport& c : reports_.contacts) {
    if (c.mode == ContactMode::kOpen || (c.a != s.body && c.b != s.body)) continue;
    if (s.volume) {  // a short ray from the contact meets the volume only where it begins inside
      const auto hit = ray_cast(*s.volume, X_WS, c.pressure, c.normal, 1e-9);
      if (!hit) continue;
    }
    sum += std::max(dot(c.wrench.f, c.normal), 0.0);
  }
  return sum;
}

double SensorReader::measure_range(const SensorData& s) {
  const Transform<> X_WS = motion_of(s.body, s.X_LS).X_WF;
  double nearest_hit = s.description.cutoff > 0 ? s.description.cutoff : 1e9;
  bool any = false;
  for (const WorldShape& shape : world_.contacts.shapes()) {
    if (shape.owner >= 0 && !s.body.is_world() && shape.owner == s.body.figure.value() && shape.link == s.body.link)
      continue;
    Transform<> X = shape.X_BS;
    if (shape.body >= 0) X = world_.figure(shape.figure).mechanics.body_pose(shape.body) * shape.X_BS;
    if (shape.motion) X = sample(*shape.motion, shape.X_BS, world_.time).X_WB;
    const auto hit = ray_cast(shape.geometry, X, X_WS.p, X_WS.R.column_z(), nearest_hit);
    if (hit) nearest_hit = hit->distance, any = true;
  }
  return any || s.description.cutoff > 0 ? nearest_hit : -1;
}

Distance SensorReader::measure_distance(const SensorData& s) const {
  const auto pose = [&](const WorldShape& shape) {
    return shape.body >= 0 ? world_.figure(shape.figure).mechanics.body_pose(shape.body) * shape.X_BS : shape.X_BS;
  };
  Distance best{kInfinity, {}, {}, {}};
  for (const int i : s.shapes) {
    for (const int j : s.others) {
      const WorldShape &a = world_.contacts.shapes()[size_t(i)], &b = world_.contacts.shapes()[size_t(j)];
      const Distance d = signed_distance(a.geometry, pose(a), b.geometry, pose(b));
      if (d.distance < best.distance) best = d;
    }
  }
  return best;
}

void SensorReader::measure_frame(const SensorData& s, double* out) {
  using enum SensorKind;
  const FrameMotion m = motion_of(s.body, s.X_LS), r = motion_of(s.reference, s.X_LR);
  const auto turned = [&](const Vec3<>& x) { return transpose_times(r.X_WF.R, x); };
  switch (s.description.kind) {
    case kFramePosition:
      return put(turned(m.X_WF.p - r.X_WF.p), out);
    case kFrameQuaternion:
      return put(to_quaternion(transpose(r.X_WF.R) * m.X_WF.R), out);
    case kFrameXAxis:
      return put(turned(m.X_WF.R.column_x()), out);
    case kFrameYAxis:
      return put(turned(m.X_WF.R.column_y()), out);
    case kFrameZAxis:
      return put(turned(m.X_WF.R.column_z()), out);
    case kFrameLinearVelocity:
      return put(turned(m.V.v - r.V.v - cross(r.V.w, m.X_WF.p - r.X_WF.p)), out);
    case kFrameAngularVelocity:
      return put(turned(m.V.w - r.V.w), out);
    case kFrameLinearAcceleration:  // as accelerometers feel it
      return put(m.A.v - world_.options.gravity, out);
    default:
      return put(m.A.w, out);
  }
}

void SensorReader::measure_subtree(const SensorData& s, double* out) {
  double mass = 0;
  Vec3<> com{}, momentum{};
  const auto visit = [&](auto&& use) {
    for (size_t k = 0; k < world_.figures.size(); ++k) {
      if (!s.body.is_world() && int(k) != s.body.figure.value()) continue;
      const Model& model = world_.figures[k]->model;
      for (int i = 0; i < model.link_count(); ++i) {
        const std::optional<Inertial>& inertial = model.link(LinkId(i)).inertial;
        if (!inertial || inertial->mass == 0 || (!s.body.is_world() && !s.subtree[size_t(i)])) continue;
        use(*inertial, motion_of({FigureId(int(k)), LinkId(i)}, to_transform(inertial->origin)));
      }
    }
  };
  visit([&](const Inertial& body, const FrameMotion& m) {
    mass += body.mass;
    com += body.mass * m.X_WF.p;
    momentum += body.mass * m.V.v;
  });
  if (!(mass > 0)) return put(Vec3<>{}, out);
  com = (1 / mass) * com;
  if (s.description.kind == SensorKind::kSubtreeCom) return put(com, out);
  if (s.description.kind == SensorKind::kSubtreeLinearVelocity) return put((1 / mass) * momentum, out);
  Vec3<> angular{};
  visit([&](const Inertial& body, const FrameMotion& m) {
    const Vec3<> w = transpose_times(m.X_WF.R, m.V.w);
    angular += m.X_WF.R * (body.inertia * w) + body.mass * cross(m.X_WF.p - com, m.V.v - (1 / mass) * momentum);
  });
  put(angular, out);
}

/// Of joints, tendons and actuators.
void SensorReader::measure_coordinate(const SensorData& s, double* out) const {
  using enum SensorKind;
  FigureData& f = world_.figure(s.body.figure.value());
  const Actuation& all = f.actuators.actuation;
  report_actuators(f);
  const auto limit = [&](double x, double rate, double lower, double upper, int memory, SensorKind first) {
    const Nearest n = nearest(x, lower, upper);
    if (!(n.gap < 0)) return 0.0;
    if (s.description.kind == first) return n.gap;
    if (int(s.description.kind) == int(first) + 1) return n.sign * rate;
    return f.bound_force[memory + (n.sign > 0 ? FigureData::kLower : FigureData::kUpper)];
  };
  const auto effort_along = [&](int tendon) {
    double sum = 0;
    for (size_t i = 0; i < f.actuators.reports.size(); ++i) {
      const ActuatorDescription& a = all.actuator(int(i));
      if (a.transmission == Transmission::kTendon && a.target == all.tendon(tendon).name)
        sum += f.actuators.reports[i].force;
    }
    return sum;
  };
  switch (s.description.kind) {
    case kJointPosition:
      out[0] = f.drives[size_t(s.index)].position(f.q);
      return;
    case kJointVelocity:
      out[0] = f.drives[size_t(s.index)].velocity(f.v);
      return;
    case kJointEffort: {
      out[0] = 0;
      const auto& terms = f.drives[size_t(s.index)].terms;
      if (terms.size() != 1) return;
      for (size_t i = 0; i < f.actuators.reports.size(); ++i) {
        const MomentRow row = all.actuator_moment(int(i));
        for (size_t k = 0; k < row.columns.size(); ++k) {
          if (row.columns[k] == terms[0].first) out[0] += row.values[k] * f.actuators.reports[i].force;
        }
      }
      for (const Actuation::EffortLimit& l : all.effort_limits()) {
        if (l.column == terms[0].first) out[0] = std::clamp(out[0], -l.effort, l.effort);
      }
      return;
    }
    case kBallPosition:
      return put(Quaternion<>{f.q[s.q], f.q[s.q + 1], f.q[s.q + 2], f.q[s.q + 3]}, out);
    case kBallVelocity:
      return put(Vec3<>{f.v[s.v], f.v[s.v + 1], f.v[s.v + 2]}, out);
    case kJointLimitPosition:
    case kJointLimitVelocity:
    case kJointLimitForce: {
      const DriveCoordinate& d = f.drives[size_t(s.index)];
      out[0] = limit(d.position(f.q), d.velocity(f.v), d.dof.lower, d.dof.upper, FigureData::kBoundKinds * s.index,
                     kJointLimitPosition);
      return;
    }
    case kTendonPosition:
      out[0] = all.tendon_length(s.index);
      return;
    case kTendonVelocity:
      out[0] = all.tendon_velocity(s.index);
      return;
    case kTendonEffort:
      out[0] = effort_along(s.index);
      return;
    case kTendonLimitPosition:
    case kTendonLimitVelocity:
    case kTendonLimitForce: {
      const Interval& range = all.tendon(s.index).limit;
      out[0] = limit(all.tendon_length(s.index), all.tendon_velocity(s.index), range.lower, range.upper,
                     FigureData::kBoundKinds * (int(f.drives.size()) + s.index), kTendonLimitPosition);
      return;
    }
    case kActuatorPosition:
      out[0] = all.actuator_length(s.index);
      return;
    case kActuatorVelocity:
      out[0] = all.actuator_velocity(s.index);
      return;
    default:
      out[0] = f.actuators.reports[size_t(s.index)].force;
  }
}

void SensorReader::measure(const SensorData& s, double* out) {
  using enum SensorKind;
  const auto local = [&](const FrameMotion& m, const Vec3<>& x) { put(transpose_times(m.X_WF.R, x), out); };
  switch (s.description.kind) {
    case kImu: {
      const FrameMotion m = motion_of(s.body, s.X_LS);
      put(transpose_times(m.X_WF.R, m.V.w), out);
      return put(transpose_times(m.X_WF.R, m.A.v - world_.options.gravity), out + 3);
    }
    case kJointForce:
      return put(joint_wrench(s.body), out);
    case kConnectionForce: {
      const ConnectionData& c = world_.connections[size_t(s.connection)];
      return put(c.active ? c.wrench : Force<>{}, out);
    }
    case kContact:
      return measure_contact(s, out);
    case kAccelerometer: {
      const FrameMotion m = motion_of(s.body, s.X_LS);
      return local(m, m.A.v - world_.options.gravity);
    }
    case kVelocimeter: {
      const FrameMotion m = motion_of(s.body, s.X_LS);
      return local(m, m.V.v);
    }
    case kGyro: {
      const FrameMotion m = motion_of(s.body, s.X_LS);
      return local(m, m.V.w);
    }
    case kMagnetometer:
      return local(motion_of(s.body, s.X_LS), magnetic);
    case kForce:
    case kTorque: {
      const Force<> F = joint_wrench(s.body);  // at the link's origin, in its axes
      const bool force = s.description.kind == kForce;
      return put(transpose_times(s.X_LS.R, force ? F.f : F.t - cross(s.X_LS.p, F.f)), out);
    }
    case kTouch:
      out[0] = measure_touch(s);
      return;
    case kRangefinder:
      out[0] = measure_range(s);
      return;
    case kDistance:
      out[0] = measure_distance(s).distance;
      return;
    case kNormal:
      return put(-measure_distance(s).normal_W, out);
    case kFromTo: {
      const Distance d = measure_distance(s);
      put(d.p_WA, out);
      return put(d.p_WB, out + 3);
    }
    case kSubtreeCom:
    case kSubtreeLinearVelocity:
    case kSubtreeAngularMomentum:
      return measure_subtree(s, out);
    case kKineticEnergy:
      out[0] = kinetic_energy(world_);
      return;
    case kPotentialEnergy:
      out[0] = potential_energy(world_);
      return;
    case kClock:
      out[0] = world_.time;
      return;
    case kFramePosition:
    case kFrameQuaternion:
    case kFrameXAxis:
    case kFrameYAxis:
    case kFrameZAxis:
    case kFrameLinearVelocity:
    case kFrameAngularVelocity:
    case kFrameLinearAcceleration:
    case kFrameAngularAcceleration:
      return measure_frame(s, out);
    default:
      return measure_coordinate(s, out);
  }
}

void SensorReader::read() {
  if (list.empty()) return;
  for (const auto& f : world_.figures) {
    f->motions_known = f->reactions_known = false;
    f->mechanics.set_pose(f->q.data());
    if (!f->actuators.any()) continue;
    f->mechanics.set_motion(f->v.data());
    place_actuators(*f);
  }
  for (SensorData& s : list) {
    measure(s, s.value.data());
    const SensorDescription& d = s.description;
    std::normal_distribution<double> normal;
    const bool wrench = d.kind <= SensorKind::kContact;
    const size_t first = d.kind == SensorKind::kContact ? 1 : 0;  // the number of contacts has no noise
    for (size_t k = first; k < s.value.size(); ++k) {
      const double noise = !wrench ? d.noise : k - first < 3 ? d.angular_noise : d.linear_noise;
      if (noise > 0) s.value[k] += noise * normal(s.rng);
    }
    if (d.cutoff > 0) cut(d, s.value);
  }
}

}  // namespace kansetsu
