#include "sim/assembly.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <random>

#include "kansetsu/model/configuration.h"
#include "sim/actuators.h"

namespace kansetsu {
namespace {

constexpr int kStarts = 24;  // the present posture, and random ones
constexpr int kMostIterations = 200;
/// Poses of links over all starts: some seconds. 30 links need a tenth of them for all starts; of 2000 links, whose derivative takes
/// 8e6, a dozen steps are tried, not thousands that take a minute.
constexpr double kMostPoses = 1e8;
constexpr double kDifference = 1e-6;  // [rad, m] of central differences: errors of 1e-10 in J
constexpr double kConverged = 1e-11;  // gaps by the mechanism's size, and angles
constexpr double kFreeRange = 1.5;    // [rad, m] around the present posture, of joints without limits
constexpr unsigned kSeed = 20;

/// The figures with connections and couplings, as one vector of unknowns.
class AssemblySearch {
 public:
  AssemblySearch(WorldState& world, double size) : world_(world), size_(size) {
    for (const ConnectionData& c : world.connections) {
      if (!c.active) continue;
      for (const BodyRef& body : {c.a, c.b}) {
        if (body.figure.value() >= 0) use(body.figure.value());
      }
    }
    for (const CouplingData& c : world.couplings) use(c.figure);
    std::sort(used_.begin(), used_.end());
    for (const int k : used_) columns_ += figure(k).model.nv(), links_ += figure(k).model.link_count();
  }

  bool find() {
    const std::vector<Eigen::VectorXd> start = positions();
    std::mt19937_64 random(kSeed);
    for (int attempt = 0; attempt < kStarts && poses_ < kMostPoses; ++attempt) {
      set_positions(start);
      for (const int k : used_) {
        if (attempt > 0) scatter(figure(k), random);
        keep_limits(figure(k));
      }
      if (descend()) return true;
    }
    set_positions(start);
    return false;
  }

 private:
  FigureData& figure(int k) { return world_.figure(k); }
  void use(int k) {
    if (std::find(used_.begin(), used_.end(), k) == used_.end()) used_.push_back(k);
  }
  std::vector<Eigen::VectorXd> positions() {
    std::vector<Eigen::VectorXd> q;
    for (const int k : used_) q.push_back(figure(k).q);
    return q;
  }
  void set_positions(const std::vector<Eigen::VectorXd>& q) {
    for (size_t i = 0; i < used_.size(); ++i) figure(used_[i]).q = q[i];
  }

  static void keep_limits(FigureData& f) {
    f.q = f.q.cwiseMax(f.model.lower_position()).cwiseMin(f.model.upper_position());
  }
  static void scatter(FigureData& f, std::mt19937_64& random) {
    std::uniform_real_distribution<double> unit(-1, 1);
    const Model& model = f.model;
    const int base = model.base() == Base::kFree ? 6 : 0;
    Eigen::VectorXd step = Eigen::VectorXd::Zero(model.nv());
    for (int i = base; i < model.nv(); ++i) step[i] = kFreeRange * unit(random);
    integrate(model, f.q, step, f.q);
    for (int i = 0; i < model.nq(); ++i) {
      const double lower = model.lower_position()[i], upper = model.upper_position()[i];
      if (std::isfinite(lower) && std::isfinite(upper)) f.q[i] = lower + 0.5 * (1 + unit(random)) * (upper - lower);
    }
  }

  /// All gaps: lengths by the mechanism's size, angles [rad].
  const Eigen::VectorXd& residual() {
    std::vector<double>& r = list_;
    r.clear();
    poses_ += links_;
    for (const int k : used_) {
      FigureData& f = figure(k);
      f.mechanics.set_pose(f.q.data());
      if (f.actuators.actuation.tendon_count() > 0) place_actuators(f);
    }
    for (ConnectionData& c : world_.connections) {
      if (!c.active) continue;
      place_connection(world_.figures, world_.time, c);
      for_each_direction(c, [&](int i, int bit) {
        if (c.held >> bit & 1) r.push_back(i < 3 ? c.phi[i] / size_ : c.phi[i]);
      });
    }
    for (const CouplingData& c : world_.couplings) r.push_back(c.value(figure(c.figure)).gap);
    residual_ = Eigen::Map<const Eigen::VectorXd>(r.data(), Eigen::Index(r.size()));
    return residual_;
  }

