#include "model/compile.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "model/joint_motion.h"
#include "model/limbs.h"
#include "model/scratch.h"

namespace kansetsu {
namespace {

double component(const Vec3<>& a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }

/// Coordinate axis that a unit vector is along, or −1. Four roundings are allowed: what composing rotations by multiples
/// of 90° leaves behind. Anything more is a real angle and is kept.
int coordinate_axis(const Vec3<>& a) {
  constexpr double kRounding = 1e-15;
  for (int k = 0; k < 3; ++k) {
    if (std::abs(component(a, (k + 1) % 3)) < kRounding && std::abs(component(a, (k + 2) % 3)) < kRounding) return k;
  }
  return -1;
}

/// Some rotation whose third column is the unit vector z.
Mat3<> frame_with_z(const Vec3<>& z) {
  const Vec3<> y = normal_to(z);
  return transpose(Mat3<>{cross(y, z), y, z});
}

/// Adds the bodies of a description, link by link.
class TreeCompiler {
 public:
  TreeCompiler(const ModelDescription& d, const Coordinates& coordinates) : d_(d), coordinates_(coordinates) {}

  Tree run() {
    tree_.nq = coordinates_.nq;
    tree_.nv = coordinates_.nv;
    tree_.gravity = d_.gravity;
    tree_.links.resize(d_.links.size());
    for (const auto& rows : coordinates_.rows) tree_.joint_coordinates.emplace_back(rows.size());
    place_root();
    std::unordered_map<std::string, int> index;
    for (int i = 0; i < int(d_.links.size()); ++i) index[d_.links[size_t(i)].name] = i;
    for (int j = 0; j < int(d_.joints.size()); ++j) {
      const LinkPlacement& parent = tree_.links[size_t(index.at(d_.joints[size_t(j)].parent))];
      add_joint(j, parent);
    }
    for (LinkPlacement& link : tree_.links) {
      link.M_L = link_inertia(d_.links[size_t(&link - tree_.links.data())]);
      link.at_body = link.X_BL == Transform<>{};
      if (link.body < 0) continue;
      Body& body = tree_.bodies[size_t(link.body)];
      body.M_B = body.M_B + link.X_BL * link.M_L;
    }
    tree_.nu = int(tree_.rows.size());
    tree_.simple = tree_.nu == tree_.nv && std::ranges::all_of(tree_.rows, [&](const CoordinateRow& row) {
                     return row.end - row.begin == 1 && row.begin == int(&row - tree_.rows.data());
                   });
    for (Body& b : tree_.bodies) {
      b.massless = b.M_B == Inertia<>{};
      b.concurrent = b.X_PJ.p == Vec3<>{};
    }
    form_groups(tree_);
    tree_.nodes = make_nodes(tree_);
    tree_.columns = make_column_tables(tree_);
    tree_.scratch = scratch_size(tree_);
    tree_.make_view();
    return std::move(tree_);
  }

 private:
  void place_root() {
    if (d_.base == Base::kFixed) {
      tree_.links[0] = {-1, to_transform(d_.base_pose), {}};
      return;
    }
    tree_.free_base = true;
    Body body;
    body.kind = PrimitiveKind::kFree;
    body.nu = 6;
    add_large(body, coordinates_.base.q);
    for (int k = 0; k < 6; ++k) add_row({{{coordinates_.base.v + k, 1.0}}, 0.0}, 1.0, 0.0);
    push(body, -1);
    tree_.links[0] = {0, {}, {}};
  }

