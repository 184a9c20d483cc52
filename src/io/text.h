#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "kansetsu/base/diagnostic.h"

/// Text files of unknown origin: reading them whole, telling text from other bytes, and showing pieces of them safely.
namespace kansetsu::io {

enum class FileProblem { kMissing, kNotAFile, kUnreadable, kTooLarge };

struct FileText {
  std::string text;
  std::optional<FileProblem> problem;
  std::string reason;  ///< of the problem, from the operating system where it has one
};

inline constexpr std::size_t kMaxDiagnostics = 1000;  ///< of a file
inline constexpr std::uintmax_t kMaxFileSize = std::uintmax_t{256} << 20;

/// The whole file. A pipe is read as well (as in `check <(program)`) while somebody writes to it; what can hang or never ends
/// is refused: devices, and a pipe without a writer or without data for kPatience.
FileText read_file(const std::filesystem::path& file, std::uintmax_t largest = kMaxFileSize);
inline constexpr std::chrono::seconds kPatience{30};

/// Of a file, with links followed: what names in it are relative to.
std::filesystem::path folder_of(const std::filesystem::path& file);
/// The name of a file from a folder; as it is where there is none.
std::string name_from(const std::filesystem::path& folder, const std::filesystem::path& file);

/// A finding about a file as a whole.
Diagnostic about_file(Severity severity, const char* code, const std::filesystem::path& file, std::string message,
                      std::string hint);

/// The codes under which a format reports files that cannot be read.
struct FileCodes {
  const char *missing, *not_a_file, *unreadable, *too_large;
  const char* smaller = "put meshes into separate files";  ///< what to do with one that is too large

  static constexpr FileCodes one(const char* code) { return {code, code, code, code}; }
};
/// Why a file was not read.
Diagnostic unreadable(const FileText& read, const std::filesystem::path& file, const FileCodes& codes,
                      std::uintmax_t largest = kMaxFileSize);

/// Writes a temporary file beside `file` and renames it, so that a half-written file is never visible. The reason if it fails; an
/// old file is then untouched. A link is followed, not replaced; devices and pipes are written in place.
std::optional<std::string> replace_file(const std::filesystem::path& file, std::string_view text);
/// The same for what a writer made, if it made anything: all that was noticed, about this file.
std::vector<Diagnostic> replace_file(const std::filesystem::path& file, Loaded<std::string> text, const char* code);

/// No text: it holds zero bytes, or more than one control character in ten.
bool is_binary(std::string_view text);
/// Begins with the byte order mark of UTF-16 or UTF-32.
bool is_utf16(std::string_view text);

/// Without the byte order mark of UTF-8, which some editors write.
std::string_view without_mark(std::string_view text);

/// The line, counted from 1, that holds the byte.
int line_of(std::string_view text, std::size_t at);

/// Where the first byte is that is not UTF-8; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);
/// Every byte that is not UTF-8 taken as Latin-1.
std::string repair_utf8(std::string_view text);

/// Old files are often in Latin-1; an accent in a comment is no reason to refuse one. A text that is not UTF-8 is repaired into
/// `memory` and the warning returned.
std::optional<Diagnostic> as_utf8(std::string_view& text, std::string& memory, const std::string& file,
                                  const char* code);

/// Cuts the first line off the text, without its end.
std::string_view next_line(std::string_view& text);
/// Without white space around it.
std::string_view trim(std::string_view text);
/// The same but for case.
bool same_word(std::string_view a, std::string_view b);
/// Letters of ASCII made small, whatever the locale.
std::string lower_case(std::string_view text);

/// UTF-8 without control characters.
bool is_clean(std::string_view text);

/// A text as a field of CSV: in quotes where it would be misread.
std::string csv_field(const std::string& text);

/// 'text' for a message: one line, valid UTF-8. @param longest  where it is cut; what a user copies is whole
std::string quote(std::string_view text, std::size_t longest = 60);

}  // namespace kansetsu::io
