#include <algorithm>
#include <cmath>

#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/spatial/rotations.h"
#include "sim/impl.h"

/// Velocity products are taken at the beginning of a semi-implicit step, so that steps in fast motion add energy, the more the longer
/// they are, and in the end without bound. What they add is measured, and beyond a share it is taken back. docs/theory/contact.md §8.
namespace kansetsu {
namespace {

constexpr double kShare = 0.02;  // of the kinetic energy about the centre of mass: what steps may have added

Mat3<> base_axes(const Eigen::VectorXd& q) { return to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]}); }
Vec3<> linear(const Eigen::VectorXd& x) { return {x[3], x[4], x[5]}; }

/// Of all velocities, that takes so much energy from so much.
double factor(double take, double from) { return take < from ? std::sqrt(1 - take / from) : 0; }

}  // namespace

double FigureData::fastest(double h) const {
  const kernel::FigureKernels& kernels = kernel::figures();
  const int nv = int(v.size());
  if (model.base() != Base::kFree) return kernels.fastest(nv, h, v.data(), vdot.data());
  return std::max(kernels.fastest(3, h, v.data(), vdot.data()),
                  kernels.fastest(nv - 6, h, v.data() + 6, vdot.data() + 6));
}

/// Of the centre of mass of a free figure at q, moving with v, world axes: by the momentum M·v, from which rnea() takes the weight.
Vec3<> FigureData::com_velocity() {
  trial.q = q;
  trial.v.setZero();
  rnea(model, trial, v, work, work_step);
  return (1 / model.mass()) * (base_axes(q) * linear(work_step)) + model.gravity();
}

/// The whole figure, by its base. @param change  of velocity, world axes
void FigureData::move_along(const Vec3<>& change) {
  const Vec3<> x = transpose_times(base_axes(q), change);
  v[3] += x.x, v[4] += x.y, v[5] += x.z;
}

void FigureData::advance(double h) {
  if (!(h * speed > (flies ? kLookedAtInFlight : kLookedAt))) return add_acceleration(h);
  const bool known = mechanics.recursive() && model.mass() > 0;  // then they tell energy and momentum at the beginning
  const bool is_free = model.base() == Base::kFree, told = known && rows_known;
  Mechanics::Totals before;
  if (known) before = mechanics.totals(v.data());
  if (!known && flies) before.momentum = model.mass() * com_velocity();
  trial.q = q, trial.v = v;
  const Energy start = known ? Energy{before.kinetic, before.potential} : energy(model, trial, work);
  // All forces but gravity: their work with the mean velocity, and on a free base their sum.
  if (!told) rnea(model, trial, vdot, work, work_step);
  const double done = told ? torque_work + row_work : h * work_step.dot(trial.v + 0.5 * h * vdot);
  Vec3<> com{};  // velocity of the centre of mass afterwards
  if (is_free && (known || flies)) {
    const Vec3<> force = told ? base_axes(q) * linear(effort) + contact_force : base_axes(q) * linear(work_step);
    com = (1 / model.mass()) * (before.momentum + h * force) + h * model.gravity();
  }
  add_acceleration(h);
  if (flies) move_along(com - com_velocity());
  trial.q = q, trial.v = v;
  const Energy end = energy(model, trial, work);
  const double error = end.kinetic + end.potential - start.kinetic - start.potential - done;
  if (!is_free || !known || !keeps_energy(error, end.kinetic, com)) limit_energy(error, end.kinetic);
}

/// Whether the energy that steps have added stays within its share; then it is noted. `com` is known to first order, which is enough
/// where it is not close.
bool FigureData::keeps_energy(double error, double kinetic, const Vec3<>& com) {
  constexpr double kClose = 0.9;
  const double about = kinetic - std::min(0.5 * model.mass() * dot(com, com), kinetic);
  if (!(surplus + error < kClose * kShare * about)) return false;
  surplus = std::max(surplus + error, -kShare * about);
  return true;
}

