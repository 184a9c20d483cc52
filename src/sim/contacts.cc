#include "sim/contacts.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/constraint/contact_solver.h"
#include "sim/step_thresholds.h"

namespace kansetsu {

Mat3<> patch_axes(const Vec3<>& n, const Mat3<>& R_WP) {
  const Vec3<> columns[3] = {R_WP.column_x(), R_WP.column_y(), R_WP.column_z()};
  int best = 0;
  for (int k = 1; k < 3; ++k) {
    if (std::abs(dot(columns[k], n)) < std::abs(dot(columns[best], n)) - 0.1) best = k;
  }
  Vec3<> x = columns[best] - dot(columns[best], n) * n;
  x = (1 / norm(x)) * x;
  const Vec3<> y = cross(n, x);
  return {{x.x, y.x, n.x}, {x.y, y.y, n.y}, {x.z, y.z, n.z}};
}

namespace {

/// Radius of a ball around a shape, about the middle of its bounds.
double ball_radius(const Geometry& geometry, const Vec3<>& half) {
  switch (geometry.kind()) {
    case ShapeKind::kSphere:
      return geometry.radius();
    case ShapeKind::kCapsule:
      return geometry.half().z + geometry.radius();
    default:
      return norm(half);
  }
}

}  // namespace

int ContactFinder::add(WorldShape shape, int broad_body, const CollisionGroups& groups) {
  const Aabb& box = shape.geometry.local_bounds();
  const Vec3<> half = 0.5 * (box.upper - box.lower);
  const bool bounded = std::isfinite(half.x + half.y + half.z);
  shape.centre_B = bounded ? shape.X_BS * (0.5 * (box.upper + box.lower)) : shape.X_BS.p;
  shape.radius = !bounded ? kInfinity : ball_radius(shape.geometry, half);
  const ShapeKind kind = shape.geometry.kind();
  shape.is_round = kind == ShapeKind::kSphere || kind == ShapeKind::kCapsule;
  if (kind == ShapeKind::kCapsule) shape.core_B = shape.geometry.half().z * shape.X_BS.R.column_z();
  shape.core_radius = shape.is_round ? shape.geometry.radius() : shape.radius;
  // Shapes of a link come one after the other.
  if (shape.figure >= 0 && !shapes_.empty() && shapes_.back().figure == shape.figure &&
      shapes_.back().link == shape.link)
    shapes_.back().is_alone = shape.is_alone = false;
  has_motion_ = has_motion_ || shape.motion.has_value();
  shapes_.push_back(std::move(shape));
  boxes_.resize(shapes_.size());
  found_ = false;
  return broad_.add(broad_body, groups);
}

namespace {

auto find_pair(auto& pairs, int a, int b) {
  const ShapePair key{std::min(a, b), std::max(a, b)};
  return std::lower_bound(pairs.begin(), pairs.end(), key,
                          [](const auto& x, const ShapePair& k) { return x.first < k; });
}

}  // namespace

const ContactMaterial& ContactFinder::material_between(int a, int b) const {
  if (!pair_materials_.empty()) {
    const auto found = find_pair(pair_materials_, a, b);
    if (found != pair_materials_.end() && found->first == ShapePair{std::min(a, b), std::max(a, b)})
      return found->second;
  }
  return materials_.pair(shapes_[size_t(a)].material, shapes_[size_t(b)].material);
}

void ContactFinder::set_material_between(int a, int b, const ContactMaterial& material) {
  const ShapePair key{std::min(a, b), std::max(a, b)};
  const auto found = find_pair(pair_materials_, a, b);
  if (found != pair_materials_.end() && found->first == key)
    found->second = material;
  else
    pair_materials_.insert(found, {key, material});
  found_ = false;
}

void ContactFinder::place(WorldShape& s, Figures& figures, double time) {
  if (s.placed == now_) return;
  if (s.placed > 0 && s.figure < 0 && !s.motion) return;  // it is fixed
  s.placed = now_;
  place_anew(s, figures, time);
  if (s.geometry.kind() == ShapeKind::kPlane) s.plane_axes = patch_axes(s.X_WS.R.column_z(), s.X_WS.R);
}

void ContactFinder::place_anew(WorldShape& s, Figures& figures, double time) {
  if (s.figure >= 0) {
    Mechanics& m = figures[size_t(s.figure)]->mechanics;
    s.X_WS = m.body_pose(s.body) * s.X_BS;
    s.end = {.figure = &m, .body = s.body};
    return;
  }
  if (s.motion) {
    const MotionSample sample = kansetsu::sample(*s.motion, s.X_BS, time);
    s.X_WS = sample.X_WB;
    s.end = {.p = sample.X_WB.p, .V = sample.V_WB, .A = sample.A_WB};
  } else {
    s.X_WS = s.X_BS;
    s.end = {.rests = !s.moves};
  }
  if (s.moves) {
    s.end.p = s.X_WS.p;
    s.end.V.v += s.X_WS.R * s.surface_velocity;
  }
}

/// Lists everything that can move, with the reach of its shapes.
void ContactFinder::list_movers() {
  movers_.clear();
  largest_clearance_ = materials_.largest_clearance();
  for (const auto& [pair, material] : pair_materials_)
    largest_clearance_ = std::max(largest_clearance_, material.clearance);
  mover_of_.assign(shapes_.size(), -1);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    const WorldShape& s = shapes_[i];
    if (s.figure < 0 && !s.motion) continue;
    const Aabb box = bounds(s.geometry, s.figure < 0 ? Transform<>{} : s.X_BS);
    const auto far = [](double a, double b) { return std::max(std::abs(a), std::abs(b)); };
    const Vec3<> corner{far(box.lower.x, box.upper.x), far(box.lower.y, box.upper.y), far(box.lower.z, box.upper.z)};
    const double reach = norm(corner);
    if (s.figure >= 0 && !movers_.empty() && movers_.back().figure == s.figure && movers_.back().body == s.body)
      movers_.back().reach = std::max(movers_.back().reach, reach);
    else
      movers_.push_back({.figure = s.figure, .body = s.body, .shape = int(i), .reach = reach});
    mover_of_[i] = int(movers_.size()) - 1;
  }
}

