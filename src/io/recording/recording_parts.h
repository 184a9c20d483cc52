#pragma once

#include <fmt/format.h>

#include <string>

/// Names of the parts of a recording in MCAP.
namespace kansetsu::io::recording {

inline constexpr char kFormat[] = "1";
inline constexpr char kFrameTopic[] = "/kansetsu/frame", kSceneName[] = "scene.json";

inline std::string model_name(std::size_t figure) { return fmt::format("model/{}.json", figure); }

}  // namespace kansetsu::io::recording
