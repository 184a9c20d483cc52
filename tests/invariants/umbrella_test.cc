#include <doctest/doctest.h>
#include <kansetsu/kansetsu.h>

using namespace kansetsu;

TEST_CASE("one header, and few words: a figure, the torques that hold it, a world with a floor") {
  const Model model = human28();
  const State rest(model);
  const Eigen::VectorXd hold = gravity_torque(model, rest.q);
  CHECK(hold == rnea(model, rest, Eigen::VectorXd::Zero(model.nv())));  // the same recursion: the same bits
  CHECK(hold == bias(model, rest));

  World world;
  const ShapeId floor = world.add_fixed(Plane{}, translation(0, 0, -2));
  const FigureId id = world.add(model, State(rest.q, rest.v));
  CHECK(floor.value() == 0);
  CHECK(world.state(id).q == rest.q);
  world.step();
  CHECK(world.state(id).v == world.v(id));
  CHECK(translation(1, 2, 3) * Vec3<>{1, 0, 0} == Vec3<>{2, 2, 3});
}
