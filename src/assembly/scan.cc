#include <algorithm>
#include <cmath>

#include "assembly/solver.h"

/// Poses and velocities by a scan over stretches of bodies, so that many threads share the work: O(N/p + √N).
namespace kansetsu {
namespace {

/// Figures with fewer bodies are one stretch: a scan costs their poses twice, and nothing is gained.
constexpr int kFewestBodies = 512;
/// Stretches are whole cache lines of numbers: sines are taken a pack at a time, and the last pack must not reach into the next
/// stretch, which another thread computes.
constexpr int kLine = 8;

}  // namespace

/// Stretches of about √N bodies: as many again are then placed one after the other.
void Solver::set_stretches(Figure& figure) const {
  const Tree& tree = figure.model->tree();
  const int bodies = tree.body_count();
  figure.stretch =
      bodies < kFewestBodies ? std::max(bodies, 1) : (int(std::sqrt(double(bodies))) + kLine - 1) / kLine * kLine;
  figure.entry.resize(size_t(bodies));
  for (int i = 0; i < bodies; ++i) {
    const int parent = tree.bodies[size_t(i)].parent, begin = i / figure.stretch * figure.stretch;
    figure.entry[size_t(i)] = parent >= begin ? figure.entry[size_t(parent)] : parent;
  }
  figure.entry_slot.assign(size_t(tree.body_count()), -1);
  for (const int e : figure.entry) {
    if (e >= 0) figure.entry_slot[size_t(e)] = 0;
  }
  for (int i = 0; i < tree.body_count(); ++i) {
    if (figure.entry_slot[size_t(i)] < 0) continue;
    figure.entry_slot[size_t(i)] = int(figure.entries.size());
    figure.entries.push_back(i);
  }
  figure.X_WE.resize(figure.entries.size());
  figure.V_E.resize(figure.entries.size());
}

void Solver::load_stretch(Figure& figure, int n) {
  const int f = int(&figure - figures_.data());
  const Tree& tree = figure.model->tree();
  const State& state = *figure.input.state;
  const int first = n * figure.stretch, last = std::min(first + figure.stretch, tree.body_count());
  kernels_.motions(tree.view(), first, last, state.q.data(), state.v.data(), figure.work.data(),
                   X_PB_.data() + figure.first_body,
                   figure.entries.empty() ? nullptr : X_EB_.data() + figure.first_body, V_.data() + figure.first_body,
                   u_[size_t(f)].data());
}

/// Poses and velocities of the bodies that carry stretches, one after the other: as many as there are stretches in a chain.
void Solver::place_entries(Figure& figure) {
  for (size_t k = 0; k < figure.entries.size(); ++k) {
    const int e = figure.entries[k], before = figure.entry[size_t(e)];
    const Transform<>& X_EB = X_EB_[size_t(figure.first_body + e)];
    const Motion<>& V = V_[size_t(figure.first_body + e)];
    const size_t slot = before < 0 ? 0 : size_t(figure.entry_slot[size_t(before)]);
    figure.X_WE[k] = before < 0 ? X_EB : figure.X_WE[slot] * X_EB;
    figure.V_E[k] = before < 0 ? V : inverse_times(X_EB, figure.V_E[slot]) + V;
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

/// A scan: stretches of bodies by themselves, then what carries them, then all bodies again. The stretches depend on the figure
/// alone, so that results are the same for every number of threads.
void Solver::load_figures() {
  pool_->run([&](int w) {
    for (Figure& figure : figures_) {
      std::vector<double>& tau = tau_[size_t(&figure - figures_.data())];
      const auto [t0, t1] = part_of(w, tau.size());
      std::fill(tau.begin() + t0, tau.begin() + t1, 0.0);
      const auto [n0, n1] = part_of(w, size_t(figure.stretches()));
      for (int n = n0; n < n1; ++n) load_stretch(figure, n);
    }
    pool_->barrier();
    for (Figure& figure : figures_) {
      if (w == 0) place_entries(figure);
      load_torques(figure, w);
    }
    pool_->barrier();
    for (Figure& figure : figures_) {
      if (figure.entries.empty()) continue;
      const auto [b0, b1] = part_of(w, figure.entry.size());
      for (int i = b0; i < b1; ++i) {
        const int e = figure.entry[size_t(i)];
        const size_t at = size_t(figure.first_body + i);
        if (e >= 0) V_[at] += inverse_times(X_EB_[at], figure.V_E[size_t(figure.entry_slot[size_t(e)])]);
      }
    }
  });
  for (Figure& figure : figures_) load_passive(figure);
}

void Solver::find_poses() {
  pool_->run([&](int w) { find_poses(w); });
}
void Solver::find_poses(int w) {
  for (Figure& figure : figures_) {
    const Tree& tree = figure.model->tree();
    const int bodies = tree.body_count();
    if (figure.entries.empty()) {  // one stretch; parents come first
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
      const int e = figure.entry[size_t(i)];
      X_WB_[at] = e < 0 ? X_EB_[at] : figure.X_WE[size_t(figure.entry_slot[size_t(e)])] * X_EB_[at];
    }
  }
}

}  // namespace kansetsu
