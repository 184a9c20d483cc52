#include <algorithm>

#include "sim/impl.h"

/// What rolls is braked by a moment of at most rolling_radius times the pressure of the contact, against the rolling: as if the
/// pressure were that much ahead. Rows of dry friction on the turn of the two bodies; the pressure is that of the last step.
namespace kansetsu {

/// While it rolls, about the axis it rolls about: across it nothing resists. At rest, about any axis in the plane.
void World::Impl::add_rolling(IslandWork& w) {
  for (const int i : w.touches) {
    const Touch& t = contacts.touches()[size_t(i)];
    const double most = t.rolling * t.pressure;
    if (!(most > 0)) continue;
    const Vec3<> n = t.E.column_z();
    const Vec3<> turn = point_motion(*t.real_end, t.origin).w - point_motion(*t.parent_end, t.origin).w;
    const Vec3<> rolling = turn - dot(n, turn) * n;
    const double speed = norm(rolling);
    const bool rolls = speed > options.contact.w_eps;
    const auto add = [&](const Vec3<>& axis) {
      const int figure = contacts.shapes()[size_t(t.real)].figure;
      w.bounded.push_back(BoundedRow::friction(0, most));
      w.bounded_origin.push_back({.figure = figure, .drive = -1, .touch = i, .axis = axis});
    };
    add(rolls ? (1 / speed) * rolling : t.E.column_x());
    if (!rolls) add(t.E.column_y());
  }
}

/// The moments are part of what a contact does to its bodies.
void World::Impl::report_rolling(const IslandWork& w) {
  for (size_t i = 0; i < w.bounded.size(); ++i) {
    const IslandWork::BoundedOrigin& o = w.bounded_origin[i];
    if (o.touch < 0) continue;
    contact_reports[size_t(o.touch)].wrench.t += w.result.force[size_t(w.bounded[i].row)] * o.axis;
  }
}

}  // namespace kansetsu
