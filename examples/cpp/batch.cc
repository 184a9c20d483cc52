// Torques that hold a figure at rest, applied to a thousand figures with slightly different masses.
#include <cmath>
#include <cstdio>
#include <random>

#include "kansetsu/batch/batch.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

int main() {
  using namespace kansetsu;
  constexpr int kCount = 1000;
  const Model model = human28();
  const int nq = model.nq(), nv = model.nv(), links = model.link_count();
  batch::Batch<double> batch(model);  // memory, and a thread per core

  // One row per state, as in NumPy: a posture near upright, and the masses of each link off by up to 10 %.
  std::mt19937_64 rng(1);
  const auto uniform = [&] { return 2.0 * double(rng() >> 11) / double(1ull << 53) - 1.0; };  // in [−1, 1)
  const Eigen::VectorXd upright = neutral(model), parameters = inertial_parameters(model);
  std::vector<double> q(size_t(kCount * nq)), inertias(size_t(kCount * 10 * links));
  for (int i = 0; i < kCount; ++i) {
    Eigen::Map<Eigen::VectorXd>(&q[size_t(i * nq)], nq) =
        integrate(model, upright, Eigen::VectorXd::NullaryExpr(nv, [&] { return 0.3 * uniform(); }));
    for (int l = 0; l < links; ++l) {
      const double scale = 1 + 0.1 * uniform();
      for (int k = 10 * l; k < 10 * l + 10; ++k) inertias[size_t(i * 10 * links + k)] = scale * parameters[k];
    }
  }

  const std::vector<double> rest(size_t(nv), 0.0);  // stride 0: the same row for all states
  std::vector<double> tau(size_t(kCount * nv)), vdot(size_t(kCount * nv));
  batch.rnea(kCount, q.data(), {rest.data(), 0}, {rest.data(), 0}, tau.data());
  batch.aba(kCount, q.data(), {rest.data(), 0}, tau.data(), vdot.data());
  const auto root_mean_square = [&](int coordinate) {
    double sum = 0;
    for (int i = 0; i < kCount; ++i) sum += std::pow(vdot[size_t(i * nv + coordinate)], 2);
    return std::sqrt(sum / kCount);
  };
  const int pelvis = 5, knee = model.coordinates(model.joint_id("kneeL_y")).v;
  std::printf("as computed:  pelvis %.3f m/s², knee %.3f rad/s²\n", root_mean_square(pelvis), root_mean_square(knee));
  batch.aba(kCount, q.data(), {rest.data(), 0}, tau.data(), vdot.data(), {.inertias = inertias.data()});
  std::printf("masses ±10 %%: pelvis %.3f m/s², knee %.3f rad/s²\n", root_mean_square(pelvis), root_mean_square(knee));
}
