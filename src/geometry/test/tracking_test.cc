#include "kansetsu/base/error.h"
#include "kansetsu/geometry/broad_phase.h"
#include "kansetsu/geometry/contact_cache.h"
#include "kansetsu/geometry/material.h"
#include "no_alloc.h"
#include "support.h"

/// Pairs, identity from step to step, materials.
namespace kansetsu {
namespace {

using namespace test;

std::vector<Aabb> random_boxes(Random& random, int count, double spread) {
  std::vector<Aabb> boxes;
  for (int i = 0; i < count; ++i) {
    const Vec3<> p = random.vector(spread), h{random.uniform(0, 0.5), random.uniform(0, 0.5), random.uniform(0, 0.5)};
    boxes.push_back({p - h, p + h});
  }
  return boxes;
}

std::vector<ShapePair> all_pairs(const std::vector<Aabb>& boxes, auto&& wanted) {
  std::vector<ShapePair> pairs;
  for (int a = 0; a < int(boxes.size()); ++a) {
    for (int b = a + 1; b < int(boxes.size()); ++b) {
      if (overlap(boxes[std::size_t(a)], boxes[std::size_t(b)]) && wanted(a, b)) pairs.push_back({a, b});
    }
  }
  return pairs;
}

std::vector<ShapePair> found(const BroadPhase& broad) { return {broad.pairs().begin(), broad.pairs().end()}; }

Manifold manifold(std::initializer_list<ContactPoint> points) {
  Manifold m;
  m.normal_W = {0, 0, 1};
  for (const ContactPoint& p : points) m.points[m.count++] = p;
  return m;
}

}  // namespace

TEST_CASE("the broad phase finds what testing all pairs finds, whatever moves") {
  Random random(1);
  BroadPhase broad;
  constexpr int kCount = 150;
  for (int i = 0; i < kCount; ++i) broad.add(i / 2, {1u << random.below(3), unsigned(random.below(8))});
  BroadPhase copy = broad;
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<CollisionGroups> groups;
  Random again(1);
  for (int i = 0; i < kCount; ++i) {
    const unsigned g = 1u << again.below(3);
    groups.push_back({g, unsigned(again.below(8))});
  }
  broad.exclude_bodies(3, 40);
  broad.exclude_shapes(8, 9);
  broad.exclude_shapes(100, 20);
  const auto wanted = [&](int a, int b) {
    const CollisionGroups &x = groups[std::size_t(a)], &y = groups[std::size_t(b)];
    if (a / 2 == b / 2 || !may_touch(x, y) || a == 12 || b == 12) return false;  // 12 is empty
    if ((a / 2 == 3 && b / 2 == 40) || (a == 20 && b == 100)) return false;
    return true;
  };
  for (int step = 0; step < 60; ++step) {
    CAPTURE(step);
    std::vector<Aabb> boxes = random_boxes(random, kCount, step % 3 == 0 ? 1 : 3);
    boxes[5] = {{-inf, -inf, -inf}, {inf, inf, 0}};
    if (step % 4 == 0) boxes[7].lower = {-inf, -inf, -inf};
    boxes[11].lower.x = std::numeric_limits<double>::quiet_NaN();
    boxes[12] = {{1, 1, 1}, {0, 0, 0}};
    broad.update(boxes);
    CHECK(found(broad) == all_pairs(boxes, wanted));
  }
  broad.include_bodies(3, 40);
  broad.include_shapes(100, 20);
  broad.include_shapes(8, 9);
  const std::vector<Aabb> boxes = random_boxes(random, kCount, 0.5);
  broad.update(boxes);
  copy.update(boxes);  // without history: the same order
  CHECK(found(broad) == found(copy));
  CHECK(broad.pairs().size() > 100);
  CHECK_THROWS_AS(broad.update({}), Error);
  CHECK_THROWS_AS(broad.set_groups(kCount, {}), Error);
}

TEST_CASE("more pairs than memory is meant for are refused") {
  BroadPhase broad;
  std::vector<Aabb> boxes;
  const auto add = [&](int count) {
    for (int i = 0; i < count; ++i) broad.add(broad.size()), boxes.push_back(Aabb{{0, 0, 0}, {1, 1, 1}});
  };
  add(2000);  // 1 999 000 pairs
  broad.update(boxes);
  CHECK(broad.pairs().size() == 1'999'000);
  add(1);  // 2 001 000
  CHECK_THROWS_AS(broad.update(boxes), Error);
}

TEST_CASE("bodies of one family never meet, and others do") {
  BroadPhase broad;
  for (int body = 0; body < 6; ++body) broad.add(body);
  for (const int body : {0, 1, 2}) broad.set_family(body, 7);
  for (const int body : {3, 4}) broad.set_family(body, 8);
  const std::vector<Aabb> boxes(6, Aabb{{0, 0, 0}, {1, 1, 1}});
  broad.update(boxes);
  CHECK(broad.pairs().size() == 15 - 3 - 1);  // all but those within the two families
  for (const ShapePair& pair : broad.pairs()) CHECK((pair.a < 3) + (pair.b < 3) < 2);
  broad.set_family(1, -1);
  broad.always_include_shapes(3, 4);
  broad.update(boxes);
  CHECK(broad.pairs().size() == 15 - 1);
  CHECK_THROWS_AS(broad.set_family(-1, 0), Error);
}

TEST_CASE("a pair that always meets does so whatever groups and exclusions say, but not within a body") {
  BroadPhase broad;
  for (const int body : {0, 1, 2, 2}) broad.add(body, {0, 0});
  broad.exclude_bodies(0, 1);
  broad.always_include_shapes(1, 0);
  broad.always_include_shapes(2, 3);
  const std::vector<Aabb> boxes(4, Aabb{{0, 0, 0}, {1, 1, 1}});
  broad.update(boxes);
  CHECK(found(broad) == std::vector<ShapePair>{{0, 1}});
}

TEST_CASE("the broad phase does not allocate once warm") {
  Random random(9);
  BroadPhase broad;
  for (int i = 0; i < 100; ++i) broad.add(i);
  const std::vector<Aabb> dense(100, Aabb{{0, 0, 0}, {1, 1, 1}}), loose = random_boxes(random, 100, 4);
  broad.update(dense);
  CHECK(broad.pairs().size() == 4950);
  CHECK(allocations_in([&] {
          broad.update(loose);
          broad.update(dense);
        }) == 0);
}

TEST_CASE("masks meet in either direction, as in MuJoCo") {
  CHECK(may_touch({1, 0}, {0, 1}));
  CHECK(may_touch({0, 1}, {1, 0}));
  CHECK_FALSE(may_touch({1, 2}, {1, 2}));
  CHECK(may_touch({}, {}));
}

TEST_CASE("a contact keeps its id while it lasts, and its points their place") {
  ContactCache cache(0.05);
  const PairKey a{0, 1, 0}, b{0, 2, 0}, c{1, 2, 7};
  const Manifold first = manifold({{{0, 0, 0}, 0, 10}, {{1, 0, 0}, 0, 11}, {{1, 1, 0}, 0, 12}});
  cache.update(std::vector{a, c}, std::vector{first, first});
  REQUIRE(cache.matches().size() == 2);
  const ContactId id_a = cache.matches()[0].id, id_c = cache.matches()[1].id;
  CHECK(cache.matches()[0].previous == -1);
  CHECK(cache.matches()[0].age == 0);
  CHECK(cache.alive(id_a));

  // The order of the points changes, one has a new feature nearby, one is new and far away.
  const Manifold second = manifold({{{1, 0, 0}, 0, 11}, {{0.01, 0, 0}, 0, 99}, {{5, 5, 0}, 0, 98}, {{2, 2, 0}, 0, 12}});
  cache.update(std::vector{a, b, c}, std::vector{second, first, first});
  const ContactMatch& match = cache.matches()[0];
  CHECK(match.id == id_a);
  CHECK(match.previous == 0);
  CHECK(match.age == 1);
  CHECK(match.previous_point[0] == 1);
  CHECK(match.previous_point[1] == 0);
  CHECK(match.previous_point[2] == -1);
  CHECK(match.previous_point[3] == 2);  // the same feature, however far
  CHECK(cache.matches()[1].previous == -1);
  CHECK(cache.matches()[2].id == id_c);
  CHECK(cache.matches()[2].previous == 1);
  const double last[3] = {1, 2, 3};
  double now[4];
  carry(match, last, 4, -1.0, now);
  CHECK(now[0] == 2);
  CHECK(now[1] == 1);
  CHECK(now[2] == -1);
  CHECK(now[3] == 3);

  cache.update(std::vector{b}, std::vector{first});
  REQUIRE(cache.ended().size() == 2);
  CHECK_FALSE(cache.alive(id_a));
  CHECK_FALSE(cache.alive(id_c));
  cache.update(std::vector{a, b}, std::vector{first, first});
  CHECK(cache.matches()[0].previous == -1);
  CHECK_FALSE(cache.matches()[0].id == id_a);
  CHECK(cache.slots() == 3);
  cache.clear();
  CHECK(cache.matches().empty());
  CHECK_THROWS_AS(cache.update(std::vector{b, a}, std::vector{first, first}), Error);
  CHECK_THROWS_AS(cache.update(std::vector{a, a}, std::vector{first, first}), Error);
  CHECK_THROWS_AS(cache.update(std::vector{a}, {}), Error);
}

TEST_CASE("a contact that is told to have been found again is as if it had") {
  const PairKey key{0, 1, 0};
  const std::vector<Manifold> first{manifold({{{0, 0, 0}, 0, 10}, {{1, 0, 0}, 0, 11}})},
      moved{manifold({{{0, 0.1, 0}, 0, 10}, {{1, 0.1, 0}, 0, 11}})}, turned{manifold({{{0, 0.11, 0}, 0, 20}})};
  ContactCache found, told;
  for (ContactCache* cache : {&found, &told}) cache->update(std::vector{key}, first);
  for (int i = 0; i < 3; ++i) found.update(std::vector{key}, moved);
  told.repeat(0, 3, std::vector<Vec3<>>{{0, 0.1, 0}, {1, 0.1, 0}});
  CHECK(told.key(0) == key);
  CHECK(told.id(0) == found.id(0));
  CHECK(std::ranges::equal(told.features(0), found.features(0)));
  for (ContactCache* cache : {&found, &told}) {
    cache->update(std::vector{key}, turned);
    CHECK(cache->matches()[0].age == 4);
    CHECK(cache->matches()[0].previous_point[0] == 0);  // by its distance from where it was last
  }
  CHECK_THROWS_AS(told.repeat(0, 1, {}), Error);
}

TEST_CASE("a copy of the cache goes on alike, and neither allocates once warm") {
  Random random(6);
  ContactCache cache;
  const auto step = [&](ContactCache& c, const std::vector<PairKey>& keys) {
    const std::vector<Manifold> manifolds(keys.size(), manifold({{{0, 0, 0}, 0, 1}, {{1, 0, 0}, 0, 2}}));
    c.update(keys, manifolds);
  };
  std::vector<std::vector<PairKey>> steps;
  for (int i = 0; i < 30; ++i) {
    std::vector<PairKey> keys;
    for (int a = 0; a < 20; ++a) {
      if (random.below(2) != 0) keys.push_back({a, a + 1, 0});
    }
    steps.push_back(keys);
  }
  for (int i = 0; i < 15; ++i) step(cache, steps[std::size_t(i)]);
  ContactCache copy = cache;
  for (int i = 15; i < 30; ++i) {
    step(cache, steps[std::size_t(i)]);
    step(copy, steps[std::size_t(i)]);
    REQUIRE(cache.matches().size() == copy.matches().size());
    for (std::size_t k = 0; k < cache.matches().size(); ++k) {
      CHECK(cache.matches()[k].id == copy.matches()[k].id);
      CHECK(cache.matches()[k].previous == copy.matches()[k].previous);
    }
  }
  std::vector<PairKey> keys;
  for (int a = 0; a < 20; ++a) keys.push_back({a, a + 1, 0});
  const std::vector<Manifold> manifolds(20, manifold({{{0, 0, 0}, 0, 1}}));
  cache.update(keys, manifolds);
  cache.update({}, {});
  cache.update(keys, manifolds);
  CHECK(allocations_in([&] {
          cache.update({}, {});
          cache.update(keys, manifolds);
          cache.update(keys, manifolds);
        }) == 0);
}

TEST_CASE("materials of pairs follow the rules unless a pair is given its own") {
  MaterialTable table;
  CHECK(table.size() == 1);
  CHECK(table.pair(MaterialId(0), MaterialId(0)) == ContactMaterial{});
  const MaterialId ice = table.add({.mu_s = 0.1, .mu_d = 0.05, .restitution = 0.5, .spin_radius = 0.01});
  const MaterialId rubber = table.add({.mu_s = 1.6, .mu_d = 1.25, .restitution = 0.8});
  const ContactMaterial& pair = table.pair(ice, rubber);
  CHECK(pair.mu_s == doctest::Approx(0.4).epsilon(1e-15));
  CHECK(pair.mu_d == doctest::Approx(0.25).epsilon(1e-15));
  CHECK(pair.restitution == doctest::Approx(std::sqrt(0.4)).epsilon(1e-15));
  CHECK(pair.spin_radius == 0.01);
  CHECK(table.pair(rubber, ice) == pair);
  const ContactMaterial own{.mu_s = 0.3, .mu_d = 0.2};
  table.set_pair(rubber, ice, own);
  table.set(ice, {.mu_s = 0.2, .mu_d = 0.1});
  table.add({});
  CHECK(table.pair(ice, rubber) == own);
  CHECK(table.pair(rubber, ice) == own);
  CHECK(table.pair(ice, ice).mu_s == doctest::Approx(0.2).epsilon(1e-15));
  const ContactMaterial low =
      combine({.mu_s = 1, .mu_d = 1}, {.mu_s = 2, .mu_d = 1.5}, {.friction = CombineRule::kMinimum});
  CHECK(low.mu_s == 1);
  CHECK(combine({.restitution = 0.2}, {.restitution = 0.4}, {.restitution = CombineRule::kMean}).restitution ==
        doctest::Approx(0.3).epsilon(1e-15));
  CHECK_THROWS_AS(table.add({.mu_s = 0.1, .mu_d = 0.2}), Error);
  CHECK_THROWS_AS(table.add({.mu_s = -1, .mu_d = -1}), Error);
  CHECK_THROWS_AS(table.add({.restitution = 1.1}), Error);
  CHECK_THROWS_AS(table.set_pair(ice, MaterialId(9), {}), Error);
}

}  // namespace kansetsu
