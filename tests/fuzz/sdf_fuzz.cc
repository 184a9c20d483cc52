#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/test/scene_property.h"
#include "kansetsu/io/sdf.h"

/// libFuzzer target: no text crashes the SDF reader, and what it accepts can be built, written and read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kansetsu;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string violation = io::test::scene_violation(io::parse_sdf(text, "any"));
  if (!violation.empty()) {
    std::fprintf(stderr, "%s\n", violation.c_str());
    std::abort();
  }
  return 0;
}
