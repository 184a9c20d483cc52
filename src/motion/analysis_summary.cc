#include "motion/analysis_summary.h"

#include <algorithm>
#include <cmath>

namespace kansetsu {
namespace {

std::vector<int> supports_down(const Analysis& a, int frame) {
  std::vector<int> down;
  for (std::size_t i = 0; i < a.supports.size(); ++i) {
    if (a.supports[i].down[std::size_t(frame)]) down.push_back(int(i));
  }
  return down;
}

/// The time that a frame stands for: from half-way to its neighbours.
double share(const Clip& clip, std::size_t k) {
  const std::size_t last = clip.times.size() - 1;
  return 0.5 * (clip.times[std::min(k + 1, last)] - clip.times[k > 0 ? k - 1 : 0]);
}

}  // namespace

const char* to_string(Phase::Kind kind) {
  switch (kind) {
    case Phase::Kind::kFlight:
      return "flight";
    case Phase::Kind::kSingle:
      return "single support";
    case Phase::Kind::kDouble:
      return "double support";
    case Phase::Kind::kMore:
      return "several supports";
  }
  return "?";
}

std::vector<Phase> find_phases(const Analysis& a) {
  std::vector<Phase> phases;
  const std::vector<double>& times = a.clip.times;
  for (int k = 0; k < a.frames(); ++k) {
    std::vector<int> down = supports_down(a, k);
    if (!phases.empty() && phases.back().supports == down) {
      phases.back().last = k;
      continue;
    }
    const double start = k == 0 ? times.front() : 0.5 * (times[std::size_t(k) - 1] + times[std::size_t(k)]);
    if (!phases.empty()) phases.back().end = start;
    const std::size_t count = std::min<std::size_t>(down.size(), 3);
    phases.push_back({Phase::Kind(count), std::move(down), k, k, start, start});
  }
  if (!phases.empty()) phases.back().end = times.back();
  return phases;
}

std::vector<SupportGap> find_gaps(const Analysis& a, double weight) {
  constexpr double kWindow = 1, kShare = 0.05;  // [s]
  constexpr double kFalls = 0.2;                // of the weight: who needs less in flight may well fly
  std::vector<SupportGap> gaps;
  const std::vector<double>& times = a.clip.times;
  // Sums up to each frame, weighted by time.
  std::vector<double> found{0}, needed{0}, passed{0};
  for (std::size_t k = 0; k < times.size(); ++k) {
    double force = 0;
    for (const SupportForces& s : a.supports) force += s.wrench[k].f.z;
    const double dt = share(a.clip, k);
    found.push_back(found.back() + dt * force), needed.push_back(needed.back() + dt * a.needed[k]);
    passed.push_back(passed.back() + dt);
  }
  const double window = std::min(kWindow, times.back() - times.front());
  for (std::size_t k = 0, end = 0; k < times.size(); ++k) {
    while (end < times.size() && times[end] - times[k] < window - 1e-9) ++end;
    if (end == times.size()) break;
    const double n = needed[end + 1] - needed[k], f = found[end + 1] - found[k];
    if (!(std::abs(f - n) > kShare * std::abs(n))) continue;
    if (!gaps.empty() && gaps.back().last >= int(k))
      gaps.back().last = int(end);
    else
      gaps.push_back({.first = int(k), .last = int(end)});
  }
  for (SupportGap& gap : gaps) {
    const std::size_t first = std::size_t(gap.first), last = std::size_t(gap.last) + 1;
    const double time = passed[last] - passed[first];
    gap.found = (found[last] - found[first]) / time, gap.needed = (needed[last] - needed[first]) / time;
  }
  // Nothing is down, and yet he does not fall: too short to be seen over a second.
  for (const Phase& p : a.phases) {
    const std::size_t first = std::size_t(p.first), last = std::size_t(p.last) + 1;
    const bool known = std::any_of(gaps.begin(), gaps.end(),
                                   [&](const SupportGap& gap) { return gap.first <= p.first && p.last <= gap.last; });
    const double mean = (needed[last] - needed[first]) / std::max(passed[last] - passed[first], 1e-12);
    if (p.kind == Phase::Kind::kFlight && !known && mean > kFalls * weight) gaps.push_back({p.first, p.last, 0, mean});
  }
  std::sort(gaps.begin(), gaps.end(), [](const SupportGap& x, const SupportGap& y) { return x.first < y.first; });
  return gaps;
}

AnalysisSummary summarise(const Model& model, const Analysis& a) {
  AnalysisSummary s;
  const double g = norm(model.gravity());
  s.weight = model.mass() * g;
  const Vec3<> up = g > 0 ? (-1 / g) * model.gravity() : Vec3<>{0, 0, 1};
  double needed = 0;
  for (std::size_t k = 0; k < a.clip.times.size(); ++k) {
    const double dt = share(a.clip, k), part = dt / a.clip.duration();
    if (!a.needed.empty()) {
      needed += part * a.needed[k];
      const bool held =
          std::any_of(a.supports.begin(), a.supports.end(), [&](const auto& x) { return x.down[k] != 0; });
      if (!held && a.needed[k] > 0.2 * s.weight) s.unsupported_frames += 1.0 / double(a.clip.times.size());
    }
    for (const SupportForces& support : a.supports) {
      const Vec3<>& f = support.wrench[k].f;
      const double normal = dot(f, up);
      s.mean_vertical += part * normal;
      if (!support.grips && normal > 0.1 * s.weight)
        s.largest_friction = std::max(s.largest_friction, norm(f - normal * up) / normal);
    }
    if (model.base() == Base::kFree) {
      const Force<>& r = a.residual[k];
      const double force = norm(r.f);
      const Vec3<> base{a.clip.q(0, long(k)), a.clip.q(1, long(k)), a.clip.q(2, long(k))};
      const double moment = norm(r.t + cross(base - a.com[k], r.f));
      s.residual_force += part * force * force, s.residual_moment += part * moment * moment;
      s.worst_force = std::max(s.worst_force, force), s.worst_moment = std::max(s.worst_moment, moment);
    }
    for (const double power : a.power.col(long(k))) (power > 0 ? s.positive_work : s.negative_work) += dt * power;
  }
  s.fall = a.summary.fall;
  s.supported = needed > 0 ? s.mean_vertical / needed : 1;
  s.residual_force = std::sqrt(s.residual_force), s.residual_moment = std::sqrt(s.residual_moment);
  return s;
}

}  // namespace kansetsu
