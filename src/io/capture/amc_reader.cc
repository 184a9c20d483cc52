#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <span>

#include "io/capture/asf_reader.h"
#include "io/capture/capture_codes.h"
#include "io/number.h"
#include "io/text.h"

/// AMC: the number of a frame on a line of its own, then a line per bone with the values of its degrees of freedom.
namespace kansetsu::io {
namespace {

using namespace capture;

class AmcReader {
 public:
  AmcReader(std::string_view text, Report& report, const Asf& asf, Capture& capture)
      : text_(text),
        report_(report),
        asf_(asf),
        capture_(capture),
        row_(asf.bones.size()),
        given_(asf.bones.size()),
        most_(most_poses(text)) {
    for (std::size_t i = 0; i < asf.bones.size(); ++i) index_[asf.bones[i].name] = i;
  }

  void read() {
    while (!text_.empty() && !report_.full()) {
      const std::string_view line = trim(next_line(text_));
      ++line_;
      if (line.empty() || line.starts_with('#')) continue;
      if (line.starts_with(':')) {
        if (same_word(line, ":RADIANS")) degree_ = 1;
        continue;
      }
      Words words(line);
      const std::string_view word = words.next();
      if (const auto number = read_number(word); number && words.peek().empty()) {
        begin_frame(*number);
      } else if (frame_line_ == 0) {
        return report_.error(line_, kForeign, {}, fmt::format("{} comes before the first frame", quote(word)),
                             "is it an AMC file?");
      } else {
        read_bone(word, line.substr(word.size()));
      }
    }
    end_frame(true);
    if (frames_ == 0 && !report_.failed())
      report_.error(line_, kFrameCount, {}, "there are no frames", "an AMC file has numbered frames");
  }

 private:
  void begin_frame(double number) {
    end_frame(false);
    if (frames_ > 0 && number != number_ + 1 && !renumbered_) {
      renumbered_ = true;
      report_.warn(line_, kNumbering, fmt::format("frame {}", format_number(number)),
                   fmt::format("it follows frame {}", format_number(number_)), "frames are used in file order");
    }
    number_ = number;
    frame_line_ = line_;
    std::fill(given_.begin(), given_.end(), false);
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = {{}, asf_.bones[i].offset};
  }

  std::string path(std::string_view bone) const {
    return fmt::format("frame {}, bone {}", format_number(number_), bone);
  }

  void read_bone(std::string_view name, std::string_view rest) {
    const auto found = index_.find(name);
    if (found == index_.end())
      return report_.error(line_, kUnknownBone, path("?"), fmt::format("the skeleton has no bone {}", quote(name)),
                           "does this .amc belong to this .asf?");
    const std::size_t i = found->second;
    const AsfBone& extra = asf_.extra[i];
    double values[7] = {};
    const std::span<double> out(values, extra.dofs.size());
    std::optional<std::string> problem = parse_numbers(rest, out);
    if (!problem && std::ranges::any_of(out, [](double v) { return std::abs(v) > kLargestNumber; }))
      problem = fmt::format("{} holds {}", quote(trim(rest)), kNoNumber);
    if (problem) {
      const bool last = trim(text_).empty();
      return report_.error(line_, problem->starts_with("expected") ? (last ? kTruncated : kFrame) : kNumber, path(name),
                           *problem, "one finite value per degree of freedom of the bone");
    }
    if (given_[i]) report_.error(line_, kFrame, path(name), "the bone has two lines in this frame", "take one out");
    given_[i] = true;
    row_[i] = pose(i, values);
    if (!(norm(row_[i].p) <= kLargestNumber))
      report_.error(line_, kNumber, path(name), "the bone is too far away",
                    "its position includes its offset in the skeleton");
  }

