#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/capture/capture_codes.h"
#include "io/file_report.h"
#include "kansetsu/io/capture.h"

/// Shared by the readers of captured motion: words with line numbers, and reports.
namespace kansetsu::io::capture {

inline constexpr std::size_t kMostBones = 10000;
/// The maximum of bones times frames for a motion of this size. Moving bones take several bytes per frame; this limits the memory
/// for fixed ones.
inline std::size_t most_poses(std::string_view motion) { return 100'000 + 2 * motion.size(); }
inline constexpr std::size_t kMostDiagnostics = 50;  ///< limit of errors, and of warnings

/// Iterates over the words of a text with their line numbers. Braces are separate words.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view next();
  std::string_view peek();
  /// The rest of the current line up to a brace, trimmed.
  std::string_view rest_of_line();
  /// The rest of the text from the next line, which is line().
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
};

inline constexpr FileCodes kFileCodes{kMissingFile, kNotAFile, kUnreadable, kTooLarge,
                                      "cut the motion into shorter clips"};
/// The text of a file; none, and an error, if it cannot be read.
std::optional<std::string> load_text(const std::filesystem::path& file, Report& report);
/// Whether it is text; an error if not.
bool check_text(std::string_view text, Report& report, const char* format);

/// Reads three numbers; none, and an error, if they are invalid.
std::optional<Vec3<>> read_vector(Words& words, Report& report, const std::string& path);
/// The hint for an invalid number; a decimal comma gets its own hint.
std::string number_hint(std::string_view word, std::string_view otherwise);
std::optional<double> read_number(std::string_view word);
inline constexpr double kLargestNumber = 1e9;  ///< larger lengths and angles are invalid
inline constexpr char kNoNumber[] = "not a finite number up to 1e9";

/// Sets unit and axes, from the options or estimated.
void settle(Capture& capture, const CaptureOptions& options, std::optional<double> stated_unit, Report& report);

std::string stem_of(const std::string& file);

/// Writes a file atomically; an error if it fails.
std::vector<Diagnostic> write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace kansetsu::io::capture
