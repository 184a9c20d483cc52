#include "kansetsu/io/output_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <random>

#include "io/test/recording_support.h"

/// What is written is whole, and what is there is not lost.
namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("kansetsu_output_" + std::to_string(std::random_device{}()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }

  std::size_t count() const { return std::size_t(std::distance(fs::directory_iterator(path), {})); }
};

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
void put(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

/// No file may grow beyond `bytes` while it lives: a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);  // writing fails instead
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int) = SIG_DFL;
};

}  // namespace

TEST_CASE("half of a header does not take the place of an old file where the disk is full") {
  const Folder folder;
  const fs::path file = folder.path / "r.csv";
  put(file, "precious");
  const std::string half(1000, 'h');
  const auto record = [&](rlim_t space) {
    const FullDisk full(space);
    OutputFile out(file, Writing::kInPlace);
    out.write(half);
    out.write(half);
    out.start();
    out.write("row");
    return out.close().has_value();
  };
  CHECK(record(1999));
  CHECK(content(file) == "precious");
  CHECK(folder.count() == 1);
  CHECK(record(2002));  // the header has room, the row has not
  CHECK(content(file) == half + half);
  CHECK_FALSE(record(2003));
  CHECK(content(file) == half + half + "row");
}

TEST_CASE("opening a file changes nothing, and giving up leaves nothing behind") {
  const Folder folder;
  const fs::path old = folder.path / "old.csv", fresh = folder.path / "fresh.csv";
  put(old, "precious");
  for (const Writing writing : {Writing::kInPlace, Writing::kBeside}) {
    {
      OutputFile a(old, writing), b(fresh, writing);
      a.write("new");
      b.write("new");
    }
    CHECK(content(old) == "precious");
    CHECK(folder.count() == 1);
    {
      OutputFile a(old, Writing::kBeside);
      a.start();
      a.write("half");
    }
    CHECK(content(old) == "precious");
    CHECK(folder.count() == 1);
  }
  OutputFile a(old, Writing::kBeside);
  a.write("new");
  CHECK(content(old) == "precious");
  CHECK_FALSE(a.close());
  CHECK(content(old) == "new");
  CHECK(folder.count() == 1);
}

TEST_CASE("two writers never write to one file") {
  const Folder folder;
  const fs::path file = folder.path / "a.csv";
  for (const Writing writing : {Writing::kInPlace, Writing::kBeside}) {
    OutputFile first(file, writing);
    {
      OutputFile second(file, writing);
      CHECK_FALSE(second.ok());
      CHECK(second.close().value_or("") == "another program is writing to it");
    }
    first.write("first");
    CHECK_FALSE(first.close());
    CHECK(content(file) == "first");
    CHECK(OutputFile(file, writing).ok());
  }
}

TEST_CASE("what an earlier program left behind does not matter") {
  const Folder folder;
  put(folder.path / "a.npz.kansetsu-part", "left behind, and longer than what is written now");
  OutputFile file(folder.path / "a.npz", Writing::kBeside);
  file.write("short");
  CHECK_FALSE(file.close());
  CHECK(content(folder.path / "a.npz") == "short");
  CHECK(folder.count() == 1);
}

TEST_CASE("pieces that do not fit on the disk leave no trace") {
  const Folder folder;
  for (rlim_t limit = 1; limit < 40; ++limit) {
    const fs::path file = folder.path / "a.csv";
    const FullDisk disk(limit);
    OutputFile out(file, Writing::kInPlace);
    out.start();
    for (int i = 0; i < 6; ++i) {
      out.write("12345\n");
      if (i % 2) out.flush();
    }
    CHECK(out.close().has_value() == (limit < 36));
    CHECK(content(file).size() == std::min<std::size_t>(limit / 6, 6) * 6);
    fs::remove(file);
  }
}

TEST_CASE("a disk that is full from the beginning leaves the old file as it was") {
  const Folder folder;
  const fs::path file = folder.path / "a.csv";
  put(file, "precious");
  for (const bool closes : {true, false}) {
    const FullDisk disk(3);
    OutputFile out(file, Writing::kInPlace);
    out.start();
    out.write("12345\n");
    if (closes) CHECK(out.close().has_value());
  }
  CHECK(content(file) == "precious");
  CHECK(folder.count() == 1);
}

TEST_CASE("a file that others write to is found out, whether it has taken its place or not") {
  const Folder folder;
  const fs::path file = folder.path / "a.csv";
  put(file, "old");
  OutputFile first(file, Writing::kInPlace);
  for (const char* line : {"one\n", "two\n"}) {
    CHECK_FALSE(OutputFile(file, Writing::kInPlace).ok());
    CHECK_FALSE(OutputFile(file, Writing::kBeside).ok());
    first.start();
    first.write(line);
    CHECK(first.flush());
  }
  CHECK(content(file) == "one\ntwo\n");  // before it is closed
  CHECK_FALSE(first.close());
  CHECK(folder.count() == 1);
}

TEST_CASE("a recording on a full disk can be read as far as it came") {
  const Folder folder;
  const Recording recording = random_recording(21, 60);
  write_recording(recording, folder.path / "whole.mcap");
  const auto size = fs::file_size(folder.path / "whole.mcap");
  std::size_t most = 0;
  for (rlim_t limit = 0; limit < size; limit += size / 17) {
    CAPTURE(limit);
    for (const char* ending : {".mcap", ".csv", ".npz", ".glb"}) {
      CAPTURE(ending);
      const fs::path file = folder.path / (std::string("cut") + ending);
      const std::string old = "old\n";
      put(file, old);
      bool told = false;
      {
        const FullDisk disk(limit);
        auto recorder = value_or_throw(make_recorder(file, recording.header));
        for (const RecordedFrame& frame : recording.frames) recorder->add(frame);
        told = has_errors(recorder->finish());
      }
      const std::string text = content(file);
      if (std::string(ending) == ".mcap") {
        CHECK(told);
        const auto read = parse_recording(text);
        CHECK((read || text == old || text.starts_with("\x89MCAP")));
        if (read) most = std::max(most, read.value->frames.size());
        for (std::size_t i = 0; read && i < read.value->frames.size(); ++i)
          CHECK(same(read.value->frames[i], recording.frames[i]));
      } else if (std::string(ending) == ".csv") {
        CHECK(text.ends_with('\n'));
      } else {
        CHECK((told ? text == old : text != old));
      }
      CHECK_FALSE(fs::exists(file.string() + ".kansetsu-part"));
    }
  }
  CHECK(most > 0);
}

TEST_CASE("a recorder that was given nothing leaves the old file alone") {
  const Folder folder;
  const Recording recording = random_recording(22, 2);
  for (const char* name : {"a.mcap", "a.csv", "a.npz", "a.glb"}) {
    put(folder.path / name, "precious");
    {
      auto recorder = value_or_throw(make_recorder(folder.path / name, recording.header));
    }
    CHECK(content(folder.path / name) == "precious");
    auto recorder = value_or_throw(make_recorder(folder.path / name, recording.header));
    CHECK_FALSE(make_recorder(folder.path / name, recording.header));
    recorder->add(recording.frames[0]);
    CHECK(recorder->finish().empty());
    CHECK(content(folder.path / name) != "precious");
  }
  CHECK(folder.count() == (recording.frames[0].contacts.empty() ? 4 : 5));  // a.contacts.csv
}

}  // namespace kansetsu::io
