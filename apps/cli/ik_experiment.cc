#include "cli/ik_experiment.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numbers>
#include <random>
#include <thread>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::cli {
namespace {

constexpr int kLinks = 5, kMostSteps = 10000, kRuns = 3;
constexpr double kStep = 0.001f;  // [m] of the tip, in single precision as in [Tmps]
/// Damping of the pseudo-inverse. [Tmps] does not state it; this value reproduces both columns of its table (docs/theory/ik.md §6).
constexpr double kDamping = 5e-4;
constexpr EulerOrder kYawPitchRoll =
    EulerOrder::kYXZ;  // [Tmps] multiplies rows: Rz(roll)·Rx(pitch)·Ry(yaw), transposed

}  // namespace

/// Microsoft's rand() from its initial state.
class Generator {
 public:
  int next() {
    state_ = state_ * 214013u + 2531011u;
    return int(state_ >> 16 & 0x7fff);
  }

 private:
  unsigned state_ = 1;
};

namespace {

/// Yaw, pitch and roll as stored by [Tmps]: through a row matrix R = Rz·Rx·Ry in single precision, or directly.
Vec3<> kept_angles(const Vec3<>& angles, Kept kept) {
  const float yaw = float(angles.x), pitch = float(angles.y), roll = float(angles.z);
  if (kept == Kept::kAngles) return {yaw, pitch, roll};
  const float sy = std::sin(yaw), cy = std::cos(yaw), sp = std::sin(pitch), cp = std::cos(pitch);
  const float sr = std::sin(roll), cr = std::cos(roll);
  const float m12 = sr * cp, m22 = cr * cp, m31 = cp * sy, m32 = -sp, m33 = cp * cy;
  Vec3<> read{std::atan2(m31, m33), 0, std::atan2(m12, m22)};
  if (kept == Kept::kMatrixAtan2) {
    read.y = std::atan2(-m32, std::hypot(m12, m22));
    return read;
  }
  const float by_asin = std::asin(-m32);
  read.y = by_asin;
  if (std::abs(std::cos(by_asin)) < 1e-6f) {  // erratum A12: this adds a full turn to the rotation
    read.x += m31 > 0 ? std::numbers::pi_v<float> : -std::numbers::pi_v<float>;
    read.z += m12 > 0 ? std::numbers::pi_v<float> : -std::numbers::pi_v<float>;
  }
  return read;
}

Mat3<> in_single(const Mat3<>& R) {
  const auto row = [](const Vec3<>& a) { return Vec3<>{float(a.x), float(a.y), float(a.z)}; };
  return {row(R.x), row(R.y), row(R.z)};
}

}  // namespace

/// The moving arm: one Gauss-Newton step of the general solver for each millimetre.
class Arm {
 public:
  /// @param damping  see ExperimentRow
  Arm(const Model& model, ik::Method method, Kept kept = Kept::kDouble, double damping = 0)
      : model_(model),
        method_(method),
        kept_(kept),
        tip_(ik::frame_on(model, "tip")),
        evaluator_(model_),
        solver_(
            model_, ik::Problem().add(ik::PositionTask{tip_, {}}, {.tolerance = 1e-14}),
            {.method = method,
             .euler_order = kYawPitchRoll,
             .iterations = 1,
             .largest_step = kInfinity,
             .damping = damping / (kStep * kStep)}),  // the solver's is relative to the squared error, that of a step
        q_(model_.nq()) {
    if (model_.nq() != 4 * model_.joint_count()) throw Error("ik-lines needs an arm with ball joints only");
  }

  /// Random angles, three for each joint, the last argument drawn first (erratum A16); the goal is opposite to the tip.
  double draw(Generator& random) {
    for (int i = 0; i < model_.joint_count(); ++i) {
      double a[3];  // roll, pitch, yaw
      for (double& x : a) x = std::numbers::pi_v<float> * float(random.next()) / 32767.0f;
      put(i, from_euler(kYawPitchRoll, {a[2], a[1], a[0]}));
    }
    goal_ = -1.0 * tip();
    return norm(goal_);
  }
  void set_goal(const Vec3<>& goal) { goal_ = goal; }
  void set_q(const Eigen::VectorXd& q) { q_ = q; }
  const Eigen::VectorXd& q() const { return q_; }
  Vec3<> tip() {
    evaluator_.set(q_);
    return evaluator_.pose(tip_).p;
  }

