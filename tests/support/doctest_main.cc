// main() of every doctest executable.
//
// Test cases with "[data]" in their name read files of the folder KANSETSU_DATA_DIR. Without that variable they are
// left out here, so that doctest reports them as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const char* data_dir = std::getenv("KANSETSU_DATA_DIR");
  if (data_dir == nullptr || *data_dir == '\0') {
    context.addFilter("test-case-exclude", "*[data]*");
  }
  return context.run();
}
