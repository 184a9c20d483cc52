#pragma once

#include <Eigen/Core>
#include <vector>

namespace kansetsu {

/// Other rows of which bilateral ones leave so little cannot move either.
inline constexpr double kHeld = 1e-8;

/// In which order rows are factorised.
enum class RowOrder {
  kStrongestFirst,  ///< the row with the most left of its diagonal first
  kAsGiven,         ///< as they come, where each keeps a safe share of its diagonal; else the strongest first
};

/// Bilateral constraints, eliminated: the first `nb` rows of a Delassus matrix G = [B Rᵀ; R …] are held, whatever force it
/// takes. B may be rank deficient (redundant loops): B = C·Cᵀ by a pivoted Cholesky factor, forces are those of least norm.
/// docs/theory/constrained.md.
class BilateralElimination {
 public:
  void reserve(int bilateral_rows, int rows);

  /// Factorises B and replaces the rest of G by what it is with the first rows held: G_rr − R·B⁺·Rᵀ.
  /// @param least  rows with a smaller diagonal cannot move: what is there is rounding errors
  void eliminate(double* G, int stride, int bilateral_rows, int rows, double least,
                 RowOrder order = RowOrder::kStrongestFirst);
  int rank() const { return rank_; }
  int count() const { return nb_; }

  /// How far the first rows are from what is wanted, y_b; changes the others accordingly: y_r −= R·B⁺·y_b.
  /// @return the largest part of y_b that no force can change (inconsistent constraints)
  double hold(const double* y_b, double* y_r);
  /// Forces of the first rows that make up for the last hold() and for forces f_r on the others: −B⁺·(y_b + Rᵀ·f_r).
  void forces(const double* f_r, double* f_b) const;
  /// B⁺ for right sides that forces can bring about; column c of it at out + c·stride.
  void invert(double* out, int stride);

 private:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  void factorise(const double* G, int stride, double least);
  bool factorise_as_given(const double* G, int stride, double least);
  void normal_matrix();

  int nb_ = 0, nr_ = 0, rank_ = 0;
  Matrix C_;                 ///< nb × rank; row pivot_[k] is the first with column k
  Eigen::MatrixXd columns_;  ///< C's, padded
  Matrix T_;                 ///< rank × nr: Rᵀ = C·T
  Matrix N_;                 ///< Cholesky factor of Cᵀ·C, only if the rank is deficient
  std::vector<int> pivot_;
  std::vector<char> held_;  ///< others that bilateral rows leave nothing to move
  Eigen::VectorXd s_, diagonal_;
  mutable Eigen::VectorXd work_;
};

}  // namespace kansetsu
