#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/test/recording_property.h"

/// libFuzzer target: no bytes crash the reader of recordings, whatever part of a sound recording they stand for, and what is accepted can be written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string violation = kansetsu::io::test::recording_violation(kansetsu::io::test::composed_recording(text));
  if (!violation.empty()) {
    std::fprintf(stderr, "%s\n", violation.c_str());
    std::abort();
  }
  return 0;
}
