#include <algorithm>
#include <cmath>

#include "assembly/solver.h"

/// The sweeps over the clusters: up with matrices, down with forces, and both again with vectors only for the residual of
/// the constraints. spec/dynamics.md §9.2, 9.3, 9.7.
namespace kansetsu {
namespace {

void store(const Force<>& F, double* out, int stride) {
  out[0] = F.t.x, out[stride] = F.t.y, out[2 * stride] = F.t.z;
  out[3 * stride] = F.f.x, out[4 * stride] = F.f.y, out[5 * stride] = F.f.z;
}

}  // namespace

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

void Solver::close_rows(Cluster& c, SweepScratch& scratch) {
  if (c.closed_rows == 0) return;
  int row = 0;
  for (int b : c.closed) {
    const Bond& bond = mechanism_.bonds[size_t(b)];
    for (int k = 0; k < bond.rows; ++k, ++row) {
      c.pivot.row(row)[c.pivot.right()] += h_[size_t(bond.first + k)];
      c.pivot.row(row)[c.pivot.closed(row)] += compliance_[size_t(bond.first + k)];
    }
  }
  const int dropped = kernels_.close(c.pivot, c.rank_order, scratch.a.data(), c.out);
  (c.by_rank ? scratch.dropped : scratch.singular) += dropped;
}

/// The cluster seen from its hub: rows of its last bond over the accelerations of the hub.
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

/// The same for the right side rho_ alone, with nothing acting on the parts.
void Solver::refine_up(int i, SweepScratch& scratch) {
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
  (void)scratch;
}

void Solver::down(int i, bool further, SweepScratch& scratch, Unknowns& x) {
  const Cluster& c = clusters_[i];
  if (c.kind == ClusterKind::kSum) return;
  if (c.raked) {
    const Bond& bond = mechanism_.bonds[size_t(c.rake_bond)];
    const double* z = further ? c.rake_z2 : c.rake.a + c.rake.right();
    kernels_.substitute(c.rake, nullptr, z, further ? 1 : c.rake.ld, x.s.data() + 6 * size_t(c.hub),
                        x.n.data() + bond.first);
  }
  double *kept = scratch.a.data(), *closed = scratch.b.data();
  int row = 0;
  for (int b : c.kept) {
    const Bond& bond = mechanism_.bonds[size_t(b)];
    for (int k = 0; k < bond.rows; ++k) kept[row++] = x.n[size_t(bond.first + k)];
  }
  if (c.closed_rows > 0) {
    const double* z = further ? c.z2 : c.pivot.a + c.pivot.right();
    kernels_.substitute(c.pivot, c.rank_order, z, further ? 1 : c.pivot.ld, kept, closed);
    row = 0;
    for (int b : c.closed) {
      const Bond& bond = mechanism_.bonds[size_t(b)];
      for (int k = 0; k < bond.rows; ++k) x.n[size_t(bond.first + k)] = closed[row++];
    }
  }
  if (c.kind != ClusterKind::kBody) return;
  double y[6];
  for (int m = 0; m < 6; ++m) {
    const double* H = c.H + m * c.pivot.ld;
    double sum = further ? c.y2[m] : -H[c.kept_rows];
    for (int k = 0; k < c.kept_rows; ++k) sum = madd(H[k], kept[k], sum);
    for (int k = 0; k < c.closed_rows; ++k) sum = madd(H[c.kept_rows + 1 + k], closed[k], sum);
    y[m] = sum;
  }
  double* s = x.s.data() + 6 * size_t(c.part);
  for (int m = 0; m < 6; ++m) {
    s[m] = 0;
    for (int k = m; k < 6; ++k) s[m] = madd(c.C_inv[6 * k + m], y[k], s[m]);
  }
}

/// h − H·s − n/J of the rows of some bonds. Returns the largest.
double Solver::residuals(int first, int last) {
  double largest = 0;
  const auto acceleration = [&](int part) {
    const double* s = x_.s.data() + 6 * size_t(part);
    return Motion<>{{s[0], s[1], s[2]}, {s[3], s[4], s[5]}};
  };
  for (int b = first; b < last; ++b) {
    const Bond& bond = mechanism_.bonds[size_t(b)];
    if (!bond.alive || clusters_.is_open(b)) continue;
    double* rho = rho_.data() + bond.first;
    Force<> wrench[6];
    if (bond.kind == BondKind::kJoint) {
      const Joint& joint = mechanism_.joints[size_t(bond.index)];
      const JointData& data = joints_[size_t(bond.index)];
      Motion<> A = acceleration(joint.child) - data.C;  // C holds the ground's acceleration
      if (joint.carrier != kGround) A = A - inverse_times(data.X_PB, acceleration(joint.carrier));
      bond_wrenches(b, joint.child, wrench);
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

void Solver::sweep_up(bool further) {
  SweepScratch& scratch = scratch_[0];
  const auto deepest = [&](int c) {
    while (clusters_[c].first_child >= 0) c = clusters_[c].first_child;
    return c;
  };
  for (int c = deepest(clusters_.root());;) {
    if (further) {
      refine_up(c, scratch);
    } else {
      up(c, scratch);
    }
    if (c == clusters_.root()) return;
    const int next = clusters_[c].next_sibling;
    c = next >= 0 ? deepest(next) : clusters_[c].parent;
  }
}

void Solver::sweep_down(bool further, Unknowns& x) {
  SweepScratch& scratch = scratch_[0];
  const int root = clusters_.root();
  for (int c = root;;) {
    if (c != root) down(c, further, scratch, x);
    if (clusters_[c].first_child >= 0) {
      c = clusters_[c].first_child;
      continue;
    }
    while (c != root && clusters_[c].next_sibling < 0) c = clusters_[c].parent;
    if (c == root) return;
    c = clusters_[c].next_sibling;
  }
}

void Solver::assemble() {
  for (SweepScratch& scratch : scratch_) scratch.dropped = scratch.singular = 0;
  sweep_up(false);
}

void Solver::disassemble() {
  sweep_down(false, x_);
  residual_ = 0;
  for (int k = 0; k < options_.refinements; ++k) {
    residual_ = residuals(0, int(mechanism_.bonds.size()));
    std::fill(dx_.n.begin(), dx_.n.end(), 0.0);  // open rows get nothing more
    sweep_up(true);
    sweep_down(true, dx_);
    for (size_t n = 0; n < x_.n.size(); ++n) x_.n[n] += dx_.n[n];
    for (size_t n = 0; n < x_.s.size(); ++n) x_.s[n] += dx_.s[n];
  }
}

}  // namespace kansetsu
