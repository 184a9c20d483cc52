#include "kansetsu/io/mjcf.h"

#include "io/file_report.h"
#include "io/mjcf/mjcf_reader.h"

namespace kansetsu::io {
namespace mjcf {
namespace {

constexpr XmlCodes kCodes{kMissing,        kNumber,           kCharacters, kUnique,
                          kUnknownElement, kUnknownAttribute, kTooMany,    kTooLargeModel};

/// Reads the sections in the order in which they depend on each other, independent of their order in the file.
void read(Reader& reader, Element& root) {
  reader.scene.name = read_text(reader.report, root, "model").value_or("");
  load_includes(reader, root);
  read_compiler(reader, root, reader.main.compiler);
  write_out_attachments(reader, root);
  write_out_replicates(reader, root);
  gather_names(reader, root);
  read_options(reader, root);
  read_defaults(reader, root);
  check_schema(reader, root);
  read_assets(reader, root);
  read_world(reader, root);
  for (const Element* pair : sections(reader, root, "contact")) {
    for (const char* name : {"geom1", "geom2"}) {
      if (const char* geom = pair->Attribute(name)) reader.paired_geoms.insert(geom);
    }
  }
  set_masses(reader);
  set_surfaces(reader);
  hide_unshown_groups(reader);
  index_parts(reader);
  join_figures(reader, root);
  make_figures(reader);
  set_spring_dampers(reader);
  read_tendons(reader, root);
  read_equalities(reader, root);
  read_contacts(reader, root);
  read_actuators(reader, root);
  read_sensors(reader, root);
  read_keyframes(reader, root);
}

constexpr FileCodes kFileCodes{kMissingFile, kNotAFile, kUnreadable, kTooLarge};

}  // namespace

Reader::Reader(const std::string& file_name, const ReferenceOptions& options)
    : report(file_name, kCodes), file(file_name), gate(file_name, options.allowed_paths, options.package) {
  scene.file = file_name;
  main.folder = std::filesystem::path(file_name).parent_path();
}

}  // namespace mjcf

Loaded<SceneDescription> parse_mjcf(std::string_view text, const std::string& file_name,
                                    const ReferenceOptions& options) {
  mjcf::Reader reader(file_name, options);
  std::string repaired;
  if (auto warning = as_utf8(text, repaired, file_name, mjcf::kEncoding)) reader.report.add(*std::move(warning));
  if (Element* root = mjcf::load_document(reader, text)) mjcf::read(reader, *root);
  std::vector<Diagnostic> diagnostics = reader.report.take();
  if (has_errors(diagnostics)) return {std::nullopt, std::move(diagnostics)};
  for (Diagnostic& d : validate(reader.scene)) diagnostics.push_back(std::move(d));
  return loaded(std::move(reader.scene), std::move(diagnostics));
}

Loaded<SceneDescription> read_mjcf(const std::filesystem::path& file, const ReferenceOptions& options) {
  return parse_file(file, mjcf::kFileCodes,
                    [&](const std::string& text) { return parse_mjcf(text, file.string(), options); });
}

}  // namespace kansetsu::io
