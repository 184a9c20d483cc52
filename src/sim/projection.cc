#include <algorithm>
#include <cmath>

#include "kansetsu/model/configuration.h"
#include "sim/impl.h"

/// Positions in which bilateral rows hold: after every step, and when loops are assembled.
namespace kansetsu {

/// Largest gap of an island's bilateral rows at the present poses, less what the step is to leave of it; places its connections.
double World::Impl::largest_gap(IslandWork& w, double t) {
  double worst = 0;
  size_t row = 0;
  const auto add = [&](double gap) {
    worst = std::max(worst, std::abs(gap - (row < w.leave.size() ? w.leave[row] : 0.0)));
    ++row;
  };
  for (const int k : w.figures) {
    FigureData& f = *figures[size_t(k)];
    f.mechanics.set_pose(f.q.data());
    if (f.actuators.actuation.tendon_count() > 0) place_actuators(f);
  }
  for (const int k : w.connections) {
    ConnectionData& c = connections[size_t(k)];
    place_connection(figures, t, c);
    for_each_direction(c, [&](int i, int bit) { c.soft >> bit & 1 ? void(++row) : add(c.phi[i]); });
  }
  row += size_t(count_held(w));
  for (const CouplingData& c : couplings) {
    if (holds(w, c.figure)) add(c.value(*figures[size_t(c.figure)]).gap);
  }
  return worst;
}

/// Moves the figures of an island so that the gaps of its bilateral rows close, the way that costs least in the metric of
/// the factorised M.
/// @param share     of the gaps
/// @param furthest  that a coordinate may move [rad, m]: next to a singular posture small gaps ask for long ways
/// @param again     with the rows and the factor of the last call, as far as they are worth keeping
void World::Impl::close_gaps(IslandWork& w, double share, double furthest, bool again) {
  again = again && w.island.is_sparse();
  if (!again) {
    w.island.begin(w.mechanics, count_bilateral(w), 0);
    fill_bilateral(w, Springs::kRest);
  }
  set_targets(w, Target::kPosition);
  for (int k = 0; k < w.island.rows(); ++k) {
    const double leave = k < int(w.leave.size()) ? w.leave[size_t(k)] : 0.0;
    w.island.target()[k] = leave + (1 - share) * (w.island.u()[k] - leave);
  }
  if (!again) w.island.assemble();
  w.island.hold_velocities();
  w.island.complete(nullptr, 0);
  double far = 0;
  for (size_t k = 0; k < w.figures.size(); ++k) {
    FigureData& f = *figures[size_t(w.figures[k])];
    f.work_step.setZero();
    w.island.respond(int(k), f.work_step.data());
    if (f.work_step.size() > 0) far = std::max(far, f.work_step.cwiseAbs().maxCoeff());
  }
  for (const int k : w.figures) {
    FigureData& f = *figures[size_t(k)];
    if (far > furthest) f.work_step *= furthest / far;
    integrate(f.model, f.q, f.work_step, f.q);
  }
}

/// Gaps are closed at once, after the step that made them; of those that were large before, what the step has added beyond
/// what it was asked for. The factor of the first correction serves the others where the gaps have become far smaller by it.
void World::Impl::project() {
  using namespace threshold;
  const double now = time;
  time += step_taken;
  for (int i = 0; i < island_count; ++i) {
    IslandWork& w = *works[size_t(i)];
    if (w.connections.empty() && couplings.empty()) continue;
    double first = 0;
    for (int pass = 0; pass < kMostClosings; ++pass) {
      const double worst = largest_gap(w, time);
      if (pass == 0) first = worst;
      if (worst < kTinyGap || count_bilateral(w) == 0 || (w.leave.empty() && worst > kLargeGap)) break;
      if (pass == 0) leave_place(w);
      close_gaps(w, 1, kFurthestClosing, pass > 0 && worst < kSameFactor * first);
    }
  }
  time = now;
}

}  // namespace kansetsu
