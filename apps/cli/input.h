#pragma once

#include <cstddef>
#include <string>

namespace kansetsu::cli {

inline constexpr std::size_t kMaxInput = std::size_t{256} << 20;  // bytes; what is parsed takes several times as much

/// The whole of a file, of standard input if its name is "-". Throws Failure if that cannot be had.
std::string read_input(const std::string& file);

}  // namespace kansetsu::cli
