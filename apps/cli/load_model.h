#pragma once

#include <optional>
#include <string>

#include "kansetsu/model/model.h"

/// MODEL arguments: URDF files and built-in figures.
namespace kansetsu::cli {

enum class FixedLinks { kKeep, kMerge };

struct ModelSource {
  std::string name;            ///< of a file or a figure
  std::optional<Base> base{};  ///< none: as the file says
  FixedLinks fixed_links = FixedLinks::kKeep;
};

/// The description with everything there is to say about it. Of things that are both, a file comes before a figure.
Loaded<ModelDescription> load_description(const ModelSource& source);
Loaded<Model> load_model(const ModelSource& source);

/// The model; warnings are counted on standard error. Throws Failure with all lines if there is none.
Model model_or_fail(const ModelSource& source);
ModelDescription description_or_fail(const ModelSource& source);

}  // namespace kansetsu::cli
