#include <algorithm>
#include <cmath>

#include "sim/momentum.h"

/// No energy from nowhere: what a step gives to an island is bounded by the work that its laws allow, however it was solved.
namespace kansetsu {

/// Work of platforms and conveyors in the step.
double World::Impl::surface_work(const IslandWork& w) const {
  double sum = 0;
  for (const int i : w.touches) {
    const Touch& t = contacts.touches()[size_t(i)];
    if (t.parent_end->figure || t.parent_end->rests) continue;
    const PointMotion surface = point_motion(*t.parent_end, t.origin);
    const Force<>& F = contact_reports[size_t(i)].wrench;
    sum += step_length * (dot(F.f, surface.v) + dot(F.t, surface.w));
  }
  return sum;
}

/// Whether a figure moves so far in the step that it has to be looked at.
bool World::Impl::is_far(const IslandWork& w) const {
  return std::ranges::any_of(w.figures, [&](int i) {
    const FigureData& f = *figures[size_t(i)];
    return f.begins_far || f.is_far(step_length);
  });
}

/// Energy that the step has given to an island beyond all work. Looked at where a figure moves far in the step, or contacts are not solved: elsewhere the law itself keeps the bound. Contacts, limits, dry
/// friction and impacts give nothing; torques, surfaces that move and connections that are driven or give way what they did.
World::Impl::Gain World::Impl::gain(IslandWork& w) const {
  w.kinetic = -1;
  if (!is_far(w) && w.result.tier != ContactTier::kUnsolved) return {};
  const double held =
      !w.large && w.island.is_soft() ? w.work.bilateral : std::min(w.work.bilateral, std::max(w.driven_work, 0.0));
  double work = held + w.given + std::min(w.work.others - w.given, 0.0);
  work += w.impact_given.bilateral + w.impact_given.others + std::min(w.impact_energy, 0.0);
  double before = 0, after = 0, mass = 0;
  w.kinetic = 0;
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    work += f.torque_work, mass += f.model.mass();
    const Energy start = f.energy_of(f.q_begin, f.v_begin), end = f.energy_of(f.q, f.v);
    before += start.kinetic + start.potential, after += end.kinetic + end.potential, w.kinetic += end.kinetic;
  }
  const double fall = norm(options.gravity) * step_length;
  return {after - before - work, threshold::kStepGain * w.kinetic + mass * fall * fall};
}

double World::Impl::kinetic_energy(const IslandWork& w) const {
  double sum = 0;
  for (const int i : w.figures)
    sum += figures[size_t(i)]->energy_of(figures[size_t(i)]->q, figures[size_t(i)]->v).kinetic;
  return sum;
}

/// Takes kinetic energy from an island: all velocities are cut by one factor, so rows that hold go on to hold, and what parts goes on to part.
/// The motion of what flies as a whole stays: it is its momentum.
/// @param kinetic  what the velocities have
/// @return what is taken: no more than there is
double World::Impl::slow_down(const IslandWork& w, double energy, double kinetic) {
  const RigidMotion whole = flies(w) ? rigid_motion(figures, w) : RigidMotion{};
  const double inside = std::max(kinetic - whole.energy, 0.0),
               left = energy < inside ? std::sqrt(1 - energy / inside) : 0;
  for (const int i : w.figures) figures[size_t(i)]->v *= left;
  if (whole.energy > 0) add_rigid_motion(figures, w, whole, 1 - left);
  return std::min(energy, inside);
}

/// Positions that are put right leave velocities as they are: in another posture these may mean more energy.
void World::Impl::leave_place(IslandWork& w) {
  if (w.kinetic < 0) w.kinetic = kinetic_energy(w);
  w.kept = false;
}

void World::Impl::keep_kinetic(const IslandWork& w) {
  const double now = kinetic_energy(w);
  if (now > w.kinetic) slow_down(w, now - w.kinetic, now);
}

