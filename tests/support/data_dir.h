#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace kansetsu::test {

/// The folder of recorded files. Cases that ask for it have "[data]" in their name and are skipped where it is not set; another that
/// does fails, instead of passing without having looked at anything.
inline std::filesystem::path data_dir() {
  const char* folder = std::getenv("KANSETSU_DATA_DIR");
  if (!folder || !*folder)
    throw std::runtime_error("KANSETSU_DATA_DIR is not set: put [data] into the name of this test case");
  return folder;
}

}  // namespace kansetsu::test