/// Whether no point of a shape can have moved by more than slack_: |Δp| + |ΔR|·reach.
bool ContactFinder::still_near(Figures& figures, double time) {
  const auto square = [](const Vec3<>& a) { return dot(a, a); };
  const double limit = 0.5 * slack_ * slack_;  // (a + b)² ≤ 2·(a² + b²)
  double largest = 0;
  for (const FigureBefore& f : figures_before_) {
    if (figures[size_t(f.figure)]->nap >= 0) continue;
    const std::span<const kernel::BodyBefore> bodies{bodies_before_.data() + f.first, size_t(f.count)};
    const double change =
        figures[size_t(f.figure)]->mechanics.largest_change(bodies, f.origin, threshold::kLittleWay * limit);
    if (!(change < limit)) return false;
    largest = std::max(largest, change);
  }
  for (const Mover& m : movers_) {
    if (m.figure >= 0) continue;
    place(shapes_[size_t(m.shape)], figures, time);
    const Transform<>& X = shapes_[size_t(m.shape)].X_WS;
    const double turn = square(X.R.x - m.X_W.R.x) + square(X.R.y - m.X_W.R.y) + square(X.R.z - m.X_W.R.z);
    const double change = square(X.p - m.X_W.p) + turn * m.reach * m.reach;
    if (!(change < limit)) return false;
    largest = std::max(largest, change);
  }
  moved_ = std::sqrt(2 * largest);
  return true;
}

void ContactFinder::find_near(Figures& figures, double time, double margin) {
  using namespace threshold;
  if (found_ && looks_ < kOften) slack_ = std::min(2 * slack_, kMostSlack);
  if (found_ && looks_ > kSeldom) slack_ = std::max(0.5 * slack_, kLeastSlack);
  found_ = true;
  looks_ = 0;
  margin_ = margin;
  for (Mover& m : movers_) m.allowed = std::max(0.5 * margin, kFaster * m.ahead);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    const double grow =
        (mover_of_[i] < 0 ? 0.5 * margin : movers_[size_t(mover_of_[i])].allowed) + slack_ + 0.5 * largest_clearance_;
    place(shapes_[i], figures, time);
    Aabb& box = boxes_[i] = bounds(shapes_[i].geometry, shapes_[i].X_WS);
    box.lower -= {grow, grow, grow};
    box.upper += {grow, grow, grow};
  }
  figures_before_.clear();
  bodies_before_.clear();
  for (Mover& m : movers_) {
    if (m.figure < 0) {
      m.X_W = shapes_[size_t(m.shape)].X_WS;
      continue;
    }
    const Mechanics& mechanics = figures[size_t(m.figure)]->mechanics;
    if (figures_before_.empty() || figures_before_.back().figure != m.figure)
      figures_before_.push_back({m.figure, int(bodies_before_.size()), 0, mechanics.origin()});
    bodies_before_.push_back(mechanics.remember(m.body, m.reach * m.reach));
    ++figures_before_.back().count;
  }
  broad_.update(boxes_);
  near_.assign(broad_.pairs().begin(), broad_.pairs().end());
  near_gap_.resize(near_.size());
  kept_of_.assign(near_.size(), {});
  still_keys_.clear();
  still_manifolds_.clear();
  for (size_t i = 0; i < near_.size(); ++i) near_gap_[i] = least_gap(near_[i], figures);
  moved_ = 0;
}

