#include "kansetsu/motion/parametric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "motion/balance.h"
#include "motion/stance.h"
#include "motion/swing.h"

namespace kansetsu {
namespace {

void check_positive(const char* function, std::initializer_list<std::pair<const char*, double>> values) {
  for (const auto& [name, value] : values) {
    if (!(value > 0 && std::isfinite(value)))
      throw Error(fmt::format("{}: {} must be positive, not {}", function, name, value));
  }
}

void check_pause(const char* function, double pause) {
  if (!(pause >= 0 && std::isfinite(pause)))
    throw Error(fmt::format("{}: pause must not be negative, not {}", function, pause));
}

/// A way out from where the figure stands and back: how far at each time, from 0 to 1, and what the tasks are there.
struct Excursion {
  const char* name;
  ik::Problem problem;  ///< the last item is a PostureTask
  double duration, rate;
  std::function<double(double t)> far;
  std::function<void(double far, ik::Problem& problem)> aim;
};

/// The position that goes with a coordinate of v of a joint of one degree of freedom.
int position_of(const Model& model, int v) {
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange r = model.coordinates(JointId(j));
    if (r.v <= v && v < r.v + r.nv) return r.q + std::min(v - r.v, r.nq - 1);
  }
  return 0;
}

/// Draws joints that are at a limit away from it, by a tenth of their range. @return  whether there are any
bool draw_from_limits(const Model& model, const ik::Report& report, ik::PostureTask& wish) {
  for (const int v : report.active_limits) {
    if (v < model.base_coordinates().nv) continue;
    const int q = position_of(model, v);
    const double lower = model.lower_position()[q], upper = model.upper_position()[q];
    const bool low = report.q[q] - lower < upper - report.q[q];
    wish.target[q] = low ? lower + 0.1 * (upper - lower) : upper - 0.1 * (upper - lower);
    wish.weight[v] = 10;
  }
  return !report.active_limits.empty();
}

/// Where standing_problem() has its ComTask; and how near the zero moment point comes to the soles' middle [m].
constexpr std::size_t kBalanceItem = 2;
constexpr double kBalanced = 0.005;

/// The farthest posture first, as near to standing as the tasks allow; postures between are led from one to the other. So no joint
/// runs into its limit on the way, which would jolt all others. Then again and again, until the ground could carry it.
Clip follow(const Model& model, const Stance& stance, Excursion excursion) {
  Clip clip{.name = excursion.name};
  const int frames = int(std::lround(excursion.duration * excursion.rate)) + 1;
  clip.q.resize(model.nq(), frames);
  ik::Solver solver(model, std::move(excursion.problem), {.iterations = 200});
  ik::PostureTask& wish = std::get<ik::PostureTask>(solver.problem().items.back().task);
  wish.weight = Eigen::VectorXd::Ones(model.nv());
  ik::Report report;
  const auto solve = [&](double far, const Eigen::VectorXd& start, double t) {
    excursion.aim(far, solver.problem());
    solver.solve(start, report);
    if (report.solved()) return;
    throw Error(fmt::format("{}: '{}' cannot follow at {:.3g} s ({}, {:.3g} m too far); ask for less", excursion.name,
                            model.name(), t, ik::to_string(report.status), report.distance));
  };
  Eigen::VectorXd q = stance.q;
  constexpr int kSteps = 20;  // so that each is small enough for the solver to stay on the same branch
  for (int k = 1; k <= kSteps; ++k) {
    solve(double(k) / kSteps, q, 0);
    q = report.q;
  }
  for (int k = 0; k < 3 && draw_from_limits(model, report, wish); ++k) {
    solve(1, q, 0);
    q = report.q;
  }
  const Eigen::VectorXd farthest = q;
  clip.times.resize(std::size_t(frames));
  Vec3<>& com = std::get<ik::ComTask>(solver.problem().items[kBalanceItem].task).target;
  Eigen::MatrixXd offset = Eigen::MatrixXd::Zero(2, frames);
  constexpr int kPasses = 8;
  constexpr double kShare = 0.7;  // of each correction: the trunk's turning answers to it and overdoes it by half
  for (int pass = 0; pass < kPasses; ++pass) {
    q = stance.q;
    for (int k = 0; k < frames; ++k) {
      const double t = k / excursion.rate, far = excursion.far(t);
      wish.target = interpolate(model, stance.q, farthest, far);
      com = stance.middle + Vec3<>{offset(0, k), offset(1, k), 0};
      solve(far, q, t);
      q = report.q;
      clip.times[std::size_t(k)] = t;
      clip.q.col(k) = q;
    }
    double worst = 0;
    offset += kShare * balance_offsets(model, clip, stance.middle, worst);
    if (worst < kBalanced) break;
  }
  return clip;
}

ik::Problem standing_problem(const Stance& stance) {
  ik::Problem problem;
  for (const ik::FrameOn& sole : stance.soles) {
    problem.add(ik::PoseTask{sole, stance.pose(sole)}, {.tolerance = 1e-10, .name = "sole"});
  }
  problem.add(ik::ComTask{{stance.middle.x, stance.middle.y, 0}, {1, 1, 0}}, {.tolerance = 1e-10, .name = "balance"});
  return problem;
}

}  // namespace

Clip squat(const Model& model, const SquatOptions& o) {
  check_positive("squat", {{"depth", o.depth}, {"period", o.period}, {"rate", o.rate}, {"count", double(o.count)}});
  check_pause("squat", o.pause);
  const Stance stance(model, "squat");
  ik::Problem problem = standing_problem(stance);
  const std::size_t pelvis = problem.items.size();
  problem.add(ik::PositionTask{{LinkId(0), {}}, {}, {0, 0, 1}}, {.tolerance = 1e-10, .name = "pelvis"});
  problem.add(ik::PostureTask{stance.q}, {.level = 1});
  const double one = o.period + o.pause, height = stance.q[2];
  return follow(model, stance,
                {.name = "squat",
                 .problem = std::move(problem),
                 .duration = o.count * one + o.pause,
                 .rate = o.rate,
                 .far =
                     [&](double t) {
                       const double u = (std::fmod(t, one) - o.pause) / o.period;  // of this squat
                       return minimum_jerk(2 * u) - minimum_jerk(2 * u - 1);
                     },
                 .aim =
                     [&](double far, ik::Problem& p) {
                       std::get<ik::PositionTask>(p.items[pelvis].task).target.z = height - o.depth * far;
                     }});
}

Clip reach(const Model& model, const ReachOptions& o) {
  check_positive("reach", {{"period", o.period}, {"rate", o.rate}});
  check_pause("reach", o.pause);
  const Stance stance(model, "reach");
  ik::Problem problem = standing_problem(stance);
  const ik::FrameOn hand = ik::frame_on(model, o.hand);
  const Vec3<> start = stance.pose(hand).p;
  const std::size_t item = problem.items.size();
  problem.add(ik::PositionTask{hand, start}, {.tolerance = 1e-10, .name = "hand"});
  problem.add(ik::PostureTask{stance.q}, {.level = 1});
  const double half = o.period / 2;
  return follow(
      model, stance,
      {.name = "reach",
       .problem = std::move(problem),
       .duration = 3 * o.pause + o.period,
       .rate = o.rate,
       .far =
           [&](double t) { return minimum_jerk((t - o.pause) / half) - minimum_jerk((t - 2 * o.pause - half) / half); },
       .aim =
           [&](double far, ik::Problem& p) {
             std::get<ik::PositionTask>(p.items[item].task).target = start + far * (o.target - start);
           }});
}

}  // namespace kansetsu
