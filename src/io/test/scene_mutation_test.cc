#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "io/scene/toml.h"
#include "io/test/scene_property.h"
#include "io/text.h"
#include "kansetsu/io/mjcf.h"

using namespace kansetsu;
using namespace kansetsu::io;

namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(KANSETSU_TEST_VECTORS).parent_path() / "fuzz/corpus";

/// A few pieces lost, doubled, exchanged or replaced by numbers that hurt.
std::string mutated(std::string text, std::mt19937& random) {
  static constexpr const char* kPieces[] = {"1e300", "-1", "0", "nan", "inf",    "\"",         "<",
                                            "/>",    "[",  "]", "= ",  "1e-300", "99999999999"};
  const auto below = [&](std::size_t n) { return std::size_t(random() % std::max<std::size_t>(n, 1)); };
  for (std::size_t i = 0, n = 1 + below(4); i < n && !text.empty(); ++i) {
    const std::size_t at = below(text.size()), length = 1 + below(12);
    switch (random() % 4) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      case 2:
        text.replace(at, length, kPieces[below(std::size(kPieces))]);
        break;
      default:
        text[at] = char(random() % 256);
    }
  }
  return text;
}

template <class Parse>
void check_mutations(const char* folder, const Parse& parse) {
  const unsigned seed = 20261115;
  CAPTURE(seed);
  std::mt19937 random(seed);
  int accepted = 0;
  for (const auto& entry : fs::directory_iterator(kCorpus / folder)) {
    const std::string text = read_file(entry.path()).text;
    for (int i = 0; i < 1500; ++i) {
      const std::string damaged = mutated(text, random);
      const Loaded<SceneDescription> scene = parse(damaged);
      const std::string violation = test::scene_violation(scene);
      CHECK_MESSAGE(violation.empty(), violation, "\n", damaged);
      if (scene) ++accepted;
    }
  }
  CHECK(accepted > 100);  // else only the parser of the syntax was tested
}

}  // namespace

TEST_CASE("damaged MJCF is refused, or read as a scene that can be built, written and read") {
  check_mutations("mjcf", [](const std::string& text) { return parse_mjcf(text, "any.xml"); });
}

TEST_CASE("damaged scenes are refused, or read as scenes that can be built, written and read") {
  check_mutations("scene", [](const std::string& text) { return parse_scene(text, "any.toml"); });
}

TEST_CASE("characters beyond ASCII are found outside of strings and comments") {
  CHECK(!stray_character_line("a = \"é\" # ü\nb = 'µ'\nc = \"\"\"\nü\"\"\"\n'ö' = 1\n"));
  CHECK(stray_character_line("a = 1\né = 2\n") == 2);
  CHECK(stray_character_line("a = \"\\\"é\"\n\n[ü]") == 3);
  CHECK(stray_character_line("a = \"open\né") == 2);
  CHECK(!stray_character_line("\""));
  // A quotation mark opens a string only where a key or a value can begin.
  for (const char* text : {"a = 25'é'", "a = ='é'", "a = 1.'é'", "a = b\"é\"", "a = 'x''é'", "a = 1['é'", "a = [1 'é']",
                           "nave =25'`ﯿrDe,b"}) {
    CAPTURE(text);
    CHECK(stray_character_line(text) == 1);
    CHECK_FALSE(parse_toml(text, "x.toml").problem.empty());
  }
  for (const char* text : {"a='é'", "a=['é','ü',[ 'ö' ]]", "a={'é'='ü', b.'ö' = \"ä\"}", "['é'.\"ü\"]\n'ö'.b = 1",
                           "a = [\n1, # ü\n'é',\n]\n'é' = 2", "a = \"\"\"é\"\"\"\"\" # two more\nb = 'é'",
                           "[[ 'é' ]]\na = [{b = 'é'}, {b = 'ü'}]",
                           "\xef\xbb\xbf"
                           "a = 1"}) {
    CAPTURE(text);
    CHECK(parse_toml(text, "x.toml").problem == "");
  }
  CHECK(!stray_character_line(""));
}
