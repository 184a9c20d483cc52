#include <algorithm>

#include "assembly/solver.h"

/// Poses and velocities by a parallel scan: O(N/p + log N).
///
/// Bodies are cut into stretches, each computed relative to the body that carries it. The carriers form a smaller tree, which is
/// treated in the same way until one stretch is left; a second pass then goes back through the levels. Bodies are numbered
/// depth first, so that a carrier is the last of its stretch or has another child: at most 1/2 + 1/64 of all. Bodies and levels
/// together have about twice as many nodes as there are bodies. docs/theory/assembly.md, "Threads, lanes, devices".
namespace kansetsu {
namespace {

/// Figures with fewer bodies are one stretch: a scan computes poses twice, which does not pay for them.
constexpr int kFewestBodies = 512;
/// Bodies or nodes of a stretch. Whole cache lines of numbers: sines are computed a pack at a time, and the last pack must not
/// overlap the next stretch, which another thread computes.
constexpr int kStretch = 64;
static_assert(kStretch % 8 == 0);

/// Per node: the nearest one before its stretch on the way to the base; −1: the ground. Parents come first.
std::vector<int> find_carriers(const std::vector<int>& parent, int stretch) {
  std::vector<int> carrier(parent.size());
  for (int i = 0; i < int(parent.size()); ++i) {
    const int p = parent[size_t(i)];
    carrier[size_t(i)] = p >= i / stretch * stretch ? carrier[size_t(p)] : p;
  }
  return carrier;
}

/// The level above: all carriers. The carriers of the nodes below become indices in it.
ScanLevel make_level(std::vector<int>& carrier) {
  ScanLevel level;
  std::vector<int> place(carrier.size(), -1);
  for (const int c : carrier) {
    if (c >= 0) place[size_t(c)] = 0;
  }
  for (size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0) continue;
    place[i] = int(level.source.size());
    level.source.push_back(int(i));
  }
  for (int& c : carrier) c = c < 0 ? -1 : place[size_t(c)];
  for (const int i : level.source) level.parent.push_back(carrier[size_t(i)]);
  level.carrier = find_carriers(level.parent, kStretch);
  level.X.resize(level.source.size());
  level.V.resize(level.source.size());
  return level;
}

bool has_carriers(const std::vector<int>& carrier) {
  return std::any_of(carrier.begin(), carrier.end(), [](int c) { return c >= 0; });
}

}  // namespace

void Solver::set_stretches(Figure& figure) const {
  const Tree& tree = figure.model->tree();
  const int bodies = tree.body_count();
  std::vector<int> parent;
  for (const Body& b : tree.bodies) parent.push_back(b.parent);
  figure.stretch = bodies < kFewestBodies ? std::max(bodies, 1) : kStretch;
  figure.carrier = find_carriers(parent, figure.stretch);
  for (std::vector<int>* below = &figure.carrier; has_carriers(*below); below = &figure.levels.back().carrier)
    figure.levels.push_back(make_level(*below));
}

void Solver::load_stretch(Figure& figure, int n) {
  const int f = int(&figure - figures_.data());
  const Tree& tree = figure.model->tree();
  const State& state = *figure.input.state;
  const int first = n * figure.stretch, last = std::min(first + figure.stretch, tree.body_count());
  kernels_.motions(tree.view(), first, last, state.q.data(), state.v.data(), figure.work.data(),
                   X_PB_.data() + figure.first_body, figure.levels.empty() ? nullptr : X_EB_.data() + figure.first_body,
                   V_.data() + figure.first_body, u_[size_t(f)].data());
}

/// Nodes of a level, stretch by stretch, from those of the level before.
void Solver::gather_level(Figure& figure, size_t l, int worker) {
  if (l >= figure.levels.size()) return;
  ScanLevel& level = figure.levels[l];
  const Transform<>* X = l == 0 ? X_EB_.data() + figure.first_body : figure.levels[l - 1].X.data();
  const Motion<>* V = l == 0 ? V_.data() + figure.first_body : figure.levels[l - 1].V.data();
  const int nodes = int(level.source.size());
  const auto [n0, n1] = part_of(worker, size_t(nodes + kStretch - 1) / kStretch);
  for (int i = n0 * kStretch; i < std::min(n1 * kStretch, nodes); ++i) {
    const size_t at = size_t(i), from = size_t(level.source[at]);
    const int p = level.parent[at];
    const bool within = p >= i / kStretch * kStretch;
    level.X[at] = within ? level.X[size_t(p)] * X[from] : X[from];
    level.V[at] = within ? inverse_times(X[from], level.V[size_t(p)]) + V[from] : V[from];
  }
}

