#include "ik/limits.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/spatial/rotations.h"
#include "kansetsu/spatial/swing_twist.h"

namespace kansetsu::ik {
namespace {

/// 1 on the ellipse of the swing, less within.
double swing_ratio(const SwingTwist& st, const BallLimit& limit) {
  const double x = st.swing_x / limit.swing_x, y = st.swing_y / limit.swing_y;  // x/∞ = 0
  return std::sqrt(x * x + y * y);
}

BallLimit ball_limit(const Model& model, JointId joint, const Options& options) {
  for (const BallLimit& given : options.ball_limits) {
    if (given.joint == joint) return given;
  }
  BallLimit limit{.joint = joint};
  if (const auto& st = model.joint(joint).swing_twist) {
    limit.swing_x = limit.swing_y = st->swing;
    limit.twist_lower = st->twist_lower;
    limit.twist_upper = st->twist_upper;
  }
  return limit;
}

bool limits_anything(const BallLimit& l) {
  return l.swing_x < kInfinity || l.swing_y < kInfinity || l.twist_lower > -kInfinity || l.twist_upper < kInfinity;
}

}  // namespace

Limits::Limits(const Model& model, const Options& options)
    : nv_(model.nv()), position_of_column_(size_t(model.nv()), -1) {
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange c = model.coordinates(JointId(j));
    for (int k = 0; k < c.nv && c.nq == c.nv; ++k) position_of_column_[size_t(c.v + k)] = c.q + k;
  }
  if (!options.limits) return;
  for (int j = 0; j < model.joint_count(); ++j) add_joint(model, JointId(j), options);
  for (int j = 0; j < model.joint_count(); ++j) add_dependent(model, JointId(j));
}

void Limits::add_joint(const Model& model, JointId joint, const Options& options) {
  const CoordinateRange c = model.coordinates(joint);
  if (auto ball = BallJoint::find(model, joint)) {
    const BallLimit limit = ball_limit(model, joint, options);
    int column = model.nv();
    ball->for_each_term({1, 1, 1}, [&](int v, double) { column = std::min(column, v); });
    if (limits_anything(limit) && column < model.nv()) balls_.push_back({std::move(*ball), limit, column});
  }
  if (c.nq != c.nv) return;
  for (int k = 0; k < c.nv; ++k) {
    const double lower = model.lower_position()[c.q + k], upper = model.upper_position()[c.q + k];
    if (lower > -kInfinity || upper < kInfinity) scalars_.push_back({c.q + k, c.v + k, lower, upper});
  }
}

/// A coordinate that gears determine keeps its own limits: on one leader as a bound, on several as a row.
void Limits::add_dependent(const Model& model, JointId joint) {
  const JointTypeInfo& type = info(model.joint(joint).type);
  if (type.nq != type.nv || model.coordinates(joint).nv == type.nv) return;
  for (int k = 0; k < type.nv; ++k) {
    const DofDescription& dof = model.dof(joint, k);
    const Model::Row& row = model.row(joint, k);
    if ((dof.lower == -kInfinity && dof.upper == kInfinity) || row.terms.empty()) continue;
    Combined limit{{}, row.terms, row.offset, dof.lower, dof.upper};
    for (const auto& [column, ratio] : row.terms) {
      limit.positions.emplace_back(position_of_column_[size_t(column)], ratio);
    }
    if (row.terms.size() > 1) {
      combined_.push_back(limit);
      continue;
    }
    const auto [column, ratio] = row.terms.front();
    const double a = (dof.lower - row.offset) / ratio, b = (dof.upper - row.offset) / ratio;
    if (std::isfinite(ratio) && ratio != 0) {
      scalars_.push_back({position_of_column_[size_t(column)], column, std::min(a, b), std::max(a, b)});
    }
  }
}

void Limits::bounds(const VectorRef& q, double most, double* lower, double* upper) const {
  std::fill(lower, lower + nv_, -most);
  std::fill(upper, upper + nv_, most);
  for (const Scalar& s : scalars_) {
    lower[s.v] = std::min(std::max(lower[s.v], s.lower - q[s.q]), most);
    upper[s.v] = std::max(std::min(upper[s.v], s.upper - q[s.q]), -most);
  }
}

