#pragma once

#include "assembly/device_tree_scan_kernel.h"

/// The operations of a tree's clusters, each by a team of lanes. See device_tree_kernel.h.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A = L·D·Lᵀ of a body, from six rows of seven numbers. No roots, and a division per row.
struct TreeFactor {
  double L[15];  ///< rows of the lower triangle
  double by[6];  ///< 1/D

  KANSETSU_HD explicit TreeFactor(const double* A) {
    double scaled[15];  // L·D
    for (int j = 0; j < 6; ++j) {
      double d = A[7 * j + j];
      for (int k = 0; k < j; ++k) d = msub(scaled[at(j, k)], L[at(j, k)], d);
      by[j] = chain_reciprocal(d);
      for (int i = j + 1; i < 6; ++i) {
        double c = A[7 * i + j];
        for (int k = 0; k < j; ++k) c = msub(scaled[at(i, k)], L[at(j, k)], c);
        scaled[at(i, j)] = c;
        L[at(i, j)] = c * by[j];
      }
    }
  }
  /// x ← A⁻¹·x
  KANSETSU_HD void solve(double (&x)[6]) const {
    for (int i = 1; i < 6; ++i) {
      for (int k = 0; k < i; ++k) x[i] = msub(L[at(i, k)], x[k], x[i]);
    }
    for (int i = 0; i < 6; ++i) x[i] *= by[i];
    for (int i = 5; i-- > 0;) {
      for (int k = i + 1; k < 6; ++k) x[i] = msub(L[at(k, i)], x[k], x[i]);
    }
  }

 private:
  KANSETSU_HD static constexpr int at(int i, int k) { return i * (i - 1) / 2 + k; }
};

/// A·S and 1/(Sᵀ·A·S) of a body with one coordinate, from six rows of [A, t].
struct TreeHinge {
  double S[6], U[6], by;

  KANSETSU_HD TreeHinge(const Motion<>& motion, const double* A) {
    to_six(motion, S);
    double d = 0;
    for (int r = 0; r < 6; ++r) {
      U[r] = 0;
      for (int k = 0; k < 6; ++k) U[r] = madd(A[7 * r + k], S[k], U[r]);
    }
    for (int r = 0; r < 6; ++r) d = madd(S[r], U[r], d);
    by = chain_reciprocal(d);
  }
  /// Acceleration of the coordinate by a wrench and a torque.
  KANSETSU_HD double along(const double (&x)[6], double torque) const {
    double sum = torque;
    for (int k = 0; k < 6; ++k) sum = madd(S[k], x[k], sum);
    return by * sum;
  }
};

/// A team of lanes of a block, and its operations.
template <class Grid>
class TreeOperations {
 public:
  KANSETSU_HD TreeOperations(const Grid& grid, const TreeProblem& problem)
      : grid_(grid),
        p_(problem),
        lanes_(grid.block.lanes),
        room_(grid.room()),
        entries_(grid.entries()),
        numbers_(grid.numbers()) {}

  /// From the clusters below to this one.
  KANSETSU_HD void reduce(const TreeOperation& op) const {
    if (op.kind == TreeOperationKind::kMerge) {
      reduce_merge(op);
    } else {
      take_shares(op);
      if (op.kind == TreeOperationKind::kLeaf) {
        rake_leaf(op);
      } else if (op.kind == TreeOperationKind::kBody) {
        reduce_body(op);
      } else {
        for (int k = lanes_.rank(); k < kTreeShare; k += kLanes) put(op.share, k, sum_shares(op, k));
      }
    }
    lanes_.sync();
    if (op.rake < 0 || op.kind == TreeOperationKind::kLeaf) return;
    rake_cluster(op);
    lanes_.sync();
  }

