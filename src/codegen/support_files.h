#pragma once

#include <array>

namespace kansetsu::codegen {

/// Texts of headers: the macros, and the others in the order in which they include one another.
struct SupportFiles {
  const char* macros;
  std::array<const char*, 6> headers;
};
extern const SupportFiles kSupportFiles;

}  // namespace kansetsu::codegen
