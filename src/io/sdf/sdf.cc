#include "kansetsu/io/sdf.h"

#include "io/file_report.h"
#include "io/sdf/sdf_reader.h"

namespace kansetsu::io {
namespace sdf {
namespace {

constexpr XmlCodes kXmlCodes{kMissing,        kNumber,           kCharacters, kRepeated,
                             kUnknownElement, kUnknownAttribute, kTooMany,    kTooLarge};

void read(Reader& reader, const Element& root) {
  check_schema(reader, root, "sdf");
  const Element* world = find_child(root, "world");
  if (world) {
    read_world(reader, *world);
    if (const Element* second = world->NextSiblingElement("world"))
      reader.report.missing(*second, kUnsupportedElement, "only the first <world> is read");
  }
  for (const Element* model = root.FirstChildElement("model"); model; model = model->NextSiblingElement("model")) {
    if (!world) read_model(reader, *model, reader.world);
    if (!world && reader.scene.name.empty() && model->Attribute("name"))
      reader.scene.name = read_text(reader.report, *model, "name").value_or("");
    if (world) reader.report.missing(*model, kUnsupportedElement, "models next to a <world> are ignored");
  }
  if (!world && reader.world.nested.empty())
    reader.report.error(root, kMissing, "<sdf> holds no world and no model",
                        "an SDF file holds a <world> or a <model>");
  resolve_frames(reader, reader.world);
}

}  // namespace

Reader::Reader(const std::string& file_name, const ReferenceOptions& given)
    : report(file_name, kXmlCodes),
      file(file_name),
      options(given),
      meshes(file_name, given.package_paths, given.allowed_paths) {
  scene.file = file_name;
}

}  // namespace sdf

Loaded<SceneDescription> parse_sdf(std::string_view text, const std::string& file_name,
                                   const ReferenceOptions& options) {
  sdf::Reader reader(file_name, options);
  std::string repaired;
  text = without_mark(text);
  if (auto warning = as_utf8(text, repaired, file_name, sdf::kEncoding)) reader.report.add(*std::move(warning));
  if (const Element* root = sdf::load_document(reader, text)) sdf::read(reader, *root);
  std::vector<Diagnostic> diagnostics = reader.report.take();
  if (has_errors(diagnostics)) return {std::nullopt, std::move(diagnostics)};
  sdf::make_figures(reader);
  for (Diagnostic& d : reader.report.take()) diagnostics.push_back(std::move(d));
  if (!has_errors(diagnostics)) {
    for (Diagnostic& d : validate(reader.scene)) diagnostics.push_back(std::move(d));
  }
  return loaded(std::move(reader.scene), std::move(diagnostics));
}

Loaded<SceneDescription> read_sdf(const std::filesystem::path& file, const ReferenceOptions& options) {
  return parse_file(file, FileCodes::one(sdf::kFile),
                    [&](const std::string& text) { return parse_sdf(text, file.string(), options); });
}

}  // namespace kansetsu::io
