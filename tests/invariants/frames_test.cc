#include <doctest/doctest.h>

#include <map>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/spatial/quaternion.h"
#include "model/tree.h"
#include "random_models.h"

/// The frames a user attaches to links are arbitrary: turning and moving every one of them changes no result.
using namespace kansetsu;
using namespace kansetsu::test;

namespace {

Transform<> random_pose(std::mt19937_64& rng) {
  const Eigen::VectorXd x = random_vector(7, rng);
  return {to_mat3(Quaternion<>{x[0], x[1], x[2], x[3]}), {x[4], x[5], x[6]}};
}

/// The same mechanism with every link frame but the root's replaced by a random one.
Model with_turned_links(const Model& model, std::mt19937_64& rng) {
  ModelDescription d = model.description();
  std::map<std::string, Transform<>> X_new;  // pose of the old frame in the new one
  X_new[d.links[0].name] = {};
  for (size_t i = 1; i < d.links.size(); ++i) X_new[d.links[i].name] = random_pose(rng);
  for (LinkDescription& link : d.links) {
    if (link.inertial) link.inertial->origin = to_pose(X_new.at(link.name) * to_transform(link.inertial->origin));
    link.visuals.clear();
    link.collisions.clear();
  }
  for (JointDescription& joint : d.joints) {
    joint.socket = to_pose(X_new.at(joint.parent) * to_transform(joint.socket));
    joint.plug = to_pose(X_new.at(joint.child) * to_transform(joint.plug));
  }
  d.frames.clear();
  return ModelBuilder(d).build();
}

}  // namespace

TEST_CASE("turning every link frame at random gives the same dynamics") {
  for (const auto& [seed, model] : invariant_models(30)) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const Model turned = with_turned_links(model, rng);
    REQUIRE(turned.nv() == model.nv());
    const State state = regular_state(model, rng);
    const Eigen::VectorXd vdot = random_vector(model.nv(), rng);
    const Eigen::VectorXd a = rnea(model, state, vdot), b = rnea(turned, state, vdot);
    CHECK((a - b).lpNorm<Eigen::Infinity>() <
          1e-11 * std::max(1.0, a.lpNorm<Eigen::Infinity>()));  // rounding of frames moved there and back
    const Eigen::MatrixXd M = crba(model, state.q), N = crba(turned, state.q);
    CHECK((M - N).lpNorm<Eigen::Infinity>() < 1e-11 * M.lpNorm<Eigen::Infinity>());  // as above
    const AbaResult f = aba(turned, state, a);
    CHECK((rnea(model, state, f.vdot) - a).lpNorm<Eigen::Infinity>() <
          1e-8 * std::max(1.0, a.lpNorm<Eigen::Infinity>()));  // condition of M, up to 1e5 here
  }
}

TEST_CASE("hinges along coordinate axes use the tight loop, others the general one") {
  const Model figure = human28();
  const Tree& human = figure.tree();
  for (size_t i = 1; i < human.bodies.size(); ++i) CHECK(human.bodies[i].aligned_axis >= 0);
  CHECK(human.groups.empty());
  std::mt19937_64 rng(1);
  bool general = false;
  const Model turned = with_turned_links(random_tree(3), rng);
  for (const Body& b : turned.tree().bodies) general |= b.aligned_axis < 0;
  CHECK(general);
}
