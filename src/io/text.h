#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "kansetsu/base/diagnostic.h"

/// Text files from untrusted sources: reading them, detecting binary data, and quoting them safely.
namespace kansetsu::io {

enum class FileProblem { kMissing, kNotAFile, kUnreadable, kTooLarge };

struct FileText {
  std::string text;
  std::optional<FileProblem> problem;
  std::string reason;  ///< from the operating system, if it gives one
};

inline constexpr std::size_t kMaxDiagnostics = 1000;  ///< of a file
inline constexpr std::uintmax_t kMaxFileSize = std::uintmax_t{256} << 20;

/// Reads a whole file, or a pipe (as in `check <(program)`) while it has a writer. Refuses what could block or never end: devices,
/// and pipes without a writer or without data for kPatience.
FileText read_file(const std::filesystem::path& file, std::uintmax_t largest = kMaxFileSize);
inline constexpr std::chrono::seconds kPatience{30};

/// The folder of a file with symbolic links resolved; names in the file are relative to it.
std::filesystem::path folder_of(const std::filesystem::path& file);
/// The path of a file relative to a folder; unchanged if the folder is empty.
std::string name_from(const std::filesystem::path& folder, const std::filesystem::path& file);

/// A diagnostic about a file as a whole.
Diagnostic about_file(Severity severity, const char* code, const std::filesystem::path& file, std::string message,
                      std::string hint);

/// A format's codes for files that cannot be read.
struct FileCodes {
  const char *missing, *not_a_file, *unreadable, *too_large;
  const char* smaller = "put meshes into separate files";  ///< hint for a file that is too large

  static constexpr FileCodes one(const char* code) { return {code, code, code, code}; }
};
/// The diagnostic for a file that was not read.
Diagnostic unreadable(const FileText& read, const std::filesystem::path& file, const FileCodes& codes,
                      std::uintmax_t largest = kMaxFileSize);

/// Replaces a file atomically, by a temporary file that is renamed. Returns the reason if it fails; an old file is then unchanged.
/// Symbolic links are followed; devices and pipes are written in place.
std::optional<std::string> replace_file(const std::filesystem::path& file, std::string_view text);
/// Writes a writer's result, if any. Returns its diagnostics, with this file's name.
std::vector<Diagnostic> replace_file(const std::filesystem::path& file, Loaded<std::string> text, const char* code);

/// Whether it contains zero bytes, or more than 10 % control characters.
bool is_binary(std::string_view text);
/// Whether it begins with the byte order mark of UTF-16 or UTF-32.
bool is_utf16(std::string_view text);

/// The text without a UTF-8 byte order mark.
std::string_view without_mark(std::string_view text);

/// The line number, from 1, of a byte.
int line_of(std::string_view text, std::size_t at);

/// The first byte that is not UTF-8; npos if there is none.
std::size_t find_invalid_utf8(std::string_view text);
/// Converts bytes that are not UTF-8 from Latin-1.
std::string repair_utf8(std::string_view text);

/// Old files are often in Latin-1. If the text is not UTF-8, converts it into `memory`, lets `text` refer to that, and returns a
/// warning.
std::optional<Diagnostic> as_utf8(std::string_view& text, std::string& memory, const std::string& file,
                                  const char* code);

/// Removes and returns the first line of the text, without its line break.
std::string_view next_line(std::string_view& text);
/// The pieces between separators; one more than there are separators.
std::vector<std::string_view> split(std::string_view text, std::string_view separator);
/// The text without surrounding white space.
std::string_view trim(std::string_view text);
/// Equality ignoring the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);
/// ASCII letters to lower case, independent of the locale.
std::string lower_case(std::string_view text);

/// Whether it is UTF-8 without control characters.
bool is_clean(std::string_view text);

/// A CSV field, quoted if necessary.
std::string csv_field(const std::string& text);

/// The text in quotes for a message: one line, valid UTF-8, cut off after `longest` bytes.
std::string quote(std::string_view text, std::size_t longest = 60);

}  // namespace kansetsu::io
