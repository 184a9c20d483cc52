#include <algorithm>

#include "sim/impl.h"

/// Figures that act on each other, by contacts or connections, are solved together: they are an island. Those that sleep are in none.
namespace kansetsu {

int World::Impl::root(int figure) {
  while (group[size_t(figure)] != figure) figure = group[size_t(figure)] = group[size_t(group[size_t(figure)])];
  return figure;
}

void World::Impl::begin_islands(int count) {
  island_count = count;
  while (int(works.size()) < count) {
    works.push_back(std::make_unique<IslandWork>());
    works.back()->solver.options = options.contact;
    works.back()->solver.limit_systems(threshold::kMostStepSystems);
  }
  for (int k = 0; k < count; ++k) {
    IslandWork& w = *works[size_t(k)];
    w.figures.clear(), w.connections.clear(), w.touches.clear(), w.mechanics.clear();
    w.leave.clear();
    w.inconsistency = w.residual = w.impact_energy = w.given = w.driven_work = 0;
    w.impact_given = {0, 0};
    w.result.tier = ContactTier::kNone;
    w.work = {0, 0};
    w.sprung = 0;
    w.rank_deficiency = 0;
    w.impact = false;
  }
}

void World::Impl::find_islands() {
  const int n = int(figures.size());
  if (n == 1) {
    begin_islands(1 - asleep_count);
    if (asleep_count > 0) return;
    IslandWork& w = *works[0];
    w.figures.push_back(0);
    w.mechanics.push_back(&figures[0]->mechanics);
    for (size_t i = 0; i < connections.size(); ++i) {
      if (connections[i].acts()) w.connections.push_back(int(i));
    }
    for (size_t i = 0; i < contacts.touches().size(); ++i) w.touches.push_back(int(i));
    return;
  }
  group.resize(size_t(n));
  for (int i = 0; i < n; ++i) group[size_t(i)] = i;
  const auto join = [&](int a, int b) {
    if (a < 0 || b < 0) return;
    a = root(a), b = root(b);
    group[size_t(std::max(a, b))] = std::min(a, b);
  };
  for (const ConnectionData& c : connections) {
    if (c.acts()) join(c.a.figure.value(), c.b.figure.value());
  }
  const std::vector<WorldShape>& shapes = contacts.shapes();
  for (const Touch& t : contacts.touches()) join(shapes[size_t(t.parent)].figure, shapes[size_t(t.real)].figure);

  int count = 0;
  static thread_local std::vector<int> number;
  number.assign(size_t(n), -1);
  const auto sleeps = [&](int a) { return a >= 0 && figures[size_t(a)]->nap >= 0; };
  for (int i = 0; i < n; ++i) {
    if (root(i) == i && !sleeps(i)) number[size_t(i)] = count++;
  }
  begin_islands(count);
  for (int i = 0; i < n; ++i) {
    if (sleeps(i)) continue;
    IslandWork& w = *works[size_t(number[size_t(root(i))])];
    w.figures.push_back(i);
    w.mechanics.push_back(&figures[size_t(i)]->mechanics);
  }
  const auto work_of = [&](int a, int b) -> IslandWork& {
    return *works[size_t(number[size_t(root(a >= 0 ? a : b))])];
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