void Limits::rows(const VectorRef& q, double* C, int stride, double* lower, double* upper) const {
  int r = 0;
  for (const Ball& ball : balls_) {
    const Quaternion<> at = ball.ball.rotation(q);
    const SwingTwist st = swing_twist(at);
    double* swing = C + r * stride;
    double* twist = swing + stride;
    std::fill(swing, swing + 2 * stride, 0.0);
    constexpr double h = 1e-6;        // the step of the difference: errors of 1e-12 and of 1e-16/1e-6, both negligible
    double of_swing[3], of_twist[3];  // by a turn about each axis of the plug
    for (int k = 0; k < 3; ++k) {
      const Vec3<> d{k == 0 ? h : 0, k == 1 ? h : 0, k == 2 ? h : 0};
      const SwingTwist plus = swing_twist(at * exp_quaternion(d)), minus = swing_twist(at * exp_quaternion(-d));
      of_swing[k] = (swing_ratio(plus, ball.limit) - swing_ratio(minus, ball.limit)) / (2 * h);
      of_twist[k] = wrap_angle(plus.twist - minus.twist) / (2 * h);
    }
    const auto put = [&](const double(&by_turn)[3], double* row) {
      const Vec3<> rates = ball.ball.rate_row(q, {by_turn[0], by_turn[1], by_turn[2]});
      ball.ball.for_each_term(rates, [&](int column, double value) { row[column] += value; });
    };
    put(of_swing, swing);
    put(of_twist, twist);
    lower[r] = -kInfinity;
    upper[r] = 1 - swing_ratio(st, ball.limit);
    lower[r + 1] = ball.limit.twist_lower - st.twist;
    upper[r + 1] = ball.limit.twist_upper - st.twist;
    r += 2;
  }
  for (const Combined& c : combined_) {
    double* row = C + r * stride;
    std::fill(row, row + stride, 0.0);
    const double value = c.value(q);
    for (const auto& [column, ratio] : c.columns) row[column] += ratio;
    lower[r] = c.lower - value;
    upper[r++] = c.upper - value;
  }
}

bool Limits::clamp_balls(Eigen::Ref<Eigen::VectorXd> q) const {
  constexpr double kInside = 1 - 1e-12;  // the conversion through the quaternion rounds
  constexpr double kRounding = 1e-13;    // [rad] of that conversion
  bool moved = false;
  for (const Ball& ball : balls_) {
    if (!ball.ball.independent()) continue;  // its coordinates are those of others: rows alone hold it
    SwingTwist st = swing_twist(ball.ball.rotation(q));
    const double ratio = swing_ratio(st, ball.limit);
    const double twist = std::max(std::min(st.twist, ball.limit.twist_upper), ball.limit.twist_lower);
    if (ratio <= 1 && std::abs(twist - st.twist) <= kRounding) continue;
    const double scale = ratio > 1 ? kInside / ratio : 1;
    ball.ball.set_rotation(to_quaternion(SwingTwist{scale * st.swing_x, scale * st.swing_y, twist}), q);
    moved = true;
  }
  return moved;
}

/// A ZYX ball may have limits of its angles beside those of its rotation: one after the other, until both hold.
void Limits::clamp(Eigen::Ref<Eigen::VectorXd> q) const {
  constexpr int kMostRounds = 50;
  for (int round = 0; round < kMostRounds; ++round) {
    for (const Scalar& s : scalars_) q[s.q] = std::max(std::min(q[s.q], s.upper), s.lower);
    if (!clamp_balls(q)) return;
  }
}

void Limits::box(Eigen::Ref<Eigen::VectorXd> lower, Eigen::Ref<Eigen::VectorXd> upper) const {
  for (const Scalar& s : scalars_) {
    lower[s.q] = std::max(lower[s.q], s.lower);
    upper[s.q] = std::min(upper[s.q], s.upper);
  }
}

bool Limits::shares(int position) const {
  return std::any_of(combined_.begin(), combined_.end(), [&](const Combined& c) {
    return std::any_of(c.positions.begin(), c.positions.end(),
                       [&](const auto& term) { return term.first == position; });
  });
}

void Limits::active(const VectorRef& q, std::vector<int>& out) const {
  out.clear();
  constexpr double kAt = 1e-9;
  for (const Scalar& s : scalars_) {
    if (q[s.q] <= s.lower + kAt || q[s.q] >= s.upper - kAt) out.push_back(s.v);
  }
  for (const Ball& ball : balls_) {
    const SwingTwist st = swing_twist(ball.ball.rotation(q));
    const bool twist = st.twist <= ball.limit.twist_lower + kAt || st.twist >= ball.limit.twist_upper - kAt;
    if (twist || swing_ratio(st, ball.limit) >= 1 - kAt) out.push_back(ball.column);
  }
  for (const Combined& c : combined_) {
    const double value = c.value(q);
    if (value <= c.lower + kAt || value >= c.upper - kAt) out.push_back(c.columns.front().first);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

double Limits::violation(const VectorRef& q) const {
  double worst = 0;
  for (const Scalar& s : scalars_) worst = std::max({worst, s.lower - q[s.q], q[s.q] - s.upper});
  for (const Ball& ball : balls_) {
    const SwingTwist st = swing_twist(ball.ball.rotation(q));
    worst = std::max(
        {worst, swing_ratio(st, ball.limit) - 1, ball.limit.twist_lower - st.twist, st.twist - ball.limit.twist_upper});
  }
  for (const Combined& c : combined_) {
    const double value = c.value(q);
    worst = std::max({worst, c.lower - value, value - c.upper});
  }
  return worst;
}

}  // namespace kansetsu::ik
