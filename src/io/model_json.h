#pragma once

#include <string>
#include <string_view>

#include "kansetsu/model/description.h"

namespace kansetsu::io {

inline constexpr int kModelJsonVersion = 1;

/// A description as JSON, complete and bit exact; recordings contain it. Members with their default value are omitted.
std::string model_to_json(const ModelDescription& description);
/// Parses it. Errors concern the JSON; Model::build() validates the model.
Loaded<ModelDescription> model_from_json(std::string_view text, const std::string& file_name = {});

}  // namespace kansetsu::io
