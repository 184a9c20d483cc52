#include <doctest/doctest.h>

#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"
#include "model/test/support.h"

/// The compiled model against the description it came from: forward kinematics by the definition of each joint.
namespace kansetsu {
namespace {

using Eigen::VectorXd;

constexpr double kRounding = 1e-13;  // of a few dozen poses in a row, a few metres long

double worst(const std::vector<Transform<>>& a, const std::vector<Transform<>>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, test::distance(a[i], b[i]));
  return most;
}

TEST_CASE("fk is what the joints' definitions say, for every joint type") {
  std::mt19937_64 rng(1);
  for (const JointTypeInfo& type : joint_table()) {
    CAPTURE(type.name);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      CAPTURE(seed);
      const Model model = random_tree(
          seed, {.base = seed % 2 ? Base::kFree : Base::kFixed, .types = {type.type}, .aligned = seed % 3 == 0});
      const VectorXd q = random_configuration(model, rng);
      CHECK(worst(fk(model, q).X_WL, test::link_poses(model, q)) < kRounding);
    }
  }
}

TEST_CASE("fk is what the joints' definitions say, for mixed trees with gears") {
  std::mt19937_64 rng(2);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Model model = random_tree(seed, {.links = 20, .gears = int(seed % 6)});
    const VectorXd q = random_configuration(model, rng);
    CHECK(worst(fk(model, q).X_WL, test::link_poses(model, q)) < kRounding);
  }
}

TEST_CASE("locked joints stay, the others move as before") {
  std::mt19937_64 rng(3);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Model model = random_tree(seed, {.links = 10});
    const VectorXd q = random_configuration(model, rng);
    const Model locked = lock_joints(model, {"J2", "J5"}, q);
    VectorXd moved = random_configuration(model, rng), rest(locked.nq());
    for (const char* name : {"J2", "J5"}) {
      const CoordinateRange held = model.coordinates(model.joint_id(name));
      moved.segment(held.q, held.nq) = q.segment(held.q, held.nq);
    }
    rest.head<7>() = moved.head<7>();
    for (int j = 0; j < locked.joint_count(); ++j) {  // locking keeps the order of the joints
      const CoordinateRange from = model.coordinates(JointId(j)), to = locked.coordinates(JointId(j));
      rest.segment(to.q, to.nq) = moved.segment(from.q, to.nq);
    }
    CHECK(worst(fk(locked, rest).X_WL, fk(model, moved).X_WL) < kRounding);
    const Model merged = merge_fixed_links(locked);
    const LinkPoses poses = fk(merged, rest), before = fk(model, moved);
    for (int i = 0; i < merged.link_count(); ++i) {
      CHECK(test::distance(poses[LinkId(i)], before[model.link_id(merged.link(LinkId(i)).name)]) < kRounding);
    }
  }
}

}  // namespace
}  // namespace kansetsu