  /// Back substitution: forces of the bond that a cluster closes, acceleration of a body. Its ports, or its hub, are known.
  KANSETSU_HD void substitute(const TreeOperation& op) const {
    if (op.kind == TreeOperationKind::kSum) return;
    if (op.rake >= 0) {
      const double* s = input(op.hub, 6);
      if (op.kind == TreeOperationKind::kLeaf) {
        substitute_leaf(op, s);
        lanes_.sync();
        return;
      }
      for (int j = lanes_.rank(); j < 5; j += kLanes) {
        const double* row = numbers_ + op.answer + 7 * j;
        double sum = row[6];
        for (int k = 0; k < 6; ++k) sum = msub(row[k], s[k], sum);
        keep(op.raked, op.raked_post, j, sum);
        room_.numbers[j] = sum;
      }
    } else {
      take_known(op);
    }
    lanes_.sync();
    const int columns = 5 * op.ports;
    if (op.kind == TreeOperationKind::kMerge) {
      for (int j = lanes_.rank(); j < 5; j += kLanes) {
        const double* row = numbers_ + op.force + (columns + 1) * j;
        double sum = row[columns];
        for (int c = 0; c < columns; ++c) sum = msub(row[c], room_.numbers[c], sum);
        keep(op.closed, op.closed_post, j, sum);
      }
    } else {
      for (int r = lanes_.rank(); r < 6; r += kLanes) {
        const double* Z = numbers_ + op.columns + r;
        double sum = Z[6 * columns];
        for (int c = 0; c < columns; ++c) sum = madd(Z[6 * c], room_.numbers[c], sum);
        keep(op.s, op.s_post, r, sum);
      }
    }
    lanes_.sync();
  }

 private:
  using Lanes = decltype(Grid::block.lanes);
  static constexpr int kLanes = Lanes::kSize;
  /// Place in the team's memory of a cluster that is raked at once.
  static constexpr int kFront = kTreeNumbers - 30;

  KANSETSU_HD void put(int place, int k, double x) const {
    if (place >= 0) {
      numbers_[place + k] = x;
    } else {
      grid_.post(~place + k, x);
    }
  }
  KANSETSU_HD void put_front(const TreeOperation& op, int k, double x) const {
    if (op.rake >= 0) {
      room_.numbers[kFront + k] = x;
    } else {
      put(op.out, k, x);
    }
  }
  /// Stores a result of back substitution for this block and, if needed, for others.
  KANSETSU_HD void keep(int place, int post, int k, double x) const {
    numbers_[place + k] = x;
    if (post != kNowhere) grid_.post(~post + k, x);
  }
  /// Numbers of a place; waits for those of other blocks.
  KANSETSU_HD const double* input(int place, int count) const {
    if (place >= 0) return numbers_ + place;
    grid_.take(
        lanes_.rank(), kLanes, count, [&](int k) { return ~place + k; }, [&](int k, double x) { room_.taken[k] = x; });
    lanes_.sync();
    return room_.taken;
  }
  /// Forces of the ports, into the team's memory.
  KANSETSU_HD void take_known(const TreeOperation& op) const {
    for (int c = lanes_.rank(); c < 5 * op.ports; c += kLanes) {
      const int place = op.known[c / 5];
      if (place >= 0) {
        room_.numbers[c] = numbers_[place + c % 5];
      } else {
        grid_.take(0, 1, 1, [&](int) { return ~place + c % 5; }, [&](int, double x) { room_.numbers[c] = x; });
      }
    }
  }
  KANSETSU_HD void take_shares(const TreeOperation& op) const {
    if (op.posted_shares == 0) return;
    grid_.take(
        lanes_.rank(), kLanes, kTreeShare * op.posted_shares,
        [&](int k) { return ~op.shares[k / kTreeShare] + k % kTreeShare; },
        [&](int k, double x) { room_.taken[k] = x; });
    lanes_.sync();
  }
  /// Number k of the sum over the clusters raked into a body.
  KANSETSU_HD double sum_shares(const TreeOperation& op, int k) const {
    double sum = 0;
    for (int i = 0; i < op.posted_shares; ++i) sum += room_.taken[kTreeShare * i + k];
    for (int i = op.posted_shares; i < op.share_count; ++i) sum += numbers_[op.shares[i] + k];
    return sum;
  }
  /// Inertia and wrench of a body with the clusters raked into it: six rows of [A, t], into the team's memory.
  KANSETSU_HD void put_body(const TreeOperation& op) const {
    const double* own = entries_[op.link].A;
    for (int k = lanes_.rank(); k < 42; k += kLanes) room_.numbers[k] = own[k] + sum_shares(op, k);
  }

