#pragma once

#include <string>

namespace kansetsu::codegen {

/// The headers that compiled models need, as text inside the namespace `support`, and the lines that must stand before it.
struct Support {
  std::string preamble, text;
};
Support support();

}  // namespace kansetsu::codegen
