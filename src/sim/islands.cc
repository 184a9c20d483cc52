#include "sim/islands.h"

#include <algorithm>

#include "sim/step_thresholds.h"

namespace kansetsu {

bool IslandWork::holds(int figure) const { return std::ranges::find(figures, figure) != figures.end(); }

double IslandWork::kinetic_energy() const {
  double sum = 0;
  for (FigureData& f : members) sum += f.energy_of(f.q, f.v).kinetic;
  return sum;
}

double IslandWork::mass() const {
  double sum = 0;
  for (const FigureData& f : members) sum += f.model.mass();
  return sum;
}

ContactProblem IslandWork::contact_problem(double h, double gravity) const {
  return {.rows = island.others(),
          .G = island.G(),
          .stride = island.stride(),
          .padded = island.padded(),
          .tree = island.tree(),
          .a = island.reduced_a(),
          .u = island.reduced_u(),
          .h = h,
          .gravity = gravity,
          .patches = patches,
          .bounded = bounded};
}

int Islands::root(int figure) {
  while (group_[size_t(figure)] != figure) figure = group_[size_t(figure)] = group_[size_t(group_[size_t(figure)])];
  return figure;
}

void Islands::limit_systems(int count) {
  for (IslandWork& w : works_) w.solver.limit_systems(count);
}

void Islands::begin(int count) {
  count_ = count;
  while (int(works_.size()) < count) {
    works_.emplace_back().solver.options = options_;
    works_.back().solver.limit_systems(threshold::kMostStepSystems);
  }
  for (IslandWork& w : *this) {
    w.figures.clear(), w.connections.clear(), w.touches.clear(), w.members.clear(), w.mechanics.clear();
    w.leave.clear();
    w.result.tier = ContactTier::kNone;
    w.account = {};
  }
}

void Islands::find(const Figures& figures, const std::vector<ConnectionData>& connections,
                   const ContactFinder& contacts) {
  const int n = int(figures.size());
  const std::vector<WorldShape>& shapes = contacts.shapes();
  group_.resize(size_t(n));
  for (int i = 0; i < n; ++i) group_[size_t(i)] = i;
  const auto join = [&](int a, int b) {
    if (a < 0 || b < 0) return;
    a = root(a), b = root(b);
    group_[size_t(std::max(a, b))] = std::min(a, b);
  };
  for (const ConnectionData& c : connections) {
    if (c.acts()) join(c.a.figure.value(), c.b.figure.value());
  }
  for (const Touch& t : contacts.touches()) join(shapes[size_t(t.parent)].figure, shapes[size_t(t.real)].figure);

  const auto sleeps = [&](int a) { return a >= 0 && figures[size_t(a)]->nap >= 0; };
  int count = 0;
  number_.assign(size_t(n), -1);
  for (int i = 0; i < n; ++i) {
    if (root(i) == i && !sleeps(i)) number_[size_t(i)] = count++;
  }
  begin(count);
  for (int i = 0; i < n; ++i) {
    if (sleeps(i)) continue;
    IslandWork& w = works_[size_t(number_[size_t(root(i))])];
    w.figures.push_back(i);
    w.members.push_back(*figures[size_t(i)]);
    w.mechanics.push_back(&figures[size_t(i)]->mechanics);
  }
  const auto work_of = [&](int a, int b) -> IslandWork& {
    return works_[size_t(number_[size_t(root(a >= 0 ? a : b))])];
  };
  for (size_t i = 0; i < connections.size(); ++i) {
    const ConnectionData& c = connections[i];
    if (c.acts() && !sleeps(c.a.figure.value()) && !sleeps(c.b.figure.value()))
      work_of(c.a.figure.value(), c.b.figure.value()).connections.push_back(int(i));
  }
  for (size_t i = 0; i < contacts.touches().size(); ++i) {
    const Touch& t = contacts.touches()[i];
    if (!sleeps(shapes[size_t(t.real)].figure))
      work_of(shapes[size_t(t.parent)].figure, shapes[size_t(t.real)].figure).touches.push_back(int(i));
  }
}

}  // namespace kansetsu