  /// A step of the articulated-body algorithm: the carrier gains X·(A − U·Uᵀ/D)·X⁻¹ and X·(x − U·(Sᵀ·x + τ)/D) with x = t − A·C.
  KANSETSU_HD void rake_leaf(const TreeOperation& op) const {
    const TreeEntry& entry = entries_[op.link];
    const Transform<> X = entry.X;
    const double *A = room_.numbers, torque = entry.ratio * entry.state.tau;
    double C[6], *turned = room_.numbers + 42;
    to_six(entry.C, C);
    put_body(op);
    lanes_.sync();
    const TreeHinge hinge(entry.S, A);
    for (int c = lanes_.rank(); c < 7; c += kLanes) {
      double x[6];
      for (int r = 0; r < 6; ++r) {
        x[r] = A[7 * r + c];
        for (int k = 0; k < 6 && c == 6; ++k) x[r] = msub(A[7 * r + k], C[k], x[r]);
      }
      const double gain = hinge.along(x, c == 6 ? torque : 0.0);
      numbers_[op.answer + c] = gain;
      for (int r = 0; r < 6; ++r) x[r] = msub(hinge.U[r], gain, x[r]);
      double six[6];
      to_six(X * Force<>{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}, six);
      for (int r = 0; r < 6; ++r) turned[6 * c + r] = six[r];
    }
    lanes_.sync();
    for (int r = lanes_.rank(); r < 6; r += kLanes) {
      double six[6];
      to_six(X * Force<>{{turned[r], turned[6 + r], turned[12 + r]}, {turned[18 + r], turned[24 + r], turned[30 + r]}},
             six);
      for (int c = 0; c < 6; ++c) put(op.share, 7 * r + c, six[c]);
      put(op.share, 7 * r + 6, turned[36 + r]);
    }
  }

  /// Columns of the ports, H, and the wrenches of the torques of joints that the body carries, into the team's memory.
  KANSETSU_HD void put_columns(const TreeOperation& op, double* H) const {
    for (int c = lanes_.rank(); c < 5 * op.ports; c += kLanes) {
      const int bond = op.bond[c / 5];
      const TreeEntry& joint = entries_[bond];
      double x[6];
      to_six(bond == op.link ? tree_wrench(p_, joint, c % 5) : tree_reaction(p_, joint, c % 5), x);
      for (int r = 0; r < 6; ++r) H[6 * c + r] = x[r];
    }
    if (lanes_.rank() != kLanes - 1) return;
    for (int port = 0; port < op.ports; ++port) {
      const TreeEntry& joint = entries_[op.bond[port]];
      if (op.bond[port] == op.link) continue;
      double x[6];
      to_six(joint.ratio * joint.state.tau * tree_reaction(p_, joint, 5), x);
      for (int r = 0; r < 6; ++r) room_.taken[6 * port + r] = x[r];
    }
  }

