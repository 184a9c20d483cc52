#include "sim/momentum.h"

#include <doctest/doctest.h>

#include <random>

#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

namespace kansetsu {
TEST_CASE("without its rigid motion an island has no momentum, and as much less energy") {
  constexpr int kSeed = 1;
  MESSAGE("seed ", kSeed);
  std::mt19937_64 rng(kSeed);
  std::normal_distribution<double> normal;
  Figures figures;
  IslandWork w;
  for (const Model& model : {human28(), chain(8, Base::kFree)}) {
    figures.push_back(std::make_unique<FigureData>(model, FigureOptions{}));
    FigureData& f = *figures.back();
    w.members.push_back(f), w.mechanics.push_back(&f.mechanics);
    f.q = random_configuration(model, rng);
    f.q.head<3>() << normal(rng), normal(rng), normal(rng);
    for (double& v : f.v) v = normal(rng);
  }
  const double before = w.kinetic_energy();
  const RigidMotion motion = rigid_motion(w);
  add_rigid_motion(w, motion, -1);
  CHECK(w.kinetic_energy() == doctest::Approx(before - motion.energy).epsilon(1e-12));
  for (const auto& f : figures) f->set_mechanics();
  const Force<> left = whole(w, motion.centre).momentum;
  CHECK(norm(left.f) < 1e-10);
  CHECK(norm(left.t) < 1e-10);
}

TEST_CASE("an island in flight gets the momentum that gravity and applied forces give it, one that is held does not") {
  constexpr double kStep = 0.01;
  for (const bool held : {false, true}) {
    WorldState world;
    world.figures.push_back(std::make_unique<FigureData>(chain(3, Base::kFree), FigureOptions{}));
    IslandWork w;
    FigureData& f = *world.figures[0];
    f.v << 1, 2, 3, 4, 5, 6, 0.5, -0.5;
    w.members.push_back(f), w.mechanics.push_back(&f.mechanics);
    if (held) world.connections.emplace_back().b = {FigureId(0), LinkId(0)}, w.connections = {0};
    CHECK(flies(world, w) == !held);
    f.set_mechanics();
    const Force<> before = whole(w, {}).momentum;
    f.q_begin = f.q, f.v_begin = f.v;
    f.acting = {{}, {7, 0, 0}};
    keep_momentum(world, w, kStep);
    f.set_mechanics();
    const Force<> after = whole(w, {}).momentum;
    CHECK(after.f.x - before.f.x == doctest::Approx(held ? 0 : 7 * kStep));
    CHECK(after.f.z - before.f.z == doctest::Approx(held ? 0 : -3 * 9.81 * kStep));
  }
}

TEST_CASE("about an axis with less than kThin of the inertia nothing turns") {
  for (const double side : {0.5, 2.0}) {
    const double thin = 2 * side * threshold::kThin;
    const Whole rod{.inertia = {1, {}, Sym3<>::diagonal(1, 1, thin)}};
    const RigidMotion motion = rod.rigid_motion({{0, 0, 3 * thin}, {}});
    CHECK(motion.turn.z == doctest::Approx(side > 1 ? 3 : 0));
  }
}

}  // namespace kansetsu
