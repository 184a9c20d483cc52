#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "io/test/clip_property.h"
#include "io/test/measured_property.h"
#include "io/test/png_property.h"

/// Files of bytes from the corpora of the fuzz targets, and some of their relatives.
namespace {

using namespace kansetsu::io;
namespace fs = std::filesystem;

const fs::path kBinaryCorpus = fs::path(KANSETSU_TEST_VECTORS).parent_path() / "fuzz/corpus";

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A few bytes lost, doubled, or replaced by such that hurt.
std::string damaged(std::string bytes, std::mt19937& random) {
  for (unsigned n = 1 + unsigned(random() % 4); n > 0 && !bytes.empty(); --n) {
    const std::size_t at = random() % bytes.size(), length = 1 + random() % 9;
    switch (random() % 4) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, bytes.substr(random() % bytes.size(), length));
        break;
      case 2:
        bytes.replace(at, length, std::string(length, random() % 2 ? '\xff' : '\0'));
        break;
      default:
        bytes[at] = char(random() % 256);
    }
  }
  return bytes;
}

template <class Violation>
void check_damage(const std::string& folder, const Violation& violation) {
  const unsigned seed = 20261118;
  CAPTURE(seed);
  CAPTURE(folder);
  std::mt19937 random(seed);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kBinaryCorpus / folder)) {
    ++files;
    const std::string whole = bytes_of(entry.path());
    CAPTURE(entry.path().filename().string());
    REQUIRE(violation(whole) == "");
    for (int i = 0; i < 1000; ++i) REQUIRE(violation(damaged(whole, random)) == "");
  }
  CHECK(files > 0);
}

}  // namespace

TEST_CASE("damaged pictures, arrays and measurements are refused or whole") {
  check_damage("png", [](std::string_view bytes) { return test::png_violation(test::composed_png(bytes)); });
  check_damage("npz", [](std::string_view bytes) { return test::npz_violation(bytes); });
  check_damage("measured", [](std::string_view bytes) { return test::measured_violation(bytes); });
}

TEST_CASE("a picture has the brightness of its pixels, however its rows are written") {
  const auto picture = [](const std::string& head, const std::string& rows) {
    const char* problem = nullptr;
    const auto read = parse_png(test::composed_png("\2" + head + rows), 100, problem);
    CHECK_MESSAGE(read, (problem ? problem : ""));
    return read ? read->value : std::vector<std::uint8_t>{};
  };
  using Bytes = std::vector<std::uint8_t>;
  using namespace std::string_literals;
  // Depth 8, grey, 3 × 2: 10 20 40 above 30 50 90, by each of the five filters of the second row.
  const std::string head = "\x08\x00\x03\x02\x00"s, first = "\x00\x0a\x14\x28"s;
  const Bytes want{10, 20, 40, 30, 50, 90};
  CHECK(picture(head, first + "\x00\x1e\x32\x5a"s) == want);
  CHECK(picture(head, first + "\x01\x1e\x14\x28"s) == want);  // from the left
  CHECK(picture(head, first + "\x02\x14\x1e\x32"s) == want);  // from above
  CHECK(picture(head, first + "\x03\x19\x19\x2d"s) == want);  // from their mean
  CHECK(picture(head, first + "\x04\x14\x14\x28"s) == want);  // from the nearest of three: 10, 30, 50
  CHECK(picture("\x01\x00\x03\x01\x00"s, "\x00\xa0"s) == Bytes{255, 0, 255});
  CHECK(picture("\x02\x03\x04\x01\x04"s + "\x01..\x05..\x09..\x0d.."s, "\x00\x1b"s) == Bytes{1, 5, 9, 13});  // reds
  CHECK(picture("\x10\x06\x01\x01\x00"s, "\x00\x07\x08\x09\x0a\x0b\x0c\x0d\x0e"s) == Bytes{7});
}

TEST_CASE("pictures say how many pixels they have before any is unpacked") {
  std::string bytes = test::composed_png(std::string("\2\x08\x00\x03\x02\x00", 6));
  const char* problem = nullptr;
  CHECK(test::png_violation(bytes) == "");
  CHECK(png_pixels(bytes) == 6);  // although none is there
  CHECK_FALSE(parse_png(bytes, 5, problem));
  CHECK(std::string_view(problem).find("too many") != std::string_view::npos);
  CHECK_FALSE(parse_png(bytes, 6, problem));
  CHECK(std::string_view(problem).find("damaged") != std::string_view::npos);
  CHECK(png_pixels("no picture") == 0);
}

TEST_CASE("names in arrays are few, and arrays grow as motions do") {
  const auto file = [](const std::string& head, std::size_t bytes) {
    return test::zip_of({{"a.npy", test::npy_of(head, std::string(bytes, 'x'))}});
  };
  CHECK(parse_npz(file("{'descr': '|S1', 'shape': (100000,)}", 100'000)).arrays.size() == 1);
  CHECK(parse_npz(file("{'descr': '|S1', 'shape': (100001,)}", 100'001)).arrays.empty());
}
