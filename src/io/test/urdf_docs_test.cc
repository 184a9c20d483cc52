#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "io/text.h"

using namespace kansetsu::io;

namespace {

const std::filesystem::path kRoot = std::filesystem::path(KANSETSU_TEST_VECTORS).parent_path().parent_path();

std::set<std::string> codes_in(const std::string& text, const char* pattern) {
  const std::regex code(pattern);
  std::set<std::string> codes;
  for (std::sregex_iterator it(text.begin(), text.end(), code), end; it != end; ++it) codes.insert(it->str(1));
  return codes;
}

}  // namespace

TEST_CASE("docs/formats/urdf.md lists exactly the codes of the source") {
  const std::string source = read_file(kRoot / "src/io/urdf/urdf_codes.h").text;
  const std::string docs = read_file(kRoot / "docs/formats/urdf.md").text;
  const auto known = codes_in(source, "\"(URDF\\d{3})\"");
  CHECK(known.size() > 30);
  CHECK(codes_in(docs, "\\| (URDF\\d{3}) \\|") == known);
}

TEST_CASE("pages of formats list exactly the codes of the source") {
  for (const std::string format : {"mesh", "mjcf", "sdf"}) {
    CAPTURE(format);
    std::string letters = format;
    for (char& c : letters) c = char(std::toupper(c));
    const auto known = codes_in(read_file(kRoot / ("src/io/" + format + "/" + format + "_codes.h")).text,
                                ("\"(" + letters + "\\d{3})\"").c_str());
    CHECK(known.size() > 10);
    CHECK(codes_in(read_file(kRoot / ("docs/formats/" + format + ".md")).text,
                   ("\\| (" + letters + "\\d{3}) \\|").c_str()) == known);
  }
}

TEST_CASE("codes of diagnostics are written in one file only") {
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "src/io")) {
    if (!entry.is_regular_file() || entry.path().filename() == "urdf_codes.h") continue;
    CHECK_MESSAGE(codes_in(read_file(entry.path()).text, "(URDF\\d{3})").empty(), entry.path().string());
  }
}
