#include <doctest/doctest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>

/// docs/formats/recording.md and recording_codes.h list the same codes.
namespace {

std::set<std::string> codes_in(const std::string& file) {
  std::ifstream stream(std::string(KANSETSU_TEST_VECTORS) + "/../../" + file);
  REQUIRE(stream);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::set<std::string> found;
  const std::regex code("REC[0-9]{3}");
  for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) found.insert(i->str());
  return found;
}

}  // namespace

TEST_CASE("every code of recordings is documented, and no other") {
  const auto known = codes_in("src/io/recording/recording_codes.h");
  CHECK(known.size() > 10);
  CHECK(codes_in("docs/formats/recording.md") == known);
}
