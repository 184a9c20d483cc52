#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/model/capture.h"
#include "kansetsu/model/landmarks.h"

/// Files of captured motion: BVH, ASF with AMC, and NPZ of AMASS. Supported features, estimates and CAPnnn codes:
/// docs/formats/capture.md.
namespace kansetsu::io {

struct CaptureOptions {
  std::optional<double> unit{};  ///< unit of lengths in the file [m]; none: that of the ASF file, or guess_unit()
  std::optional<UpAxis> up{};    ///< none: guess_axes()
  /// The .asf of an .amc; empty: NN.asf next to NN_MM.amc. For AMASS an .npz with joint centres J; empty: those of a mean person.
  std::filesystem::path skeleton{};
};

Loaded<Capture> read_bvh(const std::filesystem::path& file, const CaptureOptions& options = {});
Loaded<Capture> parse_bvh(std::string_view text, const std::string& file_name = {}, const CaptureOptions& options = {});

Loaded<Capture> read_asf_amc(const std::filesystem::path& asf, const std::filesystem::path& amc,
                             const CaptureOptions& options = {});
Loaded<Capture> parse_asf_amc(std::string_view asf, std::string_view amc, const std::string& asf_name = {},
                              const std::string& amc_name = {}, const CaptureOptions& options = {});

/// Motions of the SMPL models (.npz with `poses` and `trans`).
Loaded<Capture> read_amass(const std::filesystem::path& file, const CaptureOptions& options = {});
Loaded<Capture> parse_amass(std::string_view bytes, const std::string& file_name = {},
                            const CaptureOptions& options = {});
/// Whether an .npz file contains such a motion rather than a recording.
bool holds_amass(const std::filesystem::path& file);

/// Whether the file is one of these, by its extension: .bvh, .amc, or .npz with an AMASS motion.
Loaded<Capture> read_capture(const std::filesystem::path& file, const CaptureOptions& options = {});
bool names_capture(const std::filesystem::path& file);

/// In the capture's unit and axes; each bone has three angles in its own order, and positions if it moves.
std::string to_bvh(const Capture& capture);
std::vector<Diagnostic> write_bvh(const Capture& capture, const std::filesystem::path& file);
/// Joint centres in the world: time [s], then BONE.x, BONE.y, BONE.z [m] of each bone, one line per frame.
std::string to_centres_csv(const Capture& capture);
std::vector<Diagnostic> write_centres_csv(const Capture& capture, const std::filesystem::path& file);

/// [bones] and [links] of a landmark table in TOML; every landmark is a key, see docs/formats/capture.md.
Loaded<LandmarkTable> read_landmarks(const std::filesystem::path& file);
Loaded<LandmarkTable> parse_landmarks(std::string_view text, const std::string& file_name = {});
std::string to_toml(const LandmarkTable& table);

}  // namespace kansetsu::io
