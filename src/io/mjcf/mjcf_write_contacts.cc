#include <algorithm>

#include "io/mjcf/mjcf_writer.h"

/// Contact exclusions. MuJoCo excludes contacts within a welded group, and between a group and its parent group unless the parent is
/// welded to the world; other exclusions are written.
namespace kansetsu::io::mjcf {
namespace {

class ExclusionWriter {
 public:
  explicit ExclusionWriter(Writer& w) : w_(w) {}

  void write(const std::string& a, const std::string& b) {
    if (a == b || !done_.insert(std::minmax(a, b)).second) return;
    Element& e = w_.add(w_.section("contact"), "exclude");
    w_.set(e, "body1", a);
    w_.set(e, "body2", b);
  }

  /// The pairs of welded groups of a figure that never touch, with the rules of World.
  void write_own(const FigureDescription& f) {
    groups_.clear(), parents_.clear();
    for (int i = 0; i < int(w_.bodies.size()); ++i) {
      const WrittenBody& body = w_.bodies[std::size_t(i)];
      if (body.figure != f.name) continue;
      auto& members = groups_[body.group];
      if (body.touches) members.push_back(i);
      if (body.group == i) parents_[i] = body.parent < 0 ? -1 : w_.bodies[std::size_t(body.parent)].group;
    }
    std::set<std::pair<int, int>> apart;
    if (f.self_collision == SelfCollision::kNone) {
      for (const auto& [a, unused] : groups_) {
        for (const auto& [b, other] : groups_) apart.insert(std::minmax(a, b));
      }
    }
    if (f.self_collision == SelfCollision::kNotNeighbours) {
      for (const auto& [group, parent] : parents_) {
        int above = parent;
        while (above >= 0 && groups_[above].empty()) above = parents_[above];
        apart.insert(std::minmax(group, above));
      }
    }
    for (const CollisionFilter& filter : f.model.collision_filters) {
      const int a = group_of(f, filter.a), b = group_of(f, filter.b);
      apart.insert(std::minmax(a, b));
    }
    for (const auto& [a, b] : apart) {
      if (!is_implied(a, b)) write_groups(a, b);
    }
    for (const auto& [group, parent] : parents_) {
      if (parent < 0 || apart.contains(std::minmax(group, parent))) continue;
      if (!groups_[group].empty() && !groups_[parent].empty())
        w_.lose("contacts between neighbours", w_.body_name(group));
    }
  }

 private:
  int group_of(const FigureDescription& f, const std::string& link) const {
    const int body = w_.find_place(f.name, link).body;
    return body < 0 ? -1 : w_.bodies[std::size_t(body)].group;
  }
  bool is_implied(int a, int b) {
    if (a == b) return true;
    if (a < 0 || b < 0) return false;
    return parents_[a] == b || parents_[b] == a;
  }
  void write_groups(int a, int b) {
    for (const int x : groups_[a]) {
      for (const int y : groups_[b]) write(w_.body_name(x), w_.body_name(y));
    }
  }

  Writer& w_;
  std::set<std::pair<std::string, std::string>> done_;
  std::map<int, std::vector<int>> groups_;  ///< bodies with collision shapes, by welded group
  std::map<int, int> parents_;              ///< of moving groups
};

/// The bodies of a reference, if it covers all collision shapes of each.
std::vector<std::string> bodies_of(const Writer& w, const ShapeRef& ref) {
  std::vector<std::string> out;
  if (ref.figure.empty()) {
    if (const std::string* found = find_in(w.shape_bodies, ref.shape)) out.push_back(*found);
    return out;
  }
  if (ref.shape.empty() && !ref.link.empty()) return {w.body_name(w.find_place(ref.figure, ref.link).body)};
  for (std::size_t i = 0; i < w.bodies.size(); ++i) {
    if (w.bodies[i].figure != ref.figure) continue;
    int shapes = 0, meant = 0;
    for (const WrittenGeom& geom : w.geoms) {
      if (geom.body != int(i) || !geom.touches) continue;
      ++shapes;
      meant += ref.shape.empty() || geom.shape->name == ref.shape;
    }
    if (meant > 0 && meant == shapes) out.push_back(w.bodies[i].name);
  }
  return out;
}

void write_exclusion(Writer& w, ExclusionWriter& out, const ContactExclusion& exclusion) {
  const auto first = bodies_of(w, exclusion.a), second = bodies_of(w, exclusion.b);
  if (first.empty() || second.empty())
    w.lose("exclusions of single shapes of a body, or of everything", exclusion.a.shape + exclusion.a.link);
  for (const std::string& a : first) {
    for (const std::string& b : second) out.write(a, b);
  }
}

std::vector<WrittenGeom*> geoms_of(Writer& w, const ShapeRef& ref) {
  std::vector<WrittenGeom*> out;
  const int body = ref.link.empty() ? -1 : w.find_place(ref.figure, ref.link).body;
  for (WrittenGeom& geom : w.geoms) {
    const bool meant = geom.touches && geom.figure == ref.figure &&
                       (ref.shape.empty() || geom.shape->name == ref.shape) && (ref.link.empty() || geom.body == body);
    if (meant) out.push_back(&geom);
  }
  return out;
}

void write_pair(Writer& w, const ContactPair& pair) {
  for (WrittenGeom* a : geoms_of(w, pair.a)) {
    for (WrittenGeom* b : geoms_of(w, pair.b)) {
      Element& e = w.add(w.section("contact"), "pair");
      w.set(e, "geom1", name_geom(w, *a, w.body_name(a->body) + "_geom"));
      w.set(e, "geom2", name_geom(w, *b, w.body_name(b->body) + "_geom"));
      const Surface* own = find_named(w.scene.surfaces, pair.surface);
      if (!own) continue;
      const SurfaceKey key = surface_key(own->material);
      w.set(e, "condim", std::to_string(key.condim()));
      w.set(e, "friction", std::array{key.friction, key.friction, key.spin, key.rolling, key.rolling});
      w.set_unless(e, "margin", key.clearance, 0);
    }
  }
}

}  // namespace

void write_contacts(Writer& w) {
  ExclusionWriter exclusions(w);
  for (const FigureDescription& f : w.scene.figures) exclusions.write_own(f);
  for (const ContactExclusion& e : w.scene.exclusions) write_exclusion(w, exclusions, e);
  for (const ContactPair& pair : w.scene.pairs) write_pair(w, pair);
}

}  // namespace kansetsu::io::mjcf
