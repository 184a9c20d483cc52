#pragma once

#include <vector>

#include "kansetsu/model/model.h"

namespace kansetsu {

/// The own coordinates of every joint at q, those that a coupling determines included; info(type).nq numbers each.
std::vector<std::vector<double>> joint_values(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& q);

}  // namespace kansetsu
