#include <fmt/format.h>

#include <filesystem>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"
#include "io/xml_document.h"

namespace kansetsu::io::mjcf {
namespace {

namespace fs = std::filesystem;

constexpr XmlDialect kDialect{"MJCF", "mujoco", kBinary, kEmpty, kEntities, kSyntax, kTooDeep, kOtherFormat};
constexpr std::size_t kMostFiles = 200;                                // more indicates a faulty generator
constexpr std::size_t kMostCopiedParts = 5'000'000;                    // elements and attributes
constexpr std::size_t kMostCopiedCharacters = std::size_t{256} << 20;  // in their values

/// The folder of a file that an element refers to: `folder`, or that of the element's own file if the file exists there only.
fs::path folder_with(const Reader& reader, const Element& element, const fs::path& folder, const std::string& name) {
  const fs::path own = fs::path(reader.report.file_of(element)).parent_path();
  std::error_code ignored;
  const bool beside = !fs::is_regular_file(folder / name, ignored) && fs::is_regular_file(own / name, ignored);
  return beside ? own : folder;
}

/// Reads the file of an <include>; null, and an error, if it cannot be used.
const Element* include(Reader& reader, const Element& element) {
  const auto name = read_required_text(reader.report, element, "file");
  if (!name) return nullptr;
  const Source& source = reader.source_of(element);
  const fs::path path = (folder_with(reader, element, source.folder, *name) / *name).lexically_normal();
  // A model and a model that it attaches may include the same file.
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

bool CopyBudget::take(const Element& element, std::size_t longer) {
  std::size_t attributes = 0;
  for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next()) {
    ++attributes;
    characters_ += std::string_view(a->Value()).size() + longer;
  }
  parts_ += 1 + attributes + attributes * attributes / 64;  // tinyxml2 takes quadratic time in attributes
  spent_ = spent_ || parts_ > kMostCopiedParts || characters_ > kMostCopiedCharacters;
  return !spent_;
}

Element* load_document(Reader& reader, std::string_view text) {
  tinyxml2::XMLDocument& document = reader.documents.emplace_back();
  return load_xml(text, reader.file, document, kDialect, reader.report) ? document.RootElement() : nullptr;
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
  const FileText read = read_file(path, kMaxFileSize - reader.included_bytes);  // one file may be included often
  if (read.problem) {
    return refuse(fmt::format("cannot read the {} {}", kind, quote(path.string())),
                  *read.problem == FileProblem::kTooLarge
                      ? fmt::format("included files and models have at most {} MiB together", kMaxFileSize >> 20)
                      : "names are relative to the folder of the main file, or to that of the file that includes it");
  }
  reader.included_bytes += read.text.size();
  tinyxml2::XMLDocument& document = reader.documents.emplace_back();
  if (const auto problem = parse_xml(read.text, document, kDialect)) {
    return refuse(fmt::format("{}, line {}: {}", quote(path.string()), problem->line, problem->message),
                  "correct that file");
  }
  Element* root = document.RootElement();
  reader.report.set_file(document, path.string());
  const std::string_view tag = root->Name();
  const bool included = std::string_view(element.Name()) == "include";  // any root element, as in MuJoCo
  if (tag == "robot" || tag == "sdf" || !(included || tag == "mujoco" || tag == "mujocoinclude")) {
    return refuse(fmt::format("the root of the {} {} is <{}>", kind, quote(path.string()), tag_of(*root)),
                  "it must be <mujoco> or <mujocoinclude>");
  }
  return root;
}

fs::path folder_of_asset(const Reader& reader, const Element& element, const std::string& subfolder,
                         const std::string& file) {
  return folder_with(reader, element, reader.folder_of(element) / subfolder, file);
}

void load_includes(Reader& reader, const Element& root) {
  // Iterative: the nesting of included files is not limited.
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

Element& new_root(Reader& reader) {
  tinyxml2::XMLDocument& document = reader.documents.emplace_back();
  Element* root = document.NewElement("mujocoinclude");
  document.InsertEndChild(root);
  return *root;
}

Element* add_copy(Reader& reader, const Element& element, Element& into,
                  const std::function<std::string(const tinyxml2::XMLAttribute&)>& value_of) {
  Element* made = into.GetDocument()->NewElement(element.Name());
  into.InsertEndChild(made);
  reader.report.set_origin(*made, element);
  for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next())
    made->SetAttribute(a->Name(), value_of(*a).c_str());
  return made;
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
