#include <fmt/format.h>

#include <filesystem>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"

namespace kansetsu::io::mjcf {
namespace {

namespace fs = std::filesystem;

constexpr char kOneModel[] = "an MJCF file holds one <mujoco> element";
constexpr std::size_t kMostFiles = 200;  // a model of more is made by a program gone wild

void report(Reader& reader, const char* code, int line, std::string message, std::string hint) {
  reader.report.add({Severity::kError, code, reader.file, line, {}, std::move(message), std::move(hint)});
}

/// What can be said before the XML is looked at.
bool is_text(Reader& reader, std::string_view text) {
  if (is_utf16(text) || is_binary(text)) {
    report(reader, kBinary, 0, "not UTF-8 text", "an MJCF file is XML text; save it as UTF-8");
  } else if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
    report(reader, kEmpty, 0, "the file is empty", kOneModel);
  } else if (const std::size_t at = text.find("<!ENTITY"); at != std::string_view::npos) {
    report(reader, kEntities, line_of(text, at), "document type with entity declarations is not supported",
           "write the text out where the entity is used");
  } else {
    return true;
  }
  return false;
}

bool is_root(const Element& element) {
  const std::string_view tag = element.Name();
  return tag == "mujoco" || tag == "mujocoinclude";
}

/// Parses into a document of the reader's; its root, or nothing and what is wrong.
Element* parse(Reader& reader, std::string_view text, std::string& problem, int& line) {
  tinyxml2::XMLDocument& document = reader.documents.emplace_back();
  if (const auto crowded = crowded_element_line(text)) {
    line = *crowded;
    problem = fmt::format("an element has more than {} attributes", kMostAttributes);
    return nullptr;
  }
  document.Parse(text.data(), text.size());
  if (document.Error() || !document.RootElement()) {
    line = document.ErrorLineNum();
    problem = document.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED
                  ? "elements are nested too deeply"
                  : fmt::format("not well-formed XML ({})", document.ErrorName());
    return nullptr;
  }
  return document.RootElement();
}

/// Reads the file of one <include>; nothing if it cannot be used, which is then reported.
const Element* include(Reader& reader, const Element& element) {
  const auto name = read_required_text(reader.report, element, "file");
  if (!name) return nullptr;
  const Source& source = reader.source_of(element);
  const fs::path path = (source.folder / *name).lexically_normal();
  // A model and one that it attaches may include the same file.
  if (!reader.included_files.insert(fmt::format("{}\n{}", fmt::ptr(&source), path.string())).second) {
    reader.report.error(element, kInclude, fmt::format("{} is included twice", quote(*name)),
                        "a file can be included only once, and not by itself");
    return nullptr;
  }
  const Element* root = load_model(reader, element, path);
  if (const auto own = reader.sources.find(element.GetDocument()); root && own != reader.sources.end())
    reader.sources[root->GetDocument()] = own->second;
  return root;
}

void add_children(const Reader& reader, const Element& element, std::vector<const Element*>& out) {
  for (const Element* child = element.FirstChildElement(); child; child = child->NextSiblingElement()) {
    if (const auto root = reader.included.find(child); root != reader.included.end())
      add_children(reader, *root->second, out);
    else if (std::string_view(child->Name()) != "include")
      out.push_back(child);
  }
}

}  // namespace

Element* load_document(Reader& reader, std::string_view text) {
  if (!is_text(reader, text)) return nullptr;
  std::string problem;
  int line = 0;
  Element* root = parse(reader, text, problem, line);
  if (!root) {
    const bool deep = reader.documents.back().ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED;
    report(reader, deep ? kTooDeep : kSyntax, line, problem, "correct the XML at this line or a little below");
    return nullptr;
  }
  if (std::string_view(root->Name()) != "mujoco") {
    const bool urdf = std::string_view(root->Name()) == "robot";
    report(reader, kOtherFormat, root->GetLineNum(),
           fmt::format("the root element is <{}>, not <mujoco>", tag_of(*root)),
           urdf ? "this is a URDF file; open it as URDF" : kOneModel);
    return nullptr;
  }
  return root;
}

Element* load_model(Reader& reader, const Element& element, const fs::path& path) {
  const std::string_view kind = std::string_view(element.Name()) == "include" ? "included file" : "model";
  const auto refuse = [&](std::string message, std::string hint) -> Element* {
    reader.report.error(element, kInclude, std::move(message), std::move(hint));
    return nullptr;
  };
  if (++reader.other_files > kMostFiles)
    return refuse(fmt::format("more than {} included files and models", kMostFiles), "join some");
  if (!reader.gate.allows(path)) {
    return refuse(fmt::format("the {} {} is outside of the model's package", kind, quote(path.string())),
                  reader.gate.hint(path));
  }
  const FileText read = read_file(path);
  if (read.problem) {
    return refuse(fmt::format("cannot read the {} {}", kind, quote(path.string())),
                  "names are relative to the folder of the main file");
  }
  std::string problem;
  int line = 0;
  Element* root = parse(reader, read.text, problem, line);
  if (!root) return refuse(fmt::format("{}, line {}: {}", quote(path.string()), line, problem), "correct that file");
  reader.report.set_file(reader.documents.back(), path.string());
  if (!is_root(*root)) {
    return refuse(fmt::format("the root of the {} {} is <{}>", kind, quote(path.string()), tag_of(*root)),
                  "it must be <mujoco> or <mujocoinclude>");
  }
  return root;
}

void load_includes(Reader& reader, const Element& root) {
  // A list, not recursion: how deep files include each other is theirs to say.
  std::vector<const Element*> open{&root};
  while (!open.empty()) {
    const Element* element = open.back();
    open.pop_back();
    for (const Element* child = element->FirstChildElement(); child; child = child->NextSiblingElement()) {
      if (std::string_view(child->Name()) != "include") {
        open.push_back(child);
      } else if (const Element* other = include(reader, *child)) {
        reader.included.emplace(child, other);
        open.push_back(other);
      }
    }
  }
}

std::vector<const Element*> children(const Reader& reader, const Element& element) {
  std::vector<const Element*> out;
  add_children(reader, element, out);
  return out;
}

std::vector<const Element*> sections(const Reader& reader, const Element& root, std::string_view tag) {
  std::vector<const Element*> out;
  for (const Element* section : children(reader, root)) {
    if (tag != section->Name()) continue;
    for (const Element* child : children(reader, *section)) out.push_back(child);
  }
  return out;
}

}  // namespace kansetsu::io::mjcf
