#include "motion/marker_solver.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
namespace {

/// What keeps coordinates that no marker tells where they are; markers count 1 each.
constexpr double kMarkerStay = 1e-6;
constexpr double kLastStep = 1e-6;  ///< [rad, m] a step that small is the last

Vec3<> times(const Sym3<>& a, const Vec3<>& v) {
  return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
          a.xz * v.x + a.yz * v.y + a.zz * v.z};
}

}  // namespace

std::vector<int> columns_of(const MarkerFigure& figure, const Markers& seen) {
  std::vector<int> out;
  for (const ModelMarker& m : figure.markers) {
    const std::optional<int> found = seen.find(m.name);
    if (!found) throw Error(fmt::format("marker '{}' of '{}' was not measured", m.name, figure.model.name()));
    out.push_back(*found);
  }
  return out;
}

MarkerSolver::MarkerSolver(const MarkerFigure& figure)
    : figure_(figure),
      work_(figure.model),
      poses_(figure.model),
      axes_(6, figure.model.nv()),
      q_(neutral(figure.model)) {
  if (!figure.model.description().couplings.empty())
    throw Error(fmt::format("markers: coordinates of '{}' are geared to each other", figure.model.name()));
  if (figure.map) mapped_.emplace(figure.model, *figure.map);
  unknowns_ = mapped_ ? mapped_->size() : figure.model.nv();
  fixed_.assign(std::size_t(unknowns_), false);
  if (mapped_)
    for (int i = 0; i < unknowns_; ++i) {
      const MapCoordinate& c = figure.map->coordinates[std::size_t(i)];
      fixed_[std::size_t(i)] = c.locked || c.follows >= 0;
    }
  plan();
  H_.setZero(unknowns_, unknowns_), factor_.setZero(unknowns_, unknowns_);
  g_.setZero(unknowns_), step_.setZero(unknowns_);
  composite_.resize(std::size_t(figure.model.link_count()));
}

/// Columns from the root outward.
void MarkerSolver::plan() {
  const Model& model = figure_.model;
  last_column_.assign(std::size_t(model.link_count()), -1);
  parents_.assign(std::size_t(model.link_count()), -1);
  const auto add = [&](int link, int unknown, int v) {
    const int before = last_column_[std::size_t(link)];
    last_column_[std::size_t(link)] = int(columns_.size());
    columns_.push_back({.link = link, .unknown = unknown, .previous = before, .v = v});
  };
  if (model.base() == Base::kFree) {
    for (int i = 0; i < 6; ++i) {
      if (!mapped_) add(0, i, i);
      if (!mapped_) continue;
      const MapAxis& a = i < 3 ? figure_.map->base_turns[std::size_t(i)] : figure_.map->base_shifts[std::size_t(i - 3)];
      add(0, a.coordinate, -1);
    }
  }
  for (int i = 1; i < model.link_count(); ++i) {
    parents_[std::size_t(i)] = model.parent(LinkId(i))->value();
    last_column_[std::size_t(i)] = last_column_[std::size_t(parents_[std::size_t(i)])];
    const CoordinateRange range = model.coordinates(JointId(i - 1));
    for (int d = 0; d < range.nv; ++d) {
      add(i, mapped_ ? -1 : range.v + d, range.v + d);
      if (!mapped_) continue;
      for (std::size_t j = 0; j < figure_.map->joints.size(); ++j) {
        const auto& [name, axis] = figure_.map->joints[j];
        if (name != model.joint(JointId(i - 1)).name) continue;
        columns_.back().unknown = axis.coordinate, columns_.back().axis = int(j);
      }
    }
  }
  // What follows another coordinate moves with that one.
  if (mapped_)
    for (Column& c : columns_)
      if (c.unknown >= 0 && figure_.map->coordinates[std::size_t(c.unknown)].follows >= 0)
        c.unknown = figure_.map->coordinates[std::size_t(c.unknown)].follows;
}

const Eigen::VectorXd& MarkerSolver::configure(const Eigen::VectorXd& x) {
  x_ = x;
  if (mapped_)
    mapped_->configuration(x, q_);
  else
    q_ = x;
  fk(figure_.model, q_, work_, poses_);
  return q_;
}