/// Velocities after an impact. It takes energy; what meets has been accelerated for half of the step, as if it had come faster. Next to a
/// posture in which rows depend on each other impulses may be so large that digits are lost: then all velocities are cut by one factor. Where
/// none are left, contacts get no impulse, and what they stop is left to the forces of the step; connections alone are a projection.
void World::Impl::add_impulses(IslandWork& w, double after) {
  const double before = kinetic_energy(w);
  for (const int i : w.figures) {
    figures[size_t(i)]->begin_impact(after);
    figures[size_t(i)]->work_step = figures[size_t(i)]->v;
  }
  const auto respond = [&] {
    for (size_t i = 0; i < w.figures.size(); ++i) {
      FigureData& f = *figures[size_t(w.figures[i])];
      f.v = f.work_step;
      w.island.respond(int(i), f.v.data());
    }
  };
  respond();
  Island::Work given = impact_work(w);
  const double now = kinetic_energy(w);
  const double allowed =
      now <= before ? now : half_way_energy(w, before) + std::max(given.bilateral + given.others, 0.0);
  if (!(now <= threshold::kLostImpact * allowed)) {
    std::ranges::fill(w.result.force, 0.0);
    for (PatchReport& p : w.result.patches) p = {};
    w.island.complete(w.result.force.data(), 0);
    respond();
    given = impact_work(w);
  } else if (now > allowed) {
    for (const int i : w.figures) figures[size_t(i)]->v *= std::sqrt(allowed / now);
  }
  w.impact_given.bilateral += given.bilateral, w.impact_given.others += given.others;
  for (const int i : w.figures) figures[size_t(i)]->finish_impact(step_length, figures[size_t(i)]->work_step);
}

/// The larger of the kinetic energy before an impact and what half of the step makes of it by all forces.
/// @param before  kinetic energy; velocities before are in work_step
double World::Impl::half_way_energy(IslandWork& w, double before) {
  double half_way = 0;
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    f.effort = f.work_step + f.first_kick;
    half_way += f.energy_of(f.q, f.effort).kinetic;
  }
  return std::max(before, half_way);
}

/// Work of the impulses of an impact that connections and surfaces do by moving as they are told: a bat, a platform.
Island::Work World::Impl::impact_work(const IslandWork& w) const {
  Island::Work sum{0, 0};
  const double* force = w.island.force();
  for (const int i : w.connections) {
    const ConnectionData& c = connections[size_t(i)];
    for_each_direction(c, [&](int k, int) { sum.bilateral += *force++ * c.velocity[k]; });
  }
  for (size_t k = 0; k < w.touches.size(); ++k) {
    const Touch& t = contacts.touches()[size_t(w.touches[k])];
    if (t.parent_end->figure || t.parent_end->rests) continue;
    const PointMotion surface = point_motion(*t.parent_end, t.origin);
    const std::array<double, 6>& f = w.result.patches[k].wrench;
    sum.others += dot(t.E * Vec3<>{f[0], f[1], f[2]}, surface.v) + dot(t.E * Vec3<>{f[3], f[4], f[5]}, surface.w);
  }
  return sum;
}

/// What a step gives beyond its errors is taken away whole, errors and all, and the second half of the way goes with it: what is left of it by the posture, which is another one then, is less
/// than they may be. Where it is not, nothing moves any more inside the island.
void World::Impl::take_away(IslandWork& w) {
  for (int n = 0; n <= threshold::kMostEnergyCuts; ++n) {
    const Gain now = gain(w);
    if (!now.is_excess()) return;
    for (const int i : w.figures) {
      FigureData& f = *figures[size_t(i)];
      f.q = f.q_middle, f.v = f.v_middle;
      f.kick(step_length);
      if (!is_finite(f.v)) f.v.setZero();
    }
    w.work.others -= slow_down(w, n < threshold::kMostEnergyCuts ? now.found : kInfinity, w.kinetic);
    for (const int i : w.figures) {
      FigureData& f = *figures[size_t(i)];
      f.vdot = (f.v - f.v_middle) / step_length, f.v = f.v_middle;
      f.add_turning(-1);
      integrate_figure(f, step_length);
    }
    w.kept = false;
  }
}

}  // namespace kansetsu
