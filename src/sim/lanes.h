#pragma once

#include <cstdint>

#include "kansetsu/spatial/inertia.h"
#include "model/tree.h"

/// Several worlds of one figure, one per lane: the data that a kernel reads, and its entry points. Lanes make the common step
/// only: the soles of a stance rest on planes, all of them hold, nothing else is near. The kernel returns for which lanes that is
/// true. docs/theory/contact.md, "Eight worlds in lanes".
namespace kansetsu::kernel {

inline constexpr int kMostSoles = 2, kSoleRows = 6, kSoleCorners = 4, kMostRows = kMostSoles * kSoleRows;

/// Columns that are eliminated at once: between two bodies, with nothing between them that has mass. What hangs on the outer one
/// is in a slot; the first child's becomes its carrier's.
struct LaneStep {
  int first, last;  ///< columns
  int heavy;        ///< of the outer body: whose own inertia is added before; −1: it has none
  int slot;
  int others, others_end;  ///< the slots of its other children: a range of LaneFigure::others
  bool leaf;               ///< nothing hangs on it
  bool base;               ///< it is a free base, on which torques act, too
  int before, after;       ///< places of accelerations: of what carries it, or kGround; of itself
  static constexpr int kGround = -1;
};

/// The inertia of a body about its centre of mass, body axes.
struct LaneInertia {
  double m;
  Vec3<> com;
  Sym3<> I;
  bool diagonal;  ///< I is
  bool along_z;   ///< com is
};

/// A coordinate with limits: ratio·q[position] + offset stays clear of both.
struct LaneLimit {
  int position, column;
  double ratio, offset, lower, upper;
};

/// Coordinates that just add up, from q and v on; or a quaternion.
struct LaneStretch {
  int q, v, count;
};

/// The tree as the recursion goes through it. Where nothing touches, from the base on. Where a sole stands, from there on: it holds,
/// so that its acceleration is known, and its six rows need no equations.
struct LaneTree {
  const LaneStep* steps;  ///< the deepest first: those of different limbs do not wait for each other
  const int* others;
  const bool* turned;  ///< per column: it lies between the sole and the base, and moves its parent instead of its child
  LaneStep root;       ///< without columns, but for a free base
  int step_count;
};

/// One figure, the same in all lanes.
struct LaneFigure {
  const TreeView* tree;
  const int* heavy;             ///< per body: its place among those with mass, or −1
  const int* kept;              ///< per body: its place among those whose motion is asked for, or −1
  const LaneInertia* inertias;  ///< per body
  const LaneLimit* limits;
  const LaneStretch *runs, *turns;
  int heavy_count, kept_count, slot_count, limit_count, run_count, turn_count;
  bool aligned;        ///< all joints but a free base are aligned hinges
  double least_pivot;  ///< [kg·m²] less may be a column that nothing resists
  double least_mobility;
  double mass;
  double h;
  // As World has them:
  double products_gain, limit_near, limit_time;
};

/// A face of a box on a plane of the environment. Its corners, in the order of the manifold: −a−b, +a−b, +a+b, −a+b.
struct LaneSole {
  int kept;                   ///< place of its body
  Vec3<> middle_B, a_B, b_B;  ///< of the face
  Vec3<> outward_B;           ///< of the box
  Vec3<> on_plane;            ///< a point
  Mat3<> E;                   ///< axes of the patch
  double mu;                  ///< that holds
  const int* path;            ///< columns from the sole to the first one, on which the tree stands
  int path_count;
};

/// A convex shape that has to stay away from a plane: Σ|n·e_k| + radius is how far it reaches.
struct LaneWatch {
  int plane = 0;
  Vec3<> centre_B{}, e_B[3]{};
  int e_count = 0;
  double radius = 0;
  double lever = 0;  ///< from the body's origin to the farthest point
};
struct LanePlane {
  Vec3<> normal, point;
  bool level;  ///< the normal is the world's z axis
};
/// Two balls that must not meet; one of them may rest in the world (kept < 0).
struct LanePair {
  int kept_a, kept_b;
  Vec3<> centre_a, centre_b;
  double reach;             ///< sum of their radii, and the margin
  double lever_a, lever_b;  ///< from the origins of their bodies to the farthest points
};

/// Which soles are down.
struct LaneStance {
  LaneSole soles[kMostSoles];
  int sole_count;
  LaneTree tree;
  const LanePlane* planes;
  const LaneWatch* watches;
  const int* watch_begin;  ///< of each body: its first watch, and one more at the end
  const LanePair* pairs;
  int pair_count;
  double margin;   ///< [m] to be kept beside what may be met within the step: twice the way at the present speed
  double twice_h;  ///< [s]
  // Of the contact solver:
  double tol_gap, slop, v_eps, w_eps, slow, tolerance, rank_tolerance;
};

/// A block of worlds: every number is a pack, `width` of them side by side.
struct LaneBlock {
  double *q, *v, *vdot, *effort;
  double* torque;                 ///< set by the user, per column
  double *gain_p, *gain_d, *aim;  ///< of PD control, per column: τ = aim − gain_p·(q + h·v) − gain_d·v, implicit
  double* wrench;                 ///< per sole, kSoleRows
  double* corners;                ///< per sole, in the world: kSoleCorners × 3
  double *polygon[2], *arm[2];    ///< per sole: two that are known, corners x, y; and their arms of friction
  double* gap;                    ///< per sole: the smallest
  double *work_torque, *work_contact, *residual, *worst_residual, *worst_gap;
};

struct LaneKernels {
  int width;
  /// One step of the lanes in `wanted` (bit i: lane i). @return those for which it is valid; the others are left as they were.
  std::uint32_t (*step)(const LaneFigure&, const LaneStance&, std::uint32_t wanted, void* scratch, const LaneBlock&);
  /// Bytes of scratch.
  std::size_t (*scratch)(const LaneFigure&);
};
const LaneKernels& lanes();     ///< of this processor
const LaneKernels& one_lane();  ///< a world by itself

}  // namespace kansetsu::kernel