  /// A step of at most `step` towards the goal; false if it is nearer than that.
  bool advance(double step) {
    const Vec3<> at = tip(), way = goal_ - at;
    const double length = norm(way);
    if (length < step) return false;
    std::get<ik::PositionTask>(solver_.problem().items.front().task).target = at + (step / length) * way;
    solver_.solve(q_, report_);
    q_ = report_.q;
    if (kept_ != Kept::kDouble) keep();
    return true;
  }

 private:
  Mat3<> rotation(int i) const { return to_mat3(Quaternion<>{q_[4 * i], q_[4 * i + 1], q_[4 * i + 2], q_[4 * i + 3]}); }
  void put(int i, const Mat3<>& R) {
    const Quaternion<> x = to_quaternion(R);
    q_.segment<4>(4 * i) << x.x, x.y, x.z, x.w;
  }
  void keep() {
    for (int i = 0; i < model_.joint_count(); ++i) {
      const Mat3<> R = rotation(i);
      const bool angles = method_ == ik::Method::kEuler;
      put(i, angles ? from_euler(kYawPitchRoll, kept_angles(to_euler(kYawPitchRoll, R), kept_)) : in_single(R));
    }
  }

  Model model_;
  ik::Method method_;
  Kept kept_;
  ik::FrameOn tip_;
  ik::TaskEvaluator evaluator_;
  ik::Solver solver_;
  ik::Report report_;
  Eigen::VectorXd q_;
  Vec3<> goal_{};
};

