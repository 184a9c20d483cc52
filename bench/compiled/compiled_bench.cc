// bench_compiled: human28 by the library and as a compiled model (docs/guide/compile.md), in turn, on the same random states, one core.
// Prints a table of medians in ns per state.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "kansetsu/batch/batch.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kernels.h"

using namespace kansetsu;
namespace compiled = bench::compiled;

namespace {

constexpr int kStates = 1024, kTurns = 9, kCallsPerTurn = 20;

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

template <class Call>
double time_per_state(const Call& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < kCallsPerTurn; ++i) {
    const Clock::time_point begin = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kStates);
  }
  return median(times);
}

/// @param difference  largest, relative to the largest number
template <class Library, class Compiled>
void compare(const char* name, const Library& library, const Compiled& compiled, double difference) {
  std::vector<double> one, other;
  for (int turn = 0; turn < kTurns; ++turn) {
    one.push_back(time_per_state(library));
    other.push_back(time_per_state(compiled));
  }
  std::printf("| %-16s | %6.1f | %6.1f | %4.2f | %.0e |\n", name, median(one), median(other),
              median(one) / median(other), difference);
}

template <class Real>
double difference(const std::vector<Real>& a, const std::vector<Real>& b) {
  double most = 0, off = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(double(a[i])));
    off = std::max(off, std::abs(double(a[i]) - double(b[i])));
  }
  return off / most;
}

struct States {
  std::vector<double> q, v, x;
  int nq, nv;

  explicit States(const Model& model) : nq(model.nq()), nv(model.nv()) {
    std::mt19937_64 rng(28);
    std::normal_distribution<double> normal;
    for (int i = 0; i < kStates; ++i) {
      const Eigen::VectorXd configuration = random_configuration(model, rng);
      q.insert(q.end(), configuration.begin(), configuration.end());
      for (int k = 0; k < nv; ++k) v.push_back(normal(rng)), x.push_back(normal(rng));
    }
  }
  Eigen::Map<const Eigen::VectorXd> row(const std::vector<double>& all, int i, int n) const {
    return {&all[std::size_t(i * n)], n};
  }
};

void compare_single(const Model& model, const States& s) {
  Workspace work(model);
  AbaResult forward(model);
  Eigen::VectorXd tau(s.nv);
  Eigen::MatrixXd M(s.nv, s.nv);
  std::vector<State> states;
  for (int i = 0; i < kStates; ++i) {
    states.emplace_back(model);
    states.back().q = s.row(s.q, i, s.nq);
    states.back().v = s.row(s.v, i, s.nv);
  }
  const auto n = std::size_t(kStates * s.nv);
  std::vector<double> a(n), b(n), A(n * std::size_t(s.nv)), B(A.size());
  const auto rnea_library = [&] {
    for (int i = 0; i < kStates; ++i) {
      rnea(model, states[std::size_t(i)], s.row(s.x, i, s.nv), work, tau);
      std::copy(tau.begin(), tau.end(), &a[std::size_t(i * s.nv)]);
    }
  };
  const auto rnea_compiled = [&] {
    for (int i = 0; i < kStates; ++i)
      compiled::rnea(&s.q[std::size_t(i * s.nq)], &s.v[std::size_t(i * s.nv)], &s.x[std::size_t(i * s.nv)],
                     &b[std::size_t(i * s.nv)]);
  };
  rnea_library(), rnea_compiled();
  compare("rnea, one state", rnea_library, rnea_compiled, difference(a, b));
  const auto crba_library = [&] {
    for (int i = 0; i < kStates; ++i) {
      crba(model, s.row(s.q, i, s.nq), work, M);
      A[std::size_t(i)] = M(0, 0);
    }
  };
  const auto crba_compiled = [&] {
    for (int i = 0; i < kStates; ++i) compiled::crba(&s.q[std::size_t(i * s.nq)], &B[std::size_t(i % 8 * s.nv * s.nv)]);
  };
  crba_library(), crba_compiled();
  compiled::crba(&s.q[std::size_t((kStates - 1) * s.nq)], B.data());
  const std::vector<double> last(M.data(), M.data() + M.size()), ours(B.begin(), B.begin() + M.size());
  compare("crba, one state", crba_library, crba_compiled, difference(last, ours));
  const auto aba_library = [&] {
    for (int i = 0; i < kStates; ++i) {
      aba(model, states[std::size_t(i)], s.row(s.x, i, s.nv), work, forward);
      std::copy(forward.vdot.begin(), forward.vdot.end(), &a[std::size_t(i * s.nv)]);
    }
  };
  const auto aba_compiled = [&] {
    for (int i = 0; i < kStates; ++i)
      compiled::aba(&s.q[std::size_t(i * s.nq)], &s.v[std::size_t(i * s.nv)], &s.x[std::size_t(i * s.nv)],
                    &b[std::size_t(i * s.nv)]);
  };
  aba_library(), aba_compiled();
  compare("aba, one state", aba_library, aba_compiled, difference(a, b));
}

template <class Real>
void compare_rows(const Model& model, const States& s, const char* precision) {
  batch::Options options;
  options.threads = 1;
  batch::Batch<Real> library(model, options);
  const std::vector<Real> q(s.q.begin(), s.q.end()), v(s.v.begin(), s.v.end()), x(s.x.begin(), s.x.end());
  std::vector<Real> a(v.size()), b(v.size()), A(v.size() * std::size_t(s.nv)), B(A.size());
  const auto row = [&](const char* name, const auto& one, const auto& other, const auto& l, const auto& c) {
    one(), other();
    char text[40];
    std::snprintf(text, sizeof(text), "%s, rows %s", name, precision);
    compare(text, one, other, difference(l, c));
  };
  row(
      "rnea", [&] { library.rnea(kStates, q.data(), v.data(), x.data(), a.data()); },
      [&] { compiled::rnea_rows(kStates, q.data(), v.data(), x.data(), b.data()); }, a, b);
  row(
      "crba", [&] { library.crba(kStates, q.data(), A.data()); },
      [&] { compiled::crba_rows(kStates, q.data(), B.data()); }, A, B);
  row(
      "aba", [&] { library.aba(kStates, q.data(), v.data(), x.data(), a.data()); },
      [&] { compiled::aba_rows(kStates, q.data(), v.data(), x.data(), b.data()); }, a, b);
}

}  // namespace

int main() {
  const Model model = human28();
  const States states(model);
  std::printf("| human28 | library | compiled | ratio | difference |\n|---|--:|--:|--:|--:|\n");
  compare_single(model, states);
  compare_rows<double>(model, states, "fp64");
  compare_rows<float>(model, states, "fp32");
}
