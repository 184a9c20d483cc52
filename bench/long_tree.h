#pragma once

#include <algorithm>
#include <random>

#include "kansetsu/base/error.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::bench {

/// Every link hangs on one of the last sixteen before it, so that the tree is long as well as bushy.
inline Model long_tree(int links) {
  std::mt19937_64 rng(2);
  ModelDescription d = chain(links).description();
  for (std::size_t j = 0; j < d.joints.size(); ++j) {
    const std::size_t child = j + 1, back = 1 + rng() % std::min<std::size_t>(child, 16);
    d.joints[j].parent = d.links[child - back].name;
  }
  return value_or_throw(Model::build(std::move(d)));
}

}  // namespace kansetsu::bench
