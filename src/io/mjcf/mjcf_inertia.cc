#include <Eigen/Cholesky>

#include "io/mjcf/mjcf_reader.h"
#include "kansetsu/spatial/inertia.h"

/// The mass matrix of a figure in the reference configuration by the composite-rigid-body algorithm at the world's origin:
/// M_ij = S_i · I_j S_j for a coordinate i at or before j, with motion subspace S and composite inertia I_j.
namespace kansetsu::io::mjcf {

struct ReferenceCoordinate {
  Motion<> S;
  int body = 0;
  const Joint* joint = nullptr;
};
struct ReferenceInertia {
  std::vector<ReferenceCoordinate> coordinates;
  Eigen::MatrixXd inverse;  ///< of M; empty if M is singular
};

namespace {

constexpr std::size_t kMostRows = 1000;

void add_coordinates(const Body& body, int index, std::vector<ReferenceCoordinate>& out) {
  for (const Joint& joint : body.joints) {
    const Vec3<> axis = body.X_WB.R * joint.axis, p = body.X_WB * joint.p;
    const auto turn = [&](const Vec3<>& w) { out.push_back({{w, cross(p, w)}, index, &joint}); };
    const auto slide = [&](const Vec3<>& v) { out.push_back({{{}, v}, index, &joint}); };
    if (joint.kind == JointKind::kHinge) turn(axis);
    if (joint.kind == JointKind::kSlide) slide(axis);
    if (joint.kind == JointKind::kBall || joint.kind == JointKind::kFree) {
      for (const Vec3<>& e : {Vec3<>{1, 0, 0}, Vec3<>{0, 1, 0}, Vec3<>{0, 0, 1}}) turn(e);
    }
    if (joint.kind == JointKind::kFree) {
      for (const Vec3<>& e : {Vec3<>{1, 0, 0}, Vec3<>{0, 1, 0}, Vec3<>{0, 0, 1}}) slide(e);
    }
  }
}

Eigen::MatrixXd mass_matrix(const Reader& reader, const std::vector<int>& bodies,
                            const std::vector<ReferenceCoordinate>& coordinates) {
  std::vector<Inertia<>> composite(reader.bodies.size());
  for (auto i = bodies.rbegin(); i != bodies.rend(); ++i) {
    const Body& body = reader.body(*i);
    Inertia<>& own = composite[std::size_t(*i)];
    if (body.inertial) {
      const Transform<> X_WI = body.X_WB * to_transform(body.inertial->origin);
      own = own + X_WI * make_inertia(body.inertial->mass, Vec3<>{}, body.inertial->inertia);
    }
    Inertia<>& parent = composite[std::size_t(body.parent)];
    parent = parent + own;
  }
  const auto n = Eigen::Index(coordinates.size());
  Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const ReferenceCoordinate& moved = coordinates[std::size_t(j)];
    const Force<> F = composite[std::size_t(moved.body)] * moved.S;
    int body = moved.body;  // the moved body and its ancestors
    for (Eigen::Index i = j; i >= 0; --i) {
      const ReferenceCoordinate& other = coordinates[std::size_t(i)];
      while (body > other.body) body = reader.body(body).parent;
      if (body == other.body) M(i, j) = M(j, i) = dot(other.S, F);
    }
    M(j, j) += moved.joint->dof.rotor_inertia;
  }
  return M;
}

const ReferenceInertia& inertia_of(Reader& reader, int figure) {
  std::shared_ptr<const ReferenceInertia>& known = reader.inertias[figure];
  if (known) return *known;
  auto out = std::make_shared<ReferenceInertia>();
  std::vector<int> bodies;
  for (std::size_t i = 1; i < reader.bodies.size(); ++i) {
    if (reader.bodies[i].figure != figure) continue;
    bodies.push_back(int(i));
    add_coordinates(reader.bodies[i], int(i), out->coordinates);
  }
  if (out->coordinates.size() <= kMostRows) {
    const Eigen::MatrixXd M = mass_matrix(reader, bodies, out->coordinates);
    const Eigen::LLT<Eigen::MatrixXd> factor(M);
    if (factor.info() == Eigen::Success) out->inverse = factor.solve(Eigen::MatrixXd::Identity(M.rows(), M.cols()));
    if (!out->inverse.allFinite()) out->inverse.resize(0, 0);
  }
  known = std::move(out);
  return *known;
}

Eigen::VectorXd row_of(const Reader& reader, const ReferenceInertia& of, const ReferenceMoment& moment) {
  Eigen::VectorXd row = Eigen::VectorXd::Zero(Eigen::Index(of.coordinates.size()));
  for (Eigen::Index i = 0; i < row.size(); ++i) {
    const ReferenceCoordinate& c = of.coordinates[std::size_t(i)];
    for (const auto& [joint, ratio] : moment.joints) {
      if (c.joint->name == joint) row[i] += ratio;
    }
    for (const Pull& pull : moment.pulls) {
      int body = pull.body;
      while (body > c.body) body = reader.body(body).parent;
      if (body == c.body) row[i] += dot(c.S, Force<>{pull.t + cross(pull.p, pull.f), pull.f});
    }
  }
  return row;
}

}  // namespace

std::optional<double> unit_acceleration(Reader& reader, int figure, const ReferenceMoment& moment) {
  const ReferenceInertia& of = inertia_of(reader, figure);
  if (of.inverse.size() == 0) return std::nullopt;
  return (of.inverse * row_of(reader, of, moment)).norm();
}

std::optional<double> felt_inertia(Reader& reader, int figure, const ReferenceMoment& moment) {
  const ReferenceInertia& of = inertia_of(reader, figure);
  if (of.inverse.size() == 0) return std::nullopt;
  const Eigen::VectorXd row = row_of(reader, of, moment);
  const double mobility = row.dot(of.inverse * row);
  return mobility > 0 ? std::optional(1 / mobility) : std::nullopt;
}

/// For a mass m on a spring: time constant 2m/d, damping ratio d/(2·√(k·m)).
void set_spring_dampers(Reader& reader) {
  for (const Body& body : reader.bodies) {
    for (const Joint& joint : body.joints) {
      const auto [time, ratio] = joint.spring_damper;
      if (!(time > 0) || !(ratio > 0)) continue;
      const bool scalar = joint.kind == JointKind::kHinge || joint.kind == JointKind::kSlide;
      const auto inertia = scalar ? felt_inertia(reader, body.figure, {.joints = {{joint.name, 1}}}) : std::nullopt;
      if (!inertia) {
        reader.report.missing(*joint.element, kDampRatio,
                              "springdamper is ignored: the joint is a ball, or the mass matrix is singular");
        continue;
      }
      for (JointDescription& made : reader.figure(body.figure).model.joints) {
        if (made.name != joint.name) continue;
        made.dofs[0].stiffness = *inertia / (time * time * ratio * ratio);
        made.dofs[0].damping = 2 * *inertia / time;
      }
    }
  }
}

}  // namespace kansetsu::io::mjcf
