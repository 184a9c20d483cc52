// Inverse kinematics compared with KDL: the same targets (forward kinematics of random configurations within the limits), the same
// start, the same limits. A target counts as solved where Kansetsu's forward kinematics of the answer is within 1e-6 m and
// 1e-6 rad of it and, in the rows with limits, no limit is broken. Times include restarts and failures.
//
//   bench_ik URDF LINK [--lock JOINT,JOINT,…] [--count N] [--peer-count N] [--seed S] [--targets FILE] [--json FILE]
//   bench_ik human28 [--json FILE]
//
// Locked joints are held at zero. --targets writes the targets as JSON, for bench/ik_peers.py; --json the rows. human28: both
// hands, both feet and the centre of mass of the figure, near by, solved; and one differential step of the same tasks.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainiksolverpos_lma.hpp>
#include <kdl/chainiksolverpos_nr_jl.hpp>
#include <kdl/chainiksolvervel_pinv.hpp>
#include <nlohmann/json.hpp>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/arm.h"
#include "kansetsu/ik/differential.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/eigen.h"
#include "kansetsu/spatial/rotations.h"

namespace {

using namespace kansetsu;
using Clock = std::chrono::steady_clock;

constexpr int kStarts = 100;        // of every solver, the given one included
constexpr double kAccuracy = 1e-6;  // what counts as solved [m, rad]

struct Setting {
  Model model;
  ik::FrameOn frame;
  std::vector<Transform<>> targets;
  Eigen::VectorXd start;

  bool reached(const Eigen::VectorXd& q, const Transform<>& X, bool limits) const {
    const Transform<> at = fk(model, q)[frame.link] * frame.X_LF;
    if (!(norm(at.p - X.p) < kAccuracy && angular_distance(at.R, X.R) < kAccuracy)) return false;
    return !limits || ((q.array() >= model.lower_position().array() - 1e-12).all() &&
                       (q.array() <= model.upper_position().array() + 1e-12).all());
  }
};

KDL::Vector kdl(const Vec3<>& a) { return {a.x, a.y, a.z}; }
KDL::Frame kdl(const Transform<>& X) {
  const Mat3<>& R = X.R;
  return {KDL::Rotation(R.x.x, R.x.y, R.x.z, R.y.x, R.y.y, R.y.z, R.z.x, R.z.y, R.z.z), kdl(X.p)};
}

/// The links' joints from the root on, as KDL's segments.
KDL::Chain kdl_chain(const Model& model, LinkId link, std::vector<int>& positions) {
  std::vector<JointId> joints;
  for (std::optional<LinkId> at = link; at && model.parent(*at); at = model.parent(*at)) {
    joints.insert(joints.begin(), JointId(at->value() - 1));
  }
  KDL::Chain chain;
  for (const JointId id : joints) {
    const JointDescription& j = model.joint(id);
    const Transform<> socket = to_transform(j.socket);
    const KDL::Frame tip = kdl(socket * inverse(to_transform(j.plug)));
    const KDL::Vector axis = kdl(socket.R * j.axis), origin = kdl(socket.p);
    if (j.type == JointType::kFixed) {
      chain.addSegment(KDL::Segment(KDL::Joint(KDL::Joint::Fixed), tip));
      continue;
    }
    const auto type = j.type == JointType::kPrismatic ? KDL::Joint::TransAxis : KDL::Joint::RotAxis;
    chain.addSegment(KDL::Segment(KDL::Joint(origin, axis, type), tip));
    positions.push_back(model.coordinates(id).q);
  }
  return chain;
}

struct Result {
  std::vector<double> us;
  int solved = 0;

