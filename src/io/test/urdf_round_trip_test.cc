#include <random>

#include "io/test/urdf_property.h"
#include "io/test/urdf_support.h"
#include "io/text.h"

using namespace kansetsu;
using namespace kansetsu::io;
using namespace kansetsu::io::test;

namespace {

/// Valid descriptions with everything in them, in the form that the reader gives: data for each coordinate, axes only where
/// the joint has them, mimics before other gears.
class RandomDescription {
 public:
  explicit RandomDescription(std::uint64_t seed) : rng_(seed) {}

  ModelDescription make() {
    model_.name = text();
    const int links = 1 + below(8);
    if (chance(3)) model_.materials = {{"red", std::vector<double>{1, 0, 0, 0.5}, ""}, {"wood & oak", {}, "oak.png"}};
    for (int i = 0; i < links; ++i) add_link(i);
    for (int i = 1; i < links; ++i) add_joint(i);
    add_gears();
    add_extras();
    return model_;
  }

 private:
  int below(int n) { return static_cast<int>(rng_() % static_cast<std::uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  double number() {
    switch (below(6)) {
      case 0:
        return below(5) - 2;
      case 1:
        return std::ldexp(uniform(), below(60) - 30);
      case 2:
        return -0.0;
      default:
        return uniform();
    }
  }
  double uniform() { return std::uniform_real_distribution<double>(-2, 2)(rng_); }
  double positive() { return chance(4) ? 0 : std::abs(uniform()); }
  Vec3<> vector() { return {number(), number(), number()}; }
  Vec3<> direction() { return chance(2) ? Vec3<>{0, 1, 0} : Vec3<>{uniform(), uniform(), 2.5}; }
  Pose pose() { return chance(3) ? Pose{} : Pose{vector(), vector()}; }
  std::string text() {
    static const char* kWords[] = {"arm", "l knee", "a&b", "<x>", "\"q\"", "ω", "関節", "é'", "link_1.0", "${"};
    return kWords[below(9)];
  }
  std::string unique(const char* kind) { return text() + kind + std::to_string(++names_); }

  Shape shape() {
    switch (below(5)) {
      case 0:
        return Sphere{positive()};
      case 1:
        return Box{{positive(), positive(), positive()}};
      case 2:
        return Cylinder{positive(), positive()};
      case 3:
        return Capsule{positive(), positive()};
      default:
        return Mesh{"package://no such/" + text() + ".stl", {}, chance(2) ? Vec3<>{1, 1, 1} : Vec3<>{1, -2, 3}};
    }
  }
  std::optional<Material> material() {
    if (chance(3)) return std::nullopt;
    if (!model_.materials.empty() && chance(2)) return model_.materials[static_cast<std::size_t>(below(2))];
    return Material{chance(3) ? "" : unique("paint"), std::vector<double>{0.1, 0.2, std::abs(uniform()) / 2, 1},
                    chance(3) ? "t.png" : ""};
  }
  std::vector<LinkShape> shapes() {
    std::vector<LinkShape> list(static_cast<std::size_t>(below(3)));
    for (LinkShape& s : list) s = {chance(2) ? "" : text(), pose(), shape(), material()};
    return list;
  }
  void add_link(int i) {
    LinkDescription link;
    link.name = unique("link");
    if (i == 0 || !chance(4)) {
      const double a = 1 + std::abs(uniform()), b = 1 + std::abs(uniform());
      link.inertial = Inertial{1 + positive(), pose(), Sym3<>{a, 0.1 * uniform(), 0, b, 0.1 * uniform(), (a + b) / 2}};
    }
    link.visuals = shapes();
    link.collisions = shapes();
    model_.links.push_back(std::move(link));
  }

  DofDescription dof(bool limits) {
    DofDescription d;
    if (limits && chance(2)) d.lower = -positive();
    if (limits && chance(2)) d.upper = positive();
    if (chance(2)) d.velocity = positive();
    if (chance(2)) d.effort = positive();
    if (chance(3)) d.rotor_inertia = positive();
    if (chance(3)) d.damping = positive();
    if (chance(3)) d.friction = positive();
    if (chance(3)) d.stiffness = positive(), d.rest = number();
    return d;
  }
  void add_joint(int child) {
    JointDescription joint;
    joint.name = unique("joint");
    const JointTypeInfo& type = joint_table()[static_cast<std::size_t>(below(static_cast<int>(joint_table().size())))];
    joint.type = type.type;
    joint.parent = model_.links[static_cast<std::size_t>(below(child))].name;
    joint.child = model_.links[static_cast<std::size_t>(child)].name;
    joint.socket = pose();
    const bool directed = type.nv == 1 || type.type == JointType::kPlanar || type.type == JointType::kCylindrical ||
                          type.type == JointType::kUniversal;
    if (directed) joint.axis = direction();
    if (type.type == JointType::kUniversal) joint.second_axis = {1, uniform(), 0};
    if (type.type == JointType::kHelical) joint.pitch = number();
    joint.continuous = type.type == JointType::kRevolute && chance(2);
    for (int i = 0; i < type.nv; ++i) joint.dofs.push_back(dof(type.nq == type.nv));
    if (type.type == JointType::kBall && chance(2))
      joint.swing_twist = SwingTwistLimit{1, chance(2) ? -kInfinity : -1, 2};
    model_.joints.push_back(std::move(joint));
  }

  /// Each joint may follow the ones before it; those of one coordinate that follow one of their kind are mimics.
  void add_gears() {
    std::vector<Coupling> others;
    for (std::size_t i = 1; i < model_.joints.size(); ++i) {
      const JointDescription& joint = model_.joints[i];
      if (!is_gearable(joint) || !chance(3)) continue;
      Coupling gear{{joint.name, below(info(joint.type).nv)}, {}, number(), 0};
      for (std::size_t k = 0; k < i; ++k) {
        const JointDescription& other = model_.joints[k];
        if (is_gearable(other) && chance(2))
          gear.terms.push_back({{other.name, below(info(other.type).nv)}, 1 + positive()});
      }
      if (gear.terms.empty()) continue;
      const bool mimic = gear.terms.size() == 1 && info(joint.type).nv == 1 && nv_of(gear.terms[0].dof.joint) == 1;
      (mimic ? model_.couplings : others).push_back(std::move(gear));
    }
    model_.couplings.insert(model_.couplings.end(), others.begin(), others.end());
  }
  static bool is_gearable(const JointDescription& joint) {
    const JointTypeInfo& type = info(joint.type);
    return type.nv > 0 && type.nq == type.nv;
  }
  int nv_of(const std::string& name) {
    for (const JointDescription& joint : model_.joints) {
      if (joint.name == name) return info(joint.type).nv;
    }
    return 0;
  }

  void add_extras() {
    const auto& some_link = [&] {
      return model_.links[static_cast<std::size_t>(below(static_cast<int>(model_.links.size())))].name;
    };
    if (chance(2)) model_.base = Base::kFree;
    if (chance(2)) model_.base_pose = pose();
    if (chance(2)) model_.gravity = vector();
    if (chance(2)) model_.frames.push_back({unique("frame"), some_link(), pose()});
    if (model_.links.size() > 1) model_.collision_filters.push_back({model_.links[0].name, model_.links[1].name});
    for (const JointDescription& joint : model_.joints) {
      const int nv = info(joint.type).nv;
      if (nv > 0 && chance(2)) {
        model_.actuators.push_back(
            {unique("motor"), {joint.name, below(nv)}, number(), chance(2) ? kInfinity : positive()});
      }
    }
  }

  std::mt19937_64 rng_;
  ModelDescription model_;
  int names_ = 0;
};

}  // namespace

TEST_CASE("random descriptions survive being written and read") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    const ModelDescription model = RandomDescription(seed).make();
    const auto text = to_urdf(model);
    INFO(to_string(text.diagnostics));
    REQUIRE(text);
    const auto again = parse_urdf(*text.value);
    INFO(*text.value);
    INFO(to_string(again.diagnostics));
    REQUIRE(again);
    CHECK(*again.value == model);
    CHECK(*to_urdf(*again.value).value == *text.value);
  }
}

TEST_CASE("[data] recorded robots survive being read, written and read") {
  for (const char* folder : {"robots", "odd_models/urdf"}) {
    for (const auto& file : data_files(folder)) {
      CAPTURE(file);
      CHECK(urdf_violation(read_file(file).text) == "");
    }
  }
}
