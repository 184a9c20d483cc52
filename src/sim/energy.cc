#include "sim/energy.h"

#include <algorithm>
#include <cmath>

#include "sim/momentum.h"

namespace kansetsu {

bool EnergyGuard::is_far(const IslandWork& w, double h) {
  return std::ranges::any_of(w.members, [h](const FigureData& f) { return f.begins_far || f.is_far(h); });
}

/// Contacts, limits, dry friction and impacts give no energy; torques, moving surfaces and connections with a prescribed motion or
/// springs give the work that they do.
EnergyGuard::Gain EnergyGuard::gain(IslandWork& w, double h) const {
  w.kinetic = -1;
  if (!is_far(w, h) && w.result.tier != ContactTier::kUnsolved) return {};
  const IslandAccount& a = w.account;
  const double held =
      !w.is_large && w.island.is_soft() ? a.work.bilateral : std::min(a.work.bilateral, std::max(a.driven_work, 0.0));
  double work = held + a.surface_work + std::min(a.work.others - a.surface_work, 0.0);
  work += a.impact_given.bilateral + a.impact_given.others + std::min(a.impact_energy, 0.0);
  double before = 0, after = 0;
  w.kinetic = 0;
  for (FigureData& f : w.members) {
    work += f.torque_work;
    const Energy start = f.energy_of(f.q_begin, f.v_begin), end = f.energy_of(f.q, f.v);
    before += start.kinetic + start.potential, after += end.kinetic + end.potential, w.kinetic += end.kinetic;
  }
  const double fall = norm(world_.options.gravity) * h;
  return {after - before - work, threshold::kStepGain * w.kinetic + w.mass() * fall * fall};
}

/// Takes kinetic energy from an island: all velocities are cut by one factor, so that rows that hold still hold, and what parts
/// still parts. Of an island in flight the rigid motion stays: it is its momentum.
/// @param kinetic  of the velocities
/// @return what is taken: no more than there is
double EnergyGuard::slow_down(const IslandWork& w, double energy, double kinetic) const {
  const RigidMotion whole = flies(world_, w) ? rigid_motion(w) : RigidMotion{};
  const double inside = std::max(kinetic - whole.energy, 0.0),
               left = energy < inside ? std::sqrt(1 - energy / inside) : 0;
  for (FigureData& f : w.members) f.v *= left;
  if (whole.energy > 0) add_rigid_motion(w, whole, 1 - left);
  return std::min(energy, inside);
}

void EnergyGuard::begin_correction(IslandWork& w) {
  if (w.kinetic < 0) w.kinetic = w.kinetic_energy();
  w.kept = false;
}

void EnergyGuard::end_correction(const IslandWork& w) const {
  const double now = w.kinetic_energy();
  if (now > w.kinetic) slow_down(w, now - w.kinetic, now);
}

/// The excess is taken as a whole, errors included, and the second half of the positions is repeated with the velocities that are
/// left. Their energy in the other posture differs by less than the errors may be. If it does not, nothing moves any more inside
/// the island.
void EnergyGuard::take_away(IslandWork& w, double h) const {
  double taken = 0;
  for (int n = 0; n <= threshold::kMostEnergyCuts; ++n) {
    const Gain now = gain(w, h);
    if (!now.is_excess()) break;
    for (FigureData& f : w.members) {
      f.q = f.q_middle, f.v = f.v_middle;
      f.kick(h);
      if (!is_finite(f.v)) f.v.setZero();
    }
    taken += slow_down(w, n < threshold::kMostEnergyCuts ? now.found : kInfinity, w.kinetic);
    for (FigureData& f : w.members) {
      f.vdot = (f.v - f.v_middle) / h, f.v = f.v_middle;
      f.add_turning(-1);
      f.finish_part(h);
    }
    w.kept = false;
  }
  w.account.work.others -= taken;  // only now: gain() would find it missing again
}

}  // namespace kansetsu
