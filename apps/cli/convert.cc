/// kansetsu convert IN OUT: reads a model, a recording or a clip and writes it in the format of OUT's extension.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/arguments.h"
#include "cli/convert_capture.h"
#include "cli/load_model.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/recording.h"
#include "cli/subject.h"
#include "cli/terminal.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/io/sdf.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/edit.h"

namespace kansetsu::cli {
namespace {

namespace fs = std::filesystem;

struct ConvertArguments {
  ModelSource model;
  std::string out;
  std::string to;  ///< the format, if the extension of `out` does not determine it
  bool merge_fixed = false;
  ClipSource clip;
  std::string figure;
  std::string table = "forces";
  std::string trial;
  double least = 20;  ///< [N]
};

/// The output format of a model: --to, else the extension.
io::FileFormat output_format(const ConvertArguments& options) {
  const std::string ending = fs::path(options.out).extension().string();
  const std::string name = !options.to.empty() ? options.to : options.out == "-" ? "urdf" : ending;
  if (name == "urdf" || name == ".urdf") return io::FileFormat::kUrdf;
  if (name == "scene" || name == ".toml") return io::FileFormat::kScene;
  if (name == "mjcf" || name == ".xml" || name == ".mjcf") return io::FileFormat::kMjcf;
  if (name == "sdf" || name == ".sdf" || name == ".world") return io::FileFormat::kSdf;
  throw Failure(kBadUsage,
                fmt::format("kansetsu convert: {}: unknown format for a model\n  known: .urdf, .toml (a scene), .xml "
                            "and .mjcf (MJCF), .sdf and .world (SDF), or --to; recordings are converted from .mcap",
                            options.out));
}

/// Mesh names relative to the input file, made relative to the output file.
void move_meshes(ModelDescription& model, const fs::path& from, const fs::path& to) {
  const auto folder_of = [](const fs::path& file) { return fs::weakly_canonical(fs::absolute(file)).parent_path(); };
  const fs::path old_folder = folder_of(from), new_folder = folder_of(to);
  if (old_folder == new_folder) return;
  const auto move = [&](std::vector<LinkShape>& shapes) {
    for (LinkShape& shape : shapes) {
      auto* mesh = std::get_if<Mesh>(&shape.shape);
      if (!mesh || mesh->uri.empty() || mesh->uri.find("://") != std::string::npos || mesh->uri.starts_with('/'))
        continue;
      mesh->uri = (old_folder / mesh->uri).lexically_normal().lexically_proximate(new_folder).generic_string();
    }
  };
  for (LinkDescription& link : model.links) {
    move(link.visuals);
    move(link.collisions);
  }
}

void print_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  fmt::print(stderr, "{}", coloured(to_string(diagnostics)));
}

/// Messages after writing the file.
Exit written(const std::vector<Diagnostic>& diagnostics, const std::string& file) {
  print_diagnostics(diagnostics);
  if (has_errors(diagnostics)) return kBadFile;
  tell_written(file);
  return kOk;
}

/// A recording as another: .mcap, .csv, .npz or .glb.
Exit convert_recording(const ConvertArguments& options) {
  Loaded<io::Recording> recording = io::read_recording(options.model.name);
  print_diagnostics(recording.diagnostics);
  if (!recording) return kBadFile;
  const std::vector<Diagnostic> diagnostics = io::write_recording(*recording.value, options.out);
  return written(diagnostics, options.out);
}

/// Shapes that URDF does not have are omitted, with a warning.
void drop_foreign_shapes(ModelDescription& model) {
  std::size_t dropped = 0;
  const auto foreign = [](const LinkShape& shape) {
    return std::holds_alternative<Plane>(shape.shape) || std::holds_alternative<ConvexHull>(shape.shape) ||
           std::holds_alternative<HeightField>(shape.shape) || std::holds_alternative<TriangleMesh>(shape.shape);
  };
  for (LinkDescription& link : model.links) {
    dropped += std::erase_if(link.visuals, foreign);
    dropped += std::erase_if(link.collisions, foreign);
  }
  if (dropped > 0) fmt::print(stderr, "kansetsu convert: {} shapes that URDF cannot express are omitted\n", dropped);
}

/// Other programs do not know <capsule>.
void tell_capsules(const ModelDescription& model) {
  const auto capsule = [](const LinkShape& shape) { return std::holds_alternative<Capsule>(shape.shape); };
  std::ptrdiff_t count = 0;
  for (const LinkDescription& link : model.links) {
    count += std::count_if(link.visuals.begin(), link.visuals.end(), capsule);
    count += std::count_if(link.collisions.begin(), link.collisions.end(), capsule);
  }
  if (count > 0)
    fmt::print(stderr, "kansetsu convert: {} shapes are <capsule>, which not every reader of URDF knows\n", count);
}

/// A figure of a scene, as a model for URDF.
void prepare(ModelDescription& model, const std::string& source) {
  if (!names_scene({.name = source}) && source.find('#') == std::string::npos) return;
  model = move_links_to_joints(std::move(model));
  drop_foreign_shapes(model);
}

/// Writes text to standard output, or replaces a file.
template <class Value>
Exit put(const ConvertArguments& options, const Value& value, Loaded<std::string> (*to_text)(const Value&),
         std::vector<Diagnostic> (*to_file)(const Value&, const fs::path&)) {
  if (options.out != "-") return written(to_file(value, options.out), options.out);
  const Loaded<std::string> text = to_text(value);
  print_diagnostics(text.diagnostics);
  if (!text) return kBadFile;
  print(*text.value);
  return kOk;
}

Exit convert(ConvertArguments options) {
  if (names_recording(options.model.name)) return convert_recording(options);
  if (io::names_capture(options.model.name)) {
    options.clip.file = options.model.name;
    return convert_capture(options.clip, {.name = options.figure, .base = options.model.base}, options.out);
  }
  if (io::names_measurement(options.model.name) || io::names_table(options.model.name))
    return convert_measurement(options.model.name, options.out, options.table, options.least);
  if (io::names_subject(options.model.name)) return convert_subject(options.model.name, options.trial, options.out);
  const io::FileFormat format = output_format(options);
  if (options.merge_fixed) options.model.fixed_links = FixedLinks::kMerge;
  if (format == io::FileFormat::kScene)
    return put(options, scene_or_fail(options.model), io::to_scene, io::write_scene);
  if (format == io::FileFormat::kMjcf) return put(options, scene_or_fail(options.model), io::to_mjcf, io::write_mjcf);
  if (format == io::FileFormat::kSdf) return put(options, scene_or_fail(options.model), io::to_sdf, io::write_sdf);
  ModelDescription model = description_or_fail(options.model);
  prepare(model, options.model.name);
  tell_capsules(model);
  if (options.out != "-" && !model.file.empty()) move_meshes(model, model.file, options.out);
  return put(options, model, io::to_urdf, io::write_urdf);
}

}  // namespace

