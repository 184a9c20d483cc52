#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "io/mjcf/mjcf_reader.h"

/// A tendon, coupling or actuator acts within one figure. Children of the world connected by one therefore become one figure with a
/// link `world`. Only a single child can have a free base, and a free base has no armature, damping, spring or friction, and no fixed
/// link for actuators between it and the world. Otherwise three slides and a ball joint replace the free joint.
namespace kansetsu::io::mjcf {
namespace {

class Joiner {
 public:
  Joiner(Reader& reader, const Element& root) : reader_(reader), root_(root) {}

  void join() {
    for (const int child : reader_.bodies[0].children) body(child).joined = child;
    for (const Element* element : sections(reader_, root_, "actuator")) {
      for (const char* name : {"joint", "jointinparent"}) {
        if (const char* joint = element->Attribute(name)) driven_.insert(joint);
      }
    }
    for (const Element* element : sections(reader_, root_, "tendon")) join_tendon(*element);
    for (const Element* element : sections(reader_, root_, "equality")) {
      join_parts(*element, {{"joint1", &reader_.index.joints}, {"joint2", &reader_.index.joints}});
      join_tendons(*element);
    }
    for (const Element* element : sections(reader_, root_, "actuator")) {
      join_parts(*element, {{"site", &reader_.index.sites}, {"refsite", &reader_.index.sites}});
      join_parts(*element, {{"cranksite", &reader_.index.sites}, {"slidersite", &reader_.index.sites}});
      for (const auto& [one, other] : {std::pair{"site", "refsite"}, std::pair{"cranksite", "slidersite"}}) {
        if (stands(element->Attribute(one))) tied_.insert(root_of(element->Attribute(other), reader_.index.sites));
        if (stands(element->Attribute(other))) tied_.insert(root_of(element->Attribute(one), reader_.index.sites));
      }
    }
    bool changed = false;
    for (const int child : reader_.bodies[0].children) changed = carry(body(child)) || changed;
    if (!changed) return;
    reader_.index = {};
    index_parts(reader_);
  }

 private:
  using Ends = std::initializer_list<std::pair<const char*, const PartIndex::Places*>>;

  Body& body(int i) { return reader_.body(i); }

  static bool is_free(const Body& b) { return !b.joints.empty() && b.joints[0].kind == JointKind::kFree; }
  bool is_driven(const Body& b) const { return is_free(b) && driven_.contains(b.joints[0].name); }

  /// The child of the world that carries a named part; −1 if there is no such part, or if it cannot be joined: it is fixed, its motion is
  /// prescribed, or an actuator drives its free joint.
  int root_of(const char* name, const PartIndex::Places& places) {
    const auto* place = name ? find_in(places, std::string_view(name)) : nullptr;
    if (!place || place->first == 0) return -1;
    int i = place->first;
    while (body(i).parent != 0) i = body(i).parent;
    return moves(reader_, i) && !body(i).mocap && !is_driven(body(i)) ? i : -1;
  }
  /// Whether a site is on a body that cannot move.
  bool stands(const char* site) {
    const auto* place = site ? find_in(reader_.index.sites, std::string_view(site)) : nullptr;
    if (!place) return false;
    int i = place->first;
    while (i != 0 && body(i).parent != 0) i = body(i).parent;
    return i == 0 || (!moves(reader_, i) && !body(i).mocap);
  }
  void unite(int a, int b) {
    if (a < 0 || b < 0) return;
    const int from = std::max(body(a).joined, body(b).joined), to = std::min(body(a).joined, body(b).joined);
    if (from == to) return;
    for (const int child : reader_.bodies[0].children) {
      if (body(child).joined == from) body(child).joined = to;
    }
  }
  void join_parts(const Element& element, Ends ends) {
    int first = -1;
    for (const auto& [attribute, places] : ends) {
      const int root = root_of(element.Attribute(attribute), *places);
      unite(first, root);
      if (root >= 0) first = root;
    }
  }
  void join_tendon(const Element& element) {
    const PartIndex& index = reader_.index;
    int first = -1;
    for (const Element* part : children(reader_, element)) {
      for (const auto& [attribute, places] : {std::pair{"site", &index.sites}, std::pair{"geom", &index.geoms},
                                              std::pair{"sidesite", &index.sites}, std::pair{"joint", &index.joints}}) {
        const int root = root_of(part->Attribute(attribute), *places);
        unite(first, root);
        if (root >= 0) first = root;
      }
    }
    if (const char* name = element.Attribute("name"); name && first >= 0) on_tendon_[name] = first;
  }
  void join_tendons(const Element& element) {
    int first = -1;
    for (const char* attribute : {"tendon1", "tendon2"}) {
      const char* name = element.Attribute(attribute);
      const int* root = name ? find_in(on_tendon_, std::string_view(name)) : nullptr;
      if (!root) continue;
      unite(first, *root);
      first = *root;
    }
  }

  bool is_alone(const Body& b) {
    const auto mates = [&](int child) { return body(child).joined == b.joined; };
    return std::ranges::count_if(reader_.bodies[0].children, mates) == 1;
  }

  /// Replaces a free joint by slides and a ball joint if necessary.
  bool carry(Body& b) {
    if (!is_free(b)) return false;
    const Joint free = b.joints[0];
    const DofDescription& dof = free.dof;
    const bool passive = dof.rotor_inertia > 0 || dof.damping > 0 || dof.stiffness > 0 || dof.friction > 0;
    if (!passive && is_alone(b) && !tied_.contains(b.joined)) return false;
    if (is_driven(b)) {
      reader_.report.missing(*free.element, kFreeJointData,
                             "armature, damping, stiffness and friction of free joints with actuators are omitted");
      return false;
    }
    b.carried = true;
    b.joints.clear();
    const std::array<double, 3> p{b.X_WB.p.x, b.X_WB.p.y, b.X_WB.p.z};
    static constexpr const char* kAxes[] = {"x", "y", "z"};
    for (std::size_t k = 0; k < 3; ++k) {
      Joint slide = free;
      slide.kind = JointKind::kSlide;
      slide.name = fmt::format("{}/{}", free.name, kAxes[k]);
      while (reader_.given_names.contains(slide.name) || !reader_.names["joint"].insert(slide.name).second)
        slide.name += "_2";
      slide.p = {};
      slide.axis = transpose(b.X_WB.R) * Vec3<>{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
      slide.dof.rest = p[k];
      slide.spring_damper = {};
      b.joints.push_back(std::move(slide));
    }
    Joint ball = free;
    ball.kind = JointKind::kBall;
    ball.p = {};
    ball.spring_damper = {};
    if (dof.stiffness > 0 &&
        !(b.X_WB.R.x.x + b.X_WB.R.y.y + b.X_WB.R.z.z > 3 - 1e-12)) {  // the spring is at rest at the identity
      ball.dof.stiffness = 0;
      reader_.report.missing(*free.element, kFreeJointData,
                             "springs about free joints that are rotated in the reference configuration are omitted");
    }
    b.joints.push_back(std::move(ball));
    return true;
  }

  Reader& reader_;
  const Element& root_;
  std::set<std::string, std::less<>> driven_;          ///< joints driven by actuators
  std::set<int> tied_;                                 ///< children of the world that actuators connect to the world
  std::map<std::string, int, std::less<>> on_tendon_;  ///< a child of the world on a tendon's path, by tendon
};

}  // namespace

void join_figures(Reader& reader, const Element& root) { Joiner(reader, root).join(); }

}  // namespace kansetsu::io::mjcf
