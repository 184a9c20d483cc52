#include <fmt/format.h>

#include "io/sdf/sdf_reader.h"
#include "io/text.h"
#include "io/xml_document.h"

namespace kansetsu::io::sdf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDocuments = 200;    // more indicates a faulty generator
constexpr std::size_t kMostIncludes = 10'000;  // including unresolved ones: each searches folders

void refuse(Reader& reader, const std::string& file, const char* code, int line, std::string message,
            std::string hint) {
  reader.report.add({Severity::kError, code, file, line, {}, std::move(message), std::move(hint)});
}

/// The number behind "1."; 1.10 comes after 1.9.
int version_of(Reader& reader, const std::string& file, const Element& root) {
  const char* text = root.Attribute("version");
  const std::string_view words = text ? text : "";
  double minor = 0;
  if (words.starts_with("1.") && !parse_numbers(words.substr(2), {&minor, 1}) && minor >= 0 && minor < 100)
    return int(minor);
  refuse(reader, file, kVersion, root.GetLineNum(),
         text ? fmt::format("version {} is not known", quote(words)) : "<sdf> has no version",
         "versions 1.0 to 1.12 are read");
  return 6;
}

/// Parses the text into a new document; its root, or null.
Element* parse_document(Reader& reader, std::string_view text, const std::string& file) {
  static constexpr XmlDialect kDialect{"SDF", "sdf", kText, kText, kSyntax, kSyntax, kSyntax, kOtherFormat};
  tinyxml2::XMLDocument& document = reader.documents.emplace_back();
  reader.report.set_file(document, file);
  if (!load_xml(text, file, document, kDialect, reader.report)) return nullptr;
  Element* root = document.RootElement();
  reader.folders[&document] = fs::path(file).parent_path();
  reader.versions[&document] = version_of(reader, file, *root);
  return root;
}

/// The file of a model's folder: the last <sdf> of model.config, or model.sdf.
fs::path file_in(Reader& reader, const fs::path& folder) {
  const fs::path names = folder / "model.config";
  std::error_code ignored;
  if (fs::is_regular_file(names, ignored) && reader.meshes.gate().allows(names)) {
    const FileText config = read_file(names, kMaxFileSize - reader.included_bytes);
    reader.included_bytes += config.text.size();
    tinyxml2::XMLDocument document;
    if (!config.problem && !crowded_element_line(config.text) &&
        document.Parse(config.text.data(), config.text.size()) == tinyxml2::XML_SUCCESS && document.RootElement()) {
      const Element* last = document.RootElement()->LastChildElement("sdf");
      if (last && last->GetText()) return folder / last->GetText();
    }
  }
  return folder / "model.sdf";
}

/// Resolves a URI: relative to the referring file, or a model of that name in a folder at or above it, or in one of the user's.
std::optional<fs::path> find_model(Reader& reader, const Element& at, const std::string& uri) {
  const fs::path folder = reader.folders[at.GetDocument()];
  std::string rest = uri;
  const bool by_name = uri.starts_with("model://") || uri.starts_with("package://");
  if (by_name) rest = uri.substr(uri.find("://") + 3);
  if (uri.starts_with("file://")) rest = uri.substr(7);
  std::error_code ignored;
  std::vector<fs::path> places{folder / rest};
  if (by_name) {
    std::error_code error;
    for (fs::path above = fs::absolute(folder, error); above.has_relative_path(); above = above.parent_path())
      places.push_back(above / rest);
    for (const fs::path& path : reader.options.package_paths) places.push_back(path / rest);
  }
  for (const fs::path& place : places) {
    if (fs::is_directory(place, ignored)) return file_in(reader, place);
    if (fs::is_regular_file(place, ignored)) return place;
  }
  return std::nullopt;
}

}  // namespace

Element* load_document(Reader& reader, std::string_view text) { return parse_document(reader, text, reader.file); }

const Element* load_include(Reader& reader, const Element& include) {
  const auto uri = child_text(reader, include, "uri");
  if (!uri) return report_missing(reader.report, include, "<uri>", "name the file or folder of the model"), nullptr;
  if (uri->find("://") != std::string::npos && (uri->starts_with("http"))) {
    reader.report.missing(include, kInclude, "models are not fetched from the network",
                          fmt::format("download {} and name the local file", quote(*uri)));
    return nullptr;
  }
  if (++reader.includes > kMostIncludes) {
    if (reader.includes == kMostIncludes + 1)
      reader.report.error(include, kTooLarge, fmt::format("more than {} elements <include>", kMostIncludes),
                          "merge them into one file");
    return nullptr;
  }
  const auto path = find_model(reader, include, *uri);
  if (!path) {
    reader.report.missing(include, kInclude, fmt::format("the model {} was not found and is ignored", quote(*uri)),
                          "put it next to the file, or give its parent folder with --package-path DIR");
    return nullptr;
  }
  if (!reader.meshes.gate().allows(*path)) {
    reader.report.missing(include, kInclude,
                          fmt::format("the model {} is outside of the file's package and is ignored", quote(*uri)),
                          reader.meshes.gate().hint(*path));
    return nullptr;
  }
  if (reader.documents.size() >= kMostDocuments) {
    reader.report.error(include, kTooLarge, fmt::format("more than {} files are included", kMostDocuments),
                        "a model must not include itself");
    return nullptr;
  }
  const FileText read = read_file(*path, kMaxFileSize - reader.included_bytes);  // one file may be included often
  if (read.problem) {
    reader.report.error(include, kInclude, fmt::format("{} cannot be read", quote(path->string())),
                        *read.problem == FileProblem::kTooLarge
                            ? fmt::format("included files have at most {} MiB together", kMaxFileSize >> 20)
                            : "check the file");
    return nullptr;
  }
  reader.included_bytes += read.text.size();
  const Element* root = parse_document(reader, read.text, path->string());
  const Element* model = root ? find_child(*root, "model") : nullptr;
  if (root && !model) reader.report.error(include, kInclude, "the included file holds no <model>", "name another file");
  return model;
}

}  // namespace kansetsu::io::sdf
