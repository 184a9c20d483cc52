#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "kansetsu/model/model.h"
#include "kansetsu/scene/scene.h"

/// MODEL arguments: URDF and MJCF files, scenes, and built-in figures.
namespace kansetsu::cli {

enum class FixedLinks { kKeep, kMerge };

struct ModelSource {
  std::string name;            ///< a file or a built-in figure; FILE#FIGURE for one of several figures of a scene
  std::string text{};          ///< contents, if they are in memory; `name` then only appears in messages
  std::optional<Base> base{};  ///< none: as the file says
  FixedLinks fixed_links = FixedLinks::kKeep;
};

/// A Failure with all diagnostics of a file.
Failure bad_file(const std::vector<Diagnostic>& diagnostics);

/// Prints the number of warnings and the missing parts of a partial model to standard error.
void tell_count(const std::vector<Diagnostic>& warnings, const std::string& name);
/// Prints all of them.
void tell(const std::vector<Diagnostic>& warnings);

/// The value; warnings go to standard error. Throws Failure with all diagnostics if there is none.
template <class T>
T value_or_fail(Loaded<T>&& loaded) {
  if (!loaded) throw bad_file(loaded.diagnostics);
  tell(loaded.diagnostics);
  return *std::move(loaded.value);
}
/// The same for the diagnostics of a writer.
void check_written(const std::vector<Diagnostic>& problems);

/// The description with its diagnostics. If a file and a built-in figure have the same name, the file is read.
Loaded<ModelDescription> load_description(const ModelSource& source);
Loaded<Model> load_model(const ModelSource& source);

/// The loops of the figure that load_model() takes from a scene; none elsewhere.
std::vector<LoopClosure> loops_of(const ModelSource& source);
/// Likewise, its tendons and actuators.
ActuationDescription actuation_of(const ModelSource& source);

/// Whether the name is that of a file with a scene (MJCF and SDF included) and selects no single figure.
bool names_scene(const ModelSource& source);
/// The scene of a file, or a scene that contains only the model.
Loaded<SceneDescription> load_scene(const ModelSource& source);
SceneDescription scene_or_fail(const ModelSource& source);

/// The model; the number of warnings goes to standard error. Throws Failure with all diagnostics if there is none.
Model model_or_fail(const ModelSource& source);
ModelDescription description_or_fail(const ModelSource& source);

}  // namespace kansetsu::cli
