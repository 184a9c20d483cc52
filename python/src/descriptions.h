#pragma once

#include <filesystem>

#include "bindings.h"

namespace kansetsu::python {

/// The file of a robot of the package robot_descriptions, where a name like "go2_description" is no file itself.
inline std::filesystem::path described(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (!name.ends_with("_description") || std::filesystem::exists(path)) return path;
  return nb::cast<std::filesystem::path>(nb::module_::import_("kansetsu._descriptions").attr("find")(name));
}

}  // namespace kansetsu::python