  Eigen::MatrixXd derivative(Eigen::Index rows) {
    Eigen::MatrixXd J(rows, columns_);
    int column = 0;
    for (const int k : used_) {
      FigureData& f = figure(k);
      const Eigen::VectorXd q = f.q;
      Eigen::VectorXd step = Eigen::VectorXd::Zero(f.model.nv());
      for (int i = 0; i < f.model.nv(); ++i, ++column) {
        step[i] = kDifference;
        integrate(f.model, q, step, f.q);
        J.col(column) = residual();
        integrate(f.model, q, -step, f.q);
        J.col(column) = (J.col(column) - residual()) / (2 * kDifference);
        step[i] = 0;
      }
      f.q = q;
    }
    return J;
  }

  void move(const Eigen::VectorXd& step) {
    Eigen::Index column = 0;
    for (const int k : used_) {
      FigureData& f = figure(k);
      integrate(f.model, f.q, step.segment(column, f.model.nv()), f.q);
      keep_limits(f);
      column += f.model.nv();
    }
  }

  bool descend() {
    double damping = 1e-3;
    Eigen::VectorXd r = residual();
    for (int i = 0; i < kMostIterations && poses_ < kMostPoses && r.cwiseAbs().maxCoeff() > kConverged; ++i) {
      const Eigen::MatrixXd J = derivative(r.size());
      // (JᵀJ + λ)⁻¹Jᵀ = Jᵀ(JJᵀ + λ)⁻¹: the smaller of the two systems.
      const bool few_rows = J.rows() < J.cols();
      Eigen::MatrixXd normal;
      Eigen::VectorXd right = r;
      if (few_rows)
        normal = J * J.transpose();
      else
        normal = J.transpose() * J, right = J.transpose() * r;
      const std::vector<Eigen::VectorXd> before = positions();
      bool better = false;
      for (int tries = 0; tries < 12 && !better; ++tries) {
        Eigen::MatrixXd A = normal;
        A.diagonal().array() += damping;
        Eigen::VectorXd step = A.ldlt().solve(right);
        if (few_rows) step = (J.transpose() * step).eval();
        move(-step);
        better = residual().squaredNorm() < r.squaredNorm();
        damping = better ? std::max(damping / 10, 1e-14) : damping * 4;
        if (!better) set_positions(before);
      }
      if (!better) break;
      r = residual_;
    }
    return residual().cwiseAbs().maxCoeff() <= threshold::kClosedGap;
  }

