#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/test/png_property.h"

/// libFuzzer target: no bytes crash the reader of pictures, packed soundly or not, and a picture has the pixels that its header tells.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string violation = kansetsu::io::test::png_violation(kansetsu::io::test::composed_png(text));
  if (!violation.empty()) {
    std::fprintf(stderr, "%s\n", violation.c_str());
    std::abort();
  }
  return 0;
}