void MarkerSolver::advance(Eigen::VectorXd& x, const Eigen::VectorXd& step) const {
  if (mapped_)
    x += step;
  else
    x = integrate(figure_.model, x, step);
}

double MarkerSolver::cost(std::span<const Vec3<>> seen) const {
  double sum = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!Markers::seen(seen[i])) continue;
    const Vec3<> e = poses_[figure_.markers[i].link] * figure_.markers[i].p_L - seen[i];
    sum += 0.5 * figure_.markers[i].weight * dot(e, e);
  }
  return sum;
}

/// Motions at the world's origin, and how fast the unknowns drive them.
void MarkerSolver::update_columns() {
  joint_axes(figure_.model, q_, work_, axes_);
  for (Column& c : columns_) {
    if (c.v < 0) continue;
    const auto a = axes_.col(c.v);
    c.turn = {a[0], a[1], a[2]}, c.shift = {a[3], a[4], a[5]};
  }
  if (!mapped_) return;
  const CoordinateMap& map = *figure_.map;
  // The slope of a function, through the coordinate that leads, if there is one.
  const auto slope = [&](const MapAxis& a) {
    if (a.coordinate < 0) return 0.0;
    const MapCoordinate& c = map.coordinates[std::size_t(a.coordinate)];
    const double own = a.function.derivative(mapped_->value(x_, a.coordinate));
    return c.follows >= 0 ? own * c.function.derivative(x_[c.follows]) : own;
  };
  const auto value = [&](const MapAxis& a) {
    return a.function(a.coordinate < 0 ? 0 : mapped_->value(x_, a.coordinate));
  };
  std::size_t next = 0;
  if (figure_.model.base() == Base::kFree) {
    Vec3<> centre{};
    for (const MapAxis& a : map.base_shifts) centre += value(a) * a.axis;
    centre = map.base_socket * centre;
    Mat3<> R = map.base_socket.R;
    for (const MapAxis& a : map.base_turns) {
      Column& c = columns_[next++];
      c.turn = R * a.axis, c.shift = cross(centre, c.turn), c.slope = slope(a);
      R = R * exp_rotation(value(a) * a.axis);
    }
    for (const MapAxis& a : map.base_shifts) {
      Column& c = columns_[next++];
      c.turn = {}, c.shift = map.base_socket.R * a.axis, c.slope = slope(a);
    }
  }
  for (; next < columns_.size(); ++next) {
    Column& c = columns_[next];
    c.slope = c.axis < 0 ? 0 : slope(map.joints[std::size_t(c.axis)].second);
  }
}

void MarkerSolver::expand(std::span<const Vec3<>> seen) {
  update_columns();
  for (Composite& c : composite_) c = {};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!Markers::seen(seen[i])) continue;
    const ModelMarker& m = figure_.markers[i];
    Composite& c = composite_[std::size_t(m.link.value())];
    const Vec3<> p = poses_[m.link] * m.p_L, f = m.weight * (p - seen[i]), h = m.weight * p;
    c.mass += m.weight, c.first += h;
    c.second = c.second + Sym3<>{h.y * p.y + h.z * p.z, -h.x * p.y, -h.x * p.z,
                                 h.x * p.x + h.z * p.z, -h.y * p.z, h.x * p.x + h.y * p.y};
    c.moment += cross(p, f), c.force += f;
  }
  for (std::size_t i = composite_.size(); i-- > 1;) {
    Composite& up = composite_[std::size_t(parents_[i])];
    const Composite& c = composite_[i];
    up.mass += c.mass, up.first += c.first, up.second = up.second + c.second;
    up.moment += c.moment, up.force += c.force;
  }
  H_.setZero(), g_.setZero();
  const auto active = [&](const Column& c) {
    return c.unknown >= 0 && !fixed_[std::size_t(c.unknown)] && (!only_root_ || c.link == 0);
  };
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const Column& c = columns_[k];
    if (!active(c)) continue;
    const Composite& m = composite_[std::size_t(c.link)];
    g_[c.unknown] += c.slope * (dot(c.turn, m.moment) + dot(c.shift, m.force));
    const Vec3<> force = c.slope * (m.mass * c.shift + cross(c.turn, m.first));
    const Vec3<> moment = c.slope * (times(m.second, c.turn) + cross(m.first, c.shift));
    for (int d = int(k); d >= 0; d = columns_[std::size_t(d)].previous) {
      const Column& other = columns_[std::size_t(d)];
      if (!active(other)) continue;
      const double h = other.slope * (dot(other.turn, moment) + dot(other.shift, force));
      if (c.unknown == other.unknown)
        H_(c.unknown, c.unknown) += d == int(k) ? h : 2 * h;
      else
        H_(std::max(c.unknown, other.unknown), std::min(c.unknown, other.unknown)) += h;
    }
  }
}

