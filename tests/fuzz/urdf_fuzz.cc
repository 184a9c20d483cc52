#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/test/urdf_property.h"

/// libFuzzer target: no text crashes the URDF reader, and what it accepts is a model that can be built, written and read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kansetsu;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string violation = io::test::urdf_violation(text);
  const Loaded<ModelDescription> read = io::parse_urdf(text, "any.urdf");
  if (read && !Model::build(*read.value)) violation = "accepted, but cannot be built";
  if (!violation.empty()) {
    std::fprintf(stderr, "%s\n", violation.c_str());
    std::abort();
  }
  return 0;
}
