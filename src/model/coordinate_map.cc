#include "kansetsu/model/coordinate_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "kansetsu/base/error.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
namespace {

constexpr double kTimeStep = 1e-4;  ///< [s]: rounding 10⁻¹⁶/step² and the error of differences, step², are 10⁻⁸ both
constexpr double kStep = 1e-6;      ///< [rad, m]

Mat3<> turn_about(const Vec3<>& axis, double angle) {
  const double length = norm(axis);
  return length > 0 ? exp_rotation((angle / length) * axis) : Mat3<>::identity();
}

}  // namespace

std::optional<int> CoordinateMap::find(std::string_view name) const {
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    if (coordinates[i].name == name) return int(i);
  return std::nullopt;
}

Eigen::VectorXd CoordinateMap::neutral() const {
  Eigen::VectorXd x(long(coordinates.size()));
  for (std::size_t i = 0; i < coordinates.size(); ++i) x[long(i)] = coordinates[i].value;
  return x;
}

MappedModel::MappedModel(Model model, CoordinateMap map) : model_(std::move(model)), map_(std::move(map)) {
  for (const auto& [name, axis] : map_.joints) {
    const CoordinateRange range = model_.coordinates(model_.joint_id(name));
    joint_q_.push_back(range.q), joint_v_.push_back(range.v);
  }
}

Eigen::VectorXd MappedModel::configuration(const Eigen::VectorXd& given) const {
  if (given.size() != size())
    throw Error(fmt::format("configuration(): {} coordinates, the model has {}", given.size(), size()));
  Eigen::VectorXd q = kansetsu::neutral(model_);
  configuration(given, q);
  return q;
}

void MappedModel::configuration(const Eigen::VectorXd& x, Eigen::VectorXd& q) const {
  const auto at = [&](const MapAxis& a) { return a.function(a.coordinate < 0 ? 0 : value(x, a.coordinate)); };
  for (std::size_t j = 0; j < joint_q_.size(); ++j) q[joint_q_[j]] = at(map_.joints[j].second);
  if (model_.base() != Base::kFree) return;
  Transform<> X{Mat3<>::identity(), {}};
  for (const MapAxis& a : map_.base_turns) X.R = X.R * turn_about(a.axis, at(a));
  for (const MapAxis& a : map_.base_shifts) X.p += at(a) * a.axis;
  const Transform<> X_WB = map_.base_socket * X * inverse(map_.base_plug);
  const Quaternion<> turn = to_quaternion(X_WB.R);
  q.segment<7>(model_.base_coordinates().q) << X_WB.p.x, X_WB.p.y, X_WB.p.z, turn.x, turn.y, turn.z, turn.w;
}

MappedModel::Rates MappedModel::rates(const Eigen::VectorXd& x, const Eigen::VectorXd& xd,
                                      const Eigen::VectorXd& xdd) const {
  const double h = kTimeStep;
  Rates out{.q = configuration(x), .v = {}, .vdot = {}};
  const Eigen::VectorXd after = difference(model_, out.q, configuration(x + h * xd + 0.5 * h * h * xdd)),
                        before = difference(model_, out.q, configuration(x - h * xd + 0.5 * h * h * xdd));
  out.v = (after - before) / (2 * h);
  out.vdot = (after + before) / (h * h);
  return out;
}

Eigen::MatrixXd MappedModel::jacobian(const Eigen::VectorXd& x) const {
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(model_.nv(), size());
  for (std::size_t j = 0; j < joint_v_.size(); ++j) {
    const MapAxis& axis = map_.joints[j].second;
    if (axis.coordinate < 0) continue;
    const MapCoordinate& c = map_.coordinates[std::size_t(axis.coordinate)];
    const int leader = c.follows >= 0 ? c.follows : axis.coordinate;
    const double follows = c.follows >= 0 ? c.function.derivative(x[leader]) : 1;
    J(joint_v_[j], leader) += axis.function.derivative(value(x, axis.coordinate)) * follows;
  }
  if (model_.base() == Base::kFree) add_base(x, J);
  return J;
}

/// The root moves by few coordinates, in a way that has no short derivative.
void MappedModel::add_base(const Eigen::VectorXd& x, Eigen::MatrixXd& J) const {
  std::vector<int> moves;
  for (const auto* axes : {&map_.base_turns, &map_.base_shifts})
    for (const MapAxis& a : *axes) {
      if (a.coordinate < 0) continue;
      const int follows = map_.coordinates[std::size_t(a.coordinate)].follows,
                i = follows >= 0 ? follows : a.coordinate;
      if (std::ranges::find(moves, i) == moves.end()) moves.push_back(i);
    }
  const CoordinateRange base = model_.base_coordinates();
  Eigen::VectorXd y = x;
  for (const int i : moves) {
    y[i] = x[i] + kStep;
    const Eigen::VectorXd high = configuration(y);
    y[i] = x[i] - kStep;
    J.block(base.v, i, base.nv, 1) = difference(model_, configuration(y), high).segment(base.v, base.nv) / (2 * kStep);
    y[i] = x[i];
  }
}

}  // namespace kansetsu
