#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "bindings.h"
#include "cli/allowed_paths.h"
#include "errors.h"

namespace kansetsu::python {

/// The file of a robot of the package robot_descriptions, if a name such as "go2_description" is not that of a file.
inline std::filesystem::path described(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code ignored;
  if (name.find_first_of("<\n") != std::string::npos && !std::filesystem::exists(path, ignored))
    raise_value("this is the text of a file, not its name: parse() and World.parse() read texts");
  if (!name.ends_with("_description") || std::filesystem::exists(path)) return path;
  return nb::cast<std::filesystem::path>(nb::module_::import_("kansetsu._descriptions").attr("find")(name));
}

/// The text of a file in memory; raises if it is empty or looks like a file name.
inline const std::string& require_text(const char* function, const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    raise_value(fmt::format("{}: the text is empty", function));
  std::error_code ignored;
  if (text.find_first_of("<\n") == std::string::npos && std::filesystem::exists(text, ignored))
    raise_value(fmt::format("{}: '{}' is the name of a file, not its text: load() reads files", function, text));
  return text;
}

/// The arguments package_path and allow_path, as --package-path and --allow-path of the command: None, a folder or several.
#define PATH_ARGUMENTS nb::arg("package_path").none() = nb::none(), nb::arg("allow_path").none() = nb::none()

inline std::vector<std::filesystem::path> read_folders(const char* function, const char* name, nb::handle value) {
  std::vector<std::filesystem::path> folders;
  if (value.is_none()) return folders;
  if (std::filesystem::path one; nb::try_cast(value, one)) {
    folders.push_back(std::move(one));
  } else if (!nb::try_cast(value, folders)) {
    raise_type(fmt::format("{}: {} is a '{}', expected a folder or a list of folders", function, name,
                           nb::type_name(value.type()).c_str()));
  }
  for (const std::filesystem::path& folder : folders) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
      raise_value(fmt::format("{}: {}: '{}' is not a folder", function, name, folder.string()));
  }
  return folders;
}

inline io::ReferenceOptions read_paths(const char* function, nb::handle package_path, nb::handle allow_path) {
  io::ReferenceOptions paths;
  paths.package_paths = read_folders(function, "package_path", package_path);
  paths.allowed_paths = read_folders(function, "allow_path", allow_path);
  return paths;
}

}  // namespace kansetsu::python
