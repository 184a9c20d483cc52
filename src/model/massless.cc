#include "model/massless.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <random>

#include "kansetsu/spatial/eigen.h"
#include "kansetsu/spatial/rotations.h"

/// The articulated-body recursion on inertias alone ([RBDA] §7.3, gears left out), in one posture drawn at random: what is
/// singular there is singular everywhere but by a chance of probability zero. Where the inertia D that a primitive sees is
/// singular, a null vector of the mass matrix starts: unit rate there, and below it the rates with which the joints give
/// way. A combination of null vectors that obeys the couplings is a motion without inertia.
///
/// Symbols   W = articulated inertia of the body, before its joint   S = motion subspace, D = Sᵀ W S + rotors   U = W S
namespace kansetsu {
namespace {

/// Rounding of a recursion leaves 1e-15 of what was subtracted; a real axis inertia is rarely below 1e-10 of the largest
/// (a metre of wire 20 µm thick).
constexpr double kNegligible = 1e-12;
/// Rates and entries of unit null vectors: gear ratios are written with six digits or more, rounding is 1e-15, so that anything in
/// between is zero.
constexpr double kZeroRate = 1e-9;
/// Determinant of a rotational inertia over that of a ball with the same trace: a rod ten times as long as thick has 1e-3.
constexpr double kThin = 1e-3;

/// All matrices and vectors of the recursion: each further type and expression would be compiled for itself.
using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;
using SparseVector = std::vector<std::pair<int, double>>;  // tree coordinate, value

Block times(const Block& A, const Block& B) { return A * B; }
Block transposed(const Block& A) { return A.transpose(); }
/// A B Aᵀ
Block congruent(const Block& A, const Block& B) { return times(times(A, B), transposed(A)); }
/// A with its column k times by[k]
Block scaled_columns(Block A, const Block& by) {
  for (Eigen::Index k = 0; k < A.cols(); ++k) {
    for (Eigen::Index i = 0; i < A.rows(); ++i) A(i, k) *= by(k);
  }
  return A;
}
Block scaled_rows(Block A, const Block& by) {
  for (Eigen::Index k = 0; k < A.cols(); ++k) {
    for (Eigen::Index i = 0; i < A.rows(); ++i) A(i, k) *= by(i);
  }
  return A;
}
Block each_inverse(Block a) {
  for (Eigen::Index i = 0; i < a.rows(); ++i) a(i) = 1 / a(i);
  return a;
}

struct Spectrum {
  Block values, vectors;  ///< ascending; in columns
};
Spectrum spectrum(const Block& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Block> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

double any_rate(std::mt19937_64& rng) { return double(rng() >> 11) * 0x1p-52 - 1; }  // in [−1, 1)

struct MassNode {
  std::vector<int> children;
  Transform<> X_PB;
  Block W, S;
  Block D_inverse;        ///< zero along null directions
  Block null_directions;  ///< columns
};

class InertiaSweep {
 public:
  explicit InertiaSweep(const Tree& tree) : tree_(tree), nodes_(tree.bodies.size()) {
    draw_posture();
    for (std::size_t i = nodes_.size(); i-- > 0;) eliminate(int(i));
  }

  std::vector<SparseVector> null_vectors() const {
    std::vector<SparseVector> out;
    for (int i = 0; i < int(nodes_.size()); ++i) {
      const Block& null = nodes_[std::size_t(i)].null_directions;
      for (int k = 0; k < null.cols(); ++k) out.push_back(null_vector(i, null.middleCols(k, 1)));
    }
    return out;
  }

 private:
  void draw_posture() {
    std::mt19937_64 rng(20);
    std::vector<double> q(std::size_t(tree_.nq));
    for (double& x : q) x = any_rate(rng);  // rad and m; any four numbers make a quaternion
    for (int i = 0; i < int(nodes_.size()); ++i) {
      const Body& body = tree_.bodies[std::size_t(i)];
      MassNode& node = nodes_[std::size_t(i)];
      node.X_PB = body.X_PJ * primitive_pose(body, q);
      node.S = motion_subspace(body);
      if (body.parent >= 0) nodes_[std::size_t(body.parent)].children.push_back(i);
    }
  }

  Transform<> primitive_pose(const Body& body, const std::vector<double>& q) const {
    if (body.large >= 0) {
      const bool free = body.kind == PrimitiveKind::kFree;
      const double* r = q.data() + tree_.large[std::size_t(body.large)].q + (free ? 3 : 0);
      return {to_mat3(Quaternion<>{r[0], r[1], r[2], r[3]}), free ? Vec3<>{r[-3], r[-2], r[-1]} : Vec3<>{}};
    }
    const CoordinateRow& row = tree_.rows[std::size_t(body.u)];
    double x = row.offset;
    for (int t = row.begin; t < row.end; ++t) {
      const CoordinateTerm& term = tree_.terms[std::size_t(t)];
      x += term.ratio * q[std::size_t(term.position)];
    }
    const Vec3<> turn = x * direction(body);
    if (body.kind == PrimitiveKind::kSlide) return {Mat3<>::identity(), turn};
    return {exp_rotation(turn), body.pitch * turn};
  }

  static Vec3<> direction(const Body& body) {
    if (body.aligned_axis == 0) return {1, 0, 0};
    if (body.aligned_axis == 1) return {0, 1, 0};
    return {0, 0, 1};
  }

  static Block motion_subspace(const Body& body) {
    if (body.kind == PrimitiveKind::kFree) return Block::Identity(6, 6);
    if (body.kind == PrimitiveKind::kBall) return Block::Identity(6, 3);
    const Vec3<> a = direction(body);
    const bool slide = body.kind == PrimitiveKind::kSlide;
    return to_eigen(Motion<>{slide ? Vec3<>{} : a, slide ? a : body.pitch * a});
  }

  void eliminate(int i) {
    MassNode& node = nodes_[std::size_t(i)];
    const Body& body = tree_.bodies[std::size_t(i)];
    node.W = to_eigen(body.M_B);
    for (int child : node.children) {
      const MassNode& c = nodes_[std::size_t(child)];
      const Block U = times(c.W, c.S);
      Block Ia = c.W;
      Ia -= congruent(U, c.D_inverse);
      if (is_thin(body.M_B)) remove_rounding(c.W, Ia);
      node.W += congruent(force_matrix(c.X_PB), Ia);
    }
    Block D = congruent(transposed(node.S), node.W);
    for (int k = 0; k < body.nu; ++k) D(k, k) += tree_.rotor_inertia[std::size_t(body.u + k)];
    split(D, scales(node), node);
  }

  struct Traces {
    double rotational, mass;
  };
  static Traces traces(const Block& W) { return {W(0, 0) + W(1, 1) + W(2, 2), W(3, 3) + W(4, 4) + W(5, 5)}; }

  /// What each coordinate could see: all of the rotational inertia about the joint, and all of the mass.
  static Block scales(const MassNode& node) {
    const auto [rotational, mass] = traces(node.W);
    Block scale(node.S.cols(), 1);
    for (Eigen::Index k = 0; k < node.S.cols(); ++k) {
      scale(k) = 0;
      for (Eigen::Index i = 0; i < 6; ++i) scale(k) += node.S(i, k) * node.S(i, k) * (i < 3 ? rotational : mass);
    }
    return scale;
  }

  /// Inverse of D on its range, and a basis of its null space, both by eigenvalues relative to the scales.
  static void split(const Block& D, const Block& scale, MassNode& node) {
    const Eigen::Index n = D.rows();
    Block inverse_root(n, 1);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double s = std::max(scale(i), D(i, i));
      inverse_root(i) = s > 0 ? 1 / std::sqrt(s) : 1;
    }
    const auto [values, vectors] = spectrum(scaled_columns(scaled_rows(D, inverse_root), inverse_root));
    Eigen::Index null = 0;
    while (null < n && values(null) <= kNegligible) ++null;
    const Block V = scaled_rows(vectors, inverse_root);
    node.null_directions = V.leftCols(null);
    const Block range = V.rightCols(n - null);
    node.D_inverse = times(scaled_columns(range, each_inverse(values.bottomRows(n - null))), transposed(range));
  }

  /// Whether the body's own inertia might not drown the rounding of what its children hand over.
  static bool is_thin(const Inertia<>& M) {
    if (M.m <= 0) return true;
    const Vec3<> com = (1 / M.m) * M.h;
    const Eigen::Matrix3d J = to_eigen(M.I - M.m * parallel_axis(com, com));
    return J.determinant() < kThin * std::pow(J.trace() / 3, 3);
  }

  /// Sets eigenvalues of Ia that are negligible against those of W to zero, lengths made comparable by W's own radius.
  static void remove_rounding(const Block& W, Block& Ia) {
    const auto [rotational, mass] = traces(W);
    const double length = rotational > 0 && mass > 0 ? std::sqrt(rotational / mass) : 1;
    Block unit(6, 1);
    for (int i = 0; i < 6; ++i) unit(i) = i < 3 ? 1 : length;
    const double floor = kNegligible * (rotational + length * length * mass);
    auto [values, vectors] = spectrum(scaled_columns(scaled_rows(Ia, unit), unit));
    for (int i = 0; i < 6; ++i) {
      if (values(i) <= floor) values(i) = 0;
    }
    const Block V = scaled_rows(vectors, each_inverse(unit));
    Ia = times(scaled_columns(V, values), transposed(V));
  }

  /// Unit rates z at body i; below it each joint gives way so that nothing heavy moves.
  SparseVector null_vector(int i, const Block& z) const {
    SparseVector out;
    const auto add = [&](int body, const Block& rates) {
      for (int k = 0; k < rates.rows(); ++k) {
        if (rates(k) != 0) out.emplace_back(tree_.bodies[std::size_t(body)].u + k, rates(k));
      }
    };
    add(i, z);
    std::vector<std::pair<int, Block>> stack{{i, times(nodes_[std::size_t(i)].S, z)}};
    while (!stack.empty()) {
      const auto [parent, V] = stack.back();
      stack.pop_back();
      for (int c : nodes_[std::size_t(parent)].children) {
        const MassNode& node = nodes_[std::size_t(c)];
        if (node.W.isZero(0)) continue;
        Block carried = times(transposed(force_matrix(node.X_PB)), V);  // = X_PB⁻¹ V
        Block rates = times(node.D_inverse, times(transposed(node.S), times(node.W, carried)));
        rates *= -1;
        add(c, rates);
        carried += times(node.S, rates);
        stack.emplace_back(c, carried);
      }
    }
    return out;
  }

  const Tree& tree_;
  std::vector<MassNode> nodes_;
};

/// Combinations of the columns of Z that obey the couplings: kernel of (u_r − Σ ratio·v) over the dependent rows r.
Eigen::MatrixXd obey_couplings(const Tree& tree, const std::vector<int>& own, const Eigen::MatrixXd& Z) {
  Eigen::MatrixXd C = Eigen::MatrixXd::Zero(tree.nu - tree.nv, Z.cols());
  std::vector<bool> is_own(tree.rows.size(), false);
  for (int r : own) is_own[std::size_t(r)] = true;
  for (int r = 0, k = 0; r < int(tree.rows.size()); ++r) {
    if (is_own[std::size_t(r)]) continue;
    C.row(k) = Z.row(r);
    const CoordinateRow& row = tree.rows[std::size_t(r)];
    for (int t = row.begin; t < row.end; ++t) {
      const CoordinateTerm& term = tree.terms[std::size_t(t)];
      const int source = own[std::size_t(term.column)];
      const double sign = tree.terms[std::size_t(tree.rows[std::size_t(source)].begin)].ratio;
      C.row(k) -= term.ratio * sign * Z.row(source);
    }
    ++k;
  }
  C = (C.array().abs() < kZeroRate).select(0, C);
  Eigen::FullPivLU<Eigen::MatrixXd> lu(C);
  lu.setThreshold(kZeroRate);
  return lu.dimensionOfKernel() == 0 ? Eigen::MatrixXd(Z.rows(), 0) : Eigen::MatrixXd(Z * lu.kernel());
}

}  // namespace

std::vector<int> own_rows(const Tree& tree) {
  std::vector<int> own(std::size_t(tree.nv), -1);
  for (int r = 0; r < int(tree.rows.size()); ++r) {
    const CoordinateRow& row = tree.rows[std::size_t(r)];
    if (row.end - row.begin != 1) continue;
    const CoordinateTerm& term = tree.terms[std::size_t(row.begin)];
    if (std::abs(term.ratio) == 1 && own[std::size_t(term.column)] < 0) own[std::size_t(term.column)] = r;
  }
  return own;
}

std::vector<int> massless_columns(const Tree& tree) {
  const std::vector<SparseVector> null = InertiaSweep(tree).null_vectors();
  if (null.empty()) return {};
  const std::vector<int> own = own_rows(tree);

  std::vector<bool> moved(tree.rows.size(), false);
  const auto mark = [&](int row, double rate, double largest) {
    if (std::abs(rate) > kZeroRate * largest) moved[std::size_t(row)] = true;
  };
  if (tree.nu == tree.nv) {
    for (const SparseVector& z : null) {
      double largest = 0;
      for (const auto& [row, rate] : z) largest = std::max(largest, std::abs(rate));
      for (const auto& [row, rate] : z) mark(row, rate, largest);
    }
  } else {
    Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(tree.nu, Eigen::Index(null.size()));
    for (std::size_t k = 0; k < null.size(); ++k) {
      for (const auto& [row, rate] : null[k]) Z(row, Eigen::Index(k)) = rate;
      Z.col(Eigen::Index(k)).normalize();
    }
    const Eigen::MatrixXd motions = obey_couplings(tree, own, Z);
    for (Eigen::Index k = 0; k < motions.cols(); ++k) {
      for (int r = 0; r < tree.nu; ++r) mark(r, motions(r, k), motions.col(k).cwiseAbs().maxCoeff());
    }
  }
  std::vector<int> columns;
  for (int c = 0; c < tree.nv; ++c) {
    if (moved[std::size_t(own[std::size_t(c)])]) columns.push_back(c);
  }
  return columns;
}

}  // namespace kansetsu