  /// Front of a body: Z = A⁻¹·[H, t], G = Hᵀ·Z. A body on the ground has one coordinate: s = C + S·u̇.
  KANSETSU_HD void reduce_body(const TreeOperation& op) const {
    const TreeEntry& entry = entries_[op.link];
    const int columns = 5 * op.ports, width = columns + 1;
    double *A = room_.numbers, *H = A + 42, *Z = H + 6 * 15, x[6];
    put_body(op);
    lanes_.sync();  // shares are read: the wrenches of torques replace them
    put_columns(op, H);
    lanes_.sync();
    const auto load = [&](int c) {
      for (int r = 0; r < 6; ++r) {
        x[r] = c < columns ? H[6 * c + r] : A[7 * r + 6];
        for (int port = 0; port < op.ports && c == columns; ++port) {
          if (op.bond[port] != op.link) x[r] += room_.taken[6 * port + r];
        }
      }
    };
    const auto put_column = [&](int c) {
      for (int r = 0; r < 6; ++r) Z[6 * c + r] = numbers_[op.columns + 6 * c + r] = x[r];
    };
    if (op.grounded == 1) {
      const TreeHinge hinge(entry.S, A);
      double C[6];
      to_six(entry.C, C);
      for (int c = lanes_.rank(); c < width; c += kLanes) {
        load(c);
        for (int r = 0; r < 6; ++r) {
          for (int k = 0; k < 6 && c == columns; ++k) x[r] = msub(A[7 * r + k], C[k], x[r]);
        }
        const double gain = hinge.along(x, 0);
        for (int r = 0; r < 6; ++r) x[r] = madd(gain, hinge.S[r], c == columns ? C[r] : 0.0);
        put_column(c);
      }
    } else {
      const TreeFactor factor(A);
      for (int c = lanes_.rank(); c < width; c += kLanes) {
        load(c);
        factor.solve(x);
        put_column(c);
      }
    }
    lanes_.sync();
    put_products(op, H, Z);
  }
  /// G = Hᵀ·Z, and the bias of the body's own joint.
  KANSETSU_HD void put_products(const TreeOperation& op, const double* H, const double* Z) const {
    const int columns = 5 * op.ports, width = columns + 1;
    const int rows = columns / 2 + columns % 2;  // an item: half of the rows of a column
    double x[6];
    for (int item = lanes_.rank(); item < 32; item += kLanes) {
      const int c = item % 16, begin = item / 16 * rows;
      if (c > columns) continue;
      for (int k = 0; k < 6; ++k) x[k] = Z[6 * c + k];
      for (int r = begin; r < begin + rows && r < columns; ++r) {
        double sum = 0;
        for (int k = 0; k < 6; ++k) sum = madd(H[6 * r + k], x[k], sum);
        if (c == columns) sum = (op.bond[r / 5] == op.link ? entries_[op.link].h[r % 5] : 0.0) - sum;
        put_front(op, width * r + c, sum);
      }
    }
  }

  /// The matrices of two clusters; waits for those of other blocks.
  KANSETSU_HD void take_children(const TreeOperation& op, const double* (&child)[2]) const {
    int size[2];
    for (int side = 0; side < 2; ++side) size[side] = op.child[side] < 0 ? op.width[side] * (op.width[side] - 1) : 0;
    child[0] = op.child[0] < 0 ? room_.taken : numbers_ + op.child[0];
    child[1] = op.child[1] < 0 ? room_.taken + size[0] : numbers_ + op.child[1];
    if (size[0] + size[1] == 0) return;
    grid_.take(
        lanes_.rank(), kLanes, size[0] + size[1],
        [&](int k) { return k < size[0] ? ~op.child[0] + k : ~op.child[1] + k - size[0]; },
        [&](int k, double x) { room_.taken[k] = x; });
    lanes_.sync();
  }
  /// Joins two clusters: the bond between them is closed. Every item inverts the closing rows redundantly. An item: half of the
  /// rows of a column.
  KANSETSU_HD void merge_item(const TreeOperation& op, const double* const (&child)[2], int item) const {
    const auto closing = [&](int side, int j) { return child[side] + op.width[side] * (op.close[side] + j); };
    const int columns = 5 * op.ports, width = columns + 1, half = item / 16, c = item % 16;
    if (c > columns || (half > 0 && op.ports < 2)) return;
    const bool right = c == columns;
    const int side = right ? -1 : op.source[c / 5], at = right ? 0 : op.from[c / 5] + c % 5;
    const int of = half < op.ports ? op.source[half] : -1;
    double Y[15], u[5], kept[5], with[5][5];  // kept: rows of this half; with: their coupling to the closing rows
    for (int j = 0; j < 5; ++j) {
      u[j] = right ? closing(0, j)[op.width[0] - 1] + closing(1, j)[op.width[1] - 1] : closing(side, j)[at];
    }
    for (int r = 0; r < 5 && of >= 0; ++r) {
      const double* row = child[of] + op.width[of] * (op.from[half] + r);
      kept[r] = right ? row[op.width[of] - 1] : side == of ? row[at] : 0.0;
      for (int j = 0; j < 5; ++j) with[r][j] = row[op.close[of] + j];
    }
    for (int j = 0; j < 5; ++j) {
      for (int k = 0; k <= j; ++k)
        Y[j * (j + 1) / 2 + k] = closing(0, j)[op.close[0] + k] + closing(1, j)[op.close[1] + k];
    }
    ChainRows(Y).solve(u);
    for (int j = 0; j < 5 && half == 0; ++j) numbers_[op.force + width * j + c] = u[j];
    for (int r = 0; r < 5 && of >= 0; ++r) {
      for (int j = 0; j < 5; ++j) kept[r] = msub(with[r][j], u[j], kept[r]);
      put_front(op, width * (5 * half + r) + c, kept[r]);
    }
  }
  KANSETSU_HD void reduce_merge(const TreeOperation& op) const {
    const double* child[2];
    take_children(op, child);
    for (int item = lanes_.rank(); item < 32; item += kLanes) merge_item(op, child, item);
  }

