#include <filesystem>

#include "cli/load_model.h"
#include "cli/load_scene.h"
#include "descriptions.h"
#include "errors.h"
#include "kansetsu/io/scene.h"
#include "model_handle.h"
#include "words.h"

/// Models from files of any format, by the same rules as on the command line.
namespace kansetsu::python {
namespace {

cli::ModelSource source_of(const char* function, const std::string& name, const std::optional<std::string>& base,
                           bool merge_fixed) {
  cli::ModelSource source{.name = name};
  if (base) source.base = read_word(fmt::format("{}: base", function).c_str(), *base, kBases);
  if (merge_fixed) source.fixed_links = cli::FixedLinks::kMerge;
  return source;
}

ModelHandle* load(const cli::ModelSource& source, const char* function, Folders package_path, Folders allow_path) {
  const cli::ReferencePaths paths(read_paths(function, package_path, allow_path));
  return handle_of(value_or_raise(cli::load_model(source)));
}

std::vector<Diagnostic> check(const PathLike& given, Folders package_path, Folders allow_path) {
  const std::filesystem::path path = described(given);
  const cli::ReferencePaths paths(read_paths("check", package_path, allow_path));
  const cli::ModelSource source{.name = path.string()};
  if (cli::names_scene(source)) {
    cli::StagedScene staged = cli::load_stage(source);
    std::vector<Diagnostic> out = std::move(staged.scene.diagnostics);
    out.insert(out.end(), staged.of_meshes.begin(), staged.of_meshes.end());
    return in_python_words(std::move(out));
  }
  return in_python_words(cli::load_model(source).diagnostics);
}

}  // namespace

void bind_load(nb::module_& module) {
  module.def(
      "load",
      [](const PathLike& path, const std::optional<std::string>& base, bool merge_fixed, Folders package_path,
         Folders allow_path) {
        return load(source_of("load", described(path).string(), base, merge_fixed), "load", package_path, allow_path);
      },
      nb::arg("path"), nb::kw_only(), nb::arg("base") = nb::none(), nb::arg("merge_fixed") = false, PATH_ARGUMENTS,
      "A model from a URDF, MJCF, SDF or scene file, or a built-in figure by name ('human28'), or a robot that the "
      "package\nrobot_descriptions has in its cache ('go2_description').\n\n"
      "package_path: folders in which package://NAME/... is looked up, in addition to ROS_PACKAGE_PATH; allow_path: "
      "folders "
      "outside the\nmodel's package from which it may read files.\n\n"
      "'FILE#FIGURE' names one of several figures of a scene. base: 'fixed' or 'free', default: that of the file. All "
      "errors of the file\n"
      "are raised as one LoadError; its warnings are one FileWarning.");
  module.def(
      "parse",
      [](const std::string& text, const std::optional<std::string>& base, bool merge_fixed,
         const std::string& file_name, Folders package_path, Folders allow_path) {
        cli::ModelSource source = source_of("parse", file_name, base, merge_fixed);
        source.text = require_text("parse", text);
        return load(source, "parse", package_path, allow_path);
      },
      nb::arg("text"), nb::kw_only(), nb::arg("base") = nb::none(), nb::arg("merge_fixed") = false,
      nb::arg("file_name") = "text", PATH_ARGUMENTS,
      "A model from the text of a URDF, MJCF, SDF or scene file, such as ROS's robot_description.\n\n"
      "file_name: what messages call it, and from whose folder the files that it names are looked for. The rest as of "
      "load().");
  module.def("check", check, nb::arg("path"), nb::kw_only(), PATH_ARGUMENTS,
             "All errors and warnings of a model or scene file.");
}

}  // namespace kansetsu::python
