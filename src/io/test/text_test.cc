#include "io/text.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

using namespace kansetsu::io;
namespace fs = std::filesystem;

TEST_CASE("UTF-8 is told from other bytes") {
  CHECK(find_invalid_utf8("plain, ω, 関節, 🤖") == std::string_view::npos);
  CHECK(find_invalid_utf8("caf\xe9") == 3);           // Latin-1
  CHECK(find_invalid_utf8("\xc0\xaf") == 0);          // overlong
  CHECK(find_invalid_utf8("a\xed\xa0\x80") == 1);     // surrogate
  CHECK(find_invalid_utf8("\xf4\x90\x80\x80") == 0);  // beyond U+10FFFF
  CHECK(find_invalid_utf8("\xe9\x96") == 0);          // cut off
  CHECK(repair_utf8("caf\xe9 ω") == "café ω");
}

TEST_CASE("binary files are no text") {
  CHECK_FALSE(is_binary(""));
  CHECK_FALSE(is_binary("<robot>\r\n\t</robot>"));
  CHECK(is_binary(std::string_view("solid\0x", 7)));
  CHECK(is_binary("\x1f\x8b\x08\x01\x02"));
}

TEST_CASE("quotes fit on one line and never cut a character") {
  CHECK(quote("knee") == "'knee'");
  CHECK(quote("a\nb\x01") == "'a b '");
  CHECK(quote("\xff") == "'ÿ'");
  CHECK(quote("a\xc2\x9b"
              "2Jb") == "'a 2Jb'");  // a terminal's command in one character
  CHECK_FALSE(is_clean("a\xc2\x9b"));
  CHECK(is_clean("\xc2\xa0\xc3\x9b"));  // a space and Û
  for (std::size_t n = 55; n < 65; ++n) {
    const std::string shown = quote(std::string(n, 'x') + "関節関節関節関節");
    CHECK(find_invalid_utf8(shown) == std::string_view::npos);
    CHECK(shown.size() <= 65);
  }
}

TEST_CASE("a file is replaced as a whole or not at all") {
  const fs::path folder = fs::temp_directory_path() / "kansetsu_text_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path file = folder / "robot.urdf";
  CHECK_FALSE(replace_file(file, "one"));
  CHECK_FALSE(replace_file(file, "two"));
  CHECK(read_file(file).text == "two");
  CHECK(replace_file(folder / "missing" / "robot.urdf", "x"));
  fs::create_symlink(file, folder / "link.urdf");
  CHECK_FALSE(replace_file(folder / "link.urdf", "three"));
  CHECK(fs::is_symlink(folder / "link.urdf"));
  CHECK(read_file(file).text == "three");
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 2);  // no temporary file is left
  CHECK(read_file(folder).problem == FileProblem::kNotAFile);
  CHECK(read_file(folder / "no").problem == FileProblem::kMissing);
  CHECK(read_file(file / "no").problem.has_value());
  fs::remove_all(folder);
}

TEST_CASE("a pipe is written into, not replaced by a file") {
  const fs::path pipe = fs::temp_directory_path() / "kansetsu_text_test.urdf";
  fs::remove(pipe);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);  // without one, the writer would wait
  REQUIRE(reader >= 0);
  CHECK_FALSE(replace_file(pipe, "<robot/>"));
  CHECK(fs::is_fifo(pipe));
  std::array<char, 16> text{};
  CHECK(read(reader, text.data(), text.size()) == 8);
  close(reader);
  fs::remove(pipe);
}

TEST_CASE("pipes that nobody writes to and devices are no files") {
  const fs::path pipe = fs::temp_directory_path() / "kansetsu_text_test.fifo";
  fs::remove(pipe);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(read_file(pipe).problem == FileProblem::kNotAFile);
  const int both = open(pipe.c_str(), O_RDWR);
  REQUIRE(write(both, "text", 4) == 4);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    close(both);
  });
  CHECK(read_file(pipe).text == "text");
  writer.join();
  fs::remove(pipe);
  CHECK(read_file("/dev/zero").problem == FileProblem::kNotAFile);
  CHECK(read_file("/no/such/file").problem == FileProblem::kMissing);
  CHECK(read_file("/").problem == FileProblem::kNotAFile);
  CHECK(read_file("/proc/self/status", 10).problem == FileProblem::kTooLarge);
}
