#include "cli/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/command.h"

namespace kansetsu::cli {
namespace {

constexpr int kMoment = 2000;  ///< [ms] until something must have been written to a pipe

/// Opens without waiting for the other end of a pipe, which may never be opened. Null with the reason in errno.
std::FILE* open_input(const std::string& file) {
  const int handle = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (handle < 0) return nullptr;
  struct stat status{};
  pollfd waiting{handle, POLLIN, 0};
  const bool pipe = ::fstat(handle, &status) == 0 && S_ISFIFO(status.st_mode);
  if ((pipe && ::poll(&waiting, 1, kMoment) == 0) || ::fcntl(handle, F_SETFL, O_RDONLY) != 0) {
    ::close(handle);
    errno = ETIMEDOUT;
    return nullptr;
  }
  return ::fdopen(handle, "rb");
}

}  // namespace

std::string read_input(const std::string& file) {
  const bool standard = file == "-";
  const auto fail = [&](const std::string& why) {
    throw Failure(kBadFile, fmt::format("{}: {}", standard ? "standard input" : file, why));
  };
  struct Close {
    void operator()(std::FILE* stream) const {
      if (stream != stdin) std::fclose(stream);
    }
  };
  const std::unique_ptr<std::FILE, Close> stream(standard ? stdin : open_input(file));
  if (!stream)
    fail(errno == ETIMEDOUT ? "the pipe has no writer" : fmt::format("cannot be read: {}", std::strerror(errno)));

  std::string text, piece(std::size_t{1} << 16, '\0');
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), stream.get())) {
    text.append(piece, 0, count);
    if (text.size() > kMaxInput) fail(fmt::format("larger than {} MiB; split it", kMaxInput >> 20));
  }
  if (std::ferror(stream.get())) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

}  // namespace kansetsu::cli
