#include "cli/convert_capture.h"

#include <fmt/format.h>

#include <filesystem>

namespace kansetsu::cli {
namespace {

/// A recording of a figure that follows the clip, in any format of recordings.
Exit convert_to_recording(const ClipSource& source, const ModelSource& figure, const std::string& out) {
  const Capture capture = capture_or_fail(source);
  const Model model = model_or_fail(figure);
  const Retargeted motion = retarget_or_fail(model, capture, source);
  fmt::print(stderr, "{}", retarget_text(motion));
  const std::vector<Diagnostic> diagnostics = io::write_recording(to_recording(model, motion), out);
  fmt::print(stderr, "{}", to_string(diagnostics));
  return has_errors(diagnostics) ? kBadFile : kOk;
}

}  // namespace

Exit convert_capture(const ClipSource& source, const ModelSource& figure, const std::string& out) {
  if (!figure.name.empty()) return convert_to_recording(source, figure, out);
  const std::string ending = std::filesystem::path(out).extension().string();
  if (ending != ".bvh" && ending != ".csv")
    throw Failure(kBadUsage,
                  fmt::format("kansetsu convert: {}: unknown format for a clip\n  known: .bvh, .csv (joint centres); "
                              "with --figure .mcap, .csv, .npz, .glb",
                              out));
  const Capture capture = capture_or_fail(source);
  const std::vector<Diagnostic> diagnostics =
      ending == ".bvh" ? io::write_bvh(capture, out) : io::write_centres_csv(capture, out);
  fmt::print(stderr, "{}", to_string(diagnostics));
  return has_errors(diagnostics) ? kBadFile : kOk;
}

}  // namespace kansetsu::cli
