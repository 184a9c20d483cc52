#include "motion/track_search.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kansetsu;

namespace {

/// A speed that gusts drive away: it falls when it has gone too far, unless corrections push against the gusts.
class Gusts final : public RepeatableRun {
 public:
  explicit Gusts(std::vector<double> gusts) : gusts_(std::move(gusts)) {}
  struct At final : Moment {
    double time = 0, v = 0;
  };
  std::shared_ptr<const Moment> save() const override {
    auto at = std::make_shared<At>();
    at->time = time_, at->v = v_;
    return at;
  }
  void restore(const Moment& moment) override {
    const At& at = static_cast<const At&>(moment);
    time_ = at.time, v_ = at.v;
  }
  void correct(const std::vector<TrackCorrection>& corrections) override { corrections_ = corrections; }
  bool step() override {
    if (fallen() || time_ >= kEnd) return false;
    double a = 0;
    for (const double gust : gusts_)
      if (time_ > gust && time_ < gust + 0.2) a += 3;
    for (const TrackCorrection& c : corrections_)
      if (time_ > c.start && time_ < c.end) a += 0.5 * c.push.x;
    v_ += 0.01 * a, time_ += 0.01;
    return true;
  }
  bool fallen() const override { return std::abs(v_) > kMost; }
  double time() const override { return time_; }
  double strain() const override { return std::abs(v_) / kMost; }

  static constexpr double kEnd = 4, kMost = 0.5;

 private:
  std::vector<double> gusts_;
  std::vector<TrackCorrection> corrections_;
  double time_ = 0, v_ = 0;
};

bool survives(const std::vector<double>& gusts, const std::vector<TrackCorrection>& corrections) {
  Gusts run(gusts);
  run.correct(corrections);
  while (run.step()) {
  }
  return !run.fallen();
}

}  // namespace

TEST_CASE("search: a run that does not fall is not corrected") {
  Gusts run({});
  CHECK(find_corrections(run, {}, {}).empty());
  CHECK(run.time() >= Gusts::kEnd);
}

TEST_CASE("search: corrections are found against one fall after the other, and hold from the start") {
  const std::vector<double> gusts{1.0, 2.5};
  CHECK(!survives(gusts, {}));
  Gusts run(gusts);
  const std::vector<TrackCorrection> found = find_corrections(run, {}, {});
  CHECK(!found.empty());
  CHECK(survives(gusts, found));
  for (const TrackCorrection& c : found) CHECK(c.end > c.start);
}

TEST_CASE("search: equal seeds give equal corrections, none without tries") {
  const std::vector<double> gusts{1.0};
  Gusts a(gusts), b(gusts), c(gusts), d(gusts);
  const auto first = find_corrections(a, {.seed = 3}, {}), second = find_corrections(b, {.seed = 3}, {});
  REQUIRE(first.size() == second.size());
  for (size_t i = 0; i < first.size(); ++i) CHECK(first[i].push == second[i].push);
  CHECK(find_corrections(c, {.seed = 4}, {}).front().push != first.front().push);
  CHECK(find_corrections(d, {.tries = 0}, {}).empty());
}

TEST_CASE("search: ends when it is told to") {
  Gusts run({1.0});
  int calls = 0;
  CHECK(find_corrections(run, {}, [&](double) { return ++calls < 3; }).empty());
  CHECK(calls == 3);
}