double ContactFinder::smallest_gap(Figures& figures, double time, double margin) {
  look_ahead(figures, time, {});
  find_pairs(figures, time, margin);
  double smallest = kInfinity;
  for (const Manifold& m : manifolds_) {
    for (const ContactPoint& point : m.used()) smallest = std::min(smallest, point.gap);
  }
  return smallest;
}

/// Centre of the bounding ball of a shape, and a box around it, without placing the shape.
void ContactFinder::find_centre(WorldShape& s, const Figures& figures) {
  if (s.centred == now_) return;
  s.centred = now_;
  s.centre_W = s.centre_B, s.core_W = s.core_B;
  if (s.figure >= 0) {
    const Mechanics& m = figures[size_t(s.figure)]->mechanics;
    const double* X = m.body_axes(s.body);
    const auto turned = [X](const Vec3<>& a) {
      return Vec3<>{X[0] * a.x + X[4] * a.y + X[8] * a.z, X[1] * a.x + X[5] * a.y + X[9] * a.z,
                    X[2] * a.x + X[6] * a.y + X[10] * a.z};
    };
    s.centre_W = m.origin() + Vec3<>{X[12], X[13], X[14]} + turned(s.centre_B);
    if (s.is_round) s.core_W = turned(s.core_B);
  }
  s.extent_W = {s.core_radius + std::abs(s.core_W.x), s.core_radius + std::abs(s.core_W.y),
                s.core_radius + std::abs(s.core_W.z)};
}

/// A lower bound of the gap of two shapes, by their bounds; a plane is a half-space.
double ContactFinder::least_gap(const ShapePair& pair, const Figures& figures) {
  WorldShape &a = shapes_[size_t(pair.a)], &b = shapes_[size_t(pair.b)];
  if (a.motion || b.motion) return -kInfinity;
  find_centre(a, figures);
  find_centre(b, figures);
  const Vec3<> d = b.centre_W - a.centre_W;
  const auto above = [](const Vec3<>& n, const Vec3<>& p, const WorldShape& s) {
    return dot(n, p) - s.core_radius - std::abs(dot(n, s.core_W));
  };
  if (a.geometry.kind() == ShapeKind::kPlane && a.figure < 0) return above(a.X_BS.R.column_z(), d, b);
  if (b.geometry.kind() == ShapeKind::kPlane && b.figure < 0) return above(b.X_BS.R.column_z(), -d, a);
  const Vec3<> reach = a.extent_W + b.extent_W;
  const double boxes = std::max({std::abs(d.x) - reach.x, std::abs(d.y) - reach.y, std::abs(d.z) - reach.z});
  const double square = dot(d, d), far = std::sqrt(square);
  if (!a.is_round || !b.is_round || !(far > 0)) return std::max(boxes, far - a.radius - b.radius);
  // Along the line between the centres.
  const double along = (square - std::abs(dot(a.core_W, d)) - std::abs(dot(b.core_W, d))) / far;
  return std::max(boxes, along - a.core_radius - b.core_radius);
}

/// The shapes of a pair as a contact has them: a shape of the environment is the parent.
ContactFinder::Sides ContactFinder::sides_of(const ShapePair& pair) const {
  const bool swapped = shapes_[size_t(pair.b)].figure < 0;
  return {shapes_[size_t(swapped ? pair.b : pair.a)], shapes_[size_t(swapped ? pair.a : pair.b)]};
}

