#include "sim/reports.h"

#include <algorithm>
#include <utility>

namespace kansetsu {

void Reports::note(double time, EventKind kind, std::string name, std::string detail) {
  events.push_back({time, kind, std::move(name), std::move(detail)});
}

Force<> contact_wrench(const Touch& t, const std::array<double, 6>& w) {
  return {t.E * Vec3<>{w[3], w[4], w[5]}, t.E * Vec3<>{w[0], w[1], w[2]}};
}

double surface_power(const Touch& t, const Force<>& F) {
  if (t.parent_end->figure || t.parent_end->rests) return 0;
  const PointMotion surface = point_motion(*t.parent_end, t.origin);
  return dot(F.f, surface.v) + dot(F.t, surface.w);
}

namespace {

/// What a contact of a sleeping figure carries is what it carried last.
void write_last(const Touch& t, ContactReport& out) {
  const std::array<double, 6>& w = t.memory.wrench;
  out.wrench = contact_wrench(t, w);
  out.mode = t.memory.mode, out.slip = t.memory.slip;
  out.pressure = t.origin + (w[2] > 0 ? t.E * Vec3<>{-w[4] / w[2], w[3] / w[2], 0} : Vec3<>{});
}

}  // namespace

void Reports::list_contacts(const WorldState& world) {
  const std::vector<WorldShape>& shapes = world.contacts.shapes();
  const auto body = [&](int shape) {
    const WorldShape& s = shapes[size_t(shape)];
    return s.owner < 0 ? kWorldBody : BodyRef{FigureId(s.owner), s.link};
  };
  contacts.clear();
  for (const Touch& t : world.contacts.touches()) {
    ContactReport& r = contacts.emplace_back();
    r.a = body(t.parent), r.b = body(t.real);
    r.shape_a = ShapeId(t.parent), r.shape_b = ShapeId(t.real);
    r.id = t.slot;
    r.p = t.origin;
    r.normal = t.E.column_z();
    r.gap = t.patch.vertices[0].gap;
    for (int k = 1; k < t.patch.vertex_count; ++k) r.gap = std::min(r.gap, t.patch.vertices[size_t(k)].gap);
    const int figure = shapes[size_t(t.real)].figure;
    if (figure >= 0 && world.figure(figure).nap >= 0) write_last(t, r);
  }
}

void Reports::write_impulses(const IslandWork& w, const ContactFinder& finder) {
  for (size_t k = 0; k < w.touches.size(); ++k) {
    const size_t i = size_t(w.touches[k]);
    const PatchReport& p = w.result.patches[k];
    contacts[i].impulse = contact_wrench(finder.touches()[i], p.wrench);
    contacts[i].impact_energy = p.energy;
  }
}

void Reports::add_impulses(const std::vector<ContactReport>& before) {
  for (const ContactReport& old : before) {
    for (ContactReport& now : contacts) {
      if (now.id == old.id) now.impulse = old.impulse, now.impact_energy = old.impact_energy;
    }
  }
}

void Reports::write_forces(const IslandWork& w, const ContactFinder& finder) {
  for (size_t k = 0; k < w.touches.size(); ++k) {
    const size_t i = size_t(w.touches[k]);
    const Touch& t = finder.touches()[i];
    const PatchReport& p = w.result.patches[k];
    ContactReport& out = contacts[i];
    out.wrench = contact_wrench(t, p.wrench);
    out.pressure = t.origin + t.E * Vec3<>{p.pressure_x, p.pressure_y, 0};
    out.mode = p.mode, out.slip = p.slip, out.tier = p.tier;
    out.solves = p.solves, out.sweeps = p.sweeps, out.residual = p.residual;
  }
  for (size_t i = 0; i < w.bounded.size(); ++i) {  // moments that resist rolling are part of what a contact does
    const BoundedOrigin& o = w.bounded_origin[i];
    if (o.touch < 0) continue;
    contacts[size_t(o.touch)].wrench.t += w.result.force[size_t(w.bounded[i].row)] * o.axis;
  }
}

double Reports::surface_work(const IslandWork& w, const ContactFinder& finder, double h) const {
  double sum = 0;
  for (const int i : w.touches) sum += h * surface_power(finder.touches()[size_t(i)], contacts[size_t(i)].wrench);
  return sum;
}

void Reports::add_part(const WorldState& world, Islands& islands) {
  for (const std::unique_ptr<FigureData>& f : world.figures) totals.work_torque += f->work_done;
  for (const ContactReport& c : contacts) {
    ++step.tiers[int(c.tier)];
    ++totals.tiers[int(c.tier)];
    step.penetration = std::max(step.penetration, -c.gap);
    totals.contacts += c.mode != ContactMode::kOpen && c.tier != ContactTier::kNone;  // those of sleepers have none
  }
  for (const IslandWork& w : islands) {
    const IslandAccount& a = w.account;
    step.residual = std::max(step.residual, a.residual);
    step.inconsistency = std::max(step.inconsistency, a.inconsistency);
    step.rank_deficiency += a.rank_deficiency;
    step.impacts += a.impact;
    step.impact_energy += a.impact_energy;
    totals.work_connection += a.work.bilateral - a.connection_springs;
    // The energy of an impact is that of motions relative to surfaces; those of connections are absolute.
    totals.work_contact += a.work.others + a.impact_given.others;
  }
}

void Reports::finish_step(const WorldState& world) {
  ++totals.steps;
  connections.clear();
  for (size_t i = 0; i < world.connections.size(); ++i) {
    const ConnectionData& c = world.connections[i];
    if (!c.active) continue;
    connections.push_back(
        {connection_id(i, c.uses), c.options.name, c.a, c.b, c.p, c.wrench, c.impulse, c.position_gap, c.angle_gap});
    step.loop_gap = std::max(step.loop_gap, c.position_gap);
    step.loop_angle = std::max(step.loop_angle, c.angle_gap);
  }
  totals.impacts += std::uint64_t(step.impacts);
  totals.impact_energy += step.impact_energy;
  totals.worst_residual = std::max(totals.worst_residual, step.residual);
  totals.worst_penetration = std::max(totals.worst_penetration, step.penetration);
  totals.worst_gap = std::max(totals.worst_gap, step.loop_gap);
  totals.worst_angle = std::max(totals.worst_angle, step.loop_angle);
  step.time = world.time;
  step.contacts = contacts;
  step.connections = connections;
}

}  // namespace kansetsu
