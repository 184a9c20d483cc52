#include "cli/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "cli/command.h"

namespace kansetsu::cli {
namespace fs = std::filesystem;

Output::Output() : stream_(stdout) {}

/// A temporary file beside the target; devices and pipes are written in place.
Output::Output(fs::path file) : target_(std::move(file)) {
  if (target_ == "-") {
    target_.clear();
    stream_ = stdout;
    return;
  }
  std::error_code error;
  const fs::file_status old = fs::status(target_, error);
  if (fs::exists(old) && !fs::is_regular_file(old)) {
    stream_ = std::fopen(target_.c_str(), "wb");
  } else {
    if (fs::is_symlink(target_, error)) target_ = fs::weakly_canonical(target_, error);  // a link stays one
    temporary_ = target_;
    temporary_ += fmt::format(".{:08x}.tmp", std::random_device{}());
    stream_ = std::fopen(temporary_.c_str(), "wbx");
    if (stream_ && fs::exists(old)) fs::permissions(temporary_, old.permissions(), error);
  }
  if (!stream_) fail(errno);
}

Output::~Output() { close(); }

void Output::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) fail(errno);
}

void Output::commit() {
  if (std::fflush(stream_) != 0) fail(errno);
  if (target_.empty()) return;
  const int closed = std::fclose(stream_);
  stream_ = nullptr;
  if (closed != 0) fail(errno);
  if (temporary_.empty()) return;
  std::error_code error;
  fs::rename(temporary_, target_, error);
  if (error) fail(error.value());
  temporary_.clear();
}

void Output::close() {
  if (stream_ && !target_.empty()) std::fclose(stream_);
  stream_ = nullptr;
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
  temporary_.clear();
}

void Output::fail(int error) {
  const bool standard = target_.empty();
  close();
  if (standard && error == EPIPE) throw BrokenPipe{};
  const std::string name = standard ? "standard output" : target_.string();
  throw Failure(kBadFile, fmt::format("{}: cannot be written: {}", name, std::strerror(error)));
}

void write_whole(const std::filesystem::path& file, std::string_view text) {
  Output out(file);
  out.write(text);
  out.commit();
}

void print(std::string_view text) {
  Output out;
  out.write(text);
  out.commit();
}

}  // namespace kansetsu::cli
