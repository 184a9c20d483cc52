#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin.h"

/// Comparing and timing of one algorithm on one model, in all libraries.
namespace bench {

/// Length of a tick of the clock, and the cost of two readings in a row.
struct Ticks {
  double ns_per_tick = 1, overhead = 0;
};
Ticks calibrate();

/// Value below which the fraction p of the values lies.
double quantile(std::vector<double> values, double p);

/// Random states: all joints anywhere, everything moving.
struct States {
  States(const ModelData& model, int count);
  std::vector<double> q, v, a, tau;
  StateData data{};
};

/// Count of numbers in the result of an algorithm.
int result_size(const ModelData& model, int algorithm);

/// One algorithm of one library in one mode: state by state, or many states per call.
struct Contestant {
  const Plugin* plugin = nullptr;
  void* instance = nullptr;
  int algorithm = 0, variant = 0;
  int batch = 0;  ///< states per call; 0: one state through the plain functions
  int precision = kFp64;
  int threads = 1;
  int states = 0;  ///< of the instance

  double error = NAN;             ///< largest relative difference to another library
  std::vector<double> medians{};  ///< one per repetition [ns per state]
  std::vector<double> p99s{};
  int next = 0;   ///< the first state of the next repetition
  int seen = -1;  ///< different states in all repetitions; negative: all

  double run(int first, int count) const;
  void result(int state, double* out) const;
};

/// The time of one call, the best of a few [ns per state].
double probe(const Contestant& c, const Ticks& ticks);

/// Largest difference between two contestants over `checked` states, relative to the largest number of each result of b.
double difference(const Contestant& a, const Contestant& b, const ModelData& model, int checked);

struct Effort {
  int repetitions = 9;
  double seconds = 0.01;  ///< a repetition lasts at least so long; it goes through all states if that takes less than
                          ///< twice the time, else through the next 1/repetitions of them
  double most_seconds = 0.5;  ///< slower calls get fewer states, at least eight
};

/// One repetition.
void measure(Contestant& c, const Effort& effort, const Ticks& ticks);

/// Runs `states` states under Valgrind's callgrind and lets it write what it counted, under the given tag. False where
/// this program does not run under callgrind.
bool count_instructions(const Contestant& c, int states, const std::string& tag);

}  // namespace bench