bool ContactFinder::boxes_meet(const Sides& sides, double margin) {
  const auto& [parent, real] = sides;
  if (parent.geometry.kind() == ShapeKind::kPlane || (parent.is_round && real.is_round)) return true;
  const Aabb a = bounds(parent.geometry, parent.X_WS), b = bounds(real.geometry, real.X_WS);
  const Vec3<> m{margin, margin, margin};
  return overlap({a.lower - m, a.upper + m}, b);
}

namespace {

/// Gaps of shapes with a clearance.
void keep_apart(double clearance, Manifold& m) {
  if (clearance == 0) return;
  for (int k = 0; k < m.count; ++k) m.points[k].gap -= clearance;
}

}  // namespace

/// Whether two placed convex shapes are near each other; then `out` is their contact.
bool ContactFinder::collide_convex(const ShapePair& pair, double margin, Manifold& out) const {
  const Sides sides = sides_of(pair);
  const auto& [parent, real] = sides;
  const double clearance = clearance_of(pair);
  if (!boxes_meet(sides, margin + clearance)) return false;
  if (!collide(real.geometry, real.X_WS, parent.geometry, parent.X_WS, margin + clearance, out)) return false;
  keep_apart(clearance, out);
  return out.count > 0;
}

bool ContactFinder::is_convex(const ShapePair& pair) const {
  return shapes_[size_t(pair.a)].geometry.is_convex() && shapes_[size_t(pair.b)].geometry.is_convex();
}

/// Contacts of one pair whose shapes are placed.
void ContactFinder::collide_pair(const ShapePair& pair, double margin) {
  if (is_convex(pair)) {
    if (manifolds_.size() == keys_.size()) manifolds_.emplace_back();
    Manifold& out = manifolds_[keys_.size()];
    if (collide_convex(pair, margin, out)) keys_.push_back({pair.a, pair.b, out.part});
    return;
  }
  const Sides sides = sides_of(pair);
  const auto& [parent, real] = sides;
  const double clearance = clearance_of(pair);
  if (!boxes_meet(sides, margin + clearance)) return;
  constexpr size_t kPerPair = 64;
  if (memory_.empty()) memory_.resize(kPerPair);
  ManifoldList list(memory_);
  const int count = collide(real.geometry, real.X_WS, parent.geometry, parent.X_WS, margin + clearance, list);
  for (int k = 0; k < count; ++k) {
    keep_apart(clearance, list[k]);
    if (list[k].count > 0) append({pair.a, pair.b, list[k].part}, list[k]);
  }
}

void ContactFinder::append(const PairKey& key, const Manifold& m) {
  if (manifolds_.size() == keys_.size()) manifolds_.emplace_back();
  manifolds_[keys_.size()] = m;
  keys_.push_back(key);
}

/// Lists the pairs to examine, and places their shapes.
void ContactFinder::list_candidates(Figures& figures, double time, double margin) {
  candidates_.clear();
  for (size_t i = 0; i < near_.size(); ++i) {
    const ShapePair& pair = near_[i];
    const double apart = margin_of(pair, margin), far = apart + clearance_of(pair);
    if (near_gap_[i] > far + 2 * moved_ || least_gap(pair, figures) > far) continue;
    const bool still = lie_still(pair, figures), known = still && kept_of_[i].first >= 0;
    candidates_.push_back({int(i), apart, still, known});
    if (known) continue;
    place(shapes_[size_t(pair.a)], figures, time);
    place(shapes_[size_t(pair.b)], figures, time);
  }
}

void ContactFinder::find_pairs(Figures& figures, double time, double margin) {
  ++now_;
  ++looks_;
  if (!found_ || margin > margin_ || !still_near(figures, time)) find_near(figures, time, margin);
  list_candidates(figures, time, margin);
  keys_.clear();  // manifolds of the last step are overwritten
  if (pool) {     // convex pairs in parallel, each with its own result; gathered in their order
    if (found_by_.size() < candidates_.size()) found_by_.resize(candidates_.size());
    for_each(pool, int(candidates_.size()), [&](int k) {
      Candidate& c = candidates_[size_t(k)];
      const ShapePair& pair = near_[size_t(c.near)];
      if (!c.known && is_convex(pair)) c.hit = collide_convex(pair, c.margin, found_by_[size_t(k)]);
    });
  }
  for (size_t k = 0; k < candidates_.size(); ++k) {
    const Candidate& c = candidates_[k];
    const ShapePair& pair = near_[size_t(c.near)];
    const size_t first = keys_.size();
    if (c.known)
      repeat_pair(size_t(c.near));
    else if (!pool || !is_convex(pair))
      collide_pair(pair, c.margin);
    else if (c.hit)
      append({pair.a, pair.b, found_by_[k].part}, found_by_[k]);
    if (c.still && !c.known) keep_pair(size_t(c.near), first);
  }
  manifolds_.resize(keys_.size());
}

