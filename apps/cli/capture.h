#pragma once

#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/load_model.h"
#include "kansetsu/io/capture.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/motion/retarget.h"

/// CLIP arguments: captured motion (.bvh, .amc), and the figure that follows it.
namespace kansetsu::cli {

struct ClipSource {
  std::string file{};
  std::string skeleton{}, table{};  ///< files; empty: what is beside it, what is built in
  std::optional<double> unit{}, scale{}, rate{};
  std::optional<UpAxis> up{};
  bool keep_feet = false;      ///< as captured, skating
  bool limits = true;          ///< keep those of the figure's joints
  std::vector<double> belt{};  ///< x, y [m/s]; empty: found from the feet
};

/// --unit, --up, --frame-rate, --skeleton
void add_clip_options(Arguments& args, ClipSource& source);
/// --landmarks, --scale, --keep-feet, --belt
void add_retarget_options(Arguments& args, ClipSource& source);

Loaded<Capture> load_capture(const ClipSource& source);
/// Warnings go to standard error. Throws Failure with all lines if there is none.
Capture capture_or_fail(const ClipSource& source);
/// What --belt says.
std::optional<Vec3<>> belt_of(const ClipSource& source);
Retargeted retarget_or_fail(const Model& model, const Capture& capture, const ClipSource& source);

/// A clip as a recording with velocities: figure and floor.
io::Recording to_recording(const Model& model, const Clip& clip, const std::string& program = {});
/// The same, and which ends of the soles are down.
io::Recording to_recording(const Model& model, const Retargeted& motion);

/// What a clip consists of, for people or as JSON.
std::string capture_text(const Capture& capture);
std::string capture_json(const Capture& capture);
/// How well the figure follows, for people.
std::string retarget_text(const Retargeted& motion);

}  // namespace kansetsu::cli