  /// The share of a cluster with one port in its hub: inertia H·G⁻¹·Hᵀ and force H·G⁻¹·r, and the wrench of the joint's torque.
  KANSETSU_HD void rake_cluster(const TreeOperation& op) const {
    const double* G = room_.numbers + kFront;
    const TreeEntry& joint = entries_[op.rake];
    double* H = room_.numbers;
    for (int j = lanes_.rank(); j < 6; j += kLanes) {
      double six[6];
      to_six(op.upward == 1 ? tree_wrench(p_, joint, j) : tree_reaction(p_, joint, j), six);
      const double torque = op.upward == 1 ? 0.0 : joint.ratio * joint.state.tau;  // the hub has that of its own joint
      for (int k = 0; k < 6; ++k) H[7 * j + k] = j < 5 ? six[k] : torque * six[k];
      if (j < 5) H[7 * j + 6] = G[6 * j + 5] + (op.upward == 1 ? joint.h[j] : 0.0);
    }
    double Y[15];
    for (int j = 0; j < 5; ++j) {
      for (int k = 0; k <= j; ++k) Y[j * (j + 1) / 2 + k] = G[6 * j + k];
    }
    const ChainRows rows(Y);
    lanes_.sync();
    for (int c = lanes_.rank(); c < 7; c += kLanes) {
      double u[5];
      for (int j = 0; j < 5; ++j) u[j] = H[7 * j + c];
      rows.solve(u);
      for (int j = 0; j < 5; ++j) numbers_[op.answer + 7 * j + c] = u[j];
      for (int r = 0; r < 6; ++r) {
        double sum = c == 6 ? H[35 + r] : 0.0;
        for (int j = 0; j < 5; ++j) sum = madd(H[7 * j + r], u[j], sum);
        put(op.share, 7 * r + c, sum);
      }
    }
  }

  /// Acceleration of a leaf from that of its carrier.
  KANSETSU_HD void substitute_leaf(const TreeOperation& op, const double* carrier) const {
    const double* answer = numbers_ + op.answer;
    const TreeEntry& entry = entries_[op.link];
    const Motion<> A = inverse_times(entry.X, tree_motion(carrier));
    double a[6], s[6], gain = answer[6];
    to_six(A, a);
    for (int k = 0; k < 6; ++k) gain = msub(answer[k], a[k], gain);
    to_six(madd(gain, entry.S, A + entry.C), s);
    for (int r = 0; r < 6; ++r) {
      if (lanes_.rank() == r % kLanes) keep(op.s, op.s_post, r, s[r]);
    }
    if (lanes_.rank() == 0) grid_.post(p_.inputs() + entry.column, entry.ratio * gain);
  }

  const Grid& grid_;
  const TreeProblem& p_;
  const Lanes& lanes_;
  TreeRoom& room_;
  TreeEntry* entries_;
  double* numbers_;
};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
