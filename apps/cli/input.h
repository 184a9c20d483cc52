#pragma once

#include <cstddef>
#include <string>

namespace kansetsu::cli {

inline constexpr std::size_t kMaxInput = std::size_t{256} << 20;  // bytes; the document takes several times the memory

/// The contents of a file, or of standard input if its name is "-". Throws Failure if it cannot be read.
std::string read_input(const std::string& file);

}  // namespace kansetsu::cli