void ContactFinder::find(Figures& figures, double time, double margin, double tol_gap, const Ahead& ahead) {
  look_ahead(figures, time, ahead);
  find_pairs(figures, time, margin);
  join_flat();
  carried_.cache.update(keys_, manifolds_);
  if (carried_.remembered.size() < size_t(carried_.cache.slots()))
    carried_.remembered.resize(size_t(carried_.cache.slots()));
  if (carried_.arms.size() < carried_.remembered.size()) carried_.arms.resize(carried_.remembered.size());
  size_t count = 0;  // those of the last step are overwritten
  for (size_t i = 0; i < keys_.size(); ++i) {
    const double near = near_of(manifolds_[i], keys_[i], tol_gap, ahead);
    const auto is_near = [&](const ContactPoint& point) { return point.gap <= near; };
    const bool touches = std::ranges::any_of(manifolds_[i].used(), is_near);
    if (touches) {
      if (count == touches_.size()) touches_.emplace_back();
      Touch& t = touches_[count++];
      make_touch(manifolds_[i], keys_[i], carried_.cache.matches()[i], tol_gap, near, t);
      t.merged = merged_[i];
    } else {
      carried_.remembered[size_t(carried_.cache.matches()[i].id.slot)] = {};
    }
  }
  touches_.resize(count);
}

/// Origin and vertices of the patch. If only one point of several is near, the others take no part in the step.
void ContactFinder::place_points(const Manifold& m, double near, Touch& t) const {
  Vec3<> sum{};
  int count = 0;
  t.only = -1;
  for (int k = 0; k < m.count; ++k) {
    sum += m.points[k].p_W;
    if (m.points[k].gap <= near) ++count, t.only = k;
  }
  t.origin = (1.0 / m.count) * sum;
  if (count > 1 || m.count == 1) t.only = -1;
  ContactPatch& patch = t.patch;
  if (t.only >= 0) {
    const ContactPoint& point = m.points[t.only];
    const Vec3<> r = transpose_times(t.E, point.p_W - t.origin);
    t.only_x = r.x, t.only_y = r.y;
    t.origin = point.p_W;
    patch.vertex_count = 1;
    patch.vertices[0] = {0, 0, point.gap};
    return;
  }
  patch.vertex_count = m.count;
  for (int k = 0; k < m.count; ++k) {
    const Vec3<> r = transpose_times(t.E, m.points[k].p_W - t.origin);
    patch.vertices[size_t(k)] = {r.x, r.y, m.points[k].gap};
  }
}

void ContactFinder::make_touch(const Manifold& m, const PairKey& key, const ContactMatch& match, double tol_gap,
                               double near, Touch& t) {
  const bool swapped = shapes_[size_t(key.b)].figure < 0;
  t.parent = swapped ? key.b : key.a;
  t.real = swapped ? key.a : key.b;
  const WorldShape &parent = shapes_[size_t(t.parent)], &real = shapes_[size_t(t.real)];
  t.slot = match.id.slot;
  t.parent_end = &parent.end;
  t.real_end = &real.end;
  const bool flat = parent.geometry.kind() == ShapeKind::kPlane;
  t.E = flat ? parent.plane_axes : patch_axes(m.normal_W, parent.X_WS.R);
  place_points(m, near, t);
  const ContactMaterial& material = material_between(t.parent, t.real);
  ContactPatch& patch = t.patch;
  patch.mu_static = material.mu_s;
  patch.mu_dynamic = material.mu_d;
  patch.restitution = material.restitution;
  t.rolling = material.rolling_radius;
  patch.arm = m.count == 1 ? (2.0 / 3) * material.spin_radius : t.only >= 0 ? 0 : arm_of(t.slot, patch);
  patch.row_count = patch.vertex_count == 1 && patch.arm == 0 ? 3 : 6;
  recall(m, match, tol_gap, t);
}

