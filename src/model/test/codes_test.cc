#include "model/codes.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace kansetsu {
namespace {

/// The table as the page must show it.
std::string expected_rows() {
  std::ostringstream out;
  for (const ModelCodeInfo& row : model_codes()) {
    out << "| " << row.code << " | " << (row.severity == Severity::kError ? "error" : "warning") << " | " << row.what
        << " | " << row.hint << " |\n";
  }
  return out.str();
}

TEST_CASE("codes are unique and ascending") {
  std::set<std::string_view> codes;
  std::string_view last;
  for (const ModelCodeInfo& row : model_codes()) {
    CAPTURE(row.code);
    CHECK(codes.insert(row.code).second);
    CHECK(last < row.code);
    last = row.code;
  }
}

TEST_CASE("docs/formats/model_codes.md shows the table of the source") {
  std::ifstream file(KANSETSU_TEST_VECTORS "/../../docs/formats/model_codes.md");
  REQUIRE(file);
  std::string rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| MODEL")) rows += line + "\n";
  }
  INFO("the rows must read:\n", expected_rows());
  CHECK(rows == expected_rows());
}

}  // namespace
}  // namespace kansetsu
