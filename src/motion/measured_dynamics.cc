#include "kansetsu/motion/measured_dynamics.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/base/suggest.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/kinematics.h"
#include "motion/base_wrench.h"
#include "motion/butterworth.h"
#include "motion/coordinate_rates.h"

namespace kansetsu {
namespace {

constexpr long kStencil = 7;  ///< frames that a polynomial goes through

/// The table at even times. Those of simulations are not: splines go between, at the rate of the median step.
TimeTable evenly_spaced(const TimeTable& table) {
  const double mean = (table.times.back() - table.times.front()) / (table.rows() - 1);
  bool even = true;
  // Times are printed with few digits.
  for (int k = 0; k < table.rows(); ++k)
    even = even && std::abs(table.times[std::size_t(k)] - table.times.front() - k * mean) < 0.05 * mean;
  if (even) return table;
  std::vector<double> steps;
  for (std::size_t k = 1; k < table.times.size(); ++k) steps.push_back(table.times[k] - table.times[k - 1]);
  std::nth_element(steps.begin(), steps.begin() + long(steps.size() / 2), steps.end());
  constexpr double kShortest = 1e-3;  // [s]
  const double step = std::max(steps[steps.size() / 2], kShortest);
  TimeTable out = table;
  out.times.clear();
  for (double t = table.times.front(); t <= table.times.back() + 1e-9;
       t = table.times.front() + step * double(out.times.size()))
    out.times.push_back(t);
  out.values.resize(table.values.rows(), out.rows());
  for (long c = 0; c < table.values.rows(); ++c) {
    CoordinateFunction spline{.kind = CoordinateFunction::Kind::kSpline, .x = table.times};
    for (long k = 0; k < table.rows(); ++k) spline.y.push_back(table.values(c, k));
    if (const auto problem = spline.prepare())
      throw Error(fmt::format("column {}: {}", table.columns[std::size_t(c)], *problem));
    for (long k = 0; k < out.rows(); ++k) out.values(c, k) = spline(out.times[std::size_t(k)]);
  }
  return out;
}

/// Rows of weights for the first and the second derivative at place `at` of seven even samples, steps of one.
struct Stencil {
  Eigen::Matrix<double, 1, kStencil> first, second;
  explicit Stencil(long at) {
    Eigen::Matrix<double, kStencil, kStencil> V;
    for (long i = 0; i < kStencil; ++i)
      for (long j = 0; j < kStencil; ++j) V(i, j) = std::pow(double(i - at), double(j));
    const Eigen::Matrix<double, kStencil, kStencil> inverse = V.inverse();
    first = inverse.row(1), second = 2 * inverse.row(2);
  }
};

/// Three columns whose names begin alike and end with x y z, or 1 2 3.
std::array<int, 3> columns_of(const TimeTable& table, const std::string& beginning) {
  std::array<int, 3> out{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string ends[] = {std::string(1, "xyz"[i]), fmt::format("_{}", "xyz"[i]), fmt::format("_{}", i + 1),
                                std::string(1, "123"[i])};
    std::optional<int> found;
    for (const std::string& end : ends)
      if (!found) found = table.find(beginning + end);
    if (!found)
      throw Error(fmt::format("{} has no column '{}{}'; {}", table.file.empty() ? table.name : table.file, beginning,
                              "xyz"[i], nearest_name(beginning + "xyz"[i], table.columns)));
    out[i] = *found;
  }
  return out;
}

}  // namespace

void differentiate(CoordinateMotion& motion, double rate) {
  const long n = motion.x.cols();
  motion.xd.resize(motion.x.rows(), n), motion.xdd.resize(motion.x.rows(), n);
  std::vector<Stencil> stencils;
  for (long at = 0; at < kStencil; ++at) stencils.emplace_back(at);
  for (long k = 0; k < n; ++k) {
    const long begin = std::clamp(k - kStencil / 2, 0L, n - kStencil);
    const Stencil& s = stencils[std::size_t(k - begin)];
    motion.xd.col(k) = rate * motion.x.middleCols(begin, kStencil) * s.first.transpose();
    motion.xdd.col(k) = rate * rate * motion.x.middleCols(begin, kStencil) * s.second.transpose();
  }
}

CoordinateMotion coordinate_motion(const MappedModel& model, const TimeTable& given, double cutoff) {
  if (given.rows() < kStencil)
    throw Error(fmt::format("{} has {} rows, accelerations need {}", given.name, given.rows(), kStencil));
  const TimeTable table = evenly_spaced(given);
  CoordinateMotion out{.name = table.name, .times = table.times};
  const double rate = (table.rows() - 1) / (table.times.back() - table.times.front());
  out.x = model.map().neutral().replicate(1, table.rows());
  std::vector<bool> in_table(std::size_t(model.size()), false);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    // OpenSim 4 names coordinates by their path: /jointset/hip_r/hip_flexion_r/value.
    std::string name = table.columns[c];
    if (name.ends_with("/value"))
      name = name.substr(0, name.size() - 6);
    else if (name.ends_with("/speed"))
      continue;
    name = name.substr(name.rfind('/') + 1);
    const std::optional<int> i = model.map().find(name);
    if (!i) {
      out.unknown.push_back(table.columns[c]);
      continue;
    }
    const bool degrees = table.degrees && model.map().coordinates[std::size_t(*i)].rotational;
    out.x.row(*i) = table.values.row(long(c)) * (degrees ? M_PI / 180 : 1);
    if (!out.x.row(*i).allFinite()) throw Error(fmt::format("column {} of {} has gaps", table.columns[c], table.name));
    in_table[std::size_t(*i)] = true;
  }
  for (std::size_t i = 0; i < in_table.size(); ++i)
    if (!in_table[i] && model.map().coordinates[i].follows < 0) out.missing.push_back(model.map().coordinates[i].name);
  if (out.unknown.size() == table.columns.size())
    throw Error(fmt::format("no column of {} is a coordinate of '{}'", table.name, model.model().name()));
  if (cutoff > 0) {
    if (cutoff >= 0.45 * rate)
      throw Error(
          fmt::format("cut-off {} Hz at {} rows per second; it must be below {} Hz", cutoff, rate, 0.45 * rate));
    low_pass_rows(out.x, rate, cutoff, ButterworthKind::kThird);
  }
  for (std::size_t i = 0; i < in_table.size(); ++i) {
    const MapCoordinate& c = model.map().coordinates[i];
    if (c.follows < 0) continue;
    for (long k = 0; k < out.x.cols(); ++k) out.x(long(i), k) = c.function(out.x(c.follows, k));
  }
  differentiate(out, rate);
  return out;
}

