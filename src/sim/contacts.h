#pragma once

#include <string>
#include <vector>

#include "constraint/island.h"
#include "kansetsu/geometry/broad_phase.h"
#include "kansetsu/geometry/contact.h"
#include "kansetsu/geometry/contact_cache.h"
#include "kansetsu/geometry/material.h"
#include "kansetsu/sim/world.h"
#include "sim/figure.h"
#include "sim/parallel.h"

namespace kansetsu {

/// A shape of a link, or of the environment.
struct WorldShape {
  int figure = -1, body = -1;  ///< −1: it is not part of a moving figure
  int owner = -1;              ///< the figure of its link, fixed or not; −1: the environment
  LinkId link{0};
  Geometry geometry;
  Transform<> X_BS;  ///< on its body, or in the world
  MaterialId material{0};
  std::string name{};
  bool is_alone = true;  ///< its link has no other shape
  bool moves = false;    ///< of the environment: it or its surface has a prescribed motion
  std::optional<PrescribedMotion> motion{};
  Vec3<> surface_velocity{};
  // A bounding ball on its body; infinite for shapes without bounds. Spheres and capsules have tighter bounds: a core segment
  // from the centre to ± core_B, and core_radius around it.
  Vec3<> centre_B{};
  double radius = 0;
  bool is_round = false;
  Vec3<> core_B{};
  double core_radius = 0;
  Vec3<> centre_W{}, core_W{}, extent_W{};  ///< extent: half of a box around it, along the axes of the world
  std::uint64_t centred = 0;                ///< value of the finder's counter when they were computed
  // Of this step, once it has been placed:
  Transform<> X_WS{};
  RowEnd end{};
  std::uint64_t placed = 0;
  Mat3<> plane_axes{};  ///< of a plane: axes of all its contacts
};

/// Axes of a patch: z = n, turned as little as possible from the axes of the parent, so that they are fixed to it.
Mat3<> patch_axes(const Vec3<>& n, const Mat3<>& R_WP);

/// Other shapes of the same link whose points are part of a contact.
inline constexpr int kMaxMerged = 7;
struct MergedShapes {
  int count = 0;
  int shape[kMaxMerged] = {};
};

/// A contact of this step.
struct Touch {
  int parent = 0, real = 0;  ///< shapes
  MergedShapes merged{};     ///< with `real`
  int slot = 0;              ///< of its memory
  Mat3<> E;
  Vec3<> origin;
  ContactPatch patch;
  ContactMemory memory;
  int only = -1;                  ///< the only near point of several: then the patch is that point; else −1
  double only_x = 0, only_y = 0;  ///< that point relative to the mean of all points, in E [m]
  bool is_new = false;            ///< a vertex has begun to touch
  double rolling = 0;             ///< lever of the moment that resists rolling [m]
  double pressure = 0;            ///< of the last step [N]
  const RowEnd *parent_end = nullptr, *real_end = nullptr;  ///< ends of the shapes
};

/// Finds the contacts of a step and keeps their memories from step to step.
class ContactFinder {
 public:
  int add(WorldShape shape, int broad_body, const CollisionGroups& groups);
  const std::vector<WorldShape>& shapes() const { return shapes_; }
  /// A change of shapes or filters makes the next step search for pairs again.
  std::vector<WorldShape>& change_shapes() {
    for (WorldShape& s : shapes_) s.placed = s.centred = 0;
    return found_ = false, shapes_;
  }
  BroadPhase& change_filters() { return found_ = false, broad_; }
  void rearranged() { found_ = false; }            ///< figures fell asleep or woke
  bool has_motion() const { return has_motion_; }  ///< of the environment
  MaterialTable& materials() { return materials_; }
  const MaterialTable& materials() const { return materials_; }
  const BroadPhase& filters() const { return broad_; }
  /// Material of a pair: combined from those of the two shapes, unless the pair has its own.
  const ContactMaterial& material_between(int a, int b) const;
  void set_material_between(int a, int b, const ContactMaterial& material);

  /// How far ahead contacts are looked for: points that may be reached within the step are contacts already.
  struct Ahead {
    double h = 0;        ///< length of the step [s]; 0: only points closer than tol_gap
    double gravity = 0;  ///< [m/s²]
  };
  /// Figures have their poses, and their velocities if ahead.h > 0; shapes of the environment are at `time`.
  void find(Figures& figures, double time, double margin, double tol_gap, const Ahead& ahead);
  /// Smallest gap of all pairs at the figures' present poses; does not change memories.
  double smallest_gap(Figures& figures, double time, double margin);
  std::vector<Touch>& touches() { return touches_; }
  const std::vector<Touch>& touches() const { return touches_; }
  void remember();  ///< keeps the memories of this step's touches
  /// Gives each touch the pressure of the last step and its centre, which rows use in all solutions of this step.
  void keep_pressures();
  ThreadPool* pool = nullptr;  ///< its threads examine pairs; none: this thread
  /// Friction arms of the last two polygons of a contact: they seldom change, and a rocking foot alternates between two.
  struct KnownArm {
    std::array<ContactVertex, ContactPatch::kMaxVertices> polygon{};
    int count = 0;
    double arm = 0;
  };
  using KnownArms = std::array<KnownArm, 2>;
  /// State from step to step; memories and arms by slot.
  struct Carried {
    ContactCache cache;
    std::vector<ContactMemory> remembered;
    std::vector<KnownArms> arms;
  };
  const Carried& carried() const { return carried_; }
  Carried& change_carried() { return carried_; }
  void restore(const Carried& carried) { carried_ = carried; }
  void keep() { kept_ = carried_; }     ///< before find()
  void go_back() { carried_ = kept_; }  ///< to the last keep()
  /// After a copy: touches point to their own shapes again.
  void own_touches();

