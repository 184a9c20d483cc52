#include "motion/corner_costs.h"

#include <algorithm>

namespace kansetsu {
namespace {

/// Share of its full readiness that a support has when it just touches: loads begin near zero.
constexpr double kLeastShare = 0.03;

/// A stretch of frames in which something touches. What touches in the first or last frame has done so, or will, for longer than the
/// clip knows.
struct Touch {
  std::size_t begin = 0, end = 0;                 ///< from the first frame to the one after the last
  double lands = -kInfinity, leaves = kInfinity;  ///< [s], half-way to the neighbouring frames
};

template <class Touches>
std::vector<Touch> touches_of(const std::vector<double>& times, Touches&& touches) {
  std::vector<Touch> out;
  const std::size_t n = times.size();
  for (std::size_t k = 0; k < n; ++k) {
    if (!touches(k)) continue;
    Touch t{.begin = k, .end = k};
    while (t.end < n && touches(t.end)) ++t.end;
    if (t.begin > 0) t.lands = 0.5 * (times[t.begin - 1] + times[t.begin]);
    if (t.end < n) t.leaves = 0.5 * (times[t.end - 1] + times[t.end]);
    k = t.end;
    out.push_back(t);
  }
  return out;
}

/// From kLeastShare to one over `taking` seconds after landing, and back over `giving` seconds before leaving.
void add_ramps(const std::vector<double>& times, const Touch& t, double taking, double giving,
               std::vector<double>& share) {
  for (std::size_t k = t.begin; k < t.end; ++k) {
    if (taking > 0) share[k] = std::min(share[k], (times[k] - t.lands) / taking);
    if (giving > 0) share[k] = std::min(share[k], (t.leaves - times[k]) / giving);
    share[k] = std::max(share[k], kLeastShare);
  }
}

}  // namespace

std::vector<std::vector<double>> readiness(std::span<const SupportHistory> supports, const std::vector<double>& times,
                                           double transfer) {
  std::vector<std::vector<Touch>> all;
  for (const SupportHistory& s : supports)
    all.push_back(touches_of(times, [&](std::size_t k) { return s.touching[k] != 0; }));
  std::vector<std::vector<double>> out(supports.size(), std::vector<double>(times.size(), 1));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Touch& own : all[i]) {
      double taking = kLongestTransfer, giving = kLongestTransfer;
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (j == i) continue;
        for (const Touch& other : all[j]) {
          if (other.lands < own.lands && other.leaves > own.lands) taking = std::min(taking, other.leaves - own.lands);
          if (other.lands < own.leaves && other.leaves > own.leaves)
            giving = std::min(giving, own.leaves - other.lands);
        }
      }
      add_ramps(times, own, taking < kLongestTransfer ? taking : transfer,
                giving < kLongestTransfer ? giving : transfer, out[i]);
    }
  return out;
}

CornerCosts corner_costs(const SupportHistory& s, const std::vector<double>& times,
                         const std::vector<double>& readiness, double roll) {
  const long n = long(times.size()), corners = long(s.support.corners.size());
  const auto touches = [&](long c, std::size_t k) { return (s.touching[k] >> c & 1) != 0; };
  CornerCosts u(corners, n);
  for (long c = 0; c < corners; ++c) {
    std::vector<double> own(times.size(), 1);
    for (const Touch& t : touches_of(times, [&](std::size_t k) { return touches(c, k); }))
      add_ramps(times, t, roll, roll, own);
    const double ease = s.ease.empty() ? 1 : s.ease[std::size_t(c)];
    for (long k = 0; k < n; ++k) u(c, k) = ease * own[std::size_t(k)];
  }
  for (long k = 0; k < n; ++k) {
    double sum = 0;
    for (long c = 0; c < corners; ++c)
      if (touches(c, std::size_t(k))) sum += u(c, k);
    u.col(k) = ((sum > 0 ? sum / double(corners) : 1) / readiness[std::size_t(k)]) * u.col(k).cwiseInverse();
  }
  return u;
}

}  // namespace kansetsu
