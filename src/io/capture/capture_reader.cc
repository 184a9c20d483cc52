#include "io/capture/capture_reader.h"

#include <cmath>

#include "io/capture/capture_codes.h"
#include "io/number.h"
#include "io/text.h"

namespace kansetsu::io::capture {
namespace {

constexpr std::string_view kBlank = " \t\r\f\v";

bool is_space(char c) { return c == '\n' || kBlank.find(c) != std::string_view::npos; }
bool is_brace(char c) { return c == '{' || c == '}'; }

}  // namespace

std::string_view Words::next() {
  while (at_ < text_.size() && is_space(text_[at_])) line_ += text_[at_++] == '\n';
  const std::size_t begin = at_;
  if (at_ < text_.size() && is_brace(text_[at_])) return text_.substr(at_++, 1);
  while (at_ < text_.size() && !is_space(text_[at_]) && !is_brace(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view Words::peek() {
  Words ahead = *this;
  return ahead.next();
}

std::string_view Words::rest_of_line() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '\n' && !is_brace(text_[at_])) ++at_;
  return trim(text_.substr(begin, at_ - begin));
}

std::string_view Words::rest_of_text() {
  while (at_ < text_.size() && kBlank.find(text_[at_]) != std::string_view::npos) ++at_;
  if (at_ < text_.size() && text_[at_] == '\n') ++at_, ++line_;
  return text_.substr(at_);
}

std::optional<std::string> load_text(const std::filesystem::path& file, Report& report) {
  FileText read = read_file(file);
  if (!read.problem) return std::move(read.text);
  report.add(unreadable(read, file, kFileCodes));
  return std::nullopt;
}

bool check_text(std::string_view text, Report& report, const char* format) {
  if (!is_utf16(text) && !is_binary(text) && !trim(text).empty()) return true;
  return report.fail(0, kForeign, {}, trim(text).empty() ? "the file is empty" : "the file is not plain text",
                     fmt::format("{} files are text", format));
}

std::optional<double> read_number(std::string_view word) {
  double value = 0;
  if (word.empty() || parse_numbers(word, {&value, 1}) || std::abs(value) > kLargestNumber) return std::nullopt;
  return value;
}

std::string number_hint(std::string_view word, std::string_view otherwise) {
  const bool comma = word.find(',') != std::string_view::npos;
  return comma ? "decimals follow a point, not a comma: replace the commas of all numbers" : std::string(otherwise);
}

std::optional<Vec3<>> read_vector(Words& words, Report& report, const std::string& path) {
  double value[3] = {};
  for (double& v : value) {
    const std::string_view word = words.peek();
    const std::optional<double> number = read_number(word);
    if (!number) {
      words.next();
      return report.refuse(words.line(), kNumber, path,
                           word.empty() ? "the file ends here" : fmt::format("{} is {}", quote(word), kNoNumber),
                           number_hint(word, "three numbers are needed, e.g. 0 1.5 0"));
    }
    words.next();
    v = *number;
  }
  return Vec3<>{value[0], value[1], value[2]};
}

void settle(Capture& capture, const CaptureOptions& options, std::optional<double> stated_unit, Report& report) {
  capture.axes = guess_axes(capture, options.up);
  capture.unit = options.unit.value_or(stated_unit.value_or(guess_unit(capture)));
  // [s] People take two steps a second: at five frames a second a foot is on the floor in two or three.
  constexpr double kSlowest = 0.2;
  if (capture.frame_time > kSlowest)
    report.warn(0, kDoubt, {}, fmt::format("frames are {:g} s apart", capture.frame_time),
                "is it the rate, where the time between two frames belongs? --frame-rate HZ overrides");
  if (options.unit || stated_unit) return;
  const LandmarkTable table = best_table(capture);
  const bool legs =
      find_bone_point(capture, table, Landmark::kHipL) && find_bone_point(capture, table, Landmark::kKneeL);
  if (!legs)
    report.warn(
        0, kGuess, {},
        fmt::format("no leg bones were found in this skeleton; a unit of {} m and {} axes are estimated from its size",
                    format_number(capture.unit), capture.axes.z.y != 0 ? "y-up" : "its"),
        "give the unit, and a table of landmarks");
}

std::string stem_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

std::vector<Diagnostic> write_text(const std::filesystem::path& file, const std::string& text) {
  return replace_file(file, {text, {}}, kCannotWrite);
}

}  // namespace kansetsu::io::capture