  void add_joint(int j, const LinkPlacement& parent) {
    const JointDescription& joint = d_.joints[size_t(j)];
    int at = parent.body;                                         // the body reached so far, and
    Transform<> X_BF = parent.X_BL * to_transform(joint.socket);  // the joint frame on it
    for (const Primitive& primitive : info(joint.type).chain) {
      Body body;
      body.parent = at;
      body.kind = primitive.kind;
      const auto rows = [&](int count, double sign) {
        body.nu = count;
        body.u = int(tree_.rows.size());
        for (int k = 0; k < count; ++k) {
          const int c = primitive.coordinate + k;
          const double rotor = size_t(c) < joint.dofs.size() ? joint.dofs[size_t(c)].rotor_inertia : 0.0;
          tree_.joint_coordinates[size_t(j)][size_t(c)] = {int(tree_.rows.size()), sign};
          add_row(coordinates_.rows[size_t(j)][size_t(c)], sign, rotor);
        }
      };
      if (primitive.kind == PrimitiveKind::kBall || primitive.kind == PrimitiveKind::kFree) {
        body.X_PJ = X_BF;
        rows(primitive.kind == PrimitiveKind::kBall ? 3 : 6, 1.0);
        add_large(body, quaternion_source(j));
        X_BF = {};
      } else {
        const Vec3<> axis_F = primitive_axis(joint, primitive.axis);
        const Vec3<> axis_P = X_BF.R * axis_F;
        const int k = coordinate_axis(axis_P);
        if (primitive.kind == PrimitiveKind::kHinge && k >= 0) {  // frames parallel at q = 0, hinge about ±e_k
          body.aligned_axis = k;
          body.X_PJ = {Mat3<>::identity(), X_BF.p};
          rows(1, component(axis_P, k) > 0 ? 1.0 : -1.0);
          X_BF = {X_BF.R, {}};
        } else {
          const Mat3<> R_FJ = frame_with_z(axis_F);
          body.X_PJ = {X_BF.R * R_FJ, X_BF.p};
          body.pitch = primitive.kind == PrimitiveKind::kScrew ? joint.pitch : 0.0;
          rows(1, 1.0);
          X_BF = {transpose(R_FJ), {}};
        }
      }
      push(body, j);
      at = int(tree_.bodies.size()) - 1;
    }
    tree_.links[size_t(j) + 1] = {at, X_BF * inverse(to_transform(joint.plug)), {}};
  }

  void add_row(const Model::Row& row, double sign, double rotor) {
    CoordinateRow r;
    r.begin = int(tree_.terms.size());
    for (const auto& [column, ratio] : row.terms) {
      tree_.terms.push_back({column, coordinates_.position_of_column[size_t(column)], sign * ratio});
    }
    r.end = int(tree_.terms.size());
    r.offset = sign * row.offset;
    tree_.rows.push_back(r);
    tree_.rotor_inertia.push_back(rotor);
  }

  void add_large(Body& body, int q) {
    body.large = int(tree_.large.size());
    tree_.large.push_back({int(tree_.bodies.size()), q});
  }

  /// First entry in q of the quaternion (or pose) that joint j follows: its own, or that of the joint it is geared to.
  int quaternion_source(int j) const {
    const int column = coordinates_.rows[size_t(j)][0].terms.at(0).first;
    for (const CoordinateRange& range : coordinates_.joints) {
      if (range.nv > 0 && range.v == column) return range.q;
    }
    return coordinates_.base.q;
  }

  void push(Body body, int joint) {
    tree_.bodies.push_back(body);
    tree_.joint_of_body.push_back(joint);
  }

  const ModelDescription& d_;
  const Coordinates& coordinates_;
  Tree tree_;
};

}  // namespace

void order_depth_first(ModelDescription& d) {
  std::unordered_map<std::string, size_t> link_index;
  for (size_t i = 0; i < d.links.size(); ++i) link_index[d.links[i].name] = i;
  std::vector<std::vector<size_t>> joints_below(d.links.size());
  std::vector<bool> is_child(d.links.size(), false);
  for (size_t j = 0; j < d.joints.size(); ++j) {
    joints_below[link_index.at(d.joints[j].parent)].push_back(j);
    is_child[link_index.at(d.joints[j].child)] = true;
  }
  const size_t root = size_t(std::ranges::find(is_child, false) - is_child.begin());

  std::vector<LinkDescription> links;
  std::vector<JointDescription> joints;
  struct Visit {
    size_t link;
    std::optional<size_t> joint;
  };
  std::vector<Visit> stack{{root, std::nullopt}};
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    links.push_back(d.links[visit.link]);
    if (visit.joint) joints.push_back(d.joints[*visit.joint]);
    const auto& below = joints_below[visit.link];
    for (auto it = below.rbegin(); it != below.rend(); ++it) stack.push_back({link_index.at(d.joints[*it].child), *it});
  }
  d.links = std::move(links);
  d.joints = std::move(joints);
}

Inertia<> link_inertia(const LinkDescription& link) {
  if (!link.inertial) return {};
  const Inertial& inertial = *link.inertial;
  const Transform<> X_LI = to_transform(inertial.origin);
  return make_inertia(inertial.mass, X_LI.p, congruence(X_LI.R, inertial.inertia));
}

Tree compile_tree(const ModelDescription& ordered, const Coordinates& coordinates) {
  return TreeCompiler(ordered, coordinates).run();
}

}  // namespace kansetsu
