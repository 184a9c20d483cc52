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

}  // namespace kansetsu
