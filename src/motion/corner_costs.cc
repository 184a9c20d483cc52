#include "motion/corner_costs.h"

#include <algorithm>

namespace kansetsu {
namespace {

/// Share of its full readiness that a support has when it just touches: loads begin near zero.
constexpr double kLeastShare = 0.03;

/// From kLeastShare at the touch to one `ramp` seconds later, and back before the end of it; one where it does not touch.
template <class Touches>
std::vector<double> readiness(const std::vector<double>& times, double ramp, Touches&& touches) {
  const std::size_t n = times.size();
  std::vector<double> share(n, 1);
  if (!(ramp > 0)) return share;
  // What touches in the first or last frame has done so, or will, for longer than the clip knows.
  for (std::size_t k = 0, since = n; k < n; ++k) {
    if (!touches(k)) since = k + 1;
    if (since < n && since > 0) share[k] = std::min(share[k], (times[k] - times[since - 1]) / ramp);
  }
  for (std::size_t k = n, until = n; k-- > 0;) {
    if (!touches(k)) until = k;
    if (until < n) share[k] = std::min(share[k], (times[until] - times[k]) / ramp);
  }
  for (double& x : share) x = std::max(x, kLeastShare);
  return share;
}

}  // namespace

CornerCosts corner_costs(const SupportHistory& s, const std::vector<double>& times, double transfer, double roll) {
  const long n = long(times.size()), corners = long(s.support.corners.size());
  const auto touches = [&](long c, std::size_t k) { return (s.touching[k] >> c & 1) != 0; };
  CornerCosts u(corners, n);
  for (long c = 0; c < corners; ++c) {
    const std::vector<double> own = readiness(times, roll, [&](std::size_t k) { return touches(c, k); });
    const double ease = s.ease.empty() ? 1 : s.ease[std::size_t(c)];
    for (long k = 0; k < n; ++k) u(c, k) = ease * own[std::size_t(k)];
  }
  const std::vector<double> whole = readiness(times, transfer, [&](std::size_t k) { return s.touching[k] != 0; });
  for (long k = 0; k < n; ++k) {
    double sum = 0, count = 0;
    for (long c = 0; c < corners; ++c)
      if (touches(c, std::size_t(k))) sum += u(c, k), ++count;
    const double share = whole[std::size_t(k)], mean = count > 0 ? sum / count : 1;
    u.col(k) = (mean / (share * share)) * u.col(k).cwiseInverse();
  }
  return u;
}

}  // namespace kansetsu