bool MarkerSolver::factor_and_step(double damping) {
  factor_ = H_;
  for (int i = 0; i < unknowns_; ++i) factor_(i, i) += kMarkerStay + damping * (H_(i, i) + kMarkerStay);
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(factor_);
  if (llt.info() != Eigen::Success) return false;
  step_ = -g_;
  llt.solveInPlace(step_);
  return true;
}

void MarkerSolver::follow(std::span<const Vec3<>> seen, Eigen::VectorXd& x) {
  constexpr int kMost = 6;
  for (int k = 0; k < kMost; ++k) {
    configure(x);
    expand(seen);
    if (!factor_and_step(0)) break;
    advance(x, step_);
    // Steps of Newton's kind shrink by squares.
    if (step_.cwiseAbs().maxCoeff() < 1e-3) break;
  }
}

double MarkerSolver::solve(std::span<const Vec3<>> seen, Eigen::VectorXd& x, int iterations) {
  double damping = 1e-3;
  configure(x);
  double now = cost(seen);
  for (int k = 0; k < iterations; ++k) {
    configure(x);
    expand(seen);
    if (!factor_and_step(damping)) {
      damping = std::max(10 * damping, 1e-6);
      continue;
    }
    Eigen::VectorXd next = x;
    advance(next, step_);
    configure(next);
    const double then = cost(seen);
    if (then < now) {
      const bool still = step_.cwiseAbs().maxCoeff() < kLastStep || now - then < 1e-12 * now;
      x = std::move(next), now = then, damping *= 0.1;
      if (still) break;
    } else {
      if (step_.cwiseAbs().maxCoeff() < kLastStep) break;
      damping = std::max(10 * damping, 1e-6);
    }
  }
  configure(x);
  return now;
}

Eigen::VectorXd MarkerSolver::begin(std::span<const Vec3<>> seen) {
  Eigen::VectorXd x = mapped_ ? figure_.map->neutral() : neutral(figure_.model);
  const bool free = figure_.model.base() == Base::kFree;
  Eigen::VectorXd best = x;
  double least = kInfinity;
  only_root_ = true;
  for (int k = 0; free && k < 64; ++k) {
    Eigen::VectorXd start = x;
    const double angles[3] = {(k % 4) * M_PI / 2, (k / 4 % 4) * M_PI / 2, (k / 16) * M_PI / 2};
    if (mapped_) {
      for (std::size_t i = 0; i < 3; ++i)
        if (const int c = figure_.map->base_turns[i].coordinate; c >= 0)
          start[c] = angles[i] > 4 ? -M_PI / 2 : angles[i];
    } else {
      const Mat3<> R = exp_rotation(Vec3<>{angles[0], 0, 0}) * exp_rotation(Vec3<>{0, angles[1], 0}) *
                       exp_rotation(Vec3<>{0, 0, angles[2]});
      const Quaternion<> turn = to_quaternion(R);
      start.segment<4>(figure_.model.base_coordinates().q + 3) << turn.x, turn.y, turn.z, turn.w;
    }
    if (const double cost = solve(seen, start, 12); cost < least) least = cost, best = start;
  }
  only_root_ = false;
  solve(seen, best, 200);
  return best;
}

void MarkerSolver::point_jacobian(LinkId link, const Vec3<>& p, Eigen::Ref<Eigen::MatrixXd> J) const {
  J.setZero();
  for (int d = last_column_[std::size_t(link.value())]; d >= 0; d = columns_[std::size_t(d)].previous) {
    const Column& c = columns_[std::size_t(d)];
    if (c.unknown < 0 || fixed_[std::size_t(c.unknown)]) continue;
    const Vec3<> v = c.slope * (c.shift + cross(c.turn, p));
    J.col(c.unknown) += Eigen::Vector3d(v.x, v.y, v.z);
  }
}

}  // namespace kansetsu
