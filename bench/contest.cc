#include "contest.h"

#include <algorithm>
#include <chrono>
#include <random>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define BENCH_HAS_VALGRIND 1
#endif

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

volatile double sink;

std::uint64_t stamp() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return std::uint64_t(Clock::now().time_since_epoch().count());
#endif
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

double quantile(std::vector<double> values, double p) {
  const auto at = values.begin() + std::ptrdiff_t(p * double(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

Ticks calibrate() {
  const auto t0 = Clock::now();
  const std::uint64_t s0 = stamp();
  while (seconds_since(t0) < 0.05) {
  }
  const std::uint64_t s1 = stamp();
  Ticks out;
  out.ns_per_tick = 1e9 * seconds_since(t0) / double(s1 - s0);
  std::vector<double> pairs(10001);
  for (double& p : pairs) {
    const std::uint64_t a = stamp();
    p = double(stamp() - a);
  }
  out.overhead = quantile(pairs, 0.5);
  return out;
}

States::States(const ModelData& model, int count) {
  std::mt19937_64 rng(20240704);
  const auto uniform = [&](double range) { return std::uniform_real_distribution<double>(-range, range)(rng); };
  std::normal_distribution<double> normal;
  for (int i = 0; i < count; ++i) {
    for (int b = 0; b < model.body_count; ++b) {
      if (model.bodies[b].leader >= 0) continue;
      if (model.bodies[b].type == kRevoluteBody) q.push_back(uniform(M_PI));
      if (model.bodies[b].type == kPrismaticBody) q.push_back(uniform(0.5));
      if (model.bodies[b].type != kFreeBody) continue;
      for (int k = 0; k < 3; ++k) q.push_back(uniform(1));
      double quat[4], n = 0;
      for (double& x : quat) x = normal(rng), n += x * x;
      for (double x : quat) q.push_back(x / std::sqrt(n));
    }
    for (int k = 0; k < model.nv; ++k) v.push_back(uniform(2)), a.push_back(uniform(5)), tau.push_back(uniform(20));
  }
  data = {count, q.data(), v.data(), a.data(), tau.data()};
}

int result_size(const ModelData& model, int algorithm) {
  switch (algorithm) {
    case kFk:
      return 12 * model.body_count;
    case kJacobians:
      return 6 * model.nv;
    case kRnea:
    case kAba:
      return model.nv;
    case kCrba:
    case kMinverse:
      return model.nv * model.nv;
    default:
      return 3 * model.nv * model.nv;
  }
}

double Contestant::run(int first, int count) const {
  if (batch > 0) return plugin->run_batch(instance, algorithm, precision, threads, first, count);
  double sum = 0;
  for (int i = first; i < first + count; ++i) sum += plugin->run(instance, algorithm, variant, i);
  return sum;
}

void Contestant::result(int state, double* out) const {
  if (batch == 0) {
    plugin->result(instance, algorithm, variant, state, out);
    return;
  }
  const int first = state / batch * batch;
  if (state == first) run(first, std::min(batch, states - first));
  plugin->result_batch(instance, algorithm, precision, state - first, out);
}

double probe(const Contestant& c, const Ticks& ticks) {
  const int count = std::max(1, c.batch);
  double best = INFINITY;
  for (int k = 0; k < 2 || (k < 5 && best > 5e6); ++k) {  // long calls are more likely to be interrupted
    const std::uint64_t a = stamp();
    sink = c.run(0, count);
    best = std::min(best, double(stamp() - a) * ticks.ns_per_tick / count);
  }
  return best;
}

double difference(const Contestant& a, const Contestant& b, const ModelData& model, int checked) {
  std::vector<double> x(size_t(result_size(model, a.algorithm))), y = x;
  double worst = 0;
  for (int i = 0; i < checked; ++i) {
    std::fill(x.begin(), x.end(), NAN);  // a number that is not written must not pass
    std::fill(y.begin(), y.end(), NAN);
    a.result(i, x.data());
    b.result(i, y.data());
    double distance = 0, scale = 1e-300;
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k] == kNotComputed || y[k] == kNotComputed) continue;
      if (!std::isfinite(x[k]) || !std::isfinite(y[k])) return INFINITY;
      distance = std::max(distance, std::abs(x[k] - y[k]));
      scale = std::max(scale, std::abs(y[k]));
    }
    worst = std::max(worst, distance / scale);
  }
  return worst;
}

void measure(Contestant& c, const Effort& effort, const Ticks& ticks) {
  double sum = 0;
  std::vector<double> samples;  // ticks per state
  const auto sample = [&](int count) {
    if (c.next + count > c.states) c.next = 0;
    const std::uint64_t a = stamp();
    sum += c.run(c.next, count);
    samples.push_back((double(stamp() - a) - ticks.overhead) / count);
    c.next += count;
  };
  const auto begin = Clock::now();
  do sample(std::max(1, c.batch));  // warm up
  while (samples.size() < 100 && seconds_since(begin) < effort.seconds / 4);
  const double state_ns = quantile(samples, 0.5) * ticks.ns_per_tick;
  // The clock is too coarse for short calls.
  const int count = c.batch > 0 ? c.batch : state_ns > 1000 ? 1 : std::min(16, int(1000 / state_ns) + 1);
  const bool all = state_ns * c.states < 2e9 * effort.seconds;
  const int least = all ? c.states : (c.states + effort.repetitions - 1) / effort.repetitions;
  constexpr int kFewest = 8;
  samples.clear();
  const auto start = Clock::now();
  do {
    for (int done = 0; done < least; done += count) {
      if (done >= kFewest && seconds_since(start) > effort.most_seconds) {
        c.seen = std::min(c.states, std::max(c.seen, 0) + done);
        break;
      }
      sample(count);
    }
  } while (seconds_since(start) < effort.seconds);
  sink = sum;
  c.medians.push_back(quantile(samples, 0.5) * ticks.ns_per_tick);
  c.p99s.push_back(quantile(samples, 0.99) * ticks.ns_per_tick);
}

#if BENCH_HAS_VALGRIND
bool count_instructions(const Contestant& c, int states, const std::string& tag) {
  if (!RUNNING_ON_VALGRIND) return false;
  sink = c.run(0, states);
  CALLGRIND_ZERO_STATS;
  CALLGRIND_START_INSTRUMENTATION;
  sink = c.run(0, states);
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(tag.c_str());
  return true;
}
#else
bool count_instructions(const Contestant&, int, const std::string&) { return false; }
#endif

}  // namespace bench
