#include <algorithm>

#include "actuation/plan.h"
#include "kansetsu/spatial/small_matrix.h"
#include "sim/impl.h"

/// What flies keeps its momentum. The step keeps it to third order; the rest is given to the island as a whole, as a rigid motion, so that
/// nothing inside it changes.
namespace kansetsu {
namespace {

/// Inertia and momentum of figures together, about one point, world axes.
struct Whole {
  Inertia<> inertia{};
  Force<> momentum{};

  void add(const Mechanics& m, const Vec3<>& about) {
    const Mechanics::Totals t = m.totals();
    const Transform<> X{Mat3<>::identity(), m.origin() - about};
    inertia = inertia + X * t.inertia;
    momentum += Force<>{t.momentum.t + cross(X.p, t.momentum.f), t.momentum.f};
  }
};

}  // namespace

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

/// Gravity acts on the centre of mass, which moves on a parabola: its moment over the step is that in the middle, exactly.
void World::Impl::keep_momentum(const IslandWork& w, double h) {
  if (!flies(w)) return;
  const Eigen::VectorXd& first = figures[size_t(w.figures[0])]->q;
  const Vec3<> about{first[0], first[1], first[2]};
  Whole before, after;
  Force<> impulse{};
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    f.mechanics.set_pose(f.q_begin.data());
    f.mechanics.set_motion(f.v_begin.data());
    before.add(f.mechanics, about);
    impulse += h * Force<>{f.acting.t - cross(about, f.acting.f), f.acting.f};
    f.mechanics.set_pose(f.q.data());
    f.mechanics.set_motion(f.v.data());
    after.add(f.mechanics, about);
  }
  const double mass = after.inertia.m;
  const Vec3<> middle = before.inertia.h + (0.5 * h) * before.momentum.f, weight = mass * options.gravity;
  impulse += h * Force<>{cross(middle, options.gravity), weight};
  const Force<> missing = before.momentum + impulse - after.momentum;

  const Vec3<> com = (1 / mass) * after.inertia.h, along = (1 / mass) * missing.f;
  const Sym3<> I = after.inertia.I - mass * parallel_axis(com, com);
  const Vec3<> turn = solve(factor(I, threshold::kThin * (I.xx + I.yy + I.zz)), missing.t - cross(com, missing.f));
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    const Mat3<> R = f.base_axes();
    const Vec3<> arm = Vec3<>{f.q[0], f.q[1], f.q[2]} - about - com;
    const Vec3<> dw = transpose_times(R, turn), dv = transpose_times(R, along + cross(turn, arm));
    f.v[0] += dw.x, f.v[1] += dw.y, f.v[2] += dw.z;
    f.v[3] += dv.x, f.v[4] += dv.y, f.v[5] += dv.z;
  }
}

}  // namespace kansetsu
