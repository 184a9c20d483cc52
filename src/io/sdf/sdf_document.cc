#include <fmt/format.h>

#include "io/sdf/sdf_reader.h"
#include "io/text.h"

namespace kansetsu::io::sdf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDocuments = 200;  // a model of more is made by a program gone wild

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

/// Parses into a document of the reader's; its root if that is <sdf>.
Element* parse_document(Reader& reader, std::string_view text, const std::string& file) {
  if (is_utf16(text) || is_binary(text)) {
    refuse(reader, file, kText, 0, "this is no UTF-8 text", "an SDF file is XML text; save it as UTF-8");
    return nullptr;
  }
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
    refuse(reader, file, kText, 0, "the file is empty", "an SDF file holds one <sdf> element");
    return nullptr;
  }
  if (const std::size_t at = text.find("<!ENTITY"); at != std::string_view::npos) {
    refuse(reader, file, kSyntax, line_of(text, at), "entity declarations are not supported",
           "write the text out where the entity is used");
    return nullptr;
  }
  if (const auto crowded = crowded_element_line(text)) {
    refuse(reader, file, kSyntax, *crowded, fmt::format("an element has more than {} attributes", kMostAttributes),
           "make it smaller");
    return nullptr;
  }
  tinyxml2::XMLDocument& document = reader.documents.emplace_back();
  reader.report.set_file(document, file);
  document.Parse(text.data(), text.size());
  if (document.Error() || !document.RootElement()) {
    const bool deep = document.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED;
    refuse(reader, file, kSyntax, document.ErrorLineNum(),
           deep ? "elements are nested too deeply" : fmt::format("not well-formed XML ({})", document.ErrorName()),
           "correct the XML at this line or a little below");
    return nullptr;
  }
  Element* root = document.RootElement();
  if (std::string_view(root->Name()) != "sdf") {
    refuse(reader, file, kOtherFormat, root->GetLineNum(),
           fmt::format("the root element is <{}>, not <sdf>", tag_of(*root)), "an SDF file holds one <sdf> element");
    return nullptr;
  }
  reader.folders[&document] = fs::path(file).parent_path();
  reader.versions[&document] = version_of(reader, file, *root);
  return root;
}

/// The file of a model's folder: what model.config names last, else model.sdf.
fs::path file_in(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_regular_file(folder / "model.config", ignored)) {
    const FileText config = read_file(folder / "model.config");
    tinyxml2::XMLDocument document;
    if (!config.problem && document.Parse(config.text.data(), config.text.size()) == tinyxml2::XML_SUCCESS &&
        document.RootElement()) {
      const Element* last = document.RootElement()->LastChildElement("sdf");
      if (last && last->GetText()) return folder / last->GetText();
    }
  }
  return folder / "model.sdf";
}

/// Where a URI leads: beside the file that names it, or to a model of that name in a folder at or above it, or in one of the
/// user's.
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
    if (fs::is_directory(place, ignored)) return file_in(place);
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
  const auto path = find_model(reader, include, *uri);
  if (!path) {
    reader.report.missing(include, kInclude, fmt::format("the model {} is not found and left out", quote(*uri)),
                          "put it beside the file, or name the folder that holds it by --package-path DIR");
    return nullptr;
  }
  if (!reader.meshes.gate().allows(*path)) {
    reader.report.missing(include, kInclude,
                          fmt::format("the model {} is outside of the file's package and left out", quote(*uri)),
                          reader.meshes.gate().hint(*path));
    return nullptr;
  }
  if (reader.documents.size() >= kMostDocuments) {
    reader.report.error(include, kTooLarge, fmt::format("more than {} files are included", kMostDocuments),
                        "a model must not include itself");
    return nullptr;
  }
  const FileText read = read_file(*path);
  if (read.problem) {
    reader.report.error(include, kInclude, fmt::format("{} cannot be read", quote(path->string())), "check the file");
    return nullptr;
  }
  const Element* root = parse_document(reader, read.text, path->string());
  const Element* model = root ? find_child(*root, "model") : nullptr;
  if (root && !model) reader.report.error(include, kInclude, "the included file holds no <model>", "name another file");
  return model;
}

}  // namespace kansetsu::io::sdf
