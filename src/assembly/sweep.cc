#include <algorithm>
#include <cmath>

#include "assembly/solver.h"

/// The sweeps over the clusters: up with matrices, down with forces, and both again with vectors only for the residual of
/// the constraints. docs/theory/assembly.md.
namespace kansetsu {
/// H of a body: the columns of its bonds.
void Solver::put_columns(const Cluster& c, const IntList& bonds, int column) const {
  Force<> wrench[6];
  for (int b : bonds) {
    bond_wrenches(b, c.part, wrench);
    const int rows = mechanism_.bonds[size_t(b)].rows;
    for (int k = 0; k < rows; ++k) store(wrench[k], c.H + column + k, c.pivot.ld);
    column += rows;
  }
}

void Solver::up_body(Cluster& c) {
  const Part& part = mechanism_.parts[size_t(c.part)];
  const int ld = c.pivot.ld;
  const double* t = t_.data() + 6 * size_t(c.part);
  std::fill(c.H, c.H + 6 * ld, 0.0);
  put_columns(c, c.kept, 0);
  put_columns(c, c.closed, c.kept_rows + 1);
  const double* C_inv = part.C_inv;
  double force[6];
  std::copy(t, t + 6, force);
  if (c.first_child >= 0) {
    double A[36];
    std::copy(part.A, part.A + 36, A);
    for (int k = c.first_child; k >= 0; k = clusters_[k].next_sibling) {
      const KeptRows& share = clusters_[k].share;
      for (int i = 0; i < 6; ++i) {
        for (int j = 0; j < 6; ++j) A[6 * i + j] += share.row(i)[j];
        force[i] += share.row(i)[6];
      }
    }
    kernels_.invert_factor(A, c.C_inv);
    C_inv = c.C_inv;
  } else {
    std::copy(part.C_inv, part.C_inv + 36, c.C_inv);
  }
  for (int i = 0; i < 6; ++i) c.H[i * ld + c.kept_rows] = -force[i];
  kernels_.body_front(C_inv, c.H, ld, c.pivot, c.out);
}

void Solver::up_merge(Cluster& c) {
  std::fill(c.pivot.a, c.pivot.a + c.closed_rows * c.pivot.ld, 0.0);
  std::fill(c.out.a, c.out.a + c.kept_rows * c.out.ld, 0.0);
  for (int k = c.first_child; k >= 0; k = clusters_[k].next_sibling) {
    const Cluster& child = clusters_[k];
    if (child.kept_rows == 0) continue;
    kernels_.add_child(child.out, child.kept.size(), child.place.data(), child.rows.data(), c.pivot, c.out);
  }
}

/// Mobility of the rows that a cluster closes, for free parts.
void Solver::free_mobility(const Cluster& c, double* out) const {
  Force<> wrench[6];
  int row = 0;
  for (int b : c.closed) {
    const Bond& bond = mechanism_.bonds[size_t(b)];
    for (int k = 0; k < bond.rows; ++k) out[row + k] = compliance_[size_t(bond.first + k)];
    for (int e = bond.ends; e < bond.ends + bond.end_count; ++e) {
      const int part = mechanism_.ends[size_t(e)].part;
      const double* C_inv = mechanism_.parts[size_t(part)].C_inv;
      bond_wrenches(b, part, wrench);
      for (int k = 0; k < bond.rows; ++k) {
        double six[6];
        store(wrench[k], six, 1);
        for (int i = 0; i < 6; ++i) {
          double y = 0;
          for (int j = 0; j <= i; ++j) y = madd(C_inv[6 * i + j], six[j], y);
          out[row + k] = madd(y, y, out[row + k]);
        }
      }
    }
    row += bond.rows;
  }
}

void Solver::close_rows(Cluster& c, SweepScratch& scratch) {
  if (c.closed_rows == 0) return;
  int row = 0, own = 0;
  for (int b : c.closed) {
    const Bond& bond = mechanism_.bonds[size_t(b)];
    if (bond.kind != BondKind::kClosure) own += bond.rows;  // they come first
    for (int k = 0; k < bond.rows; ++k, ++row) {
      c.pivot.row(row)[c.pivot.right()] += h_[size_t(bond.first + k)];
      c.pivot.row(row)[c.pivot.closed(row)] += compliance_[size_t(bond.first + k)];
    }
  }
  if (c.by_rank) free_mobility(c, scratch.a.data());
  const int dropped = kernels_.close(c.pivot, own, c.rank_order, scratch.a.data(), c.out);
  (c.by_rank ? scratch.dropped : scratch.singular) += dropped;
}

/// The share of a cluster in its hub: rows of its last bond over the accelerations of the hub.
void Solver::rake_up(Cluster& c, SweepScratch& scratch) {
  const Bond& bond = mechanism_.bonds[size_t(c.rake_bond)];
  Force<> wrench[6];
  bond_wrenches(c.rake_bond, c.hub, wrench);
  for (int j = 0; j < bond.rows; ++j) {
    double* row = c.rake.row(j);
    const double* out = c.out.row(j);
    store(wrench[j], row, 1);
    row[6] = out[bond.rows] + h_[size_t(bond.first + j)];
    for (int k = 0; k < bond.rows; ++k) row[7 + k] = out[k];
    row[7 + j] += compliance_[size_t(bond.first + j)];
    for (int k = 7 + bond.rows; k < c.rake.ld; ++k) row[k] = 0;
  }
  scratch.singular += kernels_.rake(c.rake, c.share);
}

void Solver::up(int i, SweepScratch& scratch) {
  Cluster& c = clusters_[i];
  if (c.kind == ClusterKind::kSum) {
    std::fill(c.share.a, c.share.a + 48, 0.0);
    for (int k = c.first_child; k >= 0; k = clusters_[k].next_sibling) {
      const double* share = clusters_[k].share.a;
      for (int n = 0; n < 48; ++n) c.share.a[n] += share[n];
    }
    return;
  }
  if (c.kind == ClusterKind::kBody) {
    up_body(c);
  } else {
    up_merge(c);
  }
  close_rows(c, scratch);
  if (c.raked) rake_up(c, scratch);
}

/// The same for the right side rho_ alone, without forces on the parts.
void Solver::refine_up(int i) {
  Cluster& c = clusters_[i];
  const auto has_share = [&](int k) { return clusters_[k].share.a != nullptr; };
  if (c.kind == ClusterKind::kSum) {
    std::fill(c.share2, c.share2 + 6, 0.0);
    for (int k = c.first_child; k >= 0; k = clusters_[k].next_sibling) {
      for (int n = 0; n < 6; ++n) c.share2[n] += clusters_[k].share2[n];
    }
    return;
  }
  double *r = c.z2, *r_kept = c.r2;
  std::fill(r, r + c.closed_rows, 0.0);
  std::fill(r_kept, r_kept + c.kept_rows, 0.0);
  if (c.kind == ClusterKind::kBody) {
    std::fill(c.y2, c.y2 + 6, 0.0);
    if (c.first_child >= 0) {
      double force[6] = {};
      for (int k = c.first_child; k >= 0; k = clusters_[k].next_sibling) {
        if (!has_share(k)) continue;
        for (int n = 0; n < 6; ++n) force[n] += clusters_[k].share2[n];
      }
      for (int m = 0; m < 6; ++m) {
        for (int k = 0; k <= m; ++k) c.y2[m] += c.C_inv[6 * m + k] * force[k];
        for (int k = 0; k < c.kept_rows; ++k) r_kept[k] -= c.H[m * c.pivot.ld + k] * c.y2[m];
        for (int k = 0; k < c.closed_rows; ++k) r[k] -= c.H[m * c.pivot.ld + c.pivot.closed(k)] * c.y2[m];
      }
    }
  } else {
    for (int k = c.first_child; k >= 0; k = clusters_[k].next_sibling) {
      const Cluster& child = clusters_[k];
      for (int b = 0, from = 0; b < child.kept.size(); from += child.rows[b++]) {
        const int to = child.place[b];
        double* target = to > c.kept_rows ? r + (to - c.kept_rows - 1) : r_kept + to;
        for (int n = 0; n < child.rows[b]; ++n) target[n] += child.r2[from + n];
      }
    }
  }
  int row = 0;
  for (int b : c.closed) {
    const Bond& bond = mechanism_.bonds[size_t(b)];
    for (int k = 0; k < bond.rows; ++k) r[row++] += rho_[size_t(bond.first + k)];
  }
  kernels_.reduce(c.pivot, c.rank_order, r, r_kept);
  if (!c.raked) return;
  const Bond& bond = mechanism_.bonds[size_t(c.rake_bond)];
  for (int k = 0; k < bond.rows; ++k) c.rake_z2[k] = r_kept[k] + rho_[size_t(bond.first + k)];
  double share[6] = {};
  kernels_.reduce(c.rake, nullptr, c.rake_z2, share);
  for (int k = 0; k < 6; ++k) c.share2[k] = -share[k];
}

void Solver::down(int i, bool further, SweepScratch& scratch, Unknowns& x) {
  const Cluster& c = clusters_[i];
  if (c.kind == ClusterKind::kSum || c.kind == ClusterKind::kRoot) return;
  double* n = reinterpret_cast<double*>(scratch.lanes.data());
  if (c.raked) {
    const Bond& bond = mechanism_.bonds[size_t(c.rake_bond)];
    const double* z = further ? c.rake_z2 : c.rake.a + c.rake.right();
    std::fill(std::copy_n(x.s.data() + 6 * size_t(c.hub), 6, n), n + c.rake.ld, 0.0);
    kernels_.substitute(c.rake, nullptr, z, further ? 1 : c.rake.ld, n);
    std::copy_n(n + c.rake.closed(0), bond.rows, x.n.data() + bond.first);
  }
  int row = 0;
  for (int b : c.kept) {
    const Bond& bond = mechanism_.bonds[size_t(b)];
    for (int k = 0; k < bond.rows; ++k) n[row++] = x.n[size_t(bond.first + k)];
  }
  std::fill(n + row, n + c.pivot.ld, 0.0);
  if (c.closed_rows > 0) {
    const double* z = further ? c.z2 : c.pivot.a + c.pivot.right();
    kernels_.substitute(c.pivot, c.rank_order, z, further ? 1 : c.pivot.ld, n);
    row = c.kept_rows + 1;
    for (int b : c.closed) {
      const Bond& bond = mechanism_.bonds[size_t(b)];
      for (int k = 0; k < bond.rows; ++k) x.n[size_t(bond.first + k)] = n[row++];
    }
  }
  if (c.kind != ClusterKind::kBody) return;
  static constexpr double kNothing[6] = {};
  n[c.kept_rows] = further ? 0 : -1;  // that column of H is −C⁻¹·t
  kernels_.body_acceleration(c.C_inv, c.H, c.pivot.ld, further ? c.y2 : kNothing, n, x.s.data() + 6 * size_t(c.part));
}

Motion<> Solver::acceleration(int part) const {
  const double* s = x_.s.data() + 6 * size_t(part);
  return {{s[0], s[1], s[2]}, {s[3], s[4], s[5]}};
}

/// s_c − X⁻¹·s_p − C. C includes the ground's acceleration.
Motion<> Solver::joint_acceleration(int j) const {
  const Joint& joint = mechanism_.joints[size_t(j)];
  const JointData& data = joints_[size_t(j)];
  const Motion<> A = acceleration(joint.child) - data.C;
  return joint.carrier == kGround ? A : A - inverse_times(data.X_PB, acceleration(joint.carrier));
}

/// h − H·s − n/J of the rows of some bonds. Returns the largest.
double Solver::residuals(int first, int last) {
  double largest = 0;
  for (int b = first; b < last; ++b) {
    const Bond& bond = mechanism_.bonds[size_t(b)];
    if (!bond.alive || clusters_.is_open(b)) continue;
    double* rho = rho_.data() + bond.first;
    Force<> wrench[6];
    if (bond.kind == BondKind::kJoint) {
      const Motion<> A = joint_acceleration(bond.index);
      bond_wrenches(b, mechanism_.joints[size_t(bond.index)].child, wrench);
      for (int k = 0; k < bond.rows; ++k) rho[k] = -dot(A, wrench[k]);
    } else {
      for (int k = 0; k < bond.rows; ++k) rho[k] = h_[size_t(bond.first + k)];
      for (int e = bond.ends; e < bond.ends + bond.end_count; ++e) {
        const int part = mechanism_.ends[size_t(e)].part;
        const Motion<> A = acceleration(part);
        bond_wrenches(b, part, wrench);
        for (int k = 0; k < bond.rows; ++k) rho[k] -= dot(A, wrench[k]);
      }
    }
    for (int k = 0; k < bond.rows; ++k) {
      rho[k] -= compliance_[size_t(bond.first + k)] * x_.n[size_t(bond.first + k)];
      largest = std::max(largest, std::abs(rho[k]));
    }
  }
  return largest;
}

void Solver::subtree_up(int root, bool further, SweepScratch& scratch) {
  clusters_.for_subtree(root, [&](int c) { further ? refine_up(c) : up(c, scratch); });
}

void Solver::subtree_down(int root, bool further, SweepScratch& scratch, Unknowns& x) {
  for (int c = root;;) {
    down(c, further, scratch, x);
    if (clusters_[c].first_child >= 0) {
      c = clusters_[c].first_child;
      continue;
    }
    while (c != root && clusters_[c].next_sibling < 0) c = clusters_[c].parent;
    if (c == root) return;
    c = clusters_[c].next_sibling;
  }
}

/// Each thread gets a few whole subtrees, so that the work is balanced; the levels above are stages. A stage that
/// costs less than a barrier (1 µs, in which a core does about 2000 multiplications of these kernels) is merged with its
/// neighbours and computed by one thread.
void Solver::share_out() {
  constexpr double kMeeting = 2000;
  constexpr size_t kPerThread = 4;
  const size_t threads = scratch_.size();
  plan_.subtrees.resize(threads);
  for (auto& list : plan_.subtrees) list.clear();
  plan_.top.clear();
  plan_.stages.clear();
  if (threads == 1) {
    plan_.subtrees[0].push_back(clusters_.root());
    return;
  }
  const auto cost = [&](int c) { return clusters_[c].subtree_cost; };
  const auto cheaper = [&](int a, int b) { return cost(a) != cost(b) ? cost(a) < cost(b) : a < b; };
  front_.assign(1, clusters_.root());
  const double fair = cost(clusters_.root()) / double(kPerThread * threads);
  while (!front_.empty() && cost(front_.front()) > std::max(fair, 4 * kMeeting)) {
    std::pop_heap(front_.begin(), front_.end(), cheaper);
    const int c = front_.back();
    front_.pop_back();
    plan_.top.push_back(c);
    for (int k = clusters_[c].first_child; k >= 0; k = clusters_[k].next_sibling) {
      front_.push_back(k);
      std::push_heap(front_.begin(), front_.end(), cheaper);
    }
  }
  // the largest first, each to the thread that has least
  std::sort(front_.begin(), front_.end(), [&](int a, int b) { return cheaper(b, a); });
  double load[256] = {};
  for (int c : front_) {
    const size_t w = size_t(std::min_element(load, load + threads) - load);
    load[w] += cost(c);
    plan_.subtrees[w].push_back(c);
  }
  std::sort(plan_.top.begin(), plan_.top.end(), [&](int a, int b) {
    return clusters_[a].level != clusters_[b].level ? clusters_[a].level < clusters_[b].level : a < b;
  });
  for (int begin = 0, end; begin < int(plan_.top.size()); begin = end) {
    double sum = 0;
    for (end = begin; end < int(plan_.top.size()) &&
                      clusters_[plan_.top[size_t(end)]].level == clusters_[plan_.top[size_t(begin)]].level;
         ++end) {
      sum += clusters_[plan_.top[size_t(end)]].cost;
    }
    const bool shared = end - begin > 1 && sum > 2 * kMeeting;
    if (!shared && !plan_.stages.empty() && !plan_.stages.back().shared) {
      plan_.stages.back().end = end;
    } else {
      plan_.stages.push_back({begin, end, shared});
    }
  }
}

void Solver::sweep_up(int w, bool further) {
  SweepScratch& scratch = scratch_[size_t(w)];
  for (int c : plan_.subtrees[size_t(w)]) subtree_up(c, further, scratch);
  for (const SweepPlan::Stage& stage : plan_.stages) {
    pool_->barrier();
    if (!stage.shared && w > 0) continue;
    const int step = stage.shared ? pool_->workers() : 1;
    for (int k = stage.begin + (stage.shared ? w : 0); k < stage.end; k += step) {
      further ? refine_up(plan_.top[size_t(k)]) : up(plan_.top[size_t(k)], scratch);
    }
  }
}

void Solver::sweep_down(int w, bool further, Unknowns& x) {
  SweepScratch& scratch = scratch_[size_t(w)];
  for (auto stage = plan_.stages.rbegin(); stage != plan_.stages.rend(); ++stage) {
    if (stage->shared || w == 0) {
      const int step = stage->shared ? pool_->workers() : 1;
      for (int k = stage->end - 1 - (stage->shared ? w : 0); k >= stage->begin; k -= step) {
        down(plan_.top[size_t(k)], further, scratch, x);
      }
    }
    pool_->barrier();
  }
  for (int c : plan_.subtrees[size_t(w)]) subtree_down(c, further, scratch, x);
}

/// Whether the residual of the constraints exceeds the rounding error of the accelerations.
bool Solver::worth_refining() const {
  constexpr double kRounding = 1e-13;
  double residual = 0, largest = 0;
  for (const SweepScratch& scratch : scratch_) {
    residual = std::max(residual, scratch.residual);
    largest = std::max(largest, scratch.largest);
  }
  return residual > kRounding * largest;
}

void Solver::assemble() {
  for (SweepScratch& scratch : scratch_) scratch.dropped = scratch.singular = 0;
  pool_->run([&](int w) { sweep_up(w, false); });
}

void Solver::disassemble() {
  pool_->run([&](int w) {
    sweep_down(w, false, x_);
    scratch_[size_t(w)].residual = 0;
    const auto [n0, n1] = part_of(w, x_.n.size());
    const auto [s0, s1] = part_of(w, x_.s.size());
    const auto [b0, b1] = part_of(w, mechanism_.bonds.size());
    for (int k = 0; k < options_.refinements; ++k) {
      std::fill(dx_.n.begin() + n0, dx_.n.begin() + n1, 0.0);  // open rows get nothing more
      pool_->barrier();
      scratch_[size_t(w)].residual = residuals(b0, b1);
      double largest = 0;
      for (int n = s0; n < s1; ++n) largest = std::max(largest, std::abs(x_.s[size_t(n)]));
      scratch_[size_t(w)].largest = largest;
      pool_->barrier();
      if (!worth_refining()) break;  // all threads see the same
      sweep_up(w, true);
      pool_->barrier();
      sweep_down(w, true, dx_);
      pool_->barrier();
      for (int n = n0; n < n1; ++n) x_.n[size_t(n)] += dx_.n[size_t(n)];
      for (int n = s0; n < s1; ++n) x_.s[size_t(n)] += dx_.s[size_t(n)];
    }
    pool_->barrier();
    const auto [j0, j1] = part_of(w, joints_.size());
    for (int j = j0; j < j1; ++j) recover_joint(j);
  });
  residual_ = 0;
  for (const SweepScratch& scratch : scratch_) residual_ = std::max(residual_, scratch.residual);
}

}  // namespace kansetsu