  /// A line on standard output and a row. @param solver, mode  as the row names them
  void print(nlohmann::json& rows, const char* name, const char* solver, const char* mode) const {
    std::vector<double> sorted = us;
    std::sort(sorted.begin(), sorted.end());
    const size_t n = sorted.size();
    double mean = 0;
    for (const double t : us) mean += t / double(n);
    const double percent = 100.0 * solved / double(n), middle = sorted[n / 2], p99 = sorted[n * 99 / 100];
    std::printf("%-34s %8.2f %% %10.2f %10.2f %10.2f\n", name, percent, middle, mean, p99);
    std::fflush(stdout);
    rows.push_back(
        {{"solver", solver}, {"mode", mode}, {"targets", n}, {"solved_percent", percent}, {"us_mean", mean}});
    if (std::string_view(mode) == "many") return;  // there are no times of single targets
    rows.back()["us_median"] = middle;
    rows.back()["us_p99"] = p99;
  }
};

/// Times solve(target, q) for all targets, the minimum of a few rounds each, to exclude other processes.
template <class Solve>
Result measure(const Setting& s, bool limits, size_t count, int rounds, Solve&& solve) {
  Result result;
  for (size_t i = 0; i < std::min(count, s.targets.size()); ++i) {
    double best = 1e30;
    Eigen::VectorXd q;
    for (int round = 0; round < rounds; ++round) {
      q = s.start;
      const auto begin = Clock::now();
      solve(i, q);
      best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
    result.us.push_back(best);
    result.solved += s.reached(q, s.targets[i], limits);
  }
  return result;
}

/// KDL with restarts from random configurations, until it converges within the limits.
class Kdl {
 public:
  explicit Kdl(const Setting& s)
      : s_(s),
        chain_(kdl_chain(s.model, s.frame.link, positions_)),
        n_(chain_.getNrOfJoints()),
        fk_(chain_),
        velocity_(chain_) {
    lower_.resize(n_), upper_.resize(n_);
    for (unsigned k = 0; k < n_; ++k) {
      lower_(k) = std::max(s.model.lower_position()[positions_[k]], -1e3);
      upper_(k) = std::min(s.model.upper_position()[positions_[k]], 1e3);
    }
    for (const Transform<>& X : s.targets) goals_.push_back(kdl(X));
    limited_ = std::make_unique<KDL::ChainIkSolverPos_NR_JL>(chain_, lower_, upper_, fk_, velocity_, 100, 1e-7);
    Eigen::Matrix<double, 6, 1> weight = Eigen::Matrix<double, 6, 1>::Ones();
    free_ = std::make_unique<KDL::ChainIkSolverPos_LMA>(chain_, weight, 1e-7, 100);
  }
  bool agrees() {
    KDL::JntArray q(n_);
    std::mt19937_64 rng(5);
    const Eigen::VectorXd x = random_configuration(s_.model, rng);
    for (unsigned k = 0; k < n_; ++k) q(k) = x[positions_[k]];
    KDL::Frame at;
    fk_.JntToCart(q, at);
    const Transform<> X = fk(s_.model, x)[s_.frame.link];
    return (at.p - kdl(X.p)).Norm() < 1e-9;
  }
  void solve(size_t target, Eigen::VectorXd& q, bool lma, bool limits) {
    std::mt19937_64 rng(target);
    KDL::JntArray start(n_), out(n_);
    for (int attempt = 0; attempt < kStarts; ++attempt) {
      if (attempt > 0) restart_ = random_configuration(s_.model, rng);
      for (unsigned k = 0; k < n_; ++k) start(k) = attempt > 0 ? restart_[positions_[k]] : q[positions_[k]];
      const int code =
          lma ? free_->CartToJnt(start, goals_[target], out) : limited_->CartToJnt(start, goals_[target], out);
      if (code >= 0 && (!limits || within(out))) break;
    }
    for (unsigned k = 0; k < n_; ++k) q[positions_[k]] = out(k);
  }

 private:
  /// LMA ignores limits; whole turns that bring a joint back within them are allowed.
  bool within(KDL::JntArray& q) const {
    for (unsigned k = 0; k < n_; ++k) {
      q(k) = std::remainder(q(k), 2 * std::numbers::pi);
      if (q(k) < lower_(k)) q(k) += 2 * std::numbers::pi;
      if (q(k) > upper_(k)) q(k) -= 2 * std::numbers::pi;
      if (q(k) < lower_(k) || q(k) > upper_(k)) return false;
    }
    return true;
  }

  const Setting& s_;
  std::vector<int> positions_;
  KDL::Chain chain_;
  unsigned n_;
  KDL::ChainFkSolverPos_recursive fk_;
  KDL::ChainIkSolverVel_pinv velocity_;
  KDL::JntArray lower_, upper_;
  std::vector<KDL::Frame> goals_;
  std::unique_ptr<KDL::ChainIkSolverPos_NR_JL> limited_;
  std::unique_ptr<KDL::ChainIkSolverPos_LMA> free_;
  Eigen::VectorXd restart_;
};

/// Per target, of one core: many targets in one call.
void measure_batch(const Setting& s, nlohmann::json& rows) {
  ik::ArmSolver arm(s.model, s.frame, {.starts = kStarts});
  std::vector<double> numbers;
  for (const Transform<>& X : s.targets) {
    for (const Vec3<>& r : {X.R.x, X.R.y, X.R.z, X.p}) numbers.insert(numbers.end(), {r.x, r.y, r.z});
  }
  const auto count = std::ptrdiff_t(s.targets.size());
  std::vector<ik::ArmReport> reports(s.targets.size());
  Result result;
  Eigen::MatrixXd q;
  double best = 1e30;
  for (int round = 0; round < 10; ++round) {
    q = s.start.replicate(1, count);
    timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    arm.solve(count, numbers.data(), q.data(), reports.data());
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    best = std::min(best, double(end.tv_sec - begin.tv_sec) * 1e6 + double(end.tv_nsec - begin.tv_nsec) * 1e-3);
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) result.solved += s.reached(q.col(i), s.targets[size_t(i)], true);
  result.us.assign(s.targets.size(), best / double(count));
  result.print(rows, "kansetsu, many at once, one core", "kansetsu", "many");
}

void write_targets(const Setting& s, const std::string& file) {
  nlohmann::json json;
  for (int k = 0; k < s.model.nv(); ++k)
    json["start"][s.model.dof_names()[size_t(k)]] = s.start[k];  // hinges and slides
  for (const Transform<>& X : s.targets) {
    const Eigen::Matrix4d m = to_eigen(X);
    std::vector<std::vector<double>> rows;
    for (int i = 0; i < 4; ++i) rows.push_back({m(i, 0), m(i, 1), m(i, 2), m(i, 3)});
    json["targets"].push_back(rows);
  }
  std::ofstream(file) << json;
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

nlohmann::json bench_figure() {
  const Model model = human28();
  std::mt19937_64 rng(3);
  const auto uniform = [&](double a) { return a * (2 * double(rng() >> 11) * 0x1p-53 - 1); };
  std::vector<ik::FrameOn> frames;
  ik::Problem problem;
  for (const char* name : {"gripL", "gripR", "soleL", "soleR"}) {
    frames.push_back(ik::frame_on(model, name));
    problem.add(ik::PoseTask{frames.back(), {}});
  }
  problem.add(ik::ComTask{});
  ik::Solver solver(model, problem);
  ik::Differential control(model, problem);
  ik::Report report;
  Eigen::VectorXd v(model.nv());
  std::vector<double> solution, iteration, step;
  int solved = 0;
  constexpr int kTrials = 500, kRounds = 7;
  for (int trial = 0; trial < kTrials; ++trial) {
    Eigen::VectorXd start = neutral(model), there = start;
    for (int k = 7; k < model.nq(); ++k) {
      start[k] = std::clamp(uniform(0.3), model.lower_position()[k], model.upper_position()[k]);
      there[k] = std::clamp(start[k] + uniform(0.02), model.lower_position()[k], model.upper_position()[k]);
    }
    const LinkPoses poses = fk(model, there);
    for (ik::Problem* p : {&solver.problem(), &control.problem()}) {
      for (size_t i = 0; i < 4; ++i) {
        std::get<ik::PoseTask>(p->items[i].task).target = poses[frames[i].link] * frames[i].X_LF;
      }
      std::get<ik::ComTask>(p->items[4].task).target = center_of_mass(model, there);
    }
    double best = 1e30, best_step = 1e30;
    for (int round = 0; round < kRounds; ++round) {
      const auto begin = Clock::now();
      solver.solve(start, report);
      const auto middle = Clock::now();
      control.step(start, 1e-3, v);
      const auto end = Clock::now();
      best = std::min(best, std::chrono::duration<double, std::micro>(middle - begin).count());
      best_step = std::min(best_step, std::chrono::duration<double, std::micro>(end - middle).count());
    }
    solved += report.solved();
    solution.push_back(best);
    iteration.push_back(best / std::max(report.iterations, 1));
    step.push_back(best_step);
  }
  std::printf("human28, hands, feet and centre of mass, seed 3: %d of %d solved\n", solved, kTrials);
  std::printf("solution %.1f us, iteration %.1f us, differential step %.1f us (medians)\n", median(solution),
              median(iteration), median(step));
  return {{{"solver", "kansetsu"},
           {"mode", "limits"},
           {"targets", kTrials},
           {"solved_percent", 100.0 * solved / kTrials},
           {"us_median", median(solution)},
           {"us_iteration", median(iteration)},
           {"us_differential_step", median(step)}}};
}

/// One arm with all its solvers, in one run.
nlohmann::json bench_arm(const Setting& s, size_t peer_count) {
  nlohmann::json rows = nlohmann::json::array();
  for (const bool limits : {true, false}) {
    ik::ArmSolver arm(s.model, s.frame, {.limits = limits, .starts = kStarts});
    measure(s, limits, s.targets.size(), 3, [&](size_t i, Eigen::VectorXd& q) {
      arm.solve(s.targets[i], q);
    }).print(rows, limits ? "kansetsu, limits" : "kansetsu, no limits", "kansetsu", limits ? "limits" : "no limits");
    if (limits) measure_batch(s, rows);
  }
  Kdl peer(s);
  if (!peer.agrees()) throw Error("KDL's forward kinematics differs");
  measure(s, true, peer_count, 3, [&](size_t i, Eigen::VectorXd& q) {
    peer.solve(i, q, false, true);
  }).print(rows, "KDL NR_JL, limits", "KDL NR_JL", "limits");
  measure(s, true, peer_count, 3, [&](size_t i, Eigen::VectorXd& q) {
    peer.solve(i, q, true, true);
  }).print(rows, "KDL LMA, limits by restarts", "KDL LMA", "limits");
  measure(s, false, peer_count, 3, [&](size_t i, Eigen::VectorXd& q) {
    peer.solve(i, q, true, false);
  }).print(rows, "KDL LMA, no limits", "KDL LMA", "no limits");
  return rows;
}

void write_rows(nlohmann::json rows, const std::string& model, const std::string& link, std::uint64_t seed,
                const std::string& file) {
  for (nlohmann::json& row : rows) {
    row["model"] = model;
    row["link"] = link;
    row["seed"] = seed;
  }
  if (!file.empty()) std::ofstream(file) << rows.dump(1) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("inverse kinematics beside KDL");
  std::string file, link, targets, json;
  std::vector<std::string> locked;
  size_t count = 10'000, peer_count = 10'000;
  std::uint64_t seed = 1;
  app.add_option("URDF", file)->required();
  app.add_option("LINK", link);
  app.add_option("--lock", locked, "joints held at zero")->delimiter(',');
  app.add_option("--count", count);
  app.add_option("--peer-count", peer_count, "targets for KDL, the first of them");
  app.add_option("--seed", seed);
  app.add_option("--targets", targets, "write the targets here");
  app.add_option("--json", json, "write the rows here");
  CLI11_PARSE(app, argc, argv);

  if (file == "human28") {
    write_rows(bench_figure(), "human28", "hands, feet, centre of mass", 3, json);
    return 0;
  }
  Model model = value_or_throw(io::load_urdf(file));
  if (!locked.empty()) model = lock_joints(model, locked, neutral(model));
  Setting s{model, ik::frame_on(model, link), {}, {}};
  std::mt19937_64 rng(seed);
  for (size_t i = 0; i < count; ++i) s.targets.push_back(fk(model, random_configuration(model, rng))[s.frame.link]);
  s.start = neutral(model);
  for (int k = 0; k < model.nq(); ++k) {
    const double a = model.lower_position()[k], b = model.upper_position()[k];
    if (std::isfinite(a) && std::isfinite(b)) s.start[k] = (a + b) / 2;
  }
  if (!targets.empty()) write_targets(s, targets);

  std::printf("%s, %s: %zu targets, seed %llu\n%-34s %10s %10s %10s %10s\n", model.name().c_str(), link.c_str(), count,
              static_cast<unsigned long long>(seed), "", "solved", "median us", "mean us", "p99 us");
  write_rows(bench_arm(s, peer_count), model.name(), link, seed, json);
}
