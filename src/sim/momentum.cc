#include "sim/momentum.h"

#include <algorithm>

#include "actuation/plan.h"
#include "kansetsu/spatial/small_matrix.h"

namespace kansetsu {

bool flies(const WorldState& world, const IslandWork& w) {
  const auto is_figure = [](int figure) { return figure >= 0; };
  const auto is_free = [](const FigureData& f) {
    return f.model.base() == Base::kFree && f.model.mass() > 0 &&
           !f.actuators.actuation.plan().tied;  // limits and friction of a tendon would pull at the world
  };
  const auto joins_figures = [&](int i) {
    const ConnectionData& c = world.connections[size_t(i)];
    return is_figure(c.a.figure.value()) && is_figure(c.b.figure.value());
  };
  const auto between_figures = [&](int i) {
    const Touch& t = world.contacts.touches()[size_t(i)];
    return is_figure(world.contacts.shapes()[size_t(t.parent)].figure) &&
           is_figure(world.contacts.shapes()[size_t(t.real)].figure);
  };
  return std::ranges::all_of(w.members, is_free) && std::ranges::all_of(w.connections, joins_figures) &&
         std::ranges::all_of(w.touches, between_figures);
}

Whole whole(const IslandWork& w, const Vec3<>& about) {
  Whole out{.about = about};
  for (const Mechanics* m : w.mechanics) {
    const Mechanics::Totals t = m->totals();
    const Transform<> X{Mat3<>::identity(), m->origin() - about};
    out.inertia = out.inertia + X * t.inertia;
    out.momentum += Force<>{t.momentum.t + cross(X.p, t.momentum.f), t.momentum.f};
  }
  return out;
}

RigidMotion Whole::rigid_motion(const Force<>& p) const {
  const double mass = inertia.m;
  const Vec3<> com = (1 / mass) * inertia.h;
  const Sym3<> I = inertia.I - mass * parallel_axis(com, com);
  const Vec3<> spin = p.t - cross(com, p.f);
  const Vec3<> turn = solve(factor(I, threshold::kThin * (I.xx + I.yy + I.zz)), spin), along = (1 / mass) * p.f;
  return {about + com, turn, along, 0.5 * (dot(turn, spin) + dot(along, p.f))};
}

RigidMotion rigid_motion(const IslandWork& w) {
  for (FigureData& f : w.members) f.set_mechanics();
  const Whole now = whole(w, w.members[0].get().place());
  return now.rigid_motion(now.momentum);
}

void add_rigid_motion(const IslandWork& w, const RigidMotion& m, double share) {
  for (FigureData& f : w.members) {
    const Mat3<> R = f.base_axes();
    const Vec3<> dw = share * transpose_times(R, m.turn);
    const Vec3<> dv = share * transpose_times(R, m.along + cross(m.turn, f.place() - m.centre));
    f.v[0] += dw.x, f.v[1] += dw.y, f.v[2] += dw.z;
    f.v[3] += dv.x, f.v[4] += dv.y, f.v[5] += dv.z;
  }
}

/// Gravity acts on the centre of mass, which moves on a parabola: its moment over the step is that in the middle, exactly.
void keep_momentum(const WorldState& world, const IslandWork& w, double h) {
  if (!flies(world, w)) return;
  const Vec3<> about = w.members[0].get().place();
  Force<> impulse{};
  for (FigureData& f : w.members) {
    f.mechanics.set_pose(f.q_begin.data());
    f.mechanics.set_motion(f.v_begin.data());
    impulse += h * Force<>{f.acting.t - cross(about, f.acting.f), f.acting.f};
  }
  const Whole before = whole(w, about);
  for (FigureData& f : w.members) f.set_mechanics();
  const Whole after = whole(w, about);
  const Vec3<> middle = before.inertia.h + (0.5 * h) * before.momentum.f,
               weight = after.inertia.m * world.options.gravity;
  impulse += h * Force<>{cross(middle, world.options.gravity), weight};
  add_rigid_motion(w, after.rigid_motion(before.momentum + impulse - after.momentum), 1);
}

}  // namespace kansetsu
