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

AnalysisSummary summarise(const Model& model, const Analysis& a) {
  AnalysisSummary s;
  const double g = norm(model.gravity());
  s.weight = model.mass() * g;
  const Vec3<> up = g > 0 ? (-1 / g) * model.gravity() : Vec3<>{0, 0, 1};
  for (std::size_t k = 0; k < a.clip.times.size(); ++k) {
    const double dt = share(a.clip, k), part = dt / a.clip.duration();
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
  s.residual_force = std::sqrt(s.residual_force), s.residual_moment = std::sqrt(s.residual_moment);
  return s;
}

}  // namespace kansetsu
