#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/motion/generation.h"
#include "kansetsu/motion/parametric.h"
#include "kansetsu/spatial/quaternion.h"
#include "motion/stance.h"

namespace kansetsu {
namespace {

/// Arms are not quite straight: straight ones are singular.
constexpr double kStretch = 0.97;
/// Joints follow their wishes with this stiffness (critically damped), hands stay on the bar with the other [1/s].
constexpr double kJointRate = 12, kHandRate = 30;
constexpr double kStep = 0.005;  // [s] of the integration: 2·10⁻⁹ m from one of an eighth after 4 s

/// The first link of the arm that does not belong to the other arm, too.
LinkId shoulder_of(const Model& model, LinkId hand, LinkId other) {
  const auto above = [&](LinkId link) {
    std::vector<LinkId> chain{link};
    while (const std::optional<LinkId> parent = model.parent(chain.back())) chain.push_back(*parent);
    return chain;
  };
  const std::vector<LinkId> others = above(other);
  LinkId shoulder = hand;
  for (const LinkId link : above(hand)) {
    if (std::find(others.begin(), others.end(), link) != others.end()) break;
    shoulder = link;
  }
  return shoulder;
}

class Swing {
 public:
  Swing(const Model& model, const BarSwingOptions& options) : model_(model), options_(options) {
    if (model.base() != Base::kFree)
      throw Error(fmt::format("bar_swing: '{}' has a fixed base and cannot hang", model.name()));
    hands_ = frames_named(model, "bar_swing", {"gripL", "gripR"});
    for (const char* name : {"hipL_y", "hipR_y"}) {
      if (options.pump == 0) continue;
      const std::optional<JointId> hip = model.find_joint(name);
      if (!hip) {
        throw Error(
            fmt::format("bar_swing: '{}' has no joint '{}' to pump with; ask for pump = 0", model.name(), name));
      }
      hips_.push_back(model.coordinates(*hip).v);
    }
    hang();
    lean();
  }

  State start() const {
    State state(model_);
    state.q = start_;
    return state;
  }

  /// v̇ of the moment: hands stay, joints go where they wish, and the rest is physics.
  Eigen::VectorXd acceleration(const State& state) {
    const LinkMotions motions = link_motions(model_, state, Eigen::VectorXd::Zero(model_.nv()));
    GenerationProblem problem;
    for (std::size_t i = 0; i < hands_.size(); ++i) {
      const FrameMotion hand = frame_motion(motions, hands_[i].link, hands_[i].X_LF);
      const Vec3<> back = kHandRate * kHandRate * (grips_[i] - hand.X_WF.p) - 2 * kHandRate * hand.V.v;
      problem.holds.push_back({.frame = hands_[i], .mask = kPointMask, .acceleration = {{}, back}, .grips = true});
    }
    const Eigen::VectorXd wish = wished(state);
    const Eigen::VectorXd vdot = kJointRate * kJointRate * difference(model_, state.q, wish) - 2 * kJointRate * state.v;
    problem.tasks = {{0, posture_rows(model_, vdot)}};
    return generate(model_, state, problem).vdot;
  }

 private:
  /// Arms overhead, forward and up from hanging down, so that no joint takes the wrong way round.
  void hang() {
    hanging_ = neutral(model_);
    hanging_[2] = 0;
    const LinkPoses poses = fk(model_, hanging_);
    ik::Problem problem;
    problem.add(ik::PoseTask{{LinkId(0), {}}, poses[LinkId(0)]});
    Vec3<> shoulders[2];
    double length[2];
    for (std::size_t i = 0; i < 2; ++i) {
      shoulders[i] = poses[shoulder_of(model_, hands_[i].link, hands_[1 - i].link)].p;
      length[i] = kStretch * norm((poses[hands_[i].link] * hands_[i].X_LF).p - shoulders[i]);
      problem.add(ik::PositionTask{hands_[i], {}});
    }
    problem.add(ik::PostureTask{hanging_}, {.level = 1});
    ik::Solver solver(model_, problem, {.iterations = 200});
    constexpr int kSteps = 24;
    for (int k = 1; k <= kSteps; ++k) {
      const double a = std::numbers::pi * k / kSteps;
      for (std::size_t i = 0; i < 2; ++i) {
        std::get<ik::PositionTask>(solver.problem().items[i + 1].task).target =
            shoulders[i] + length[i] * Vec3<>{std::sin(a), 0, -std::cos(a)};
      }
      const ik::Report report = solver.solve(hanging_);
      if (report.distance > 0.01 * length[0]) {
        throw Error(fmt::format("bar_swing: '{}' cannot raise its hands above its head ({}, {:.3g} m missing)",
                                model_.name(), ik::to_string(report.status), report.distance));
      }
      hanging_ = report.q;
    }
  }

