#include "motion/levels.h"

namespace kansetsu {
namespace {

/// Orthogonal bases of the rows of B and of what they leave free: B·[range free] = [B·range 0].
struct RowSpace {
  explicit RowSpace(const Eigen::MatrixXd& B) {
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(B.transpose());
    qr.setThreshold(kRankTolerance);
    rank = int(qr.rank());
    const Eigen::MatrixXd Q = qr.householderQ();
    range = Q.leftCols(rank);
    free = Q.rightCols(B.cols() - rank);
  }
  int rank;
  Eigen::MatrixXd range, free;
};

}  // namespace

Eigen::VectorXd solve_levels(std::span<const DenseLevel> levels, int unknowns, std::vector<LevelOutcome>& outcomes) {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(unknowns);
  Eigen::MatrixXd Z = Eigen::MatrixXd::Identity(unknowns, unknowns);
  outcomes.clear();
  for (const DenseLevel& level : levels) {
    LevelOutcome outcome;
    if (Z.cols() > 0 && level.A.rows() > 0) {
      const Eigen::MatrixXd B = level.A * Z;
      // Rows that earlier levels have used up leave rounding behind, which must not be taken for freedom.
      const double floor = kRankTolerance * level.A.norm();
      if (B.norm() > floor) {
        const RowSpace space(B);
        const Eigen::MatrixXd C = B * space.range;
        x += Z * (space.range * C.colPivHouseholderQr().solve(level.b - level.A * x));
        Z = Z * space.free;
        outcome.rank = space.rank;
      }
    }
    outcomes.push_back(outcome);
  }
  for (std::size_t k = 0; k < levels.size(); ++k) outcomes[k].residual = (levels[k].A * x - levels[k].b).norm();
  return x;
}

Eigen::VectorXd weighted_pseudo_inverse(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                                        const Eigen::VectorXd& weight, int& rank) {
  const Eigen::VectorXd scale = weight.cwiseSqrt().cwiseInverse();
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(kRankTolerance);
  decomposition.compute(A * scale.asDiagonal());
  rank = int(decomposition.rank());
  return scale.asDiagonal() * decomposition.solve(b);
}

}  // namespace kansetsu
