#include <algorithm>

#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "model/random.h"

namespace kansetsu {
namespace {

class TreeDraw {
 public:
  TreeDraw(std::uint64_t seed, const RandomTreeOptions& options)
      : rng_(seed), options_(options), builder_("tree" + std::to_string(seed)), types_(options.types) {
    if (types_.empty()) {
      for (const JointTypeInfo& type : joint_table()) types_.push_back(type.type);
    }
  }

  Model run() {
    builder_.base(options_.base).link(link_name(0), inertial());
    if (options_.base == Base::kFixed) builder_.base_pose(pose());
    for (int i = 1; i < options_.links; ++i) add_link(i);
    add_gears();
    return builder_.build();
  }

 private:
  static std::string link_name(int i) { return "L" + std::to_string(i); }
  static std::string joint_name(int i) { return "J" + std::to_string(i); }
  double draw(double lower, double upper) { return uniform(rng_, lower, upper); }

  void add_link(int i) {
    const bool branch = draw(0, 1) < options_.branching;
    const int parent = branch ? uniform_index(rng_, i) : i - 1;
    JointDescription joint{.name = joint_name(i),
                           .type = types_[std::size_t(uniform_index(rng_, int(types_.size())))],
                           .parent = link_name(parent),
                           .child = link_name(i)};
    joint.socket = pose();
    joint.plug = pose();
    joint.axis = direction();
    do {
      joint.second_axis = direction();
    } while (norm(cross(joint.axis, joint.second_axis)) < 0.3);
    joint.pitch = draw(-0.2, 0.2);
    joint.dofs.resize(std::size_t(info(joint.type).nv));
    for (DofDescription& dof : joint.dofs) {
      dof.rotor_inertia = options_.rotors ? draw(0, 0.1) : 0;
      dof.damping = draw(0, 0.5);
      dof.friction = draw(0, 0.2);
    }
    builder_.link(link_name(i), inertial()).joint(std::move(joint));
  }

  /// Each gear makes one 1-DOF joint follow one or two others that come before it in a random order, so that gears of gears
  /// arise but no circles.
  void add_gears() {
    std::vector<std::string> joints;
    for (const JointDescription& joint : builder_.description().joints) {
      if (info(joint.type).nv == 1) joints.push_back(joint.name);
    }
    for (std::size_t i = joints.size(); i > 1; --i)
      std::swap(joints[i - 1], joints[std::size_t(uniform_index(rng_, int(i)))]);
    const int most = std::max(0, int(joints.size()) - 1);
    for (int i = 1; i <= std::min(options_.gears, most); ++i) {
      Coupling coupling{.dependent = {joints[std::size_t(i)]}, .offset = draw(-0.5, 0.5)};
      const int terms = i > 1 && draw(0, 1) < 0.25 ? 2 : 1;
      const int first = uniform_index(rng_, i);
      for (int k = 0; k < terms; ++k) {
        const double size = draw(0.3, 2), sign = draw(-1, 1) < 0 ? -1 : 1;
        coupling.terms.push_back({{joints[std::size_t((first + k) % i)]}, sign * size});
      }
      builder_.couple(std::move(coupling));
    }
  }

  Inertial inertial() {
    // A box with its own mass distribution: moments that a body can have, in turned axes.
    const double mass = draw(0.3, 3);
    const Vec3<> a{draw(0.05, 0.4), draw(0.05, 0.4), draw(0.05, 0.4)};
    const double k = mass / 12;
    return {mass, pose(),
            Sym3<>::diagonal(k * (a.y * a.y + a.z * a.z), k * (a.x * a.x + a.z * a.z), k * (a.x * a.x + a.y * a.y))};
  }

  Pose pose() {
    const Vec3<> p = uniform_vec3(rng_, 0.4);
    if (!options_.aligned) return to_pose({to_mat3(uniform_rotation(rng_)), p});
    const auto quarter = [&] { return std::numbers::pi / 2 * uniform_index(rng_, 4); };
    const double roll = quarter(), pitch = quarter(), yaw = quarter();
    return {p, {roll, pitch, yaw}};
  }

  Vec3<> direction() {
    if (!options_.aligned) return uniform_direction(rng_);
    const double sign = uniform_index(rng_, 2) == 0 ? 1 : -1;
    const int axis = uniform_index(rng_, 3);
    return {axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0};
  }

  std::mt19937_64 rng_;
  const RandomTreeOptions& options_;
  ModelBuilder builder_;
  std::vector<JointType> types_;
};

}  // namespace

Model random_tree(std::uint64_t seed, const RandomTreeOptions& options) { return TreeDraw(seed, options).run(); }

}  // namespace kansetsu