  BonePose pose(std::size_t i, const double* values) const {
    const AsfBone& extra = asf_.extra[i];
    double p[3] = {}, turn[3] = {};
    Mat3<> R = Mat3<>::identity();
    for (std::size_t k = 0; k < extra.dofs.size(); ++k) {
      const int dof = extra.dofs[k];
      if (dof < 3) p[dof] = values[k];
      if (dof < 3 || dof > 5) continue;
      // First about the first axis of the list, then about the next fixed one: later turns stand on the left.
      turn[dof - 3] = degree_ * values[k];
      const Vec3<> angles{dof == 3 ? turn[0] : 0, dof == 4 ? turn[1] : 0, dof == 5 ? turn[2] : 0};
      R = from_euler(EulerOrder::kXYZ, angles) * R;
    }
    // The turns are given in axes of the bone's own; C·R·Cᵀ are the same in those of the rest pose.
    const Mat3<> turned = extra.axes * times_transpose(R, extra.axes);
    return {to_quaternion(i == 0 ? R * extra.axes : turned), asf_.bones[i].offset + Vec3<>{p[0], p[1], p[2]}};
  }

  void end_frame(bool last) {
    if (frame_line_ == 0) return;
    for (std::size_t i = 0; i < row_.size() && !report_.full(); ++i) {
      if (given_[i] || asf_.extra[i].dofs.empty()) continue;
      report_.error(frame_line_, last ? kTruncated : kMissingBone, path(asf_.bones[i].name),
                    "the bone has no line in this frame",
                    last ? "the file was cut off within this frame" : "every bone with degrees of freedom has one");
    }
    if (!report_.failed()) {
      if (capture_.poses.size() + row_.size() > most_)
        return report_.error(frame_line_, kTooMany, {}, fmt::format("there are more than {} poses of bones", most_),
                             "bones without degrees of freedom are too many for so many frames");
      capture_.poses.insert(capture_.poses.end(), row_.begin(), row_.end());
    }
    ++frames_;
  }

  std::string_view text_;
  Report& report_;
  const Asf& asf_;
  Capture& capture_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<BonePose> row_;
  std::vector<bool> given_;
  std::size_t most_;
  double degree_ = std::numbers::pi / 180, number_ = 0;
  int line_ = 0, frame_line_ = 0;
  long frames_ = 0;
  bool renumbered_ = false;
};

/// Lengths are inches once divided by "units length"; where that gives no human height, the unit is another one.
std::optional<double> stated_unit(const Asf& asf, const Capture& capture) {
  constexpr double kInch = 0.0254;                       // [m]
  constexpr double kLeastRatio = 0.6, kMostRatio = 1.7;  // heights of people beside those that guess_unit() expects
  const double inch = kInch / asf.length, ratio = inch / guess_unit(capture);
  return ratio > kLeastRatio && ratio < kMostRatio ? std::optional(inch) : std::nullopt;
}

}  // namespace

Loaded<Capture> parse_asf_amc(std::string_view asf_text, std::string_view amc_text, const std::string& asf_name,
                              const std::string& amc_name, const CaptureOptions& options) {
  Report skeleton(asf_name);
  Asf asf;
  if (check_text(asf_text, skeleton, "ASF")) asf = read_asf(without_mark(asf_text), skeleton);
  if (skeleton.failed()) return {std::nullopt, skeleton.take()};
  Capture capture{.name = stem_of(amc_name), .file = amc_name, .bones = asf.bones};
  for (std::size_t i = 0; i < asf.bones.size(); ++i) {
    const auto& dofs = asf.extra[i].dofs;
    capture.bones[i].moves = std::ranges::any_of(dofs, [](int dof) { return dof < 3; });
  }
  Report motion(amc_name);
  if (check_text(amc_text, motion, "AMC")) AmcReader(without_mark(amc_text), motion, asf, capture).read();
  std::vector<Diagnostic> diagnostics = skeleton.take();
  if (!motion.failed()) settle(capture, options, stated_unit(asf, capture), motion);
  for (Diagnostic& d : motion.take()) diagnostics.push_back(std::move(d));
  return loaded(std::move(capture), std::move(diagnostics));
}

Loaded<Capture> read_asf_amc(const std::filesystem::path& asf, const std::filesystem::path& amc,
                             const CaptureOptions& options) {
  Report skeleton(asf.string()), motion(amc.string());
  const auto asf_text = load_text(asf, skeleton), amc_text = load_text(amc, motion);
  std::vector<Diagnostic> problems = skeleton.take();
  for (Diagnostic& d : motion.take()) problems.push_back(std::move(d));
  if (!asf_text || !amc_text) return {std::nullopt, std::move(problems)};
  return parse_asf_amc(*asf_text, *amc_text, asf.string(), amc.string(), options);
}

}  // namespace kansetsu::io