/// From the level above to this one.
void Solver::spread_level(Figure& figure, size_t l, int worker) {
  if (l + 1 >= figure.levels.size()) return;
  ScanLevel& level = figure.levels[l];
  const ScanLevel& above = figure.levels[l + 1];
  const auto [n0, n1] = part_of(worker, level.source.size());
  for (size_t i = size_t(n0); i < size_t(n1); ++i) {
    const int c = level.carrier[i];
    if (c < 0) continue;
    level.V[i] += inverse_times(level.X[i], above.V[size_t(c)]);
    level.X[i] = above.X[size_t(c)] * level.X[i];
  }
}

void Solver::load_torques(Figure& figure, int worker) {
  if (!figure.input.tau) return;
  const size_t f = size_t(&figure - figures_.data());
  const auto& owners = mechanism_.owners[f];
  const auto [first, last] = part_of(worker, owners.size());
  for (int k = first; k < last; ++k)
    tau_[f][size_t(owners[size_t(k)].u)] = owners[size_t(k)].sign * (*figure.input.tau)[k];
}

/// The stretches depend on the figure alone, so that results are the same for every number of threads.
void Solver::load_figures() {
  size_t levels = 0;
  bool external = false;
  for (const Figure& figure : figures_) {
    levels = std::max(levels, figure.levels.size());
    external = external || figure.external != nullptr;
  }
  pool_->run([&](int w) {
    for (Figure& figure : figures_) {
      std::vector<double>& tau = tau_[size_t(&figure - figures_.data())];
      const auto [t0, t1] = part_of(w, tau.size());
      std::fill(tau.begin() + t0, tau.begin() + t1, 0.0);
      const auto [n0, n1] = part_of(w, size_t(figure.stretches()));
      for (int n = n0; n < n1; ++n) load_stretch(figure, n);
    }
    pool_->barrier();
    for (Figure& figure : figures_) load_torques(figure, w);
    for (size_t l = 0; l < levels; ++l) {
      for (Figure& figure : figures_) gather_level(figure, l, w);
      pool_->barrier();
    }
    for (size_t l = levels; l-- > 0;) {
      for (Figure& figure : figures_) spread_level(figure, l, w);
      pool_->barrier();
    }
    for (Figure& figure : figures_) {
      if (figure.levels.empty()) continue;
      const auto [b0, b1] = part_of(w, figure.carrier.size());
      for (int i = b0; i < b1; ++i) {
        const int c = figure.carrier[size_t(i)];
        const size_t at = size_t(figure.first_body + i);
        if (c >= 0) V_[at] += inverse_times(X_EB_[at], figure.levels[0].V[size_t(c)]);
      }
    }
    if (options_.springs_and_dampers) {
      pool_->barrier();  // torques are there
      for (Figure& figure : figures_) load_springs(figure, w);
    }
    if (!external) return;
    find_poses(w);
    pool_->barrier();
    for (Figure& figure : figures_) load_external(figure, w);
    pool_->barrier();
    for (Figure& figure : figures_) {
      if (w == 0) pass_on_tips(figure);
    }
  });
}

void Solver::describe_scan(Assembly::Shape& out) const {
  for (const Figure& figure : figures_) {
    out.scan_levels = std::max(out.scan_levels, int(figure.levels.size()));
    for (const ScanLevel& level : figure.levels) out.scan_nodes += int(level.source.size());
  }
}

void Solver::find_poses() {
  pool_->run([&](int w) { find_poses(w); });
}
void Solver::find_poses(int w) {
  for (Figure& figure : figures_) {
    const Tree& tree = figure.model->tree();
    const int bodies = tree.body_count();
    if (figure.levels.empty()) {  // one stretch; parents come first
      for (int i = 0; w == 0 && i < bodies; ++i) {
        const size_t at = size_t(figure.first_body + i);
        const int p = tree.bodies[size_t(i)].parent;
        X_WB_[at] = p < 0 ? X_PB_[at] : X_WB_[size_t(figure.first_body + p)] * X_PB_[at];
      }
      continue;
    }
    const auto [b0, b1] = part_of(w, size_t(bodies));
    for (int i = b0; i < b1; ++i) {
      const size_t at = size_t(figure.first_body + i);
      const int c = figure.carrier[size_t(i)];
      X_WB_[at] = c < 0 ? X_EB_[at] : figure.levels[0].X[size_t(c)] * X_EB_[at];
    }
  }
}

}  // namespace kansetsu
