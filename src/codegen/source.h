#pragma once

#include <string>

#include "codegen/algorithms.h"

namespace kansetsu::codegen {

/// An algorithm as a function template of the number type, and one of rows of states that calls it with packs.
struct Source {
  std::string function, rows;
  int operations = 0, angles = 0;
};
Source write_source(const Algorithm& algorithm);

}  // namespace kansetsu::codegen
