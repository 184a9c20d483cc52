#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "io/test/osim_property.h"

/// libFuzzer target: no text crashes the readers of OpenSim's models, loads and setups, and models that are accepted can be built.
/// Setups are read from files: text that begins like one is written to one first.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kansetsu;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string violation = io::test::violation_of(io::parse_osim(text));
  if (violation.empty() &&
      (text.find("<ExternalLoads") != text.npos || text.find("<InverseDynamicsTool") != text.npos)) {
    static const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("osim_fuzz_" + std::to_string(::getpid()) + ".xml");
    std::ofstream(file, std::ios::binary) << text;
    violation = io::test::setup_violation(file);
    std::filesystem::remove(file);
  }
  if (!violation.empty()) {
    std::fprintf(stderr, "%s\n", violation.c_str());
    std::abort();
  }
  return 0;
}
