#include "cli/input.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/command.h"

namespace kansetsu::cli {

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
  const std::unique_ptr<std::FILE, Close> stream(standard ? stdin : std::fopen(file.c_str(), "rb"));
  if (!stream) fail(fmt::format("cannot be read: {}", std::strerror(errno)));

  std::string text, piece(std::size_t{1} << 16, '\0');
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), stream.get())) {
    text.append(piece, 0, count);
    if (text.size() > kMaxInput) fail(fmt::format("larger than {} MiB; split it", kMaxInput >> 20));
  }
  if (std::ferror(stream.get())) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

}  // namespace kansetsu::cli
