#include <algorithm>
#include <cmath>

#include "kansetsu/model/configuration.h"
#include "motion/feet.h"

/// Where soles are and go.
namespace kansetsu::retargeting {
namespace {

/// The corners of a shape's box, in its own frame; none of one without size.
std::vector<Vec3<>> corners(const Shape& shape) {
  Vec3<> half{};
  if (const auto* s = std::get_if<Sphere>(&shape)) half = {s->radius, s->radius, s->radius};
  if (const auto* s = std::get_if<Box>(&shape)) half = 0.5 * s->size;
  if (const auto* s = std::get_if<Cylinder>(&shape)) half = {s->radius, s->radius, s->length / 2};
  if (const auto* s = std::get_if<Capsule>(&shape)) half = {s->radius, s->radius, s->length / 2 + s->radius};
  if (const auto* s = std::get_if<ConvexHull>(&shape)) return s->vertices;
  std::vector<Vec3<>> out;
  if (half == Vec3<>{}) return out;
  for (const double x : {-half.x, half.x})
    for (const double y : {-half.y, half.y})
      for (const double z : {-half.z, half.z}) out.push_back({x, y, z});
  return out;
}

struct Extent {
  Vec3<> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  void add(const Vec3<>& p) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  bool empty() const { return !(low.x <= high.x); }
};

FootContacts sole_of(const Model& model, const LinkPoses& poses, const LinkPoint& ankle, const LinkPoint* toe) {
  FootContacts foot;
  foot.link = model.link_id(ankle.link);
  const Transform<>& X_WL = poses[foot.link];
  Extent extent;
  // The foot and what hangs on it, such as toes.
  for (int i = foot.link.value(); i < model.link_count(); ++i) {
    bool below = i == foot.link.value();
    for (auto up = model.parent(LinkId(i)); up && !below; up = model.parent(*up)) below = *up == foot.link;
    if (!below) continue;
    for (const LinkShape& shape : model.link(LinkId(i)).collisions)
      for (const Vec3<>& c : corners(shape.shape)) extent.add(poses[LinkId(i)] * (to_transform(shape.origin) * c));
  }
  if (extent.empty()) {  // a stick: from under the ankle to the toe
    const Vec3<> p = X_WL * ankle.at,
                 tip = toe ? poses[model.link_id(toe->link)] * toe->at : p + Vec3<>{0.15, 0, -0.08};
    extent.add({p.x - 0.05, p.y - 0.04, tip.z});
    extent.add({tip.x, p.y + 0.04, p.z});
  }
  const double y = 0.5 * (extent.low.y + extent.high.y);
  const Transform<> X_LW = inverse(X_WL);
  foot.heel = X_LW * Vec3<>{extent.low.x, y, extent.low.z};
  foot.toe = X_LW * Vec3<>{extent.high.x, y, extent.low.z};
  foot.width = extent.high.y - extent.low.y;
  return foot;
}

}  // namespace

std::vector<FootContacts> find_soles(const Model& model, const std::map<Landmark, LinkPoint>& landmarks) {
  const LinkPoses poses = fk(model, neutral(model));
  std::vector<FootContacts> out;
  for (const auto& [name, ankle, toe] : {std::tuple{"left", Landmark::kAnkleL, Landmark::kToeL},
                                         std::tuple{"right", Landmark::kAnkleR, Landmark::kToeR}}) {
    const auto a = landmarks.find(ankle), t = landmarks.find(toe);
    if (a == landmarks.end()) continue;
    out.push_back(sole_of(model, poses, a->second, t == landmarks.end() ? nullptr : &t->second));
    out.back().name = name;
  }
  return out;
}

Vec3<> side_point(const Model& model, const FootContacts& foot) {
  const Transform<> X_WL = fk(model, neutral(model))[foot.link];
  return inverse(X_WL) * (X_WL * foot.toe + Vec3<>{0, foot.width / 2, 0});
}

SolePath sole_path(const Model& model, const Clip& clip, const FootContacts& foot) {
  SolePath path;
  Workspace work(model);
  LinkPoses poses(model);
  const Vec3<> side = side_point(model, foot);
  for (int k = 0; k < clip.frames(); ++k) {
    fk(model, clip.q.col(k), work, poses);
    const Transform<>& X = poses[foot.link];
    path.heel.push_back(X * foot.heel);
    path.toe.push_back(X * foot.toe);
    path.side.push_back(X * side);
  }
  return path;
}

}  // namespace kansetsu::retargeting
