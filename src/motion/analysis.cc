#include "kansetsu/motion/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/motion/clip.h"
#include "kansetsu/spatial/eigen.h"
#include "motion/analysis_summary.h"
#include "motion/ball_view.h"
#include "motion/base_wrench.h"
#include "motion/corner_costs.h"
#include "motion/flights.h"
#include "motion/force_fit.h"

namespace kansetsu {
namespace {

/// What a residual of 1 N costs against forces of 1 N: so little compliance that forces fit to 10⁻⁶ N where they can.
constexpr double kCompliance = 1e-9;
/// Pressure is usually off by 25 mm from where it usually is in a sole. In one of 0.22 m, that costs 5·(25 mm·weight)² of the forces'
/// squares; horizontal forces that are off by their doubt shall cost as much.
constexpr double kUsual = 0.025, kPressureCost = 5;
constexpr int kSharing = 6;  ///< of FitRows
/// What a newton of force costs over one that is not shared as time has it. With 0.005 to 0.1 the vertical forces of each of the
/// stances beside plates change by 0.4 % of their range at most; without sharing they are 0.5 to 2.8 % further off.
constexpr double kSharingCompliance = 0.1;
/// Readiness of both together while one hands over to the other: one, and more where both stay.
constexpr double kHandsOver = 1.05;
constexpr int kCone = 8;  ///< edges of the friction cone
/// Height of the place to which forces point, in heights of the centre of mass.
constexpr double kPivot = 1.5;

void check(const Model& model, const Clip& clip, std::span<const SupportHistory> supports) {
  if (const std::optional<std::string> problem = clip_problem(model, clip)) throw Error("analyze: " + *problem);
  if (clip.frames() < 3)
    throw Error(fmt::format("analyze: {} frames have no accelerations, three are needed", clip.frames()));
  for (const SupportHistory& s : supports) {
    if (int(s.touching.size()) != clip.frames()) {
      throw Error(fmt::format("analyze: support '{}' has {} frames, the clip has {}", s.name, s.touching.size(),
                              clip.frames()));
    }
    if (s.support.corners.empty() || s.support.corners.size() > 32 || !(norm(s.support.normal) > 0) ||
        !(s.support.friction >= 0)) {
      throw Error(fmt::format("analyze: support '{}' has {} corners (1 to 32), normal length {} and friction {}",
                              s.name, s.support.corners.size(), norm(s.support.normal), s.support.friction));
    }
    const bool eased = s.ease.size() == s.support.corners.size() &&
                       std::all_of(s.ease.begin(), s.ease.end(), [](double x) { return x > 0; });
    if (!s.ease.empty() && !eased) {
      throw Error(fmt::format("analyze: support '{}' has {} corners and {} numbers of ease, which must be positive",
                              s.name, s.support.corners.size(), s.ease.size()));
    }
  }
  if (model.base() != Base::kFree && !supports.empty())
    throw Error(fmt::format("analyze: '{}' has a fixed base, on which supports have no effect", model.name()));
}

/// Two directions across a normal.
struct Across {
  explicit Across(const Vec3<>& normal) : n((1 / norm(normal)) * normal) {
    const Vec3<> aside = std::abs(n.x) < 0.8 ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0};
    x = cross(aside, n);
    x = (1 / norm(x)) * x;
    y = cross(n, x);
  }
  Vec3<> n, x, y;
};

/// The forces of one moment.
class Moment {
 public:
  Moment(const Model& model, std::span<const SupportHistory> supports, const AnalysisOptions& options)
      : supports_(supports), arm_(options.residual_arm), external_(model) {
    doubted_ = FitRows::Constant(kCompliance);
    doubted_[kSharing] = kSharingCompliance;
    doubted_.segment<2>(3).array() += options.doubt * options.doubt / (kPressureCost * kUsual * kUsual);
    for (const SupportHistory& s : supports) across_.emplace_back(s.support.normal);
  }

  /// Fits forces on the corners that touch in frame k to the wrench about `com`, world axes. @return  what is left of it
  Force<> fit(int k, const std::vector<CornerCosts>& costs, const std::vector<std::vector<double>>& ready,
              const LinkPoses& poses, const Vec3<>& com, const Force<>& needed) {
    rays_.clear(), pushes_.clear();
    for (std::size_t i = 0; i < supports_.size(); ++i) {
      const Support& s = supports_[i].support;
      for (std::size_t c = 0; c < s.corners.size(); ++c) {
        if (!(supports_[i].touching[std::size_t(k)] >> c & 1)) continue;
        add_rays(int(i), poses[s.link] * s.corners[c], com, costs[i](long(c), k));
      }
    }
    FitRows w = FitRows::Zero();
    w.head<6>() = to_eigen(needed);
    w.head<3>() /= arm_;
    // Forces beyond every limit are not a matter of doubt: the rest is shared out, with as little force as the doubt allows.
    FitRows left = FitRows::Zero();
    if (doubted_[3] > kCompliance) {
      left = exact_.solve(rays_, w, FitRows::Constant(kCompliance));
      share_out(k, ready);
    }
    const FitRows possible = w - left;
    left += fit_.solve(rays_, possible, doubted_);
    left.head<3>() *= arm_;
    return to_force(left.head<6>());
  }

