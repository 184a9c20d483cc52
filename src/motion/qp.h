#pragma once

#include <Eigen/Core>
#include <vector>

/// Least squares under equations and inequalities: small and dense, by a dual active set (Goldfarb and Idnani 1983) in the
/// directions that the equations leave free.
///
///   minimise |A·x − b|²   subject to   E·x = e,   lower ≤ x ≤ upper,   c_lower ≤ C·x ≤ c_upper
///
/// A must leave no direction undetermined that E leaves free. Equations that depend on others are left out; an inequality that
/// contradicts those before it is given up and counted. Nothing is allocated after construction.
namespace kansetsu {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows and right-hand sides, filled from the top: the first `count` rows count, and of them the first `unknowns` columns.
struct QpRows {
  RowMatrix A;
  Eigen::VectorXd b;
  int count = 0;

  void resize(int rows, int columns);
  /// A new row of zeros. @return its number; grows if there is no room
  int add(double wanted);
};

struct QpReport {
  int changes = 0;    ///< of the active set
  int given_up = 0;   ///< inequalities that contradict others
  int dependent = 0;  ///< equations that depend on others
  bool converged = true;
};

class Qp {
 public:
  Qp(int unknowns, int equations, int inequalities);

  /// @param unknowns  of this problem, no more than at construction   @param x  out
  QpReport solve(int unknowns, const QpRows& cost, const QpRows& equations, const Eigen::VectorXd& lower,
                 const Eigen::VectorXd& upper, const RowMatrix& C, int inequalities, const Eigen::VectorXd& c_lower,
                 const Eigen::VectorXd& c_upper, Eigen::Ref<Eigen::VectorXd> x);

  /// The next problem starts without the active set of the last one.
  void forget();

 private:
  struct Constraint {
    int row;      ///< 0 … unknowns − 1: a bound; from there on rows of C
    double sign;  ///< sign·a·x ≥ sign·limit
  };

  struct Span {
    int begin, end;
  };

  void find_spans();
  void eliminate(const QpRows& equations, QpReport& report);
  void reduce(const QpRows& cost);
  void apply_reflections(double* v) const;            ///< v ← Qᵀ·v
  void apply_reflections_backwards(double* v) const;  ///< v ← Q·v
  double value(int row, const double* v) const;
  void normal(const Constraint& c);  ///< in the free directions
  bool most_violated(const double* x, Constraint& out, double& by) const;
  bool enforce(Constraint c, double violation, double* x, QpReport& report);
  void move(double length, double* x);
  void add(const Constraint& c);
  void drop(int index);
  double limit(const Constraint& c) const;

  int n_ = 0, m_ = 0, r_ = 0, rank_ = 0, active_count_ = 0;
  const RowMatrix* C_ = nullptr;
  const Eigen::VectorXd *lower_ = nullptr, *upper_ = nullptr, *c_lower_ = nullptr, *c_upper_ = nullptr;
  RowMatrix reflectors_;  ///< one per independent equation
  Eigen::VectorXd beta_, x0_;
  RowMatrix H_, Jt_,
      R_;  ///< normal matrix of the cost in the free directions; Jᵀ; triangle of active normals
  Eigen::VectorXd rhs_, y_, normal_, d_, z_, dual_step_, full_, multiplier_;
  std::vector<Constraint> active_;
  std::vector<Span> span_;         ///< columns of each row of C that are not zero
  std::vector<char> state_;        ///< of each row: 0 free, 1 active, 2 given up
  std::vector<signed char> last_;  ///< sign of those that were active at the end of the last call
};

}  // namespace kansetsu