  WorldState& world_;
  double size_;
  std::vector<int> used_;
  int columns_ = 0;
  double links_ = 0, poses_ = 0;  ///< of the figures; computed so far
  std::vector<double> list_;
  Eigen::VectorXd residual_;
};

}  // namespace

double mechanism_size(const WorldState& world) {
  Vec3<> lower{kInfinity, kInfinity, kInfinity}, upper = -lower;
  const auto add = [&](const Vec3<>& p) {
    lower = {std::min(lower.x, p.x), std::min(lower.y, p.y), std::min(lower.z, p.z)};
    upper = {std::max(upper.x, p.x), std::max(upper.y, p.y), std::max(upper.z, p.z)};
  };
  for (const ConnectionData& c : world.connections) {
    if (!c.active) continue;
    for (const BodyRef& body : {c.a, c.b}) {
      if (body.figure.value() < 0) continue;
      const FigureData& f = world.figure(body.figure.value());
      for (int i = 0; i < f.model.link_count(); ++i) add(body_pose(world.figures, {body.figure, LinkId(i)}).p);
    }
    add(body_pose(world.figures, c.a) * c.X_AC.p);
  }
  constexpr double kSmallest = 1e-3;  // [m] what has no length has no size of its own
  return lower.x <= upper.x ? std::max(kSmallest, norm(upper - lower)) : 1;
}

bool Assembler::within_limits() const {
  return std::ranges::all_of(world_.figures, [](const std::unique_ptr<FigureData>& f) {
    constexpr double kSlack = 1e-9;  // [rad, m]
    return ((f->q - f->model.lower_position()).array() >= -kSlack).all() &&
           ((f->model.upper_position() - f->q).array() >= -kSlack).all();
  });
}

/// Largest gap and angle at the present positions; places everything.
void Assembler::measure(World::AssemblyReport& out) {
  out.gap = out.angle = 0;
  for (IslandWork& w : islands_) bilateral_.largest_gap(w, world_.time);
  for (const ConnectionData& c : world_.connections) {
    if (!c.active) continue;
    out.gap = std::max(out.gap, c.position_gap);
    out.angle = std::max(out.angle, c.angle_gap);
  }
  for (const CouplingData& c : world_.couplings)
    out.gap = std::max(out.gap, std::abs(c.value(world_.figure(c.figure)).gap));
}

void Assembler::iterate(double tolerance, int max_iterations, World::AssemblyReport& out) {
  for (; out.iterations < max_iterations && std::max(out.gap, out.angle) > tolerance; ++out.iterations) {
    for (IslandWork& w : islands_) bilateral_.approach(w, {world_.time, world_.options.time_step});
    const double before = std::max(out.gap, out.angle);
    measure(out);
    if (out.iterations > 5 && std::max(out.gap, out.angle) > 0.99 * before && before < 1e-9) break;
  }
}

void Assembler::correct_velocities(World::AssemblyReport& out) {
  for (IslandWork& w : islands_) {
    if (bilateral_.count(w) == 0) continue;
    for (FigureData& f : w.members) {
      f.mechanics.set_motion(f.v.data());
      f.mechanics.factorise(nullptr, f.torque.data());
    }
    for (int pass = 0; pass < 2; ++pass) {
      for (FigureData& f : w.members) f.mechanics.set_motion(f.v.data());
      bilateral_.solve_velocities(w, {world_.time, world_.options.time_step});
    }
    for (FigureData& f : w.members) f.mechanics.set_motion(f.v.data());
    out.rank_deficiency += w.account.rank_deficiency;
    out.velocity = std::max(out.velocity, w.account.inconsistency);
    for (const int k : w.connections) {
      ConnectionData& c = world_.connections[size_t(k)];
      c.is_new = c.is_new && c.options.restitution != PerDirection{};  // a rebound is still to come
    }
  }
}

World::AssemblyReport Assembler::assemble(double tolerance, int max_iterations) {
  World::AssemblyReport out;
  world_.contacts.touches().clear();
  islands_.find(world_.figures, world_.connections, world_.contacts);
  measure(out);
  const double size = mechanism_size(world_);
  const auto closed = [&] { return std::max(out.gap / size, out.angle) <= std::max(tolerance, threshold::kClosedGap); };
  const auto positions = [&] {
    std::vector<Eigen::VectorXd> q;
    for (const std::unique_ptr<FigureData>& f : world_.figures) q.push_back(f->q);
    return q;
  };
  const auto go_to = [&](const std::vector<Eigen::VectorXd>& q) {
    for (size_t k = 0; k < q.size(); ++k) world_.figures[k]->q = q[k];
    measure(out);
  };
  const bool inside = within_limits();
  const std::vector<Eigen::VectorXd> start = positions();
  iterate(tolerance, max_iterations, out);
  if (!closed() || (inside && !within_limits())) {
    const std::vector<Eigen::VectorXd> reached = positions();
    const bool was_closed = closed();
    go_to(start);
    if (AssemblySearch(world_, size).find())
      measure(out);
    else if (was_closed)
      go_to(reached);  // beyond a limit, but closed
  }
  out.ok = closed();
  correct_velocities(out);
  return out;
}

}  // namespace kansetsu
