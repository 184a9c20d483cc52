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

}  // namespace kansetsu
