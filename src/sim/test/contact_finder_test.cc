#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "constraint/contact_thresholds.h"
#include "stage_support.h"

/// Contacts of several shapes of a link on one plane, and the arms of friction.
namespace kansetsu {
namespace {

using namespace stage;

/// Contacts of a link of balls at these places of the plane.
size_t contacts_of(const std::vector<Vec3<>>& places) {
  WorldState world(world_options({}));
  add_floor(world);
  LinkDescription link{.name = "link"};
  link.inertial = Inertial{.mass = 1, .inertia = Sym3<>::diagonal(1, 1, 1)};
  for (const Vec3<>& p : places) {
    LinkShape ball{.shape = Sphere{0.1}};
    ball.origin.p = {p.x, p.y, 0.1};
    link.collisions.push_back(ball);
  }
  add(world, ModelBuilder("feet").base(Base::kFree).link(link).build());
  find_contacts(world);
  return world.contacts.touches().size();
}

}  // namespace

TEST_CASE("two shapes of a link on a plane are one contact, unless the line between them is shorter than kShortLine") {
  for (const double side : {0.9, 1.1})
    CHECK(contacts_of({{0, 0, 0}, {side * threshold::kShortLine, 0, 0}}) == (side > 1 ? 1 : 2));
}

TEST_CASE("three shapes of a link on a plane are one contact if all corners turn by kBluntCorner") {
  for (const double side : {0.9, 1.1}) {
    const double angle = std::asin(side * threshold::kBluntCorner);
    CHECK(contacts_of({{0, 0, 0}, {1, 0, 0}, {0.5, 0.5 * std::tan(angle), 0}}) == (side > 1 ? 1 : 2));
  }
}

TEST_CASE("corners that move by less than the root of kSameCorner keep their friction arm") {
  for (const double side : {0.9, 1.1}) {
    WorldState world(world_options({}));
    add_floor(world);
    FigureData& box = add(world, body(Box{{0.2, 0.2, 0.2}}));
    box.q[2] = 0.1;
    find_contacts(world);
    const ContactFinder::KnownArms& known = world.contacts.carried().arms[0];
    const double first = known[0].polygon[0].x;
    // The corners of the patch are where the box is turned to, about its middle.
    const double turn = side * std::sqrt(threshold::kSameCorner) / std::hypot(0.1, 0.1);
    box.q.segment<4>(3) << 0, 0, std::sin(0.5 * turn), std::cos(0.5 * turn);
    find_contacts(world);
    CHECK((world.contacts.carried().arms[0][0].polygon[0].x == first) == (side < 1));
  }
}

TEST_CASE(
    "of a capsule that lands on one end, the other end takes part if it is closer than kAhead times the way of a "
    "step") {
  constexpr double kSpeed = 1, kLength = 0.4;
  for (const double side : {0.99, 1.01}) {
    WorldState world(world_options());
    add_floor(world);
    FigureData& capsule = add(world, body(Capsule{0.1, kLength}));
    const double gap = side * kernel::threshold::kAhead * kStep * (kSpeed + kStep * kG), slope = gap / kLength;
    const double half = 0.5 * (0.5 * std::numbers::pi + std::asin(slope));
    capsule.q.segment<4>(3) << 0, std::sin(half), 0, std::cos(half);
    capsule.q[2] = 0.1 + 0.5 * gap;
    const Vec3<> down = transpose_times(capsule.base_axes(), Vec3<>{0, 0, -kSpeed});
    capsule.v.segment<3>(3) << down.x, down.y, down.z;
    find_contacts(world);
    REQUIRE(world.contacts.touches().size() == 1);
    CHECK(world.contacts.touches()[0].patch.vertex_count == (side < 1 ? 2 : 1));
  }
}

}  // namespace kansetsu
