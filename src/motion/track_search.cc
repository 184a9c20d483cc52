#include "motion/track_search.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace kansetsu {
namespace {

/// [s] before a fall from which other ways are tried. A fall is noticed about 0.4 s after its cause.
constexpr double kBack[] = {0.6, 1.0, 1.6};
constexpr double kBeyond = 0.5;         // [s] that a way has to last beyond the fall
constexpr double kGain = 0.15;          // [s] by which a fall has to come later to count as progress
constexpr double kGood = 0.5;           // strain at which no better way is looked for
constexpr int kRounds = 2, kElite = 4;  // of tries; of which the next round is drawn
constexpr double kPrice = 0.02;         // strain that a correction of one standard deviation costs
constexpr int kMoreTries = 3;           // times as many where a search finds nothing
constexpr int kMostSearches = 30;       // per clip

/// Standard deviations: an acceleration along the ground and upwards [m/s²], a moment [N·m], a foothold [m].
constexpr double kPush = 1.5, kLift = 3, kTurn = 30, kFoothold = 0.08;
constexpr int kPerBump = 10, kBumps = 2, kNumbers = kPerBump * kBumps;
using Numbers = Eigen::Matrix<double, kNumbers, 1>;

/// The same numbers on every platform.
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : random_(seed) {}
  double operator()() {
    const double a = uniform(), b = uniform();
    return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
  }

 private:
  double uniform() { return (double(random_() >> 11) + 0.5) * 0x1p-53; }
  std::mt19937_64 random_;
};

/// Two that overlap, from `start` to `end`.
void add_corrections(const Numbers& x, double start, double end, std::vector<TrackCorrection>& out) {
  const double length = (end - start) / 1.5;
  for (int i = 0; i < kBumps; ++i) {
    const auto n = x.segment<kPerBump>(kPerBump * i);
    const double from = start + 0.5 * i * length;
    out.push_back(
        {.start = from,
         .end = from + length,
         .push = {kPush * n[0], kPush * n[1], kLift * n[2]},
         .turn = {kTurn * n[3], kTurn * n[4], kTurn * n[5]},
         .foothold = {Vec3<>{kFoothold * n[6], kFoothold * n[7], 0}, Vec3<>{kFoothold * n[8], kFoothold * n[9], 0}}});
  }
}

struct Outcome {
  Numbers x = Numbers::Zero();
  double end = 0;  ///< [s] of the fall; infinite: it did not fall
  double strain = 0;
  bool better_than(const Outcome& other) const {
    return end > other.end || (end == other.end && strain < other.strain);
  }
};

class Search {
 public:
  Search(RepeatableRun& run, const TrackSearchOptions& options, const std::function<bool(double)>& progress)
      : run_(run), options_(options), progress_(progress), normal_(options.seed + 1) {}

  std::vector<TrackCorrection> find() {
    moments_ = {{run_.time(), run_.save()}};
    double fall = run_to_the_end();
    for (int i = 0; i < kMostSearches && std::isfinite(fall); ++i) {
      if (stopped_ || !search(fall) || stopped_) break;
      fall = run_to_the_end();
    }
    return corrections_;
  }

 private:
  struct Kept {
    double time;
    std::shared_ptr<const RepeatableRun::Moment> moment;
  };

  /// @return  when it fell; infinite: it did not
  double run_to_the_end() {
    while (run_.step()) {
      if (run_.time() < moments_.back().time + kTrackMoment - 1e-6) continue;
      moments_.push_back({run_.time(), run_.save()});
      if (!goes_on()) break;
    }
    return run_.fallen() ? run_.time() : kInfinity;
  }

  bool goes_on() {
    stopped_ = stopped_ || (progress_ && !progress_(moments_.back().time));
    return !stopped_;
  }

  Outcome attempt(const Kept& from, double fall, const Numbers& x) {
    std::vector<TrackCorrection> tried = corrections_;
    add_corrections(x, from.time, fall, tried);
    run_.restore(*from.moment);
    run_.correct(tried);
    const double until = fall + kBeyond;
    while (run_.time() < until && run_.step()) {
    }
    return {x, run_.fallen() ? run_.time() : kInfinity, run_.strain() + kPrice * x.norm()};
  }

  Outcome best_of_rounds(const Kept& from, double fall, int tries) {
    Outcome best{.end = fall, .strain = kInfinity};
    Numbers mean = Numbers::Zero(), deviation = Numbers::Ones();
    for (int round = 0; round < kRounds; ++round) {
      std::vector<Outcome> all;
      for (int i = 0; i < tries && goes_on(); ++i) {
        Numbers x;
        for (double& n : x) n = normal_();
        all.push_back(attempt(from, fall, mean + deviation.cwiseProduct(x)));
        if (all.back().better_than(best)) best = all.back();
        if (std::isinf(best.end) && best.strain < kGood) return best;
      }
      std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.better_than(b); });
      const int elite = std::min(kElite, int(all.size()));
      mean.setZero();
      for (int i = 0; i < elite; ++i) mean += all[size_t(i)].x / elite;
      deviation.setConstant(0.5);
    }
    return best;
  }

  /// @return  whether a way was found that falls later, or not
  bool search(double fall) {
    for (const int tries : {options_.tries, kMoreTries * options_.tries}) {
      Outcome best{.end = fall, .strain = kInfinity};
      const Kept* from = nullptr;
      for (const double back : kBack) {
        const auto after =
            std::find_if(moments_.begin(), moments_.end(), [&](const Kept& m) { return m.time > fall - back; });
        const Kept& start = after == moments_.begin() ? moments_.front() : *std::prev(after);
        if (from == &start) continue;
        const Outcome found = best_of_rounds(start, fall, tries);
        if (found.better_than(best)) best = found, from = &start;
        if (std::isinf(best.end) || &start == &moments_.front()) break;
      }
      if (!from || best.end < fall + kGain) continue;
      add_corrections(best.x, from->time, fall, corrections_);
      run_.restore(*from->moment);
      run_.correct(corrections_);
      moments_.erase(moments_.begin() + (from - moments_.data()) + 1, moments_.end());
      return true;
    }
    run_.correct(corrections_);
    return false;
  }

  RepeatableRun& run_;
  const TrackSearchOptions& options_;
  const std::function<bool(double)>& progress_;
  Normal normal_;
  std::vector<Kept> moments_;
  bool stopped_ = false;
  std::vector<TrackCorrection> corrections_;
};

}  // namespace

std::vector<TrackCorrection> find_corrections(RepeatableRun& run, const TrackSearchOptions& options,
                                              const std::function<bool(double)>& progress) {
  if (options.tries <= 0) return {};
  return Search(run, options, progress).find();
}

}  // namespace kansetsu
