#include <algorithm>

#include "actuation/plan.h"
#include "kansetsu/spatial/small_matrix.h"
#include "sim/momentum.h"

/// What flies keeps its momentum. The step keeps it to third order; the rest is given to the island as a whole, as a rigid motion, so that
/// nothing inside it changes.
namespace kansetsu {
/// Whether nothing outside acts on the figures of an island but gravity and what is applied to them.
bool World::Impl::flies(const IslandWork& w) const {
  const auto is_figure = [](int figure) { return figure >= 0; };
  return std::ranges::all_of(
             w.figures,
             [&](int i) {
               const FigureData& f = *figures[size_t(i)];
               return f.model.base() == Base::kFree && f.model.mass() > 0 &&
                      !f.actuators.actuation.plan().tied;  // limits and friction of a tendon pull at the world then
             }) &&
         std::ranges::all_of(w.connections,
                             [&](int i) {
                               const ConnectionData& c = connections[size_t(i)];
                               return is_figure(c.a.figure.value()) && is_figure(c.b.figure.value());
                             }) &&
         std::ranges::all_of(w.touches, [&](int i) {
           const Touch& t = contacts.touches()[size_t(i)];
           return is_figure(contacts.shapes()[size_t(t.parent)].figure) &&
                  is_figure(contacts.shapes()[size_t(t.real)].figure);
         });
}

Whole whole(const Figures& figures, const IslandWork& w, const Vec3<>& about) {
  Whole out{.about = about};
  for (const int i : w.figures) {
    const Mechanics& m = figures[size_t(i)]->mechanics;
    const Mechanics::Totals t = m.totals();
    const Transform<> X{Mat3<>::identity(), m.origin() - about};
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

RigidMotion rigid_motion(const Figures& figures, const IslandWork& w) {
  for (const int i : w.figures) figures[size_t(i)]->set_mechanics();
  const Whole now = whole(figures, w, figures[size_t(w.figures[0])]->place());
  return now.rigid_motion(now.momentum);
}

void add_rigid_motion(const Figures& figures, const IslandWork& w, const RigidMotion& m, double share) {
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    const Mat3<> R = f.base_axes();
    const Vec3<> dw = share * transpose_times(R, m.turn);
    const Vec3<> dv = share * transpose_times(R, m.along + cross(m.turn, f.place() - m.centre));
    f.v[0] += dw.x, f.v[1] += dw.y, f.v[2] += dw.z;
    f.v[3] += dv.x, f.v[4] += dv.y, f.v[5] += dv.z;
  }
}

/// Gravity acts on the centre of mass, which moves on a parabola: its moment over the step is that in the middle, exactly.
void World::Impl::keep_momentum(const IslandWork& w, double h) {
  if (!flies(w)) return;
  const Vec3<> about = figures[size_t(w.figures[0])]->place();
  Force<> impulse{};
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    f.mechanics.set_pose(f.q_begin.data());
    f.mechanics.set_motion(f.v_begin.data());
    impulse += h * Force<>{f.acting.t - cross(about, f.acting.f), f.acting.f};
  }
  const Whole before = whole(figures, w, about);
  for (const int i : w.figures) figures[size_t(i)]->set_mechanics();
  const Whole after = whole(figures, w, about);
  const Vec3<> middle = before.inertia.h + (0.5 * h) * before.momentum.f, weight = after.inertia.m * options.gravity;
  impulse += h * Force<>{cross(middle, options.gravity), weight};
  add_rigid_motion(figures, w, after.rigid_motion(before.momentum + impulse - after.momentum), 1);
}

}  // namespace kansetsu
