#include <Eigen/Cholesky>
#include <cmath>

#include "io/mjcf_reader.h"
#include "kansetsu/spatial/inertia.h"

/// The mass matrix of a figure in the reference configuration by composite inertias, all at the world's origin:
/// M_ij = S_i · I_j S_j for a coordinate i at or before j, where S is the coordinate's motion and I_j the inertia it moves.
namespace kansetsu::io::mjcf {
namespace {

constexpr std::size_t kMostRows = 1000;

struct Coordinate {
  Motion<> S;
  int body = 0;
  const Joint* joint = nullptr;
};

void add_coordinates(const Body& body, int index, std::vector<Coordinate>& out) {
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
                            const std::vector<Coordinate>& coordinates) {
  std::vector<Inertia<>> composite(reader.bodies.size());
  for (auto i = bodies.rbegin(); i != bodies.rend(); ++i) {
    const Body& body = reader.bodies[std::size_t(*i)];
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
    const Coordinate& moved = coordinates[std::size_t(j)];
    const Force<> F = composite[std::size_t(moved.body)] * moved.S;
    int body = moved.body;  // ancestors of the moved body, from the body itself on
    for (Eigen::Index i = j; i >= 0; --i) {
      const Coordinate& other = coordinates[std::size_t(i)];
      while (body > other.body) body = reader.bodies[std::size_t(body)].parent;
      if (body == other.body) M(i, j) = M(j, i) = dot(other.S, F);
    }
    M(j, j) += moved.joint->dof.rotor_inertia;
  }
  return M;
}

std::map<std::string, double> compute(const Reader& reader, int figure) {
  std::vector<int> bodies;
  std::vector<Coordinate> coordinates;
  for (std::size_t i = 1; i < reader.bodies.size(); ++i) {
    if (reader.bodies[i].figure != figure) continue;
    bodies.push_back(int(i));
    add_coordinates(reader.bodies[i], int(i), coordinates);
  }
  if (coordinates.size() > kMostRows) return {};
  const Eigen::MatrixXd M = mass_matrix(reader, bodies, coordinates);
  const Eigen::LLT<Eigen::MatrixXd> factor(M);
  if (factor.info() != Eigen::Success) return {};
  const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(M.rows(), M.cols()));
  std::map<std::string, double> out;
  for (Eigen::Index i = 0; i < M.rows(); ++i) {
    if (std::isfinite(inverse(i, i)) && inverse(i, i) > 0)
      out[coordinates[std::size_t(i)].joint->name] = 1 / inverse(i, i);
  }
  return out;
}

}  // namespace

std::optional<double> felt_inertia(Reader& reader, int figure, const std::string& joint) {
  auto known = reader.felt_inertias.find(figure);
  if (known == reader.felt_inertias.end()) known = reader.felt_inertias.emplace(figure, compute(reader, figure)).first;
  const auto found = known->second.find(joint);
  return found == known->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace kansetsu::io::mjcf
