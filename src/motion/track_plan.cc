#include "motion/foot_plan.h"

#include <algorithm>
#include <cmath>

namespace kansetsu {
namespace {

void time_the_air(FootPlan::Foot& foot, double dt) {
  const int n = int(foot.heel.size());
  foot.until_down.assign(size_t(n), 0), foot.in_air.assign(size_t(n), 0);
  for (int k = 1; k < n; ++k) {
    if (!foot.down(k)) foot.in_air[size_t(k)] = foot.in_air[size_t(k - 1)] + dt;
  }
  double left = 1;  // [s] of one that does not land any more
  for (int k = n - 1; k >= 0; --k) {
    left = foot.down(k) ? 0 : left + dt;
    foot.until_down[size_t(k)] = left;
  }
}

/// Where a foot pushes if it carries all: the middle of what is down.
Vec3<> place(const FootPlan::Foot& foot, const Sole& sole, const Transform<>& X_WS, int k) {
  const bool heel = foot.heel[size_t(k)], toe = foot.toe[size_t(k)];
  const double x = heel == toe ? 0 : (heel ? -0.8 : 0.8) * sole.half_length;
  const Vec3<> p = X_WS * Vec3<>{x, 0, 0};
  return {p.x, p.y, 0};
}

/// Frames until the state of the foot changes, looking one way.
int run_length(const FootPlan::Foot& foot, int k, int step) {
  const int n = int(foot.heel.size());
  int count = 0;
  for (int i = k; i >= 0 && i < n && foot.down(i) == foot.down(k); i += step) ++count;
  return count;
}

}  // namespace

FootPlan plan_feet(const Model& model, const Biped& biped, const Clip& clip, double omega) {
  const std::vector<FootContacts> found = find_contacts(model, clip);
  const int n = clip.frames();
  FootPlan plan;
  plan.dt = n > 1 ? (clip.times.back() - clip.times.front()) / (n - 1) : 1;
  for (const FootContacts& f : found) {
    FootPlan::Foot& foot = f.link == biped.left.link ? plan.left : plan.right;
    foot.heel = f.heel_down, foot.toe = f.toe_down;
  }
  for (FootPlan::Foot* foot : {&plan.left, &plan.right}) {
    foot->heel.resize(size_t(n), 0), foot->toe.resize(size_t(n), 0);
    time_the_air(*foot, plan.dt);
  }
  Workspace work(model);
  LinkPoses poses(model);
  plan.pressure.resize(size_t(n)), plan.capture.resize(size_t(n));
  Vec3<> last{};
  for (int k = 0; k < n; ++k) {
    fk(model, clip.q.col(k), work, poses);
    const Vec3<> left = place(plan.left, biped.left, poses[biped.left.link] * biped.left.X_LS, k);
    const Vec3<> right = place(plan.right, biped.right, poses[biped.right.link] * biped.right.X_LS, k);
    if (plan.left.down(k) && plan.right.down(k)) {
      // From the foot that stood longer to the one that will: the share by who has how long yet.
      const double l0 = run_length(plan.left, k, -1), l1 = run_length(plan.left, k, 1);
      const double r0 = run_length(plan.right, k, -1), r1 = run_length(plan.right, k, 1);
      const double begun = std::min(l0, r0), left_over = std::min(l1, r1), part = begun / (begun + left_over);
      const bool to_left = l0 < r0 || (l0 == r0 && l1 > r1);
      const double s = l0 == r0 && l1 == r1 ? 0.5 : (to_left ? part : 1 - part);
      last = right + s * (left - right);
    } else if (plan.left.down(k) || plan.right.down(k)) {
      last = plan.left.down(k) ? left : right;
    }
    plan.pressure[size_t(k)] = last;
  }
  // ξ̇ = ω·(ξ − z) backwards, where it is stable; at the end it rests above the pressure.
  plan.capture.back() = plan.pressure.back();
  const double shrink = std::exp(-omega * plan.dt);
  for (int k = n - 2; k >= 0; --k) {
    const Vec3<>& z = plan.pressure[size_t(k)];
    plan.capture[size_t(k)] = z + shrink * (plan.capture[size_t(k + 1)] - z);
  }
  return plan;
}

}  // namespace kansetsu
