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
  std::string name;            ///< of a file or a figure; FILE#FIGURE for one of several figures of a scene
  std::string text{};          ///< the file itself, if it is in memory: the name is what messages call it
  std::optional<Base> base{};  ///< none: as the file says
  FixedLinks fixed_links = FixedLinks::kKeep;
};

/// Says all that a reader has said of a file.
Failure bad_file(const std::vector<Diagnostic>& diagnostics);

/// How many warnings there are, and what is missing of a partial model, on standard error.
void tell_count(const std::vector<Diagnostic>& warnings, const std::string& name);
/// All of them.
void tell(const std::vector<Diagnostic>& warnings);

/// What was read; warnings go to standard error. Throws Failure with all lines if there is nothing.
template <class T>
T value_or_fail(Loaded<T>&& loaded) {
  if (!loaded) throw bad_file(loaded.diagnostics);
  tell(loaded.diagnostics);
  return *std::move(loaded.value);
}
/// What a writer has said of a file, likewise.
void check_written(const std::vector<Diagnostic>& problems);

/// The description with everything there is to say about it. Of things that are both, a file comes before a figure.
Loaded<ModelDescription> load_description(const ModelSource& source);
Loaded<Model> load_model(const ModelSource& source);

/// The loops of the figure that load_model() takes from a scene; none elsewhere.
std::vector<LoopClosure> loops_of(const ModelSource& source);
/// Its tendons and actuators, likewise.
ActuationDescription actuation_of(const ModelSource& source);

/// Whether the name is that of a file with a scene in it, MJCF included, and of no single figure.
bool names_scene(const ModelSource& source);
/// The scene of a file, or one that holds a model and nothing else.
Loaded<SceneDescription> load_scene(const ModelSource& source);
SceneDescription scene_or_fail(const ModelSource& source);

/// The model; warnings are counted on standard error. Throws Failure with all lines if there is none.
Model model_or_fail(const ModelSource& source);
ModelDescription description_or_fail(const ModelSource& source);

}  // namespace kansetsu::cli
