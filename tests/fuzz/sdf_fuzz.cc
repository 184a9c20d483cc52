#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/test/scene_property.h"
#include "kansetsu/io/sdf.h"

/// libFuzzer target: no text crashes the SDF reader, and what it accepts can be built, written and read, as a scene and as SDF.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kansetsu;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Loaded<SceneDescription> scene = io::parse_sdf(text, "any");
  std::string violation = io::test::scene_violation(scene);
  if (scene && violation.empty()) violation = io::test::sdf_violation(*scene.value);
  if (!violation.empty()) {
    std::fprintf(stderr, "%s\n", violation.c_str());
    std::abort();
  }
  return 0;
}
