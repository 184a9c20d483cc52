#pragma once

#include <Eigen/Core>
#include <random>
#include <vector>

#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

/// Models and states for invariant tests. Everything follows from the seed, which tests print.
namespace kansetsu::test {

inline Eigen::VectorXd random_vector(long n, std::mt19937_64& rng) {
  std::normal_distribution<double> normal;
  return Eigen::VectorXd::NullaryExpr(n, [&](Eigen::Index) { return normal(rng); });
}
inline State random_state(const Model& model, std::mt19937_64& rng) {
  State state(model);
  state.q = random_configuration(model, rng);
  state.v = random_vector(model.nv(), rng);
  return state;
}

/// Away from the singularity of Euler balls, where no mass matrix exists.
inline bool well_conditioned(const Model& model, const Eigen::VectorXd& q) {
  for (int j = 0; j < model.joint_count(); ++j) {
    if (model.joint(JointId(j)).type != JointType::kBallZyx) continue;
    double y = model.row(JointId(j), 1).offset;
    for (const auto& [column, ratio] : model.row(JointId(j), 1).terms) {
      for (int k = 0; k < model.joint_count(); ++k) {
        const CoordinateRange r = model.coordinates(JointId(k));
        if (column >= r.v && column < r.v + r.nv && r.nq == r.nv) y += ratio * q[r.q + column - r.v];
      }
    }
    if (std::abs(std::cos(y)) < 0.2) return false;
  }
  return true;
}
inline State regular_state(const Model& model, std::mt19937_64& rng) {
  for (;;) {
    State state = random_state(model, rng);
    if (well_conditioned(model, state.q)) return state;
  }
}

struct SeededModel {
  std::uint64_t seed;
  Model model;
};

/// Random trees: every joint type alone, all mixed, with gears, fixed and free, up to `largest` links.
inline std::vector<SeededModel> invariant_models(int largest = 60) {
  std::vector<SeededModel> out;
  std::uint64_t seed = 20240;
  const auto add = [&](RandomTreeOptions options) {
    ++seed;
    out.push_back({seed, random_tree(seed, options)});
  };
  for (const JointTypeInfo& type : joint_table()) {
    for (Base base : {Base::kFixed, Base::kFree}) {
      if (type.type != JointType::kFixed) add({.links = 6, .base = base, .types = {type.type}});
    }
  }
  for (int links : {3, 12, largest}) {
    for (Base base : {Base::kFixed, Base::kFree}) {
      for (int gears : {0, links / 3}) add({.links = links, .base = base, .gears = gears});
      add({.links = links, .base = base, .types = {JointType::kRevolute}, .aligned = true});
      add({.links = links, .base = base, .types = {JointType::kRevolute, JointType::kPrismatic}, .gears = links / 2});
    }
  }
  out.push_back({0, human28()});
  out.push_back({0, human28_ball()});
  return out;
}

}  // namespace kansetsu::test
