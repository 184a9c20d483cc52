/// kansetsu compile MODEL -o DIR: the dynamics of a model as C++ source with its constants folded in.

#include <fmt/format.h>

#include <filesystem>

#include "cli/arguments.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "kansetsu/codegen/compile_model.h"

namespace kansetsu::cli {
namespace {

struct CompileArguments {
  ModelSource model;
  std::string folder, name;
};

Exit compile(const CompileArguments& options) {
  const Model model = model_or_fail(options.model);
  if (!loops_of(options.model).empty()) {
    fmt::print(stderr, "kansetsu compile: loops are ignored: rnea, crba and aba are those of the tree\n");
  }
  const CompiledModel compiled =
      or_fail(kBadUsage, "kansetsu compile", [&] { return compile_model(model, options.name); });
  std::error_code code;
  std::filesystem::create_directories(options.folder, code);
  if (code)
    throw Failure(kBadFile,
                  fmt::format("kansetsu compile: cannot create the folder {}: {}", options.folder, code.message()));
  const std::filesystem::path file = std::filesystem::path(options.folder) / (compiled.name + ".h");
  Output out(file);
  out.write(compiled.text);
  out.commit();
  Output summary;
  summary.write(
      fmt::format("{}: {} positions, {} velocities; operations: rnea {}, crba {}, aba {}; {} sines and cosines\n",
                  file.string(), model.nq(), model.nv(), compiled.rnea_operations, compiled.crba_operations,
                  compiled.aba_operations, compiled.angles));
  summary.commit();
  return kOk;
}

}  // namespace

Runner declare_compile(Arguments& args) {
  auto options = std::make_shared<CompileArguments>();
  args.add("MODEL", options->model.name, kModelHelp).required();
  args.add("-o,--out DIR", options->folder, "folder for NAME.h; created if missing").required();
  args.add("--name NAME", options->name, "name of the file and its namespace; default: the model's name with _model");
  add_base_option(args, options->model.base);
  add_path_option(args);
  return [options] { return compile(*options); };
}

}  // namespace kansetsu::cli
