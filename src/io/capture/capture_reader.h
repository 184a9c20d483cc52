#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/capture/capture_codes.h"
#include "io/file_report.h"
#include "kansetsu/io/capture.h"

/// What the readers of captured motion share: words and lines with their numbers, and a report that does not drown.
namespace kansetsu::io::capture {

inline constexpr std::size_t kMostBones = 10000;
/// Bones times frames that a motion of so many bytes may have. A bone that moves takes several bytes in each frame; many that
/// do not must not make a small file large.
inline std::size_t most_poses(std::string_view motion) { return 100'000 + 2 * motion.size(); }
inline constexpr std::size_t kMostDiagnostics = 50;  ///< errors, and as many warnings: more say nothing new

/// The words of a text, one after the other, and the lines they are on. Braces are words of their own.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view next();
  std::string_view peek();
  /// What is left of the present line, without white space around it, up to a brace.
  std::string_view rest_of_line();
  /// What is left of the text, from the next line on; the line it begins on is line().
  std::string_view rest_of_text();
  int line() const { return line_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

class Report : public FileReport {
 public:
  explicit Report(std::string file) : FileReport(std::move(file), kTooMany, kMostDiagnostics) {}

  void error(int line, const char* code, std::string path, std::string message, std::string hint) {
    add({Severity::kError, code, file(), line, std::move(path), std::move(message), std::move(hint)});
  }
  void warn(int line, const char* code, std::string path, std::string message, std::string hint) {
    add({Severity::kWarning, code, file(), line, std::move(path), std::move(message), std::move(hint)});
  }
  /// An error that ends what is read: false, no value.
  bool fail(int line, const char* code, std::string path, std::string message, std::string hint) {
    return error(line, code, std::move(path), std::move(message), std::move(hint)), false;
  }
  std::nullopt_t refuse(int line, const char* code, std::string path, std::string message, std::string hint) {
    return error(line, code, std::move(path), std::move(message), std::move(hint)), std::nullopt;
  }
};

inline constexpr FileCodes kFileCodes{kMissingFile, kNotAFile, kUnreadable, kTooLarge,
                                      "cut the motion into shorter clips"};
/// The text of a file, or an error.
std::optional<std::string> load_text(const std::filesystem::path& file, Report& report);
/// Whether it is text at all; an error if not.
bool check_text(std::string_view text, Report& report, const char* format);

/// Three numbers that follow; an error names what they are.
std::optional<Vec3<>> read_vector(Words& words, Report& report, const std::string& path);
/// What to do about a word that is no number: one with a comma comes from a computer that writes them so.
std::string number_hint(std::string_view word, std::string_view otherwise);
std::optional<double> read_number(std::string_view word);
inline constexpr double kLargestNumber = 1e9;  ///< beyond this no length or angle makes sense
inline constexpr char kNoNumber[] = "not a finite number up to 1e9";

/// Unit and axes, asked for or guessed.
void settle(Capture& capture, const CaptureOptions& options, std::optional<double> stated_unit, Report& report);

std::string stem_of(const std::string& file);

/// Writes the whole file or nothing; an error if it cannot.
std::vector<Diagnostic> write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace kansetsu::io::capture
