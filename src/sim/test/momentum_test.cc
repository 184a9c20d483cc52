#include "sim/momentum.h"

#include <doctest/doctest.h>

#include <random>

#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

namespace kansetsu {
namespace {

double kinetic(const Figures& figures) {
  double sum = 0;
  for (const auto& f : figures) sum += f->energy_of(f->q, f->v).kinetic;
  return sum;
}

}  // namespace

TEST_CASE("without its rigid motion an island has no momentum, and as much less energy") {
  constexpr int kSeed = 1;
  MESSAGE("seed ", kSeed);
  std::mt19937_64 rng(kSeed);
  std::normal_distribution<double> normal;
  Figures figures;
  IslandWork w;
  for (const Model& model : {human28(), chain(8, Base::kFree)}) {
    w.figures.push_back(int(figures.size()));
    figures.push_back(std::make_unique<FigureData>(model, FigureOptions{}));
    FigureData& f = *figures.back();
    f.q = random_configuration(model, rng);
    f.q.head<3>() << normal(rng), normal(rng), normal(rng);
    for (double& v : f.v) v = normal(rng);
  }
  const double before = kinetic(figures);
  const RigidMotion motion = rigid_motion(figures, w);
  add_rigid_motion(figures, w, motion, -1);
  CHECK(kinetic(figures) == doctest::Approx(before - motion.energy).epsilon(1e-12));
  for (const auto& f : figures) f->set_mechanics();
  const Force<> left = whole(figures, w, motion.centre).momentum;
  CHECK(norm(left.f) < 1e-10);
  CHECK(norm(left.t) < 1e-10);
}

}  // namespace kansetsu