/// Takes energy back, from the motion about the centre of mass as long as there is any.
/// @param error  energy that the step has added
void FigureData::limit_energy(double error, double kinetic) {
  const Vec3<> com = model.base() == Base::kFree ? com_velocity() : Vec3<>{};
  const double along = std::min(0.5 * model.mass() * dot(com, com), kinetic), about = kinetic - along;
  surplus = std::max(surplus + error, -kShare * about);
  const double excess = surplus - kShare * about;
  if (!(excess > 0)) return;
  const double scale = factor(excess, about), slower = factor(std::max(excess - about, 0.0), along);
  v *= scale;
  if (along > 0) move_along((slower - scale) * com);
  surplus -= (1 - scale * scale) * about + (1 - slower * slower) * along;
}

/// Whether nothing outside acts on the figures of an island.
bool World::Impl::flies(const IslandWork& w) const {
  const auto outside = [](int figure) { return figure < 0; };
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    if (outside(c.a.figure.value()) || outside(c.b.figure.value())) return false;
  }
  for (const int i : w.touches) {
    const Touch& t = contacts.touches()[size_t(i)];
    if (outside(contacts.shapes()[size_t(t.parent)].figure) || outside(contacts.shapes()[size_t(t.real)].figure))
      return false;
  }
  return std::ranges::all_of(w.figures, [&](int i) {
    const Model& model = figures[size_t(i)]->model;
    return model.base() == Base::kFree && model.mass() > 0;
  });
}

Energy World::Impl::energy_of(const IslandWork& w) const {
  Energy sum{};
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    f.trial.q = f.q, f.trial.v = f.v;
    const Energy e = energy(f.model, f.trial, f.work);
    sum.kinetic += e.kinetic, sum.potential += e.potential;
  }
  return sum;
}

/// Of the common centre of mass.
Vec3<> World::Impl::com_velocity(const IslandWork& w, double mass) const {
  Vec3<> sum{};
  for (const int i : w.figures) sum += (figures[size_t(i)]->model.mass() / mass) * figures[size_t(i)]->com_velocity();
  return sum;
}

/// Figures that are held together, or to the world. Rows turn with them: as far as they hold, their forces do no work, though
/// they do in the directions of the beginning. What came of it settle() sees when gaps have been closed, which also changes energy.
void World::Impl::advance_together(IslandWork& w, double h) {
  const auto each = [&](auto&& visit) {
    for (const int i : w.figures) visit(*figures[size_t(i)]);
  };
  IslandWork::Ledger& l = w.ledger;
  double speed = 0;
  l = {.flies = flies(w)};
  each([&](FigureData& f) { speed = std::max(speed, f.speed), l.mass += f.model.mass(); });
  l.open = h * speed > (l.flies ? kLookedAtInFlight : kLookedAt);
  if (l.open) {
    const Energy start = energy_of(w);
    l.expected = start.kinetic + start.potential + w.work.figures;
    if (l.flies) l.com = com_velocity(w, l.mass) + h * options.gravity;
    each([&](FigureData& f) {
      l.expected += f.torque_work, l.surplus += f.surplus;
      if (l.flies) l.com += (h / l.mass) * (base_axes(f.q) * linear(f.effort));
    });
  }
  each([&](FigureData& f) { f.add_acceleration(h); });
}

/// All figures are slowed down alike, so that what holds goes on to hold.
void World::Impl::settle(IslandWork& w) {
  IslandWork::Ledger& l = w.ledger;
  const auto each = [&](auto&& visit) {
    for (const int i : w.figures) visit(*figures[size_t(i)]);
  };
  if (l.flies) {
    const Vec3<> change = l.com - com_velocity(w, l.mass);
    each([&](FigureData& f) { f.move_along(change); });
  }
  const Energy end = energy_of(w);
  const double about = end.kinetic - std::min(0.5 * l.mass * dot(l.com, l.com), end.kinetic);
  double surplus = std::max(l.surplus + end.kinetic + end.potential - l.expected, -kShare * about);
  if (surplus > kShare * about) {
    const double scale = factor(surplus - kShare * about, about);
    each([&](FigureData& f) {
      f.v *= scale;
      if (l.flies) f.move_along((1 - scale) * l.com);
    });
    surplus -= (1 - scale * scale) * about;
  }
  each([&](FigureData& f) {
    f.surplus = surplus * (l.mass > 0 ? f.model.mass() / l.mass : 1 / double(w.figures.size()));
  });
  l.open = false;
}

}  // namespace kansetsu
