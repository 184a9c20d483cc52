#include "io/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

namespace kansetsu::io {
namespace {

unsigned char byte(char c) { return static_cast<unsigned char>(c); }

bool is_control(char c) { return byte(c) < 0x20 || byte(c) == 0x7f; }

/// Length of the UTF-8 character at the beginning of the text, 0 if it is none (overlong forms and surrogates included).
std::size_t utf8_length(std::string_view text) {
  const unsigned char lead = byte(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : (lead & 0xf0) == 0xe0       ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(text[i]) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(text[1]);
  const bool bad = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
                   (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90);
  return bad ? 0 : length;
}

/// The reason if it fails.
std::optional<std::string> write_file(const std::filesystem::path& file, std::string_view text) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (stream) return std::nullopt;
  return errno ? std::strerror(errno) : "write error";
}

}  // namespace

FileText read_file(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return {{}, FileProblem::kMissing, {}};
  if (!fs::status_known(status)) return {{}, FileProblem::kUnreadable, error.message()};
  if (fs::is_directory(status)) return {{}, FileProblem::kNotAFile, "it is a folder"};

  std::ifstream stream(file, std::ios::binary);
  if (!stream) return {{}, FileProblem::kUnreadable, std::strerror(errno)};
  FileText result;
  if (fs::is_regular_file(status)) {
    const std::uintmax_t size = fs::file_size(file, error);
    if (!error && size > kMaxFileSize) return {{}, FileProblem::kTooLarge, {}};
    if (!error) result.text.reserve(static_cast<std::size_t>(size));
  }
  // Piece by piece up to the limit: a pipe or a device has no size to ask for.
  std::string piece(std::size_t{1} << 20, '\0');
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    result.text.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
    if (result.text.size() > kMaxFileSize) return {{}, FileProblem::kTooLarge, {}};
  }
  if (stream.bad()) return {{}, FileProblem::kUnreadable, std::strerror(errno)};
  return result;
}

std::optional<std::string> replace_file(const std::filesystem::path& file, std::string_view text) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status old = fs::status(file, error);
  if (fs::exists(old) && !fs::is_regular_file(old))
    return write_file(file, text);  // a device or a pipe stays what it is
  const fs::path target = fs::is_symlink(file, error) ? fs::weakly_canonical(file, error) : file;
  fs::path temporary = target;
  temporary += fmt::format(".{:08x}.tmp", std::random_device{}());
  std::optional<std::string> reason = write_file(temporary, text);
  if (!reason) {
    if (fs::exists(old)) fs::permissions(temporary, old.permissions(), error);
    fs::rename(temporary, target, error);
    if (!error) return std::nullopt;
    reason = error.message();
  }
  fs::remove(temporary, error);
  return reason;
}

bool is_binary(std::string_view text) {
  const auto odd =
      std::count_if(text.begin(), text.end(), [](char c) { return is_control(c) && !std::strchr("\t\n\r\f\v", c); });
  return text.find('\0') != std::string_view::npos || static_cast<std::size_t>(odd) * 10 > text.size();
}

bool is_utf16(std::string_view text) { return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"); }

int line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string repair_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length > 0) {
      result += text.substr(0, length);
    } else {
      result += static_cast<char>(0xc0 | (byte(text[0]) >> 6));
      result += static_cast<char>(0x80 | (byte(text[0]) & 0x3f));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

bool is_clean(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_control) && find_invalid_utf8(text) == std::string_view::npos;
}

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t end = std::min(text.size(), kLongest);
  while (end > 0 && end < text.size() && (byte(text[end]) & 0xc0) == 0x80) --end;  // not within a character
  std::string shown = repair_utf8(text.substr(0, end));
  if (end < text.size()) shown += "…";
  std::replace_if(shown.begin(), shown.end(), is_control, ' ');
  return fmt::format("'{}'", shown);
}

}  // namespace kansetsu::io
