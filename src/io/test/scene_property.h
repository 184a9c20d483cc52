#pragma once

#include <string>

#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/io/sdf.h"
#include "kansetsu/model/model.h"

namespace kansetsu::io::test {

/// What must hold of any answer of a reader of scenes; the first violation, or nothing.
inline std::string scene_violation(const Loaded<SceneDescription>& scene) {
  if (bool(scene) == has_errors(scene.diagnostics)) return "a value beside an error, or neither";
  if (!scene) return {};
  for (const FigureDescription& figure : scene.value->figures) {
    if (!Model::build(figure.model)) return "accepted, but a figure cannot be built";
  }
  const Loaded<std::string> text = to_scene(*scene.value);
  if (!text) return "accepted, but cannot be written: " + to_string(text.diagnostics);
  const Loaded<SceneDescription> again = parse_scene(*text.value, "again.toml");
  if (!again) return "written, but cannot be read: " + to_string(again.diagnostics);
  const Loaded<std::string> twice = to_scene(*again.value);
  if (!twice || *twice.value != *text.value) return "changes when written and read again";
  return {};
}

/// What must hold of any scene that can be written as MJCF.
inline std::string mjcf_violation(const SceneDescription& scene) {
  const Loaded<std::string> text = to_mjcf(scene);
  if (bool(text) == has_errors(text.diagnostics)) return "MJCF beside an error, or neither";
  if (!text) return {};
  const Loaded<SceneDescription> again = parse_mjcf(*text.value, "again.xml");
  return again ? std::string() : "written as MJCF, but cannot be read: " + to_string(again.diagnostics);
}

/// What must hold of any scene that can be written as SDF.
inline std::string sdf_violation(const SceneDescription& scene) {
  const Loaded<std::string> text = to_sdf(scene);
  if (bool(text) == has_errors(text.diagnostics)) return "SDF beside an error, or neither";
  if (!text) return {};
  const Loaded<SceneDescription> again = parse_sdf(*text.value, "again.sdf");
  return again ? std::string() : "written as SDF, but cannot be read: " + to_string(again.diagnostics);
}

}  // namespace kansetsu::io::test
