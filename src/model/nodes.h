#pragma once

#include "model/leaf_kernel.h"
#include "model/tree.h"

/// The tree as the fast paths see it: one node per body, classified by which operations can be skipped, and limbs of equal structure side
/// by side in the lanes of a register. Only trees of hinges, balls and a free base without gears have this form; all others
/// go the general way over bodies and groups.
namespace kansetsu {

enum class NodeKind {
  kHingeX,  ///< a hinge about x, y or z of two frames that are parallel at q = 0
  kHingeY,
  kHingeZ,
  kHinge,  ///< a hinge about z of a frame turned by R0
  kBall,   ///< a quaternion, after R0
  kFree,   ///< the free base; node 0
};

/// What is known of p in all lanes: nothing, that it is along a coordinate axis, or that it is zero.
enum class Offset { kX, kY, kZ, kAny, kNone };

template <class Const>
struct NodeOf {
  int parent = -1;  ///< node, smaller than this one; −1: what carries the tree
  NodeKind kind = NodeKind::kHingeZ;
  int n = 1;  ///< coordinates
  int u = 0;  ///< first of its n coordinates
  int q = 0;  ///< first entry of its quaternion or pose in q; in lanes, first of the gathered numbers
  int body[4] = {-1, -1, -1, -1};  ///< in the tree, of each lane (the first where there are no lanes); −1: none
  int ball = 0;                    ///< its number among the balls
  int gathers = -1;  ///< where contributions of several limbs meet, or a free base; −1: its only child, if any, is next
  int from =
      kGround;  ///< where what its parent does is kept: a gathering place; kHandedOn: the parent is the node before
  bool leaf = true;
  bool massless = false;  ///< in all lanes
  Offset offset = Offset::kAny;
  Offset centre = Offset::kAny;  ///< the same of h, if I is diagonal; kAny if it is not
  Mat3<Const> R0 = Mat3<Const>::identity();
  Mat3<Const> Q = Mat3<Const>::identity();  ///< how its frame is turned against the body's, see limbs.cc
  Vec3<Const> p;                            ///< p_PB
  Inertia<Const> M;
  Const rotor[3] = {Const(0), Const(0), Const(0)};
  double rotor_share = 0;  ///< of a hinge, at least, of the largest trace of A in any posture; 0: not known
  LeafOf<Const> last;      ///< of a hinge that is a leaf and gathers nothing

  static constexpr int kGround = -2, kHandedOn = -1;
};

/// Where a coordinate comes from: u = ratio·v[column], angle = ratio·q[position] + offset. A lane without this joint has
/// ratio 0, and so has the angle of a coordinate that is none (position 0 then).
struct NodeCoordinate {
  int column = 0, position = 0;
  double ratio = 0, offset = 0;
};

struct LaneCoordinate;  // of sets of limbs, see limbs.h

template <class Const>
struct NodeTreeViewOf {
  const NodeOf<Const>* nodes;
  const NodeCoordinate* coordinates;       ///< of single states and packs of states
  const LaneCoordinate* lane_coordinates;  ///< of sets of limbs
  const int* quaternions;  ///< lanes only: position in q of each number of each ball, all lanes side by side
  int node_count, coordinate_count, ball_count, gather_count;
  int first_angle;  ///< coordinates before it belong to the free base
  int angles_at;    ///< the angles are q[angles_at], q[angles_at + 1], … as they are; −1: they are not
  bool in_order;    ///< coordinate k is column k of v, with ratio 1
};

}  // namespace kansetsu
