#include "io/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/file_handle.h"
#include "kansetsu/base/printable.h"
#include "kansetsu/io/output_file.h"

namespace kansetsu::io {
namespace {

constexpr std::chrono::seconds kMoment{2};  ///< to wait for a pipe's writer

unsigned char byte(char c) { return static_cast<unsigned char>(c); }

bool is_control(char c) { return byte(c) < 0x20 || byte(c) == 0x7f; }

/// Length of the first UTF-8 character; 0 if it is invalid, overlong or a surrogate.
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

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(file, ignored), ignored).parent_path();
}

std::string name_from(const std::filesystem::path& folder, const std::filesystem::path& file) {
  if (folder.empty()) return file.string();
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(file, ignored);
  return (whole.empty() ? file : whole).lexically_proximate(folder).generic_string();
}

Diagnostic about_file(Severity severity, const char* code, const std::filesystem::path& file, std::string message,
                      std::string hint) {
  return {severity, code, file.string(), 0, {}, std::move(message), std::move(hint)};
}

Diagnostic unreadable(const FileText& read, const std::filesystem::path& file, const FileCodes& codes,
                      std::uintmax_t largest) {
  const auto problem = [&](const char* code, std::string message, const char* hint) {
    return about_file(Severity::kError, code, file, std::move(message), hint);
  };
  switch (*read.problem) {
    case FileProblem::kMissing:
      return problem(codes.missing, "there is no such file", "check the name and the folder");
    case FileProblem::kNotAFile:
      return problem(codes.not_a_file, "cannot be read as a file: " + read.reason, "name a file in it");
    case FileProblem::kTooLarge:
      return problem(codes.too_large, fmt::format("the file is larger than {} MiB", largest >> 20), codes.smaller);
    case FileProblem::kUnreadable:
      break;
  }
  return problem(codes.unreadable, "cannot be read: " + read.reason, "check the permissions of the file");
}

FileText read_file(const std::filesystem::path& file, std::uintmax_t largest) {
  // Non-blocking: opening a pipe without a writer would hang.
  const FileHandle handle(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!handle) {
    const FileProblem problem = errno == ENOENT || errno == ENOTDIR ? FileProblem::kMissing : FileProblem::kUnreadable;
    return {{}, problem, std::strerror(errno)};
  }
  struct stat status{};
  if (::fstat(handle.get(), &status) != 0) return {{}, FileProblem::kUnreadable, std::strerror(errno)};
  if (S_ISDIR(status.st_mode)) return {{}, FileProblem::kNotAFile, "it is a folder"};
  const bool pipe = S_ISFIFO(status.st_mode);
  if (!pipe && !S_ISREG(status.st_mode)) return {{}, FileProblem::kNotAFile, "it is a device"};

  FileText result;
  if (!pipe) {
    if (std::uintmax_t(status.st_size) > largest) return {{}, FileProblem::kTooLarge, {}};
    result.text.reserve(static_cast<std::size_t>(status.st_size));
  }
  // In chunks up to the limit: pipes have no size, and files under /proc report 0.
  std::string piece(std::size_t{1} << 20, '\0');
  const auto wait_for = [&](std::chrono::milliseconds time) {
    pollfd waiting{handle.get(), POLLIN, 0};
    return ::poll(&waiting, 1, int(time.count())) != 0;
  };
  for (bool asked = false;;) {
    const ssize_t count = ::read(handle.get(), piece.data(), piece.size());
    if (count > 0) {
      result.text.append(piece, 0, static_cast<std::size_t>(count));
      if (result.text.size() > largest) return {{}, FileProblem::kTooLarge, {}};
    } else if (count == 0) {
      if (!pipe || asked || !result.text.empty()) return result;
      asked = true;  // give a starting writer a moment
      if (!wait_for(kMoment)) return {{}, FileProblem::kNotAFile, "the pipe has no writer"};
    } else if (errno == EAGAIN) {
      if (!wait_for(kPatience))
        return {{}, FileProblem::kNotAFile, fmt::format("no data arrived on the pipe for {} s", kPatience.count())};
    } else if (errno != EINTR) {
      return {{}, FileProblem::kUnreadable, std::strerror(errno)};
    }
  }
}

std::optional<std::string> replace_file(const std::filesystem::path& file, std::string_view text) {
  OutputFile out(file, Writing::kBeside);
  out.write(text);
  return out.close();
}

std::vector<Diagnostic> replace_file(const std::filesystem::path& file, Loaded<std::string> text, const char* code) {
  for (Diagnostic& d : text.diagnostics) {
    if (d.file.empty()) d.file = file.string();
  }
  if (!text) return std::move(text.diagnostics);
  if (auto reason = replace_file(file, *text.value)) {
    text.diagnostics.push_back(about_file(Severity::kError, code, file, "cannot be written: " + *reason,
                                          "check that the folder exists and is writable"));
  }
  return std::move(text.diagnostics);
}

bool is_binary(std::string_view text) {
  const auto odd = std::ranges::count_if(text, [](char c) { return is_control(c) && !std::strchr("\t\n\r\f\v", c); });
  return text.find('\0') != std::string_view::npos || static_cast<std::size_t>(odd) * 10 > text.size();
}

bool is_utf16(std::string_view text) { return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"); }

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

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

std::optional<Diagnostic> as_utf8(std::string_view& text, std::string& memory, const std::string& file,
                                  const char* code) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == std::string_view::npos || is_binary(text) || is_utf16(text)) return std::nullopt;
  Diagnostic out =
      about_file(Severity::kWarning, code, file, "text is not UTF-8; it is read as Latin-1", "save the file as UTF-8");
  out.line = line_of(text, bad);
  memory = repair_utf8(text);
  text = memory;
  return out;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    out.push_back(text.substr(at, end - at));
    if (end == std::string_view::npos) return out;
    at = end + separator.size();
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\f\v\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? text.substr(0, 0)
                                         : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool same_word(std::string_view a, std::string_view b) { return lower_case(a) == lower_case(b); }

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return out;
}

bool is_clean(std::string_view text) {
  return find_control(text) == std::string_view::npos && find_invalid_utf8(text) == std::string_view::npos;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string quote(std::string_view text, std::size_t longest) {
  std::size_t end = std::min(text.size(), longest);
  while (end > 0 && end < text.size() && (byte(text[end]) & 0xc0) == 0x80) --end;  // not inside a UTF-8 character
  std::string shown = repair_utf8(text.substr(0, end));
  if (end < text.size()) shown += "…";
  for (std::size_t at = find_control(shown); at != std::string::npos; at = find_control(shown, at))
    shown.replace(at, is_control(shown[at]) ? 1 : 2, " ");
  return fmt::format("'{}'", shown);
}

}  // namespace kansetsu::io