namespace {

double time_per_step(const ExperimentRow& row) {
  Arm arm(five_ball_arm(), row.method, row.kept, row.damping);
  Generator random;
  arm.draw(random);
  const Eigen::VectorXd start = arm.q();
  double best = kInfinity;
  for (int repeat = 0; repeat < 10; ++repeat) {
    arm.set_q(start);
    constexpr int kSteps = 1000;
    int done = 0;
    const auto begin = std::chrono::steady_clock::now();
    while (done < kSteps && arm.advance(kStep)) ++done;
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    if (done > 0) best = std::min(best, time.count() / done);
  }
  return best;
}

/// Trials [first, last) of the sequence of one generator.
void run_trials(ExperimentRow& row, int count, int threads) {
  row.trials.resize(std::size_t(kRuns * count));
  std::atomic<int> next = 0;
  const auto work = [&] {
    Arm arm(five_ball_arm(), row.method, row.kept, row.damping);
    Generator random;
    int drawn = 0;
    for (int i = next++; i < kRuns * count; i = next++) {
      const int place = i / count * 100 + i % count;  // each run begins after the 100 trials of the one before
      double distance = 0;
      for (; drawn <= place; ++drawn) distance = arm.draw(random);
      int steps = 0;
      while (steps < kMostSteps && arm.advance(kStep)) ++steps;
      row.trials[std::size_t(i)] = {distance, steps};
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
}

void count_errors(ExperimentRow& row, int count) {
  const bool euler = row.method == ik::Method::kEuler, single = row.kept != Kept::kDouble;
  for (int run = 0; run < kRuns; ++run) {
    double printed = 0, fair = 0;
    for (int i = 0; i < count; ++i) {
      const ExperimentRow::Trial& t = row.trials[std::size_t(run * count + i)];
      const int ideal = single ? int(float(t.distance) * 2.0f / 0.001f) : int(t.distance * 2 / kStep);
      const double beyond = t.count - ideal, as_printed = beyond + (euler ? 1 : 0) - 1;
      fair += beyond * beyond;
      printed += as_printed * as_printed;
    }
    row.rms[std::size_t(run)] = std::sqrt(printed / count);
    row.fair_rms[std::size_t(run)] = std::sqrt(fair / count);
  }
}

}  // namespace

Model five_ball_arm(const std::array<double, 4>& color) {
  constexpr double kRadius = 0.06, kGap = 0.06;  // [m] of a capsule, and between its straight part and the joints
  const LinkShape bone{.origin = {.p = {0, 0, 0.5}},
                       .shape = Capsule{kRadius, 1 - 2 * kGap},
                       .material = Material{.rgba = std::vector(color.begin(), color.end())}};
  ModelBuilder b("five balls");
  b.link("base");
  for (int i = 1; i <= kLinks; ++i) {
    const std::string link = "link" + std::to_string(i), parent = i == 1 ? "base" : "link" + std::to_string(i - 1);
    b.link({.name = link,
            .inertial = Inertial{1, {{0, 0, 0.5}, {}}, Sym3<>::diagonal(0.09, 0.09, 0.01)},
            .visuals = {bone}});
    b.joint({.name = "ball" + std::to_string(i),
             .type = JointType::kBall,
             .parent = parent,
             .child = link,
             .socket = {.p = {0, 0, i == 1 ? 0.0 : 1.0}}});
  }
  b.frame({.name = "tip", .link = "link" + std::to_string(kLinks), .origin = {.p = {0, 0, 1}}});
  return b.build();
}

std::vector<ExperimentRow> ik_experiment(const ExperimentSize& size) {
  using ik::Method;
  std::vector<ExperimentRow> rows{{"log quaternion, single", Method::kLogQuaternion, Kept::kMatrix},
                                  {"Euler, single", Method::kEuler, Kept::kMatrix},
                                  {"log quaternion, single, damped", Method::kLogQuaternion, Kept::kMatrix, kDamping},
                                  {"Euler, single, damped", Method::kEuler, Kept::kMatrix, kDamping},
                                  {"Euler, single, pitch by atan2", Method::kEuler, Kept::kMatrixAtan2},
                                  {"Euler, single, angles kept", Method::kEuler, Kept::kAngles},
                                  {"Euler, double", Method::kEuler, Kept::kDouble},
                                  {"log quaternion, double", Method::kLogQuaternion, Kept::kDouble},
                                  {"tangent, single", Method::kTangent, Kept::kMatrix},
                                  {"tangent, double", Method::kTangent, Kept::kDouble}};
  const int cores = std::max(1, int(std::thread::hardware_concurrency()));
  for (ExperimentRow& row : rows) {
    row.us_per_step = time_per_step(row);
    run_trials(row, size.trials, size.threads > 0 ? size.threads : cores);
    count_errors(row, size.trials);
  }
  return rows;
}

struct TwoArms::Pen {
  static constexpr double kFrameStep = 0.04, kFrameTime = 1.0 / 30;  ///< [m] of the tip and [s] from frame to frame
  Arm arms[2];
  Generator random{};
  Vec3<> begin{};
  int frames = 0, strokes = 0;  ///< a line has two: to the opposite, and back
  bool moves = false;

  Pen(const Model& first, const Model& second)
      : arms{Arm(first, ik::Method::kLogQuaternion), Arm(second, ik::Method::kEuler)} {}

  void next() {
    ++frames;
    if (!moves) {
      moves = true;
      const bool is_new = strokes % 2 == 0;
      if (is_new) {
        arms[0].draw(random);
        arms[1].set_q(arms[0].q());
        begin = arms[0].tip();
      }
      for (Arm& arm : arms) arm.set_goal((is_new ? -1.0 : 1.0) * begin);
      if (is_new) return;
    }
    moves = false;
    for (int i = 0; i < int(kFrameStep / kStep); ++i) {
      for (Arm& arm : arms) moves = arm.advance(kStep) || moves;
    }
    if (!moves) ++strokes;
  }
};

TwoArms::TwoArms(const Model& first, const Model& second) {
  if (first.nq() != second.nq()) throw Error("the two arms have different numbers of joints");
  header_.figures = {{"log quaternion", first}, {"Euler angles", second}};
  header_.notes = {{"program", "kansetsu bench ik-lines"}};
  reset();
}
TwoArms::~TwoArms() = default;

void TwoArms::reset() {
  pen_ = std::make_unique<Pen>(header_.figures[0].model, header_.figures[1].model);
  pen_->next();
  due_ = 0;
}

int TwoArms::lines() const { return pen_->strokes / 2; }

io::RecordedFrame TwoArms::advance(double seconds) {
  constexpr double kRounding = 1e-9;  // [s]
  for (due_ += seconds; due_ > Pen::kFrameTime - kRounding; due_ -= Pen::kFrameTime) pen_->next();
  io::RecordedFrame frame{.time = (pen_->frames - 1) * Pen::kFrameTime};
  for (std::size_t i = 0; i < 2; ++i) {
    State state(header_.figures[i].model);
    state.q = pen_->arms[i].q();
    frame.states.push_back(std::move(state));
  }
  return frame;
}

io::Recording two_arms(const Model& first, const Model& second, int lines) {
  TwoArms arms(first, second);
  io::Recording recording;
  recording.header = arms.header();
  for (double step = 0; arms.lines() < lines; step = 1.0 / 30) recording.frames.push_back(arms.advance(step));
  return recording;
}

}  // namespace kansetsu::cli