  /// Writes forces of frame k and leaves them in external().
  void collect(int k, const LinkPoses& poses, std::vector<SupportForces>& out) {
    external_.set_zero();
    for (std::size_t i = 0; i < supports_.size(); ++i) {
      const LinkId link = supports_[i].support.link;
      Force<> F{};
      Vec3<> pressed{};
      double load = 0;
      for (std::size_t j = 0; j < pushes_.size(); ++j) {
        if (pushes_[j].support != int(i)) continue;
        const Vec3<> f = fit_.forces()[j] * pushes_[j].f;
        F += Force<>{cross(pushes_[j].p - poses[link].p, f), f};
        const double normal = supports_[i].support.grips ? norm(f) : dot(f, across_[i].n);
        pressed += normal * pushes_[j].p;
        load += normal;
      }
      external_[link] += F;
      out[i].wrench[std::size_t(k)] = F;
      if (load > 1e-3)
        out[i].pressure[std::size_t(k)] = (1 / load) * pressed;  // less than a thousandth of a newton is none
    }
  }
  const ExternalForces& external() const { return external_; }

 private:
  struct Push {
    int support;
    Vec3<> p, f;  ///< in the world
  };

  /// Where one support hands over to another, each carries its share of what both do: in proportion to time, as plates show.
  void share_out(int k, const std::vector<std::vector<double>>& ready) {
    int pair[2] = {}, count = 0;
    for (std::size_t i = 0; i < supports_.size(); ++i) {
      if (!supports_[i].down(k)) continue;
      if (count == 2 || supports_[i].support.grips) return;
      pair[count++] = int(i);
    }
    if (count < 2) return;
    const double a = ready[std::size_t(pair[0])][std::size_t(k)], b = ready[std::size_t(pair[1])][std::size_t(k)];
    if (a + b > kHandsOver) return;
    for (std::size_t j = 0; j < rays_.size(); ++j) {
      const double normal = dot(pushes_[j].f, across_[std::size_t(pushes_[j].support)].n);
      rays_[j].a[kSharing] = (pushes_[j].support == pair[0] ? b : -a) / (a + b) * normal;
    }
  }

  void add_rays(int support, const Vec3<>& p, const Vec3<>& com, double cost) {
    const Across& axes = across_[std::size_t(support)];
    const Support& s = supports_[std::size_t(support)].support;
    const auto add = [&](const Vec3<>& f) {
      pushes_.push_back({support, p, f});
      ForceRay ray{.cost = cost};
      ray.a << to_eigen((1 / arm_) * cross(p - com, f)), to_eigen(f), 0;
      rays_.push_back(ray);
    };
    if (s.grips) {
      for (const Vec3<>& axis : {axes.x, axes.y, axes.n}) add(axis), add(-axis);
      return;
    }
    const Vec3<> lean = leaning(axes, p, com, s.friction);
    for (int k = 0; k < kCone; ++k) {
      const double a = 2 * M_PI * (k + 0.5) / kCone;
      const Vec3<> t = std::cos(a) * axes.x + std::sin(a) * axes.y;
      add(axes.n + s.friction * t);
      // Least squares then share a load among the edges so that their sum leans as it should.
      if (s.friction > 0) rays_.back().cost /= std::max(0.1, 1 + 2 / s.friction * dot(t, lean));
    }
  }

  /// Where nothing else decides, forces point to a place above the centre of mass: that of two feet pushes forward behind it and
  /// brakes before it [Maus et al. 2010, virtual pivot point]. Tangential over normal.
  static Vec3<> leaning(const Across& axes, const Vec3<>& p, const Vec3<>& com, double friction) {
    const double up = dot(com - p, axes.n);
    if (!(up > 0.1)) return {};
    const Vec3<> lean = (1 / (kPivot * up)) * (com - p - up * axes.n);
    const double most = 0.45 * friction, size = norm(lean);
    return size > most ? (most / size) * lean : lean;
  }

