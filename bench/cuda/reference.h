#pragma once

#include <memory>

#include "arrays.h"
#include "kansetsu/dynamics/derivatives.h"

namespace kansetsu::bench {

/// The result of the CPU in double, in the order of the batch.
class Reference {
 public:
  explicit Reference(const Model& model);
  std::vector<double> operator()(const std::string& name, const State& s, const Eigen::VectorXd& x);

 private:
  void append(const Eigen::VectorXd& v);
  void append(const Eigen::MatrixXd& m);

  const Model& model_;
  Workspace work_;
  LinkPoses poses_;
  RneaDerivatives rnea_;
  AbaDerivatives aba_;
  Eigen::MatrixXd M_;
  std::vector<double> out_;
};

struct Deviation {
  double overall = 0;  ///< ‖out − ref‖/‖ref‖ over all checked states
  double worst = 0;    ///< the largest of one state
  long checked = 0;
  /// The same two for the CPU's own result if its input changes by one unit in the last place of a double.
  double sensitivity = 0, worst_sensitivity = 0;
};

/// Sums of squares that a Deviation is made of.
class DeviationSum {
 public:
  void add(double difference, double size);
  void add_sensitivity(double difference, double size);
  void add(const DeviationSum& other);
  Deviation value() const;

 private:
  double difference_ = 0, size_ = 0, moved_ = 0, moved_size_ = 0;
  Deviation worst_;
  bool lost_ = false;  ///< a NaN that nothing overwrote
};

/// State s of the inputs, every number changed by one unit in its last place, up or down.
State nudged(const State& s, std::mt19937_64& rng);

/// ‖a − b‖² and ‖b‖².
struct Squares {
  double difference = 0, size = 0;
  void add(double a, double b) {
    difference += (a - b) * (a - b);
    size += b * b;
  }
};

/// Compares rows of outputs (one array per output, each states × width) with the CPU.
template <class Real>
Deviation compare(const Model& model, const Algorithm& algo, const Inputs<Real>& inputs, long n,
                  const std::vector<std::vector<Real>>& rows, std::uint64_t seed) {
  const long samples = std::min<long>(n, 4096);
  std::vector<DeviationSum> parts(std::max(1u, std::thread::hardware_concurrency()));
  parallel(samples, [&](long first, long last, int thread) {
    Reference reference(model);
    std::mt19937_64 rng(seed + std::uint64_t(thread));
    for (long k = first; k < last; ++k) {
      const long low = n * k / samples, high = std::max(low + 1, n * (k + 1) / samples);
      const long s = low + long(rng() % std::uint64_t(high - low));
      const State state = inputs.state(s);
      const std::vector<double> expected = reference(algo.name, state, inputs.third(s));
      Squares error;
      size_t at = 0;
      for (size_t o = 0; o < algo.out.size(); ++o) {
        const Real* row = rows[o].data() + size_t(s) * size_t(algo.out[o]);
        for (int i = 0; i < algo.out[o]; ++i) error.add(double(row[i]), expected[at++]);
      }
      parts[size_t(thread)].add(error.difference, error.size);
      const std::vector<double> moved = reference(algo.name, nudged(state, rng), inputs.third(s));
      Squares change;
      for (size_t i = 0; i < expected.size(); ++i) change.add(moved[i], expected[i]);
      parts[size_t(thread)].add_sensitivity(change.difference, change.size);
    }
  });
  DeviationSum sum;
  for (const DeviationSum& part : parts) sum.add(part);
  return sum.value();
}

}  // namespace kansetsu::bench