/// The memory of a contact, in terms of its present patch; and whether a vertex begins to touch. When vertices come or go the origin,
/// which is their mean, moves: the moment of the remembered wrench is moved along, by how far the vertices that stay have moved from it.
void ContactFinder::recall(const Manifold& m, const ContactMatch& match, double tol_gap, Touch& t) const {
  t.memory = match.age > 0 ? carried_.remembered[size_t(t.slot)] : ContactMemory{};
  unsigned closed = 0;
  const auto force = t.memory.force;
  const auto place = t.memory.place;
  Vec3<> middle{};
  for (int k = 0; k < m.count; ++k) middle += (1.0 / m.count) * m.points[k].p_W;
  bool same = true;
  int kept = 0;
  double moved_x = 0, moved_y = 0;  // from the old origin to the new one, summed over the vertices that stay
  for (int k = 0; k < m.count; ++k) {
    const int before = match.age > 0 ? match.previous_point[size_t(k)] : -1;
    if (before >= 0 && (t.memory.closed >> before & 1)) closed |= 1u << k;
    t.memory.force[size_t(k)] = before >= 0 ? force[size_t(before)] : std::array<double, 3>{};
    const Vec3<> r = transpose_times(t.E, m.points[k].p_W - middle);
    t.memory.place[size_t(k)] = {r.x, r.y};
    same = same && before == k;
    if (before < 0) continue;
    ++kept, moved_x += r.x - place[size_t(before)][0], moved_y += r.y - place[size_t(before)][1];
  }
  if (!same && kept > 0) {
    const double x = moved_x / kept, y = moved_y / kept;
    std::array<double, 6>& w = t.memory.wrench;
    w[3] += y * w[2], w[4] -= x * w[2], w[5] += x * w[1] - y * w[0];
  }
  t.is_new = false;
  for (int k = 0; k < m.count; ++k) {
    const bool touched = t.memory.known && (closed >> k & 1);
    if (m.points[k].gap <= tol_gap && !touched) t.is_new = true;
  }
  if (t.only >= 0) {
    closed = closed >> t.only & 1;
    for (size_t i = 3; i < 6; ++i) t.memory.wrench[i] = 0;
    t.memory.force[0] = t.memory.force[size_t(t.only)];
  }
  t.memory.closed = std::uint8_t(closed);
}

/// The arm depends on the shape of the polygon alone: corners that have hardly moved give the same.
double ContactFinder::arm_of(int slot, const ContactPatch& patch) {
  const auto same = [&](const KnownArm& known) {
    if (known.count != patch.vertex_count) return false;
    for (int k = 0; k < known.count; ++k) {
      const ContactVertex &a = patch.vertices[size_t(k)], &b = known.polygon[size_t(k)];
      if (!((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) < threshold::kSameCorner)) return false;
    }
    return true;
  };
  KnownArms& known = carried_.arms[size_t(slot)];
  if (same(known[0])) return known[0].arm;
  if (same(known[1])) return known[1].arm;
  known[1] = known[0];
  known[0] = {patch.vertices, patch.vertex_count, friction_arm({patch.vertices.data(), size_t(patch.vertex_count)})};
  return known[0].arm;
}

void ContactFinder::own_touches() {
  found_ = false;  // kept contacts of sleepers refer to the shapes of the other world
  for (Touch& t : touches_) t.parent_end = &shapes_[size_t(t.parent)].end, t.real_end = &shapes_[size_t(t.real)].end;
}

void ContactFinder::keep_pressures() {
  for (Touch& t : touches_) t.pressure = t.memory.known ? std::max(t.memory.wrench[2], 0.0) : 0.0;
}

void ContactFinder::remember() {
  for (const Touch& t : touches_) {
    ContactMemory& m = carried_.remembered[size_t(t.slot)] = t.memory;
    if (t.only < 0) continue;  // of one point: in terms of the whole contact
    m.closed = std::uint8_t(m.closed << t.only);
    std::swap(m.force[0], m.force[size_t(t.only)]);
    m.wrench[3] = t.only_y * m.wrench[2], m.wrench[4] = -t.only_x * m.wrench[2];
    m.wrench[5] = t.only_x * m.wrench[1] - t.only_y * m.wrench[0];
  }
}

}  // namespace kansetsu
