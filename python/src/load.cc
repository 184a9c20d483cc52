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

cli::ModelSource source_of(const std::filesystem::path& path, const std::optional<std::string>& base,
                           bool merge_fixed) {
  cli::ModelSource source{.name = described(path).string()};
  if (base) source.base = read_word("load: base", *base, kBases);
  if (merge_fixed) source.fixed_links = cli::FixedLinks::kMerge;
  return source;
}

std::vector<Diagnostic> check(const PathLike& given, Folders package_path, Folders allow_path) {
  const std::filesystem::path path = described(given);
  const cli::ReferencePaths paths(read_paths("check", package_path, allow_path));
  if (cli::names_scene(path.string())) {
    cli::StagedScene staged = cli::load_stage(path.string());
    std::vector<Diagnostic> out = std::move(staged.scene.diagnostics);
    out.insert(out.end(), staged.of_meshes.begin(), staged.of_meshes.end());
    return in_python_words(std::move(out));
  }
  return in_python_words(cli::load_model({.name = path.string()}).diagnostics);
}

}  // namespace

void bind_load(nb::module_& module) {
  module.def(
      "load",
      [](const PathLike& path, const std::optional<std::string>& base, bool merge_fixed, Folders package_path,
         Folders allow_path) {
        const cli::ReferencePaths paths(read_paths("load", package_path, allow_path));
        return handle_of(value_or_raise(cli::load_model(source_of(path, base, merge_fixed))));
      },
      nb::arg("path"), nb::kw_only(), nb::arg("base") = nb::none(), nb::arg("merge_fixed") = false, PATH_ARGUMENTS,
      "A model from a URDF, MJCF, SDF or scene file, or a built-in figure by name ('human28'), or a robot that the "
      "package\nrobot_descriptions has in its cache ('go2_description').\n\n"
      "package_path: folders in which package://NAME/... is looked for, besides ROS_PACKAGE_PATH; allow_path: folders "
      "outside the\nmodel's package from which it may read files.\n\n"
      "'FILE#FIGURE' names one of several figures of a scene. base: 'fixed' or 'free', else as the file says. What is "
      "wrong with the file\n"
      "is raised as LoadError, all of it; what is only odd is one FileWarning.");
  module.def("check", check, nb::arg("path"), nb::kw_only(), PATH_ARGUMENTS,
             "All errors and warnings of a model or scene file.");
}

}  // namespace kansetsu::python