  /// Hands on the bar along y at the given height, the body turned about it.
  void lean() {
    const LinkPoses poses = fk(model_, hanging_);
    const Vec3<> left = (poses[hands_[0].link] * hands_[0].X_LF).p, right = (poses[hands_[1].link] * hands_[1].X_LF).p;
    const Vec3<> bar{0, 0, options_.height}, middle = 0.5 * (left + right);
    const double a = -options_.angle;  // about y; legs forward
    const Mat3<> R{{std::cos(a), 0, std::sin(a)}, {0, 1, 0}, {-std::sin(a), 0, std::cos(a)}};
    const Transform<> X_WB = poses[LinkId(0)];
    const Vec3<> p = bar + R * (X_WB.p - middle);
    const Quaternion<> turn = to_quaternion(R * X_WB.R);
    start_ = hanging_;
    start_.head<7>() << p.x, p.y, p.z, turn.x, turn.y, turn.z, turn.w;
    grips_ = {bar + R * (left - middle), bar + R * (right - middle)};
  }

  Eigen::VectorXd wished(const State& state) const {
    Eigen::VectorXd wish = hanging_;
    if (hips_.empty()) return wish;
    const Centroidal c = centroidal(model_, state);
    const Vec3<> arm = c.com - Vec3<>{0, 0, options_.height};
    // Rate of the swing about the bar; forward is negative about y.
    const double rate = -(arm.z * c.com_velocity.x - arm.x * c.com_velocity.z) / dot(arm, arm);
    const double forward = 0.5 * (1 + std::tanh(rate / 0.5));
    const int offset = model_.nq() - model_.nv();  // hinges behind a free base
    for (const int hip : hips_) wish[hip + offset] -= options_.pump * forward;
    return wish;
  }

  const Model& model_;
  BarSwingOptions options_;
  std::vector<ik::FrameOn> hands_;
  std::vector<Vec3<>> grips_;  ///< in the world
  std::vector<int> hips_;      ///< columns of v
  Eigen::VectorXd hanging_, start_;
};

/// One step of the classical Runge–Kutta method; configurations are reached along the mean velocity of the stages.
void advance(const Model& model, Swing& swing, double h, State& state) {
  const auto at = [&](double part, const Eigen::VectorXd& v, const Eigen::VectorXd& a) {
    State s;
    s.q = integrate(model, state.q, part * v);
    s.v = state.v + part * a;
    return s;
  };
  const Eigen::VectorXd v1 = state.v, a1 = swing.acceleration(state);
  const State s2 = at(h / 2, v1, a1);
  const Eigen::VectorXd a2 = swing.acceleration(s2);
  const State s3 = at(h / 2, s2.v, a2);
  const Eigen::VectorXd a3 = swing.acceleration(s3);
  const State s4 = at(h, s3.v, a3);
  const Eigen::VectorXd a4 = swing.acceleration(s4);
  const Eigen::VectorXd v = (v1 + 2 * s2.v + 2 * s3.v + s4.v) / 6;
  state.q = integrate(model, state.q, h * v);
  state.v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
}

}  // namespace

Clip bar_swing(const Model& model, const BarSwingOptions& o) {
  for (const auto& [name, value] : {std::pair{"height", o.height}, {"duration", o.duration}, {"rate", o.rate}}) {
    if (!(value > 0 && std::isfinite(value)))
      throw Error(fmt::format("bar_swing: {} must be positive, not {}", name, value));
  }
  if (!(std::abs(o.angle) <= 1.5 && o.pump >= 0 && o.pump <= 1.5))
    throw Error(fmt::format("bar_swing: angle {} and pump {} must be within 1.5 rad", o.angle, o.pump));
  Swing swing(model, o);
  State state = swing.start();
  const int frames = int(std::lround(o.duration * o.rate)) + 1;
  const int steps = std::max(1, int(std::ceil(1 / (o.rate * kStep) - 1e-9)));
  Clip clip{.name = "bar swing"};
  clip.q.resize(model.nq(), frames);
  for (int k = 0; k < frames; ++k) {
    clip.times.push_back(k / o.rate);
    clip.q.col(k) = state.q;
    for (int i = 0; i < steps; ++i) advance(model, swing, 1 / (o.rate * steps), state);
  }
  return clip;
}

}  // namespace kansetsu