Runner declare_convert(Arguments& args) {
  auto options = std::make_shared<ConvertArguments>();
  args.add("IN", options->model.name,
           std::string(kModelHelp) +
               "; or a recording (.mcap); or a clip (.bvh, .amc, .npz of AMASS); or a measurement (.c3d, .trc, .mot, "
               ".sto, "
               ".b3d)")
      .required();
  args.add("OUT", options->out,
           "output file; its extension selects the format: .urdf, .toml (a scene), .xml or .mjcf (MJCF, for MuJoCo), "
           ".sdf "
           "or .world (SDF, for "
           "Gazebo and Drake); '-': "
           "standard output, as URDF unless --to says otherwise; of a recording .mcap, .csv, .npz or .glb; of a clip "
           ".bvh, .csv, and with --figure what a recording may be; of a "
           "measurement .trc, .c3d, .csv, .mot, .sto; of a .b3d .osim, .mot, .sto, .trc")
      .required();
  args.add("--to", options->to, "format of a model, regardless of the extension of OUT: urdf, mjcf, sdf or scene")
      .one_of({"urdf", "mjcf", "sdf", "scene"});
  add_base_option(args, options->model.base);
  add_path_option(args);
  args.add_flag("--merge-fixed", options->merge_fixed, "merge links connected by fixed joints");
  args.add("--figure MODEL", options->figure, "model that follows a clip");
  args.add("--table", options->table, "contents of a .mot or .sto file: forces of the plates, or signals")
      .one_of({"forces", "signals"});
  args.add("--trial TRIAL", options->trial, "trial of a .b3d: its name or number; default: the first");
  args.add("--least N", options->least, "least vertical force for a centre of pressure [N]; default: 20")
      .not_negative();
  add_clip_options(args, options->clip);
  add_retarget_options(args, options->clip);
  return [options] { return convert(*options); };
}

}  // namespace kansetsu::cli
