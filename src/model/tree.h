#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kansetsu/model/description.h"
#include "kansetsu/spatial/inertia.h"
#include "model/columns.h"

/// The compiled model that kernels read. It differs from the user's view in four ways:
///   * links joined by fixed joints are one body, and what is fixed to the world is the ground (index −1);
///   * joints are split into primitives, so that a body hangs on its parent by one hinge, slide, screw, ball or free joint;
///   * body frames sit at the primitive and are turned so that, wherever the geometry allows, a hinge is about a coordinate
///     axis of both bodies and the constant rotation between them vanishes;
///   * velocities are tree coordinates u = G·v: G carries gears, signs of flipped axes and the order of coordinates.
/// Model keeps X_BL for every link, and the public functions convert in one place each.
namespace kansetsu {

struct Nodes;
struct LimbSetView;
template <class Const>
struct NodeTreeViewOf;

/// Const is the type of the constants: double, float, or a pack where they differ from lane to lane.
template <class Const>
struct BodyOf {
  int parent = -1;  ///< body index, smaller than this one's; −1: the ground (world frame)
  PrimitiveKind kind = PrimitiveKind::kHinge;
  /// 0, 1, 2: a hinge about x, y or z with X_PJ.R = 1. −1: any primitive, along the z axis of its own frame.
  int aligned_axis = -1;
  int u = 0, nu = 1;        ///< tree velocity coordinates
  int large = -1;           ///< index among the ball and free primitives
  int step = -1;            ///< the elimination step it belongs to; −1: it is the free base
  Transform<Const> X_PJ;    ///< pose of this body in its parent at q = 0
  Const pitch = 0;          ///< screw [m/rad]
  Inertia<Const> M_B;       ///< of everything rigidly attached, about and in the body frame
  bool massless = true;     ///< M_B is zero
  bool concurrent = false;  ///< its origin is its parent's
  bool leaf = true;         ///< no step hangs on it
};
using Body = BodyOf<double>;

/// Primitive whose rotation is a quaternion; `q` is its first entry in the model's position vector.
struct LargePrimitive {
  int body = 0;
  int q = 0;
};

/// Row k of G: u_k = Σ ratio·v[column], and for hinges, slides and screws q_k = Σ ratio·q[position] + offset.
template <class Const>
struct CoordinateTermOf {
  int column = 0;    ///< in v
  int position = 0;  ///< in q; −1 inside balls and free joints
  Const ratio = 1;
};
template <class Const>
struct CoordinateRowOf {
  int begin = 0, end = 0;  ///< range of terms
  Const offset = 0;
};
using CoordinateTerm = CoordinateTermOf<double>;
using CoordinateRow = CoordinateRowOf<double>;

/// Bodies whose primitives share coordinates y of dimension d (gears, or the chain of one multi-DOF joint), solved
/// together in the articulated-body recursion. Every member's parent is the group's parent or another member.
/// docs/theory/gears.md, with a matrix Γ per member instead of one ratio: u_member = Γ·y.
struct Group {
  int parent = -1;
  int d = 0;
  int members = 0, member_count = 0;  ///< range in TreeView::group_members, ascending body indices
  int columns = 0;                    ///< y = v[…], d entries of TreeView::group_columns
  int gamma = 0;    ///< Γ of all members stacked, in TreeView::group_gamma: one row of d per tree coordinate, row-major
  int scratch = 0;  ///< first number of this group in the group scratch memory
};

/// Numbers of scratch memory of a group: per member X, J (d columns) and C; then K, the factor L, 1/D, e.
constexpr int group_scratch_size(int members, int d) { return members * (12 + 6 * d + 6) + 6 * d + d * d + 2 * d; }

/// One elimination step of the recursion, in the order base to tips.
struct Step {
  int body = -1;       ///< an aligned hinge, solved by the tight loop; or
  int group = -1;      ///< a group
  int parent = -1;     ///< body that the step hangs on; −1: the ground
  bool opens = false;  ///< from the tips, the first step that reaches its parent
};

/// Where a link of the user sits.
struct LinkPlacement {
  int body = -1;
  Transform<> X_BL;
  Inertia<> M_L;         ///< own inertia of the link, about and in the link frame
  bool at_body = false;  ///< X_BL is the identity
};

/// Everything a kernel may touch, as plain pointers, so that the same view works on a host and on a device.
template <class Const>
struct TreeViewOf {
  const BodyOf<Const>* bodies;
  const LargePrimitive* large;
  const CoordinateRowOf<Const>* rows;
  const CoordinateTermOf<Const>* terms;
  const Const* rotor_inertia;  ///< per tree coordinate
  const Group* groups;
  const int* group_members;
  const int* group_columns;
  const Const* group_gamma;
  const Step* steps;  ///< base to tips; a free base is not among them
  int body_count, large_count, step_count;
  int nq, nv, nu;
  int group_scratch;  ///< numbers of group scratch memory needed
  bool free_base;     ///< body 0 is free, hangs on the ground, and is solved as the root
  bool simple;        ///< row k is the one term k: no gears, just order and signs
  Vec3<Const> gravity;
  /// The form of the fast paths, see nodes.h; null if the tree has none.
  const NodeTreeViewOf<Const>* nodes = nullptr;
  const NodeTreeViewOf<double>* trunk = nullptr;  ///< single states only
  const LimbSetView* limbs = nullptr;
  int limb_count = 0;
  ColumnView columns = {};
};
using TreeView = TreeViewOf<double>;

struct Tree {
  Tree() = default;
  Tree(Tree&&) = default;  // the view points into the vectors, which a move keeps and a copy would not
  Tree& operator=(Tree&&) = default;

  std::vector<Body> bodies;
  std::vector<LargePrimitive> large;
  std::vector<CoordinateRow> rows;
  std::vector<CoordinateTerm> terms;
  std::vector<double> rotor_inertia;
  std::vector<Group> groups;
  std::vector<int> group_members, group_columns;
  std::vector<double> group_gamma;
  std::vector<Step> steps;
  std::vector<LinkPlacement> links;
  std::vector<int> joint_of_body;  ///< −1 for a free base
  /// Where the coordinates of the joints are: joint j's coordinate k is sign times a tree coordinate.
  struct JointCoordinate {
    int u = 0;
    double sign = 1;
  };
  std::vector<std::vector<JointCoordinate>> joint_coordinates;
  bool free_base = false;
  bool simple = false;
  int nq = 0, nv = 0, nu = 0;
  int group_scratch = 0;
  std::size_t scratch = 0;  ///< numbers of scratch memory that every algorithm makes do with
  Vec3<> gravity;
  std::shared_ptr<const Nodes> nodes;  ///< null if the tree does not have this form
  ColumnTables columns;

  int body_count() const { return int(bodies.size()); }
  const TreeView& view() const { return view_; }
  void make_view();  ///< once, when all is there

 private:
  TreeView view_;
};

}  // namespace kansetsu
