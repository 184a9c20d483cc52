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
  std::string skeleton{}, table{};  ///< files; empty: the skeleton next to the clip, the built-in table
  std::optional<double> unit{}, scale{}, rate{};
  std::optional<UpAxis> up{};
  bool keep_feet = false;      ///< keep the feet as captured, even if they skate
  bool limits = true;          ///< respect the joint limits of the figure
  std::vector<double> belt{};  ///< x, y [m/s]; empty: found from the feet
};

/// --unit, --up, --frame-rate, --skeleton
void add_clip_options(Arguments& args, ClipSource& source);
/// --landmarks, --scale, --keep-feet, --belt
void add_retarget_options(Arguments& args, ClipSource& source);

Loaded<Capture> load_capture(const ClipSource& source);
/// Warnings go to standard error. Throws Failure with all lines if there is none.
Capture capture_or_fail(const ClipSource& source);
/// The value of --belt.
std::optional<Vec3<>> belt_of(const ClipSource& source);
Retargeted retarget_or_fail(const Model& model, const Capture& capture, const ClipSource& source);

/// A clip as a recording with velocities: figure and floor.
io::Recording to_recording(const Model& model, const Clip& clip, const std::string& program = {});
/// The same, with the ends of the soles that are in contact.
io::Recording to_recording(const Model& model, const Retargeted& motion);

/// The contents of a clip, as text or as JSON.
std::string capture_text(const Capture& capture);
std::string capture_json(const Capture& capture);
/// How closely the figure follows, as text.
std::string retarget_text(const Retargeted& motion);

}  // namespace kansetsu::cli