Clip clip_of(const MappedModel& model, const CoordinateMotion& motion) {
  Clip clip{.name = motion.name, .times = motion.times, .q = {}};
  clip.q.resize(model.model().nq(), motion.frames());
  for (int k = 0; k < motion.frames(); ++k) clip.q.col(k) = model.configuration(motion.x.col(k));
  return clip;
}

std::vector<MeasuredForce> sample_loads(const Model& model, const Clip& clip, const TimeTable& table,
                                        std::span<const ExternalLoad> loads, const Mat3<>& axes) {
  std::vector<MeasuredForce> out;
  Workspace work(model);
  LinkPoses poses(model);
  for (const ExternalLoad& load : loads) {
    MeasuredForce force{.name = load.name, .link = model.link_id(load.body)};
    const auto vectors = [&](const std::string& name) {
      return name.empty() ? std::nullopt : std::optional(columns_of(table, name));
    };
    const auto f = vectors(load.force), p = vectors(load.point), t = vectors(load.torque);
    for (int k = 0; k < clip.frames(); ++k) {
      const double time = clip.times[std::size_t(k)];
      fk(model, clip.q.col(k), work, poses);
      // Axes of bodies are turned as the world's are.
      const auto read = [&](const std::optional<std::array<int, 3>>& c, const std::string& in) {
        if (!c) return Vec3<>{};
        const Vec3<> v = axes * Vec3<>{table.at((*c)[0], time), table.at((*c)[1], time), table.at((*c)[2], time)};
        return in == "ground" ? v : poses[model.link_id(in)].R * v;
      };
      const Transform<>& X = poses[force.link];
      const Vec3<> F = read(f, load.force_in), T = read(t, load.force_in);
      Vec3<> at = X.p;
      if (p)
        at = read(p, load.point_in) + (load.point_in == "ground" ? Vec3<>{} : poses[model.link_id(load.point_in)].p);
      if (!(norm(F) < kInfinity) || !(norm(T) < kInfinity) || !(norm(at) < kInfinity))
        throw Error(fmt::format("load {} has gaps at {} s", load.name, time));
      force.wrench.push_back({T + cross(at - X.p, F), F});
      force.point.push_back(at);
    }
    out.push_back(std::move(force));
  }
  return out;
}

MeasuredDynamics measured_dynamics(const MappedModel& mapped, const CoordinateMotion& motion,
                                   std::span<const MeasuredForce> forces) {
  const Model& model = mapped.model();
  const int n = motion.frames();
  MeasuredDynamics out{.clip = {.name = motion.name, .times = motion.times, .q = Eigen::MatrixXd(model.nq(), n)}};
  out.v.resize(model.nv(), n), out.vdot.resize(model.nv(), n), out.tau.resize(model.nv(), n);
  out.moments.resize(mapped.size(), n);
  Workspace work(model);
  LinkPoses poses(model);
  ExternalForces external(model);
  State state(model);
  Eigen::VectorXd tau(model.nv());
  for (int k = 0; k < n; ++k) {
    const MappedModel::Rates r = mapped.rates(motion.x.col(k), motion.xd.col(k), motion.xdd.col(k));
    state.q = r.q, state.v = r.v;
    external.set_zero();
    for (const MeasuredForce& f : forces) external[f.link] += f.wrench[std::size_t(k)];
    rnea(model, state, r.vdot, work, tau, &external);
    out.clip.q.col(k) = r.q, out.v.col(k) = r.v, out.vdot.col(k) = r.vdot, out.tau.col(k) = tau;
    out.moments.col(k) = mapped.jacobian(motion.x.col(k)).transpose() * tau;
    if (model.base() == Base::kFree) {
      fk(model, r.q, work, poses);
      out.residual.push_back(base_wrench(poses[LinkId(0)], tau));
    }
  }
  out.powers = out.moments.cwiseProduct(motion.xd);
  return out;
}

}  // namespace kansetsu