  std::span<const SupportHistory> supports_;
  double arm_;
  FitRows doubted_;
  ExternalForces external_;
  std::vector<Across> across_;
  std::vector<ForceRay> rays_;
  std::vector<Push> pushes_;
  ForceFit exact_, fit_;
};

/// Where on the plane z = height the wrench (at `at`) has no moment across the vertical.
std::optional<Vec3<>> zero_moment_point(const Force<>& F, const Vec3<>& at, double height, double least) {
  if (!(F.f.z > least)) return std::nullopt;
  const double depth = height - at.z;
  return Vec3<>{at.x + (-F.t.y + depth * F.f.x) / F.f.z, at.y + (F.t.x + depth * F.f.y) / F.f.z, height};
}

/// Whether anything touches, one per frame.
std::vector<std::uint8_t> carried(std::span<const SupportHistory> supports, int frames) {
  std::vector<std::uint8_t> out;
  for (int k = 0; k < frames; ++k)
    out.push_back(std::any_of(supports.begin(), supports.end(), [&](const SupportHistory& s) { return s.down(k); }));
  return out;
}

/// The analysis of a figure whose coordinates are smooth.
Analysis analyze_smooth(const Model& model, const Clip& clip, std::span<const SupportHistory> supports,
                        const AnalysisOptions& options) {
  Analysis out{.clip = options.cutoff > 0 ? low_pass(model, clip, options.cutoff) : clip};
  if (model.base() == Base::kFree) {
    const std::vector<std::uint8_t> held = carried(supports, clip.frames());
    out.summary.fall = fall_of_flights(model, clip, held);
    // What plays at another rate does not fall as things do: it stays as it is, and is reported.
    if (options.cutoff > 0 && out.summary.fall < kOtherRate)
      fall_in_flight(model, clip, options.cutoff, held, out.clip);
  }
  ClipDerivatives rates = derivatives(model, out.clip);
  out.v = std::move(rates.v), out.vdot = std::move(rates.vdot);
  const int n = clip.frames(), nv = model.nv();
  const std::size_t frames = std::size_t(n);
  const bool free = model.base() == Base::kFree;
  out.tau.resize(nv, n);
  out.residual.resize(frames), out.com.resize(frames), out.zmp.resize(frames);
  std::vector<CornerCosts> costs;
  const std::vector<std::vector<double>> ready = readiness(supports, clip.times, options.transfer);
  for (const SupportHistory& s : supports) {
    costs.push_back(corner_costs(s, clip.times, ready[costs.size()], options.roll));
    SupportForces forces{.name = s.name, .grips = s.support.grips};
    for (int k = 0; k < n; ++k) forces.down.push_back(s.down(k));
    forces.wrench.resize(frames), forces.pressure.resize(frames);
    out.supports.push_back(std::move(forces));
  }
  Workspace work(model);
  LinkPoses poses(model);
  State state(model);
  Eigen::VectorXd tau(nv);
  Moment moment(model, supports, options);
  const double weight = model.mass() * norm(model.gravity());
  for (int k = 0; k < n; ++k) {
    const std::size_t i = std::size_t(k);
    state.q = out.clip.q.col(k), state.v = out.v.col(k);
    fk(model, state.q, work, poses);
    out.com[i] = center_of_mass(model, state.q, work);
    rnea(model, state, out.vdot.col(k), work, tau);
    if (free) {
      const Transform<>& X_WB = poses[LinkId(0)];
      const Force<> needed = base_wrench(X_WB, tau);
      const Force<> about_com{needed.t + cross(X_WB.p - out.com[i], needed.f), needed.f};
      out.needed.push_back(needed.f.z);
      out.zmp[i] = zero_moment_point(needed, X_WB.p, 0, 0.05 * weight);
      moment.fit(k, costs, ready, poses, out.com[i], about_com);
      moment.collect(k, poses, out.supports);
      rnea(model, state, out.vdot.col(k), work, tau, &moment.external());
      out.residual[i] = base_wrench(X_WB, tau);
      tau.head<6>().setZero();
    }
    out.tau.col(k) = tau;
  }
  return out;
}

/// The same in hinges.
void back_to_hinges(const BallView& view, const Model& model, const Clip& clip, Analysis& a) {
  a.clip = view.to_hinges(a.clip, clip);
  Eigen::MatrixXd v(model.nv(), a.frames()), vdot = v, tau = v;
  for (long k = 0; k < a.frames(); ++k) {
    view.rates(a.clip.q.col(k), a.v.col(k), a.vdot.col(k), v.col(k), vdot.col(k));
    view.torques(a.clip.q.col(k), a.tau.col(k), tau.col(k));
  }
  a.v = std::move(v), a.vdot = std::move(vdot), a.tau = std::move(tau);
}

}  // namespace

Analysis analyze(const Model& model, const Clip& clip, std::span<const SupportHistory> supports,
                 const AnalysisOptions& options) {
  check(model, clip, supports);
  if (!(options.residual_arm > 0))
    throw Error(fmt::format("analyze: residual_arm {} is not positive", options.residual_arm));
  if (!(options.doubt >= 0)) throw Error(fmt::format("analyze: doubt {} is negative", options.doubt));
  const BallView view(model);
  std::vector<SupportHistory> seen(supports.begin(), supports.end());
  for (SupportHistory& s : seen) s.support.link = view.link(s.support.link);
  Analysis out = analyze_smooth(view.model(), view.to_balls(clip), seen, options);
  if (!view.same()) back_to_hinges(view, model, clip, out);
  out.power = out.tau.cwiseProduct(out.v);
  out.phases = find_phases(out);
  if (model.base() == Base::kFree) out.gaps = find_gaps(out, model.mass() * norm(model.gravity()));
  out.summary = summarise(model, out);
  return out;
}

}  // namespace kansetsu
