#pragma once

#include <string>
#include <string_view>

#include "kansetsu/model/description.h"

namespace kansetsu::io {

inline constexpr int kModelJsonVersion = 1;

/// A description as JSON text, nothing left out and every number to the bit: what recordings carry. Members that have their
/// default value are not written.
std::string model_to_json(const ModelDescription& description);
/// And back. Errors say what is missing or wrong; whether the model makes sense is for Model::build to say.
Loaded<ModelDescription> model_from_json(std::string_view text, const std::string& file_name = {});

}  // namespace kansetsu::io
