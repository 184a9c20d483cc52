#include "kansetsu/base/printable.h"

#include <doctest/doctest.h>

#include "kansetsu/base/diagnostic.h"

namespace kansetsu {

TEST_CASE("control characters of both sets become spaces, and nothing else changes") {
  CHECK(printable("a\x1b[2Jb\x7f\x01") == "a [2Jb  ");
  CHECK(printable("\xc2\x9b[2J \xc2\x85") == " [2J  ");
  CHECK(printable("two\tcells\nand a line") == "two\tcells\nand a line");
  CHECK(printable("ω ᵀ × \xc2\xa0 \xc2") == "ω ᵀ × \xc2\xa0 \xc2");  // a half of a character stays what it is
  CHECK(find_control("plain") == std::string_view::npos);
  CHECK(find_control("\n", 1) == std::string_view::npos);
}

TEST_CASE("no part of a diagnostic commands the terminal") {
  const std::string text = to_string(Diagnostic{Severity::kError, "X001", "a\x1b.urdf", 3, "b\x1b", "c\x1b", "d\x1b"});
  CHECK(find_control(text) == text.find('\n'));
  CHECK(text == "a .urdf:3: error[X001]: c \n  at b \n  help: d \n");
}

}  // namespace kansetsu
