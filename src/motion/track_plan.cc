#include "motion/track_plan.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/motion/analysis.h"
#include "kansetsu/motion/clip.h"
#include "motion/band_matrix.h"

namespace kansetsu {
namespace {

/// [1/s⁴] what the square of a metre off the clip costs against that of an acceleration which the feet do not give: a mass centre
/// 5 cm off costs as much as a centre of pressure 2 cm off.
constexpr double kOffTheClip = 16;
constexpr double kCutoff = 6, kFlyingCutoff = 12;  // [Hz] of clips whose feet are always down, and of others
constexpr double kOfTheRate = 0.25;                // [frames] above it a clip knows little
constexpr double kFlight = 0.04;                   // [s] from which a gap between contacts is one
constexpr double kMomentumTime = 0.02;             // [s] changes of angular momentum faster than this are smoothed out
constexpr double kFlightTime = 10;                 // [s] in flight changes of it within less than this are none
constexpr double kDoubt = 0.02;                    // of horizontal forces of captures (AnalysisOptions::doubt)

void time_the_air(TrackPlan::Foot& foot, double dt) {
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

/// Backwards through the clip; infinite after the last flight.
std::vector<double> time_to_flight(const TrackPlan& plan) {
  const int n = int(plan.left.heel.size());
  std::vector<double> out(size_t(n), kInfinity);
  double until = kInfinity;
  for (int k = n - 1; k >= 0; --k) {
    int first = k;
    while (first >= 0 && plan.flies(first)) --first;
    if ((k - first) * plan.dt > kFlight) {
      for (; k > first; --k) out[size_t(k)] = 0;
      until = 0;
      if (k < 0) break;
    }
    until += plan.dt;
    out[size_t(k)] = until;
  }
  return out;
}

/// Backwards through the clip; infinite after the last landing.
std::vector<double> time_to_landing(const TrackPlan& plan) {
  const int n = int(plan.left.heel.size());
  std::vector<double> out(size_t(n), kInfinity);
  double until = kInfinity;
  for (int k = n - 1; k >= 0; --k) {
    out[size_t(k)] = until;
    until += plan.dt;
    for (const bool left : {true, false})
      if (k > 0 && plan.foot(left).down(k) && !plan.foot(left).down(k - 1)) until = plan.dt;
  }
  return out;
}

/// A sole that does not bend: its corners, as far as its heel or toes are down.
SupportHistory rigid_sole(const Sole& sole, const TrackPlan::Foot& foot, double friction) {
  SupportHistory out;
  out.support.link = sole.link, out.support.friction = friction;
  for (const double x : {-1.0, 1.0})
    for (const double y : {-1.0, 1.0})
      out.support.corners.push_back(sole.X_LS * Vec3<>{x * sole.half_length, y * sole.half_width, 0});
  for (size_t k = 0; k < foot.heel.size(); ++k)
    out.touching.push_back((foot.heel[k] ? 0b0011u : 0u) | (foot.toe[k] ? 0b1100u : 0u));
  return out;
}

std::vector<OtherSupport> stretches(const std::vector<BodyContact>& contacts, const std::vector<double>& times) {
  std::vector<OtherSupport> out;
  for (const BodyContact& c : contacts)
    for (size_t k = 0; k < times.size(); ++k) {
      if (!c.down[k]) continue;
      const size_t first = k;
      while (k + 1 < times.size() && c.down[k + 1]) ++k;
      out.push_back({c.name, times[first], times[k], c.link, c.point, c.grips});
    }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return out;
}

/// Where the soles push together; where nothing does, under the mass centre.
std::vector<Vec3<>> pressures(const Analysis& a) {
  std::vector<Vec3<>> out;
  for (size_t k = 0; k < a.com.size(); ++k) {
    Vec3<> sum{};
    double load = 0;
    for (const SupportForces& s : a.supports) {
      if (!s.pressure[k]) continue;
      sum += s.wrench[k].f.z * *s.pressure[k], load += s.wrench[k].f.z;
    }
    out.push_back(load > 0 ? (1 / load) * sum : a.com[k]);
  }
  return out;
}

/// The path c of the mass centre near r whose horizontal accelerations are those of forces at z,
///
///     min Σ α·|c − r|² + |c̈ − λ·(c − z) − t|²,   λ = f/(m·h),   t = (−L̇_y, L̇_x)/(m·h)     (f: vertical force, h: height)
std::vector<Vec3<>> carried_path(const std::vector<Vec3<>>& r, const std::vector<Vec3<>>& z,
                                 const std::vector<double>& lambda, const std::vector<TrackPlan::Centre>& turning,
                                 double dt) {
  const size_t n = r.size();
  BandMatrix<2> A(n);
  std::vector<Vec3<>> c(n);
  for (size_t k = 0; k < n; ++k) A.add(k, k, kOffTheClip), c[k] += kOffTheClip * r[k];
  for (size_t k = 1; k + 1 < n; ++k) {
    const double w = 1 / (dt * dt), d[3] = {w, -2 * w - lambda[k], w};
    for (size_t i = 0; i < 3; ++i) {
      c[k - 1 + i] += d[i] * (turning[k].turning - lambda[k] * z[k]);
      for (size_t j = 0; j <= i; ++j) A.add(k - 1 + i, k - 1 + j, d[i] * d[j]);
    }
  }
  A.factor();
  A.solve(c);
  for (size_t k = 0; k < n; ++k) c[k].z = r[k].z;
  return c;
}

/// Central differences; at the ends those of the neighbour.
template <class Get>
Vec3<> rate(const std::vector<TrackPlan::Centre>& path, size_t k, double dt, Get get) {
  const size_t i = std::clamp<size_t>(k, 1, path.size() - 2);
  return (0.5 / dt) * (get(path[i + 1]) - get(path[i - 1]));
}

/// The angular momentum that a figure can have: near the clip's, constant in flight, and changing smoothly elsewhere,
///
///     min Σ |L − L_clip|² + τ⁴·|L̈|² + τ_f²·|L̇|² in flight
void plan_momentum(TrackPlan& plan) {
  const size_t n = plan.centre.size();
  BandMatrix<2> A(n);
  std::vector<Vec3<>> x(n);
  const double smooth = std::pow(kMomentumTime / plan.dt, 4), constant = std::pow(kFlightTime / plan.dt, 2);
  for (size_t k = 0; k < n; ++k) A.add(k, k, 1), x[k] += plan.centre[k].momentum;
  for (size_t k = 1; k + 1 < n; ++k) {
    constexpr double kSecond[3] = {1, -2, 1};
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j <= i; ++j) A.add(k - 1 + i, k - 1 + j, smooth * kSecond[i] * kSecond[j]);
  }
  for (size_t k = 0; k + 1 < n; ++k) {
    if (plan.until_flight[k] > 0 || plan.until_flight[k + 1] > 0) continue;
    A.add(k, k, constant), A.add(k + 1, k + 1, constant), A.add(k, k + 1, -constant);
  }
  A.factor();
  A.solve(x);
  for (size_t k = 0; k < n; ++k) plan.centre[k].momentum = x[k];
}

void plan_centre(const Model& model, const Analysis& a, TrackPlan& plan) {
  const size_t n = a.com.size();
  Workspace work(model);
  Centroidal c(model);
  State state(model);
  plan.centre.resize(n);
  for (size_t k = 0; k < n; ++k) {
    state.q = a.clip.q.col(long(k)), state.v = a.v.col(long(k));
    centroidal(model, state, work, c);
    plan.centre[k].momentum = c.h.t;
  }
  plan_momentum(plan);
  std::vector<double> lambda;
  for (size_t k = 0; k < n; ++k) {
    const bool flies = plan.flies(int(k));
    const double inertia = model.mass() * std::max(a.com[k].z, kLeastHeight);
    lambda.push_back(flies ? 0 : std::max(a.needed[k], 0.0) / inertia);
    const Vec3<> moment = rate(plan.centre, k, plan.dt, [](const auto& x) { return x.momentum; });
    plan.centre[k].moment = moment;
    if (!flies) plan.centre[k].turning = (1 / inertia) * Vec3<>{-moment.y, moment.x, 0};
  }
  const std::vector<Vec3<>> path = carried_path(a.com, pressures(a), lambda, plan.centre, plan.dt);
  for (size_t k = 0; k < n; ++k) plan.centre[k].p = path[k];
  for (size_t k = 0; k < n; ++k) {
    plan.centre[k].v = rate(plan.centre, k, plan.dt, [](const auto& x) { return x.p; });
    const size_t i = std::clamp<size_t>(k, 1, n - 2);
    plan.centre[k].a = (1 / (plan.dt * plan.dt)) * (path[i + 1] - 2 * path[i] + path[i - 1]);
  }
}

/// By the load that the clip gives to each sole.
void plan_balance_of(const Model& model, const Biped& biped, const Analysis& a, TrackPlan& plan) {
  const size_t n = a.com.size(), first = a.supports.size() - 2;
  std::vector<BalanceMoment> moments(n);
  double height = 0;
  for (size_t k = 0; k < n; ++k) {
    BalanceMoment& m = moments[k];
    m.down = {plan.left.down(int(k)), plan.right.down(int(k))};
    double load = 0;
    for (size_t foot = 0; foot < 2; ++foot) {
      m.share[foot] = std::max(a.supports[first + foot].wrench[k].f.z, 0.0);
      load += m.share[foot];
    }
    m.stiffness = load / (model.mass() * std::max(a.com[k].z, kLeastHeight));
    for (double& share : m.share) share = load > 0 ? share / load : 0.5;
    height += std::max(a.com[k].z, kLeastHeight) / double(n);
  }
  plan.balance = plan_balance(moments, plan.dt,
                              {.rate = std::sqrt(norm(model.gravity()) / height),
                               .sole = std::sqrt(biped.left.half_length * biped.left.half_width)});
}

}  // namespace

double lowest_corner(const Sole& sole, const Transform<>& X_WS) {
  return X_WS.p.z - sole.half_length * std::abs(X_WS.R.column_x().z) - sole.half_width * std::abs(X_WS.R.column_y().z);
}

TrackPlan plan_track(const Model& model, const Biped& biped, const Clip& clip, double cutoff, double rate) {
  const int n = clip.frames();
  Contacts contacts = find_all_contacts(model, clip, find_feet(model), {});
  TrackPlan plan;
  plan.dt = n > 1 ? clip.duration() / (n - 1) : 1;
  for (const FootContacts& f : contacts.feet) {
    TrackPlan::Foot& foot = f.link == biped.left.link ? plan.left : plan.right;
    foot.heel = f.heel_down, foot.toe = f.toe_down;
  }
  for (TrackPlan::Foot* foot : {&plan.left, &plan.right}) {
    foot->heel.resize(size_t(n), 0), foot->toe.resize(size_t(n), 0);
    time_the_air(*foot, plan.dt);
  }
  plan.others = stretches(contacts.others, clip.times);
  plan.other_down.assign(size_t(n), 0);
  for (const BodyContact& c : contacts.others)
    for (size_t k = 0; k < size_t(n); ++k) plan.other_down[k] |= c.down[k];
  plan.until_flight = time_to_flight(plan);
  plan.until_landing = time_to_landing(plan);
  if (cutoff < 0)
    cutoff = std::min(std::isfinite(plan.until_flight.front()) ? kFlyingCutoff : kCutoff, kOfTheRate * rate);
  std::vector<SupportHistory> supports = find_supports(model, Contacts{{}, contacts.others});
  const double friction = SupportOptions{}.friction;
  supports.push_back(rigid_sole(biped.left, plan.left, friction));
  supports.push_back(rigid_sole(biped.right, plan.right, friction));
  const Analysis a = analyze(model, clip, supports, {.cutoff = cutoff, .doubt = kDoubt});
  plan_centre(model, a, plan);
  plan_balance_of(model, biped, a, plan);
  plan.clip = a.clip, plan.v = a.v, plan.vdot = a.vdot;
  return plan;
}

}  // namespace kansetsu
