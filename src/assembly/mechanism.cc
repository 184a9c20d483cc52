#include "assembly/mechanism.h"

#include <algorithm>
#include <cmath>

#include "assembly/kernel_table.h"
#include "kansetsu/spatial/eigen.h"
#include "model/massless.h"

namespace kansetsu {
namespace {

std::string link_of_body(const Model& model, int body) {
  const Tree& tree = model.tree();
  for (size_t l = 0; l < tree.links.size(); ++l) {
    if (tree.links[l].body == body) return model.link(LinkId(int(l))).name;
  }
  return "body " + std::to_string(body);
}

/// Whether the inertia about the centre of mass resists every turn: relative to the size of the inertia at the origin,
/// which a factor of the pivots' rounding error (1e-16) must not reach.
bool resists_all(const Body& body) {
  const Inertia<>& M = body.M_B;
  if (!(M.m > 0)) return false;
  const Vec3<> c = (1 / M.m) * M.h;
  const Sym3<> J = M.I - M.m * parallel_axis(c, c);
  const double scale = std::max({M.I.xx, M.I.yy, M.I.zz});
  const double minor = J.xx * J.yy - J.xy * J.xy;
  const double det =
      J.xx * (J.yy * J.zz - J.yz * J.yz) - J.xy * (J.xy * J.zz - J.yz * J.xz) + J.xz * (J.xy * J.yz - J.yy * J.xz);
  constexpr double kLeast = 1e-9;
  return J.xx > kLeast * scale && minor > kLeast * scale * J.xx && det > kLeast * scale * minor;
}

Force<> torque(int axis) { return {{double(axis == 0), double(axis == 1), double(axis == 2)}, {}}; }
Force<> force(int axis) { return {{}, {double(axis == 0), double(axis == 1), double(axis == 2)}}; }

/// N, then E, of one primitive.
void primitive_columns(const Body& b, std::vector<Force<>>& out) {
  const auto add = [&](Force<> (*unit)(int), std::initializer_list<int> axes) {
    for (const int k : axes) out.push_back(unit(k));
  };
  const int axis = b.aligned_axis < 0 ? 2 : b.aligned_axis;
  switch (b.kind) {
    case PrimitiveKind::kHinge:
      add(torque, {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2});
      add(force, {0, 1, 2});
      return add(torque, {axis});
    case PrimitiveKind::kScrew:
      add(torque, {0, 1});
      add(force, {0, 1});
      out.push_back({{0, 0, -b.pitch}, {0, 0, 1}});
      return add(torque, {2});
    case PrimitiveKind::kBall:
      add(force, {0, 1, 2});
      return add(torque, {0, 1, 2});
    case PrimitiveKind::kSlide:
    case PrimitiveKind::kFree:
      add(torque, {0, 1, 2});
      return add(force, {0, 1, 2});
  }
}

}  // namespace

std::optional<std::string> Mechanism::add(const Model& model) {
  const int figure = int(part_of_body.size());
  if (auto problem = add_parts(model, figure)) return problem;
  const Tree& tree = model.tree();
  for (int i = 0; i < tree.body_count(); ++i) {
    if (part_of_body[size_t(figure)][size_t(i)] < 0) continue;
    if (auto problem = add_joint(model, figure, i)) return problem;
  }
  return add_gears(model, figure);
}

std::optional<std::string> Mechanism::add_parts(const Model& model, int figure) {
  const Tree& tree = model.tree();
  const int n = tree.body_count();
  std::vector<int> parts_of(size_t(n), -1), children(size_t(n), 0);
  std::vector<char> carries(size_t(n), 0);  // mass at or behind it
  for (int i = n - 1; i >= 0; --i) {
    const Body& b = tree.bodies[size_t(i)];
    if (!b.massless) carries[size_t(i)] = 1;
    if (b.parent >= 0 && carries[size_t(i)]) {
      carries[size_t(b.parent)] = 1;
      ++children[size_t(b.parent)];
    }
  }
  tips.emplace_back();
  for (int i = 0; i < n; ++i) {
    const Body& b = tree.bodies[size_t(i)];
    if (!carries[size_t(i)]) {
      tips.back().push_back(i);
      continue;
    }
    if (b.massless) {
      if (children[size_t(i)] > 1)
        return "massless link \"" + link_of_body(model, i) + "\" carries " + std::to_string(children[size_t(i)]) +
               " joints";
      continue;
    }
    if (!resists_all(b))
      return "link \"" + link_of_body(model, i) + "\" has mass but no inertia about some axis through its centre";
    parts_of[size_t(i)] = int(parts.size());
    Part part;
    part.figure = figure;
    part.body = i;
    Eigen::Map<Matrix6d>(part.A) = to_eigen(b.M_B);
    kernel::assembly().invert_factor(part.A, part.C_inv);
    parts.push_back(part);
  }
  part_of_body.push_back(std::move(parts_of));
  return std::nullopt;
}

std::optional<std::string> Mechanism::add_joint(const Model& model, int figure, int body) {
  const Tree& tree = model.tree();
  Joint joint;
  joint.figure = figure;
  joint.child = part_of_body[size_t(figure)][size_t(body)];
  joint.bodies = int(chain.size());
  int at = body;
  do {
    chain.push_back(at);
    joint.d += tree.bodies[size_t(at)].nu;
    at = tree.bodies[size_t(at)].parent;
  } while (at >= 0 && part_of_body[size_t(figure)][size_t(at)] < 0);
  std::reverse(chain.begin() + joint.bodies, chain.end());
  joint.body_count = int(chain.size()) - joint.bodies;
  joint.simple = joint.body_count == 1;
  joint.carrier = at < 0 ? kGround : part_of_body[size_t(figure)][size_t(at)];
  if (joint.d > 6)
    return "link \"" + link_of_body(model, body) + "\" hangs on " + std::to_string(joint.d) +
           " coordinates without mass between";
  joint.coordinates = int(coordinates.size());
  for (int k = 0; k < joint.body_count; ++k) {
    const Body& b = tree.bodies[size_t(chain[size_t(joint.bodies + k)])];
    for (int u = b.u; u < b.u + b.nu; ++u) coordinates.push_back({u, tree.rotor_inertia[size_t(u)], -1});
  }
  if (joint.simple) {
    joint.columns = int(columns.size());
    primitive_columns(tree.bodies[size_t(body)], columns);
  }
  parts[size_t(joint.child)].joint = int(joints.size());
  add_joint_bond(joint);
  joints.push_back(joint);
  return std::nullopt;
}

void Mechanism::add_joint_bond(Joint& joint) {
  int rows = 6 - joint.d;
  for (int k = 0; k < joint.d; ++k) {
    JointCoordinate& c = coordinates[size_t(joint.coordinates + k)];
    if (c.rotor > 0) c.row = rows++;
  }
  if (rows == 0) return;
  joint.bond = add_bond(BondKind::kJoint, int(joints.size()), rows);
  Bond& bond = bonds.back();
  ends.push_back({joint.child, 0});
  if (joint.carrier != kGround) ends.push_back({joint.carrier, 1});
  bond.end_count = int(ends.size()) - bond.ends;
  bond.grounded = joint.carrier == kGround;
}

int Mechanism::add_bond(BondKind kind, int index, int rows) {
  bonds.push_back({.kind = kind, .index = index, .rows = rows, .first = row_count, .ends = int(ends.size())});
  row_count += rows;
  return int(bonds.size()) - 1;
}

std::optional<std::string> Mechanism::add_gears(const Model& model, int figure) {
  const Tree& tree = model.tree();
  // which joint holds a tree coordinate
  std::vector<std::pair<int, int>> place(size_t(tree.nu), {-1, 0});
  for (size_t j = 0; j < joints.size(); ++j) {
    if (joints[j].figure != figure) continue;
    for (int k = 0; k < joints[j].d; ++k) place[size_t(coordinates[size_t(joints[j].coordinates + k)].u)] = {int(j), k};
  }
  std::vector<Owner> owner(size_t(tree.nv));
  const std::vector<int> own = own_rows(tree);
  for (size_t column = 0; column < own.size(); ++column) {
    if (own[column] >= 0) owner[column] = {own[column], tree.terms[size_t(tree.rows[size_t(own[column])].begin)].ratio};
  }
  for (int u = 0; u < tree.nu; ++u) {
    const CoordinateRow& row = tree.rows[size_t(u)];
    const bool owns = row.end == row.begin + 1 && owner[size_t(tree.terms[size_t(row.begin)].column)].u == u;
    if (owns) continue;
    Gear gear;
    gear.terms = int(gear_terms.size());
    const auto add_term = [&](int coordinate, double ratio) {
      const auto [joint, k] = place[size_t(coordinate)];
      if (joint >= 0) gear_terms.push_back({joint, k, ratio});
      return joint >= 0;
    };
    bool complete = add_term(u, 1);
    for (int t = row.begin; t < row.end; ++t) {
      const CoordinateTerm& term = tree.terms[size_t(t)];
      const Owner& o = owner[size_t(term.column)];
      complete = complete && o.u >= 0 && add_term(o.u, -term.ratio * o.sign);
    }
    if (!complete) return "a gear drives, or is driven by, a joint with no mass behind it";
    gear.term_count = int(gear_terms.size()) - gear.terms;
    gear.bond = add_bond(BondKind::kGear, int(gears.size()), 1);
    Bond& bond = bonds.back();
    const auto add_end = [&](int part) {
      if (part == kGround) {
        bond.grounded = true;
        return;
      }
      for (size_t e = size_t(bond.ends); e < ends.size(); ++e) {
        if (ends[e].part == part) return;
      }
      ends.push_back({part, 0});
    };
    for (int t = gear.terms; t < gear.terms + gear.term_count; ++t) {
      const Joint& joint = joints[size_t(gear_terms[size_t(t)].joint)];
      add_end(joint.child);
      add_end(joint.carrier);
    }
    bond.end_count = int(ends.size()) - bond.ends;
    gears.push_back(gear);
  }
  owners.push_back(std::move(owner));
  return std::nullopt;
}

}  // namespace kansetsu
