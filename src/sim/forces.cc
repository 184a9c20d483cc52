#include "sim/forces.h"

#include <algorithm>

#include "actuation/plan.h"
#include "sim/actuators.h"
#include "sim/medium.h"

namespace kansetsu {
namespace {

bool is_soft(const ConnectionData& c) { return c.active && c.soft != 0; }

/// Adds a wrench at p on a body to the torques of springs of its figure.
void add_spring_wrench(const Figures& figures, const BodyRef& body, const RowEnd& end, const Vec3<>& p,
                       const Force<>& F) {
  if (!end.figure) return;
  end.figure->add_generalised(end.body, {F.t + cross(p - end.figure->origin(), F.f), F.f},
                              figures[size_t(body.figure.value())]->spring_torque.data());
}

}  // namespace

void AppliedForces::place_actuators() {
  world_.for_each(int(world_.figures.size()), [&](int i) {
    FigureData& f = world_.figure(i);
    f.actuators.report_due = false;  // the step reports anew
    if (f.actuators.any()) kansetsu::place_actuators(f);
  });
}

bool AppliedForces::has_springs() const {
  return !world_.springs.empty() || std::ranges::any_of(world_.connections, is_soft);
}

void AppliedForces::update_springs() {
  for (const std::unique_ptr<FigureData>& f : world_.figures) f->spring_torque.setZero();
  for (SpringData& s : world_.springs) {
    const Vec3<> p = body_pose(world_.figures, s.a) * s.p_A, q = body_pose(world_.figures, s.b) * s.p_B, line = q - p;
    const double length = norm(line);
    s.at_a = p, s.at_b = q, s.pull = {};
    if (length == 0) continue;
    const Vec3<> along = (1 / length) * line;
    const RowEnd a = row_end(world_.figures, s.a), b = row_end(world_.figures, s.b);
    const double rate = dot(along, point_motion(b, q).v - point_motion(a, p).v);
    double pull = s.spring.stiffness * (length - s.rest) + s.spring.damping * rate;
    if (s.spring.pull_only) pull = length > s.rest ? std::max(pull, 0.0) : 0;
    s.pull = pull * along;
    add_spring_wrench(world_.figures, s.a, a, p, {{}, s.pull});
    add_spring_wrench(world_.figures, s.b, b, q, {{}, -s.pull});
  }
}

void AppliedForces::add_soft_connections() {
  for (const ConnectionData& c : world_.connections) {
    if (!is_soft(c)) continue;
    double rate[6], force[6] = {};
    connection_rates(c, rate);
    soft_forces(c, rate, force);
    const Force<> F = connection_wrench(c, force);
    add_spring_wrench(world_.figures, c.a, c.end_a, c.p, -F);
    add_spring_wrench(world_.figures, c.b, c.end_b, c.p, F);
  }
}

void AppliedForces::update_medium() {
  for (const std::unique_ptr<FigureData>& f : world_.figures) {
    if (!f->medium_parts.empty() && f->nap < 0) add_medium_forces(*f, world_.options.medium, world_.options.gravity);
  }
}

/// Springs and dampers of joints. A spring acts at the mean of its beginning and end, which keeps its energy, a damper at the end
/// of the step, which never overshoots: −k·(q + h·(v⁺ − v)/4 − rest) − d·v⁺ with v⁺ = v + h·v̇ and q of the middle.
void AppliedForces::add_passive(FigureData& f, double h) {
  for (const PassiveDrive& p : f.springs) {
    const DriveCoordinate& d = f.drives[size_t(p.drive)];
    const double damping = p.damping, stiffness = p.stiffness;
    const double v = d.velocity(f.v), spring = stiffness == 0 ? 0 : -stiffness * (d.position(f.q) - d.dof.rest);
    const double implicit = 0.25 * h * h * stiffness;
    for (const auto& [column, ratio] : d.terms) {
      f.tau[column] += ratio * (spring - damping * v);
      f.extra[column] += ratio * ratio * (h * damping + implicit);
      f.stored[column] += ratio * spring;
      f.stored_inertia[column] += ratio * ratio * implicit;
    }
    f.has_extra = true;
  }
}

void AppliedForces::prepare(double t, double h) {
  const bool sprung = has_springs();
  for (const std::unique_ptr<FigureData>& f : world_.figures) {
    if (f->nap >= 0) continue;
    if (f->has_extra) f->extra.setZero();
    f->has_extra = false;
    f->has_stored = sprung || !f->springs.empty() || !f->actuators.actuation.plan().sprung.empty();
    if (f->has_stored) {
      f->tau = f->torque + f->external + f->spring_torque;
      f->stored = f->spring_torque;
      f->stored_inertia.setZero();
    } else {
      kernel::figures().add(int(f->tau.size()), f->torque.data(), f->external.data(), f->tau.data());
    }
    if (!f->medium_parts.empty()) f->tau += f->medium_torque;
    add_passive(*f, h);
  }
  for (Controller& c : world_.controllers) add_control(c, world_.figure(c.figure), t, h);
  for (size_t i = 0; i < world_.figures.size(); ++i) {
    if (world_.figures[i]->nap >= 0 || !world_.figures[i]->actuators.any()) continue;
    add_actuators(*world_.figures[i], h);
    add_adhesion(int(i));
  }
}

/// The force is shared evenly by the contacts of the link; each pulls both bodies together along its normal.
void AppliedForces::add_adhesion(int figure) {
  const FigureData& f = world_.figure(figure);
  for (const int i : f.actuators.actuation.plan().adhesive) {
    const ActuatorDescription& a = f.actuators.actuation.actuator(i);
    const double force = f.actuators.acting[size_t(i)].force;
    if (!f.options.switches.actuators || force == 0) continue;
    const LinkId link = f.model.link_id(a.target);
    const auto touches = [&](const Touch& t) {
      const auto is = [&](int shape) {
        const WorldShape& s = world_.contacts.shapes()[size_t(shape)];
        return s.owner == figure && s.link == link;
      };
      double gap = kInfinity;
      for (int k = 0; k < t.patch.vertex_count; ++k) gap = std::min(gap, t.patch.vertices[size_t(k)].gap);
      return gap <= world_.options.contact.tol_gap && (is(t.parent) || is(t.real));
    };
    const auto count = std::ranges::count_if(world_.contacts.touches(), touches);
    for (const Touch& t : world_.contacts.touches()) {
      if (!touches(t)) continue;
      const Vec3<> pull = (force / double(count)) * t.E.column_z();
      for (const bool real : {true, false}) {
        const WorldShape& s = world_.contacts.shapes()[size_t(real ? t.real : t.parent)];
        if (s.body < 0) continue;
        FigureData& g = world_.figure(s.figure);
        const Vec3<> on = real ? -pull : pull;
        g.mechanics.add_generalised(s.body, {cross(t.origin - g.mechanics.origin(), on), on}, g.tau.data());
      }
    }
  }
}

void AppliedForces::release_limits() {
  for (Controller& c : world_.controllers) std::fill(c.saturated.begin(), c.saturated.end(), false);
  for (const std::unique_ptr<FigureData>& f : world_.figures) {
    for (ActuatorsData::Acting& a : f->actuators.acting) a.saturated = false;
  }
}

bool AppliedForces::exceed_limits(double t, double h) {
  bool any = false;
  for (Controller& c : world_.controllers) any |= saturates(c, world_.figure(c.figure), t, h);
  for (const std::unique_ptr<FigureData>& f : world_.figures) any |= actuators_saturate(*f);
  return any;
}

void AppliedForces::finish(double h) {
  for (const std::unique_ptr<FigureData>& f : world_.figures) {
    if (f->actuators.any()) finish_actuators(*f, h);
  }
}

}  // namespace kansetsu
