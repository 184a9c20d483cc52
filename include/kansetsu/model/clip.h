#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/model/model.h"

namespace kansetsu {

/// A motion of a figure: configurations over time, without velocities or forces.
struct Clip {
  std::string name{};
  std::vector<double> times{};  ///< [s], rising
  Eigen::MatrixXd q{};          ///< nq × frames: a configuration of the model in each column

  int frames() const { return static_cast<int>(q.cols()); }
  double duration() const { return times.empty() ? 0 : times.back() - times.front(); }
};

/// Whether the clip is one of the model: sizes agree, times rise, configurations are valid; the reason if not.
std::optional<std::string> clip_problem(const Model& model, const Clip& clip);

}  // namespace kansetsu
