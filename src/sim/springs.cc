#include <algorithm>

#include "sim/impl.h"

namespace kansetsu {

/// Springs and dampers between points, as torques of the figures.
void World::Impl::add_spring_forces() {
  for (SpringData& s : springs) {
    const Vec3<> p = body_pose(figures, s.a) * s.p_A, q = body_pose(figures, s.b) * s.p_B, line = q - p;
    const double length = norm(line);
    s.at_a = p, s.at_b = q, s.pull = {};
    if (length == 0) continue;
    const Vec3<> along = (1 / length) * line;
    const RowEnd a = row_end(figures, s.a), b = row_end(figures, s.b);
    const double rate = dot(along, point_motion(b, q).v - point_motion(a, p).v);
    double pull = s.spring.stiffness * (length - s.rest) + s.spring.damping * rate;
    if (s.spring.pull_only) pull = length > s.rest ? std::max(pull, 0.0) : 0;
    const auto add = [&](const BodyRef& body, const RowEnd& end, const Vec3<>& at, const Vec3<>& force) {
      if (!end.figure) return;
      FigureData& f = *figures[size_t(body.figure.value())];
      end.figure->add_generalised(end.body, {cross(at - end.figure->origin(), force), force}, f.spring_torque.data());
    };
    s.pull = pull * along;
    add(s.a, a, p, s.pull);
    add(s.b, b, q, -s.pull);
  }
}

bool World::Impl::has_soft_connections() const {
  return std::ranges::any_of(connections, [](const ConnectionData& c) { return c.active && c.soft != 0; });
}

/// Springs and dampers of connections as torques of the figures, where no step makes them implicit.
void World::Impl::add_soft_forces() {
  for (const ConnectionData& c : connections) {
    if (!c.active || c.soft == 0) continue;
    double rate[6], force[6] = {};
    connection_rates(c, rate);
    soft_forces(c, rate, force);
    const Force<> F = connection_wrench(c, force);
    const auto add = [&](const BodyRef& body, const RowEnd& end, const Force<>& on) {
      if (!end.figure) return;
      FigureData& f = *figures[size_t(body.figure.value())];
      end.figure->add_generalised(end.body, {on.t + cross(c.p - end.figure->origin(), on.f), on.f},
                                  f.spring_torque.data());
    };
    add(c.a, c.end_a, -F);
    add(c.b, c.end_b, F);
  }
}

/// What springs of connections have given in the step, by the velocities with which work() counts.
void World::Impl::account_springs(IslandWork& w) {
  const double h = step_length;
  w.sprung = 0;
  int row = 0;
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    for_each_direction(c, [&](int k, int bit) {
      const int r = row++;
      if (!(c.soft >> bit & 1)) return;
      const double rate = w.island.u()[r] - c.velocity[k];
      const Give give = give_of(c, k, w.island.u()[r], h);
      const double change = -(w.island.force()[r] + give.force_now) / give.firmness;  // of the rate, per second
      const double stretch = 0.25 * h * h * c.options.compliance.stiffness[bit] * change;
      w.sprung -= h * (c.push[k] + stretch) * (rate + 0.5 * h * change);
    });
  }
}

}  // namespace kansetsu
