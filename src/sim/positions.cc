#include <algorithm>

#include "sim/impl.h"

/// What is past each other comes apart by positions alone: no velocity changes, no friction acts, no energy is added.
namespace kansetsu {

void World::Impl::resolve_positions(IslandWork& w) {
  if (w.large) return;
  for (const int i : w.figures) figures[size_t(i)]->has_shift = false;  // of a solution that was given up
  if (w.row_count == 0 || w.island.others() == 0 || !options.contact.end_of_step) return;
  if (!w.solver.solve_positions(contact_problem(w), w.result)) return;
  std::fill(w.island.target(), w.island.target() + w.island.bilateral(), 0.0);
  std::fill(w.island.u(), w.island.u() + w.island.rows(), 0.0);
  w.island.hold_velocities();  // bilateral rows stay where they are
  w.island.complete(w.result.force.data(), 0);
  for (size_t i = 0; i < w.figures.size(); ++i) {
    FigureData& f = *figures[size_t(w.figures[i])];
    f.shift.setZero();
    w.island.respond(int(i), f.shift.data());
  }
  bound_shifts(w);
}

/// One factor for the whole island, so that what moves together stays together.
void World::Impl::bound_shifts(const IslandWork& w) {
  double most = 0;
  for (const int i : w.figures) most = std::max(most, figures[size_t(i)]->shift.lpNorm<Eigen::Infinity>());
  const double share = most > threshold::kMostShift ? threshold::kMostShift / most : 1;
  for (const int i : w.figures) {
    FigureData& f = *figures[size_t(i)];
    f.shift *= share;
    f.has_shift = true;
  }
}

}  // namespace kansetsu
