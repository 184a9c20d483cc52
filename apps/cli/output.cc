#include "cli/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/command.h"

namespace kansetsu::cli {

Output::Output(const std::filesystem::path& file) {
  if (file == "-") return;
  file_.emplace(file, io::Writing::kBeside);
  file_->start();  // written data is not kept in memory
  if (!file_->ok()) fail();
}

void Output::write(std::string_view text) {
  const bool done = file_ ? file_->write(text) : std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!done) fail();
}

void Output::commit() {
  if (file_ ? file_->close().has_value() : std::fflush(stdout) != 0) fail();
}

void Output::fail() {
  if (!file_ && errno == EPIPE) throw BrokenPipe{};
  const std::string name = file_ ? file_->path().string() : "standard output";
  const std::string why = file_ ? file_->problem().value_or("") : std::strerror(errno);
  throw Failure(kBadFile, fmt::format("{}: cannot be written: {}", name, why));
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
