#pragma once

#include <cstddef>
#include <vector>

/// Least squares in strict order of priority under linear inequalities: small and dense, by an active set.
///
///   level 1, 2, …:  minimise |A_k·x − b_k|² + damping_k·|x − x_{k−1}|²,  without any change of A_j·x for j < k,
///   always:         lower ≤ x ≤ upper,   c_lower ≤ C·x ≤ c_upper.
///
/// Directions of x that no level determines stay as near to zero as the levels allow (a level moves x within the span of its
/// rows, apart from bounds). Derivation and proof of the order: docs/theory/ik.md §4. Nothing is allocated after construction.
namespace kansetsu::ik {

/// Rows of numbers side by side; row i begins at data + i·stride.
struct RowsView {
  const double* data = nullptr;
  int rows = 0, stride = 0;
  const double* operator[](int i) const { return data + i * stride; }
};

struct Level {
  RowsView A{};
  const double* b = nullptr;
  double damping = 0;  ///< 0: the plain least-squares solution of least length
};

struct HierarchyProblem {
  int unknowns = 0;
  const Level* levels = nullptr;
  int level_count = 0;
  const double *lower = nullptr, *upper = nullptr;  ///< ±∞ where there is none; null: no bounds at all
  RowsView C{};
  const double *c_lower = nullptr, *c_upper = nullptr;
};

enum class HierarchyStatus {
  kSolved,
  kInfeasible,      ///< the inequalities contradict each other; violations are as small as possible
  kTooManyChanges,  ///< x satisfies the inequalities, but a level may not be at its optimum
};

struct HierarchyReport {
  HierarchyStatus status = HierarchyStatus::kSolved;
  int changes = 0;  ///< of the active set
  int active = 0;   ///< inequalities that hold x at the end
};

class Hierarchy {
 public:
  struct Capacity {
    int unknowns = 0;
    int rows = 0;         ///< most rows of a level
    int constraints = 0;  ///< rows of C
  };
  explicit Hierarchy(const Capacity& capacity);

  /// @param x  out, as many as unknowns. Throws Error if the problem is larger than the capacity.
  /// Warm start: a call begins with the active set of the last one, so that similar problems take few changes.
  HierarchyReport solve(const HierarchyProblem& problem, double* x);

  /// Whether the inequality held x at the end of the last call: first the bounds, then the rows of C.
  /// −1 at the lower end, 1 at the upper, 0 free.
  int activity(int constraint) const { return last_active_[std::size_t(constraint)]; }
  void forget() { last_active_.assign(last_active_.size(), 0); }

 private:
  struct Matrix {
    std::vector<double> data;
    int stride = 0;
    void allocate(int rows, int columns);
    double* operator[](int i) { return data.data() + i * stride; }
    const double* operator[](int i) const { return data.data() + i * stride; }
  };
  struct Limit {
    double lower, upper;
  };

  void load(const HierarchyProblem& problem, double* x);
  bool restore(double* x);
  void solve_level(const Level& level, double* x, HierarchyReport& report);
  void descend(const Level& level);  ///< removes the level's rows from the free directions

  Limit limit(int constraint) const;
  double value(int constraint, const double* x) const;
  void normal(int constraint, double* out) const;  ///< in the free directions
  bool add_active(int constraint, int side);
  void refactor_active();
  void free_step(const Level& level, double* step);
  int worst_multiplier(const Level& level);
  int first_blocked(const double* x, const double* dx, double& length, int& side) const;

  HierarchyProblem p_;
  Capacity capacity_;
  int n_ = 0, r_ = 0, m_ = 0;  ///< unknowns, free directions, inequalities
  Matrix Z_;                   ///< n × r: x = x₀ + Z·z
  Matrix B_, F_;           ///< rows of the level in the free directions; and in those that no active inequality holds
  Matrix N_, reflectors_;  ///< normals of the active inequalities, made triangular; the reflections that did it
  Matrix H_;
  std::vector<double> residual_, z_, step_, g_, t_, dx_, beta_, row_, multiplier_, relaxed_lower_, relaxed_upper_;
  std::vector<double> restore_rows_, restore_b_;
  std::vector<int> active_, side_, side_of_, last_active_, order_;
  int w_ = 0;  ///< active inequalities
  bool identity_ = false;
};

}  // namespace kansetsu::ik
