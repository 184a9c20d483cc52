#include "io/file_report.h"

#include <doctest/doctest.h>

namespace kansetsu::io {
namespace {

Diagnostic finding(Severity severity) { return {severity, "X001", "a.file", 7, "here", "wrong", "mend it"}; }

TEST_CASE("a report shows as many errors as it may, then says that there are more") {
  FileReport report("a.file", "X999", 3);
  for (int i = 0; i < 3; ++i) report.add(finding(Severity::kError));
  CHECK(report.failed());
  CHECK(!report.full());
  for (int i = 0; i < 2; ++i) report.add(finding(Severity::kError));
  CHECK(report.full());
  const std::vector<Diagnostic> shown = report.take();
  REQUIRE(shown.size() == 4);
  CHECK(shown[2].code == "X001");
  CHECK(shown[3].code == "X999");
  CHECK(shown[3].message == "more than 3 errors; the rest is not shown");
}

TEST_CASE("many warnings do not keep an error from being shown") {
  FileReport report("a.file", "X999", 3);
  for (int i = 0; i < 10; ++i) report.add(finding(Severity::kWarning));
  CHECK(!report.failed());
  CHECK(report.full(Severity::kWarning));
  CHECK(!report.full());
  report.add(finding(Severity::kError));
  const std::vector<Diagnostic> shown = report.take();
  REQUIRE(shown.size() == 5);
  CHECK(shown[3].message == "more than 3 warnings; the rest is not shown");
  CHECK(shown[4].is_error());
}

TEST_CASE("a value is handed out with warnings, but not with an error") {
  CHECK(loaded(1, {finding(Severity::kWarning)}).value == 1);
  const Loaded<int> refused = loaded(1, {finding(Severity::kWarning), finding(Severity::kError)});
  CHECK(!refused);
  CHECK(refused.diagnostics.size() == 2);
  CHECK(errors_of(refused.diagnostics).size() == 1);
}

TEST_CASE("a file that is not there is not parsed") {
  const auto parse = [](const std::string&) -> Loaded<int> {
    FAIL("parsed");
    return {};
  };
  const Loaded<int> read = parse_file("/no/such/file", FileCodes::one("X002"), parse);
  CHECK(!read);
  REQUIRE(read.diagnostics.size() == 1);
  CHECK(read.diagnostics[0].code == "X002");
}

}  // namespace
}  // namespace kansetsu::io
