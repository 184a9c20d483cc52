#include "sim/positions.h"

#include <algorithm>

#include "kansetsu/model/configuration.h"

namespace kansetsu {

void find_shifts(IslandWork& w, const WorldOptions& options, double h) {
  if (w.is_large) return;                               // solved with its forces
  for (FigureData& f : w.members) f.has_shift = false;  // of a solution that has been rejected
  if (w.row_count == 0 || w.island.others() == 0 || !options.contact.end_of_step) return;
  if (!w.solver.solve_positions(w.contact_problem(h, norm(options.gravity)), w.result)) return;
  std::fill(w.island.target(), w.island.target() + w.island.bilateral(), 0.0);
  std::fill(w.island.u(), w.island.u() + w.island.rows(), 0.0);
  w.island.hold_velocities();  // bilateral rows stay where they are
  w.island.complete(w.result.force.data(), 0);
  for (size_t i = 0; i < w.members.size(); ++i) {
    FigureData& f = w.members[i];
    f.shift.setZero();
    w.island.respond(int(i), f.shift.data());
  }
  bound_shifts(w);
}

void bound_shifts(IslandWork& w) {
  double most = 0;
  for (const FigureData& f : w.members) most = std::max(most, f.shift.lpNorm<Eigen::Infinity>());
  const double share = most > threshold::kMostShift ? threshold::kMostShift / most : 1;
  for (FigureData& f : w.members) {
    f.shift *= share;
    f.has_shift = true;
  }
}

bool has_shifts(const IslandWork& w) {
  return std::ranges::any_of(w.members, [](const FigureData& f) { return f.has_shift; });
}

void apply_shifts(IslandWork& w) {
  for (FigureData& f : w.members) {
    if (f.has_shift) integrate(f.model, f.q, f.shift, f.q);
    f.has_shift = false;
  }
}

}  // namespace kansetsu
