#include "sim/lane_plan.h"

#include <algorithm>
#include <cmath>

#include "base/isa_table.h"
#include "constraint/contact_thresholds.h"
#include "geometry/box_features.h"
#include "geometry/convex.h"
#include "sim/actuators.h"

namespace kansetsu {
namespace kernel {

KANSETSU_TABLE(LaneKernels, lanes, lane_table)
KANSETSU_TABLE(LaneKernels, one_lane, one_lane_table)

}  // namespace kernel

namespace {

constexpr size_t kMostStances = 16, kMostPairs = 512;

/// The lowest face of a box by its corners, or −1.
int face_of(std::span<const std::uint32_t> features) {
  using namespace detail;
  if (features.size() != kernel::kSoleCorners) return -1;
  for (int face = 0; face < 6; ++face) {
    bool same = true;
    for (size_t i = 0; i < 4; ++i) {  // as box_plane() writes them
      const std::uint32_t corner = feature(FeatureKind::kVertex, kBoxFaces[face].vertex[3 - i]);
      same = same && features[i] == feature_pair(corner, feature(FeatureKind::kFace, 0));
    }
    if (same) return face;
  }
  return -1;
}

Vec3<> unit(int axis) { return {double(axis == 0), double(axis == 1), double(axis == 2)}; }
double component(const Vec3<>& a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

kernel::LaneInertia about_com(const Inertia<>& M) {
  const Vec3<> com = M.m > 0 ? (1 / M.m) * M.h : Vec3<>{};
  const Sym3<> I = M.I - M.m * parallel_axis(com, com);
  return {M.m, com, I, I.xy == 0 && I.xz == 0 && I.yz == 0, com.x == 0 && com.y == 0};
}

bool is_fixed_plane(const WorldShape& s) { return s.figure < 0 && s.geometry.kind() == ShapeKind::kPlane; }

}  // namespace

LanePlan::LanePlan(const World::Impl& world)
    : parameters_(world.parameters),
      model_(world.figures.at(0)->model),
      obstacle_(find_obstacle(world)),
      shape_count_(world.contacts.shapes().size()) {
  if (!obstacle_.empty()) return;
  list_pairs(world);
  if (!obstacle_.empty()) return;
  make_figure(world);
  find_joints();
}

std::string LanePlan::find_obstacle(const World::Impl& world) const {
  const WorldOptions& o = world.options;
  if (world.figures.size() != 1) return "the world has " + std::to_string(world.figures.size()) + " figures, not one";
  const FigureData& f = *world.figures[0];
  if (o.integrator != Integrator::kSemiImplicit) return "the integrator is not the semi-implicit one";
  if (!o.contact.end_of_step || o.contact.friction_set != FrictionSet::kEllipse ||
      o.contact.start > ContactTier::kNewton || !(o.contact_margin >= o.contact.tol_gap))
    return "the options of the contact solver are not the defaults";
  if (model_.nv() == 0) return "the figure has no coordinate";
  if (!model_.tree().view().columns.ordered) return "the figure has gears";
  if (f.has_screws) return "a joint besides the base is free";
  if (!f.balls.empty() && f.options.switches.limits) return "a ball joint has limits";
  for (const PassiveDrive& p : f.bounds) {
    if (p.friction > 0) return "a joint has dry friction";
    if (f.drives[size_t(p.drive)].terms.size() != 1) return "a limit is on several coordinates";
  }
  for (const PassiveDrive& p : f.springs) {
    if (p.stiffness != 0) return "a joint has a spring";
    if (f.drives[size_t(p.drive)].terms.size() != 1) return "a damper is on several coordinates";
  }
  for (const WorldShape& s : world.contacts.shapes()) {
    if (s.moves || s.motion) return "the environment moves";
    if (s.figure >= 0 && !std::isfinite(s.radius)) return "a shape of the figure has no bounds";
  }
  return {};
}

/// Lists the pairs that the filters allow.
void LanePlan::list_pairs(const World::Impl& world) {
  BroadPhase all = world.contacts.filters();
  constexpr double kHuge = 1e30;
  all.update(std::vector<Aabb>(shape_count_, Aabb{{-kHuge, -kHuge, -kHuge}, {kHuge, kHuge, kHuge}}));
  pairs_.assign(all.pairs().begin(), all.pairs().end());
  if (pairs_.size() > kMostPairs)
    obstacle_ = "there are " + std::to_string(pairs_.size()) + " pairs of shapes to check";
  for (const ShapePair& pair : pairs_) {
    const WorldShape &a = world.contacts.shapes()[size_t(pair.a)], &b = world.contacts.shapes()[size_t(pair.b)];
    const bool bounded = std::isfinite(a.radius) && std::isfinite(b.radius);
    if (!bounded && !is_fixed_plane(a) && !is_fixed_plane(b)) obstacle_ = "a shape of the environment has no bounds";
    const ContactMaterial& material = world.contacts.material_between(pair.a, pair.b);
    if (material.rolling_radius > 0) obstacle_ = "something resists rolling";
    if (material.clearance > 0) obstacle_ = "shapes touch from a distance";
  }
}

void LanePlan::make_figure(const World::Impl& world) {
  const FigureData& f = *world.figures[0];
  const Tree& tree = model_.tree();
  const int bodies = tree.body_count();
  heavy_.assign(size_t(bodies), -1), kept_.assign(size_t(bodies), -1), children_.assign(size_t(bodies), 0);
  std::vector<bool> keep(static_cast<size_t>(bodies), false);
  for (int i = 0; i < bodies; ++i) {
    const Body& b = tree.bodies[size_t(i)];
    if (!b.massless) heavy_[size_t(i)] = figure_.heavy_count++;
    inertias_.push_back(about_com(b.M_B));
    if (b.parent >= 0) ++children_[size_t(b.parent)];
    if (b.parent >= 0 && b.parent != i - 1) keep[size_t(b.parent)] = true;
  }
  double reach = 0;  // how far anything can be from the base, and the inertia that gives
  for (const Body& b : tree.bodies) reach += norm(b.X_PJ.p);
  for (const ShapePair& pair :
       pairs_) {  // boxes may stand; of others places are asked for unless they only meet planes
    const WorldShape &a = world.contacts.shapes()[size_t(pair.a)], &b = world.contacts.shapes()[size_t(pair.b)];
    const bool plane = is_fixed_plane(a) || is_fixed_plane(b);
    for (const WorldShape* s : {&a, &b}) {
      if (s->figure >= 0 && (!plane || s->geometry.kind() == ShapeKind::kBox)) keep[size_t(s->body)] = true;
    }
  }
  for (int i = 0; i < bodies; ++i) {
    if (keep[size_t(i)]) kept_[size_t(i)] = figure_.kept_count++;
  }
  for (const PassiveDrive& p : f.bounds) {
    const DriveCoordinate& d = f.drives[size_t(p.drive)];
    limits_.push_back({d.positions[0].first, d.terms[0].first, d.terms[0].second, d.offset, d.dof.lower, d.dof.upper});
  }
  for (const FigureData::Run& r : f.runs) runs_.push_back({r.q, r.v, r.count});
  for (const FigureData::Run& r : f.rotations) turns_.push_back({r.q, r.v, r.count});
  // A pivot that World takes for a column that nothing resists is below 1e-14 of what hangs on it, at any distance from O.
  double turning = 0;
  for (const Body& b : tree.bodies)
    turning += b.M_B.I.xx + b.M_B.I.yy + b.M_B.I.zz + b.M_B.m * 2 * reach * reach + 2 * reach * norm(b.M_B.h);
  double rotor = 0;
  for (const double r : tree.rotor_inertia) rotor = std::max(rotor, r);
  figure_.least_pivot =
      kernel::threshold::kNoResistance * ((1 + reach * reach) * (turning + 3 * model_.mass()) + rotor);
  figure_.mass = model_.mass();
  figure_.least_mobility = kernel::threshold::kInseparable / model_.mass();
  figure_.products_gain = threshold::kProductsGain;
  figure_.limit_near = threshold::kLimitReach, figure_.limit_time = threshold::kLimitSteps * world.options.time_step;
  figure_.h = world.options.time_step;
  figure_.tree = &tree.view();
  figure_.aligned = tree.simple;
  for (int i = tree.free_base ? 1 : 0; i < bodies; ++i)
    figure_.aligned = figure_.aligned && tree.bodies[size_t(i)].aligned_axis >= 0;
  figure_.inertias = inertias_.data();
  figure_.heavy = heavy_.data(), figure_.kept = kept_.data();
  figure_.limits = limits_.data(), figure_.limit_count = int(limits_.size());
  figure_.runs = runs_.data(), figure_.run_count = int(runs_.size());
  figure_.turns = turns_.data(), figure_.turn_count = int(turns_.size());
}

void LanePlan::find_joints() {
  const TreeView& tree = model_.tree().view();
  for (const int children : children_) figure_.slot_count += children == 0;
  ++figure_.slot_count;  // a base that carries nothing but the leg on which the tree stands
  joints_ = order_column_steps(tree);
  if (tree.free_base) std::erase_if(joints_, [](const ColumnStep& step) { return step.tip == 0; });
}

/// The steps of the tree that stands on a body (−1: on the ground), and the ways of the other soles to it. False if the body is
/// between others that are passed at once.
bool LanePlan::make_tree(int root, Stance& stance) {
  const Tree& tree = model_.tree();
  const auto parent = [&](int body) { return tree.bodies[size_t(body)].parent; };
  std::vector<ColumnStep> order, turned;  // turned: from the root to the base
  std::vector<bool> is_turned(joints_.size(), false);
  for (int at = root; at > 0 || (at == 0 && !tree.free_base);) {
    const auto found = std::find_if(joints_.begin(), joints_.end(), [&](const ColumnStep& j) { return j.tip == at; });
    if (found == joints_.end()) return false;
    is_turned[size_t(found - joints_.begin())] = true;
    turned.push_back(*found);
    at = parent(found->top);
  }
  for (size_t i = 0; i < joints_.size(); ++i) {
    if (!is_turned[i]) order.push_back(joints_[i]);
  }
  order.insert(order.end(), turned.rbegin(), turned.rend());
  const size_t straight = joints_.size() - turned.size();
  stance.turned = std::make_unique<bool[]>(size_t(model_.nv()));
  std::vector<std::vector<int>> slots(size_t(tree.body_count()));  // of each body: those of what hangs on it
  int slot_count = 0;
  const auto step_of = [&](int outer, int first, int last, int before) {
    const std::vector<int>& children = slots[size_t(outer)];
    kernel::LaneStep step{.first = first,
                          .last = last,
                          .heavy = heavy_[size_t(outer)],
                          .slot = children.empty() ? slot_count++ : children[0],
                          .others = int(stance.others.size()),
                          .others_end = 0,
                          .leaf = children.empty(),
                          .base = tree.free_base && outer == 0,
                          .before = before < 0 ? kernel::LaneStep::kGround : before,
                          .after = outer};
    for (size_t k = 1; k < children.size(); ++k) stance.others.push_back(children[k]);
    step.others_end = int(stance.others.size());
    if (before >= 0) slots[size_t(before)].push_back(step.slot);
    return step;
  };
  for (size_t i = 0; i < order.size(); ++i) {
    const Body &inner = tree.bodies[size_t(order[i].top)], &outer = tree.bodies[size_t(order[i].tip)];
    const int first = inner.u, last = outer.u + outer.nu - 1;
    stance.steps.push_back(i < straight ? step_of(order[i].tip, first, last, inner.parent)
                                        : step_of(inner.parent, first, last, order[i].tip));
    for (int k = first; i >= straight && k <= last; ++k) stance.turned[size_t(k)] = true;
  }
  kernel::LaneTree& t = stance.table.tree;
  if (const int at = root < 0 ? 0 : root; root >= 0 || tree.free_base) t.root = step_of(at, 0, -1, -1);
  t.steps = stance.steps.data(), t.step_count = int(stance.steps.size());
  t.others = stance.others.data();
  t.turned = stance.turned.get();
  return true;
}

bool LanePlan::fits(const World::Impl& w) const {
  return w.figures.size() == 1 && w.parameters == parameters_ && w.contacts.shapes().size() == shape_count_ &&
         w.figures[0]->model.gravity() == model_.gravity();
}

bool LanePlan::is_plain(const World::Impl& w) const {
  if (w.sleeping.count() > 0 || w.status != WorldStatus::kRunning || !w.callbacks.empty() ||
      !w.contact_callbacks.empty() || !w.sensors.list.empty() || !w.events.list.empty() || !w.springs.empty() ||
      !w.couplings.empty() || !w.figures[0]->medium_parts.empty() || !fits(w))
    return false;
  for (const ConnectionData& c : w.connections) {
    if (c.active) return false;
  }
  if (is_active(w.figures[0]->actuators)) return false;
  for (const Controller& c : w.controllers) {
    if (!c.state.active) continue;
    if (c.description.kind != ControlKind::kPd || c.limited || c.draws) return false;
    for (const JointSignal& s : c.joints) {
      if (s.amplitude != 0 || s.column < 0) return false;
    }
  }
  return (w.figures[0]->external.array() == 0).all();
}

bool LanePlan::stance_of(const World::Impl& w, StanceKey& key) const {
  const ContactFinder::Carried& carried = w.contacts.carried();
  const ContactCache& cache = carried.cache;
  key = {};
  if (cache.size() > kernel::kMostSoles) return false;
  for (int i = 0; i < cache.size(); ++i) {
    const PairKey& pair = cache.key(i);
    const WorldShape &a = w.contacts.shapes()[size_t(pair.a)], &b = w.contacts.shapes()[size_t(pair.b)];
    const WorldShape &plane = a.figure < 0 ? a : b, &box = a.figure < 0 ? b : a;
    const size_t slot = size_t(cache.id(i).slot);
    const ContactMemory& memory = carried.remembered[slot];
    const int face = face_of(cache.features(i));
    const bool stands = is_fixed_plane(plane) && box.figure >= 0 && box.body >= 0 &&
                        box.geometry.kind() == ShapeKind::kBox && face >= 0 && memory.wrench[2] > 0 &&
                        ((holds(memory) && memory.steady > 0) || memory.has_jerked());
    if (!stands) return false;
    key.soles[size_t(key.count++)] = {pair, face};
  }
  if (key.count == 0 && model_.base() == Base::kFree)
    return false;  // lanes do not keep the momentum of a figure in flight, as keep_momentum() does
  return true;
}

int LanePlan::find(const StanceKey& key) const {
  for (size_t i = 0; i < stances_.size(); ++i) {
    if (stances_[i]->key == key) return int(i);
  }
  return -1;
}

int LanePlan::add(const World::Impl& w, const StanceKey& key) {
  if (const int known = find(key); known >= 0) return known;
  if (stances_.size() == kMostStances) return -1;
  auto stance = std::make_unique<Stance>();
  stance->key = key;
  const ContactOptions& o = w.options.contact;
  kernel::LaneStance& t = stance->table;
  t.sole_count = key.count;
  const double h = w.options.time_step;
  t.margin = w.options.contact_margin + 2 * h * h * norm(w.options.gravity);
  t.twice_h = 2 * h;
  t.tol_gap = o.tol_gap, t.slop = o.slop, t.v_eps = o.v_eps, t.w_eps = o.w_eps;
  t.slow = std::max(o.rest_speed(norm(w.options.gravity), w.options.time_step), o.v_impact);
  t.tolerance = 100 * o.tolerance, t.rank_tolerance = o.rank_tolerance;
  int bodies[kernel::kMostSoles] = {-1, -1};
  for (int i = 0; i < key.count; ++i) {
    const StanceKey::Sole& sole = key.soles[size_t(i)];
    const WorldShape &a = w.contacts.shapes()[size_t(sole.pair.a)], &b = w.contacts.shapes()[size_t(sole.pair.b)];
    const WorldShape &plane = a.figure < 0 ? a : b, &box = a.figure < 0 ? b : a;
    const int axis = sole.face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double side = sole.face % 2 == 0 ? 1 : -1;
    const Vec3<>& half = box.geometry.half();
    const Mat3<>& R = box.X_BS.R;
    kernel::LaneSole& s = t.soles[i];
    s.kept = kept_[size_t(box.body)];
    s.outward_B = R * (side * unit(axis));
    s.middle_B = box.X_BS * (side * component(half, axis) * unit(axis));
    s.a_B = R * (component(half, u) * unit(u));
    s.b_B = R * (-side * component(half, v) * unit(v));
    s.on_plane = plane.X_BS.p;
    s.E = patch_axes(plane.X_BS.R.column_z(), plane.X_BS.R);
    s.mu = w.contacts.material_between(sole.pair.a, sole.pair.b).mu_d;  // on the safe side
    bodies[i] = box.body;
  }
  if (key.count > 0 && !model_.tree().free_base) return -1;
  if (!make_tree(bodies[0], *stance)) return -1;
  for (int i = 1; i < key.count; ++i) {
    find_path(*stance, i, bodies[i]);
  }
  watch(w, *stance);
  stances_.push_back(std::move(stance));
  return int(stances_.size()) - 1;
}

/// Columns from the body of a sole to the root, in the order in which they are eliminated.
void LanePlan::find_path(Stance& stance, int sole, int body) const {
  std::vector<int>& path = stance.path[sole];
  for (const kernel::LaneStep& step : stance.steps) {
    if (step.after != body) continue;
    for (int k = step.last; k >= step.first; --k) path.push_back(k);
    body = step.before;
  }
  stance.table.soles[sole].path = path.data(), stance.table.soles[sole].path_count = int(path.size());
}

/// Lists everything that may touch something and is no sole of the stance.
void LanePlan::watch(const World::Impl& w, Stance& stance) const {
  const std::vector<WorldShape>& shapes = w.contacts.shapes();
  std::vector<int> planes;                               // shapes
  std::vector<std::pair<int, kernel::LaneWatch>> found;  // by body
  for (const ShapePair& pair : pairs_) {
    bool sole = false;
    for (int i = 0; i < stance.key.count; ++i) {
      const PairKey& key = stance.key.soles[size_t(i)].pair;
      sole = sole || (key.a == pair.a && key.b == pair.b);
    }
    if (sole) continue;
    const WorldShape &a = shapes[size_t(pair.a)], &b = shapes[size_t(pair.b)];
    const WorldShape &fixed = b.figure < 0 ? b : a, &moving = b.figure < 0 ? a : b;
    if (!is_fixed_plane(fixed)) {
      stance.pairs.push_back({.kept_a = fixed.figure < 0 ? -1 : kept_[size_t(fixed.body)],
                              .kept_b = kept_[size_t(moving.body)],
                              .centre_a = fixed.centre_B,
                              .centre_b = moving.centre_B,
                              .reach = fixed.radius + moving.radius + stance.table.margin,
                              .lever_a = norm(fixed.centre_B) + fixed.radius,
                              .lever_b = norm(moving.centre_B) + moving.radius});
      continue;
    }
    const int shape = int(&fixed - shapes.data());
    const long at = std::find(planes.begin(), planes.end(), shape) - planes.begin();
    if (at == long(planes.size())) planes.push_back(shape);
    kernel::LaneWatch watch{.plane = int(at), .centre_B = moving.centre_B, .radius = moving.radius};
    const Geometry& g = moving.geometry;
    if (g.kind() == ShapeKind::kCapsule || g.kind() == ShapeKind::kBox) {
      watch.radius = g.radius();
      watch.centre_B = moving.X_BS.p;
      for (int k = 0; k < 3; ++k) {
        if (component(g.half(), k) > 0) watch.e_B[watch.e_count++] = moving.X_BS.R * (component(g.half(), k) * unit(k));
      }
    }
    watch.lever = norm(moving.centre_B) + moving.radius;
    found.emplace_back(moving.body, watch);
  }
  const auto by_body = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(found.begin(), found.end(), by_body);
  stance.watch_begin.assign(size_t(model_.tree().body_count()) + 1, 0);
  for (const auto& [body, watch] : found) {
    stance.watches.push_back(watch);
    ++stance.watch_begin[size_t(body) + 1];
  }
  for (size_t i = 1; i < stance.watch_begin.size(); ++i) stance.watch_begin[i] += stance.watch_begin[i - 1];
  for (const int shape : planes) {
    const Transform<>& X = shapes[size_t(shape)].X_BS;
    stance.planes.push_back({X.R.column_z(), X.p, X.R.column_z() == Vec3<>{0, 0, 1}});
  }
  stance.table.planes = stance.planes.data();
  stance.table.watches = stance.watches.data(), stance.table.watch_begin = stance.watch_begin.data();
  stance.table.pairs = stance.pairs.data(), stance.table.pair_count = int(stance.pairs.size());
}

}  // namespace kansetsu
