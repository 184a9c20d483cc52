#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kansetsu/base/diagnostic.h"
#include "kansetsu/model/clip.h"

/// Clips from recordings: the motion of one figure only. RECnnn codes: docs/formats/recording.md.
namespace kansetsu::io {

/// Whether read_clip() supports the extension: .mcap, .csv, .npz.
bool names_clip(const std::filesystem::path& file);

/// The frames of the figure with the model's coordinate names; of several such figures the one named like the model.
Loaded<Clip> read_clip(const Model& model, const std::filesystem::path& file);
Loaded<Clip> parse_clip_csv(const Model& model, std::string_view text, const std::string& file_name = {});
Loaded<Clip> parse_clip_npz(const Model& model, std::string_view bytes, const std::string& file_name = {});

}  // namespace kansetsu::io