 private:
  void find_pairs(Figures& figures, double time, double margin);
  void place(WorldShape& shape, Figures& figures, double time);
  void place_anew(WorldShape& shape, Figures& figures, double time);
  void list_movers();
  void look_ahead(const Figures& figures, double time, const Ahead& ahead);
  double margin_of(const ShapePair& pair, double margin) const;
  /// Distance at which two shapes touch.
  double clearance_of(const ShapePair& pair) const {
    return largest_clearance_ > 0 ? material_between(pair.a, pair.b).clearance : 0;
  }
  double near_of(const Manifold& m, const PairKey& key, double tol_gap, const Ahead& ahead) const;
  bool still_near(Figures& figures, double time);
  void find_near(Figures& figures, double time, double margin);
  void find_centre(WorldShape& shape, const Figures& figures);
  double least_gap(const ShapePair& pair, const Figures& figures);
  void collide_pair(const ShapePair& pair, double margin);
  bool lie_still(const ShapePair& pair, const Figures& figures) const;
  struct Sides {
    const WorldShape &parent, &real;
  };
  Sides sides_of(const ShapePair& pair) const;
  static bool boxes_meet(const Sides& sides, double margin);
  bool is_convex(const ShapePair& pair) const;
  bool collide_convex(const ShapePair& pair, double margin, Manifold& out) const;
  void append(const PairKey& key, const Manifold& m);
  void list_candidates(Figures& figures, double time, double margin);
  void repeat_pair(size_t near);
  void keep_pair(size_t near, size_t first);
  void join_flat();
  bool on_one_plane(const PairKey& a, const PairKey& b) const;
  bool join(size_t i, size_t j);
  void make_touch(const Manifold& m, const PairKey& key, const ContactMatch& match, double tol_gap, double near,
                  Touch& t);
  void place_points(const Manifold& m, double near, Touch& t) const;
  void recall(const Manifold& m, const ContactMatch& match, double tol_gap, Touch& t) const;

  std::vector<WorldShape> shapes_;
  BroadPhase broad_;
  MaterialTable materials_;
  std::vector<std::pair<ShapePair, ContactMaterial>> pair_materials_;  ///< sorted
  std::vector<Aabb> boxes_;
  /// Pairs that may touch before some body has moved by more than slack_: their boxes, grown by slack_, overlap.
  std::vector<ShapePair> near_;
  std::vector<double> near_gap_;  ///< per pair: a lower bound of its gap then [m]
  double moved_ = 0;              ///< no point of a shape has moved further since [m]
  /// A body with shapes, or a moving shape of the environment.
  struct Mover {
    int figure, body, shape;
    double reach;        ///< of its shapes, from its origin [m]
    double ahead = 0;    ///< how far its shapes may move within the step [m]
    double allowed = 0;  ///< `ahead` for which the pairs were found: half a margin, or more if it is fast [m]
    Transform<> X_W{};   ///< of the environment: its pose when the pairs were found
  };
  std::vector<Mover> movers_;
  std::vector<int> mover_of_;  ///< per shape; −1: it stays
  /// The bodies among the movers, by figure, where they were when the pairs were found.
  struct FigureBefore {
    int figure, first, count;
    Vec3<> origin{};
  };
  std::vector<FigureBefore> figures_before_;
  std::vector<kernel::BodyBefore> bodies_before_;
  /// Contacts of pairs at rest, as they were first found: a range of still_manifolds_, per near pair.
  struct Kept {
    int first = -1, count = 0;
  };
  /// A pair that this step has to examine.
  struct Candidate {
    int near;  ///< its place among the near pairs
    double margin;
    bool still, known;  ///< both are at rest; their contacts are known
    bool hit = false;
  };
  std::vector<Candidate> candidates_;
  std::vector<Manifold> found_by_;  ///< by candidate, if several threads work
  std::vector<Kept> kept_of_;
  std::vector<PairKey> still_keys_;
  std::vector<Manifold> still_manifolds_;
  bool has_motion_ = false;
  double largest_clearance_ = 0;  ///< of all pairs of materials [m]
  bool found_ = false;            ///< near_ is valid
  double margin_ = 0;             ///< for which near_ was made
  double slack_ = 0.02;           ///< [m]
  int looks_ = 0;                 ///< steps since the pairs were found
  std::uint64_t now_ = 0;         ///< counts searches: shapes placed in this one have its value
  std::vector<Manifold> memory_, manifolds_;
  std::vector<PairKey> keys_;
  std::vector<MergedShapes> merged_;  ///< per manifold
  Carried carried_, kept_;
  double arm_of(int slot, const ContactPatch& patch);
  std::vector<Touch> touches_;
};

}  // namespace kansetsu
