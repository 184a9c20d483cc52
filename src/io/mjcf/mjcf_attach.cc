#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"

/// Expands <attach> before anything else is read: a copy of the other model's body replaces it. The other model's classes and assets
/// are copied as well, and sections whose references are all copied. All names get the prefix.
namespace kansetsu::io::mjcf {
namespace {

constexpr std::size_t kMostNested = 20;  // models that attach models

/// The kind of element that an attribute refers to; empty if it is no reference.
std::string_view named_kind(std::string_view attribute) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kKinds{
      {{"joint", "joint"},       {"joint1", "joint"},  {"joint2", "joint"},     {"jointinparent", "joint"},
       {"body", "body"},         {"body1", "body"},    {"body2", "body"},       {"geom", "geom"},
       {"geom1", "geom"},        {"geom2", "geom"},    {"site", "site"},        {"site1", "site"},
       {"site2", "site"},        {"sidesite", "site"}, {"refsite", "site"},     {"slidersite", "site"},
       {"cranksite", "site"},    {"tendon", "tendon"}, {"tendon1", "tendon"},   {"tendon2", "tendon"},
       {"actuator", "actuator"}, {"class", "class"},   {"childclass", "class"}, {"material", "asset"},
       {"mesh", "asset"},        {"texture", "asset"}}};
  for (const auto& [name, kind] : kKinds) {
    if (name == attribute) return kind;
  }
  return attribute == "hfield" ? "asset" : std::string_view{};
}
/// The kind of element for a sensor's objtype.
std::string_view object_kind(const char* type) {
  const std::string_view word = type ? type : "";
  return word == "xbody" ? "body" : word;
}

class Attacher {
 public:
  explicit Attacher(Reader& reader) : reader_(reader) {}

  /// Expands every <attach> in a model. @param open  files being expanded, to detect cycles
  void expand(Element& root, std::vector<std::string>& open) {
    const Models own = find_models(root, open);
    std::vector<const Element*> found;
    for (const Element* section : children(reader_, root)) {
      if (std::string_view(section->Name()) == "worldbody") find(*section, found);
    }
    std::set<std::string> classes = classes_of(root);
    for (const Element* attach : found) {
      if (reader_.copies.spent()) return;  // reported by write()
      write(*attach, own, root, classes, open);
    }
  }

 private:
  using Models = std::map<std::string, const Element*>;

  Models find_models(const Element& root, std::vector<std::string>& open) {
    Models out;
    for (const Element* asset : sections(reader_, root, "asset")) {
      if (std::string_view(asset->Name()) != "model") continue;
      const char *name = asset->Attribute("name"), *file = asset->Attribute("file");
      if (!read_required_text(reader_.report, *asset, "file")) continue;
      load(*asset, open);
      out.emplace(name ? name : std::filesystem::path(file).stem().string(), asset);
    }
    return out;
  }
  void find(const Element& element, std::vector<const Element*>& out) const {
    for (const Element* child : children(reader_, element)) {
      if (std::string_view(child->Name()) == "attach")
        out.push_back(child);
      else
        find(*child, out);
    }
  }

  /// The root of a model, loaded and expanded once.
  Element* load(const Element& asset, std::vector<std::string>& open) {
    const std::string path = (reader_.folder_of(asset) / asset.Attribute("file")).lexically_normal().string();
    if (const auto found = loaded_.find(path); found != loaded_.end()) return found->second;
    if (std::ranges::find(open, path) != open.end() || open.size() > kMostNested) {
      reader_.report.error(asset, kInclude, fmt::format("the model {} attaches itself", quote(path)),
                           "a model cannot be a part of itself");
      return nullptr;
    }
    Element* root = load_model(reader_, asset, path);
    if (root) {
      const auto source = reader_.sources[root->GetDocument()] = std::make_shared<Source>();
      source->folder = std::filesystem::path(path).parent_path();
      load_includes(reader_, *root);
      read_compiler(reader_, *root, source->compiler);
      open.push_back(path);
      expand(*root, open);
      open.pop_back();
      write_out_replicates(reader_, *root);
    }
    return loaded_[path] = root;
  }

  /// @param classes  of `into`; extended by those of the attached model
  void write(const Element& attach, const Models& models, Element& into, std::set<std::string>& classes,
             std::vector<std::string>& open) {
    const auto name = read_required_text(reader_.report, attach, "model");
    if (!name) return;
    const auto asset = models.find(*name);
    if (asset == models.end()) return unknown(reader_, attach, "model", *name);
    const Element* child = load(*asset->second, open);
    if (!child) return;
    prefix_ = read_text(reader_.report, attach, "prefix").value_or("");
    class_prefix_ = free_class_prefix(*child, classes);
    copied_.clear();
    ++number_;
    const char* body = attach.Attribute("body");
    const Element* from = nullptr;
    for (const Element* section : children(reader_, *child)) {
      if (std::string_view(section->Name()) != "worldbody") continue;
      if (!body) from = section;
      if (const Element* hit = body ? find_body(*section, body) : nullptr) from = hit;
    }
    if (!from) return unknown(reader_, attach, "body", body ? body : "world");
    Element& place = new_root(reader_);
    Element* frame = add(place, "frame");
    frame->SetAttribute("childclass", (class_prefix_ + "main").c_str());
    if (body) {
      copy(*from, *frame);
    } else {
      for (const Element* part : children(reader_, *from)) copy(*part, *frame);
    }
    reader_.included.emplace(&attach, &place);
    // The other sections are inserted by an <include> element that maps to them.
    Element& beside = new_root(reader_);
    copy_sections(*child, beside);
    reader_.included.emplace(add(into, "include"), &beside);
    if (reader_.copies.spent())
      reader_.report.error(attach, kTooLargeModel, "attached models are too large", "make the model smaller");
  }
  /// The prefix for the classes of `child`, extended if a class of that name exists.
  std::string free_class_prefix(const Element& child, std::set<std::string>& known) const {
    const std::set<std::string> wanted = classes_of(child);
    std::string prefix = prefix_;
    const auto taken = [&](const std::string& name) { return known.contains(prefix + name); };
    for (int n = 2; std::ranges::any_of(wanted, taken); ++n) prefix = fmt::format("{}attached{}_", prefix_, n);
    for (const std::string& name : wanted) known.insert(prefix + name);
    return prefix;
  }
  std::set<std::string> classes_of(const Element& root) const {
    std::set<std::string> out{"main"};
    for (const Element* section : children(reader_, root)) find_classes(*section, out);
    return out;
  }
  void find_classes(const Element& element, std::set<std::string>& out) const {
    if (std::string_view(element.Name()) != "default") return;
    if (const char* name = element.Attribute("class")) out.insert(name);
    for (const Element* child : children(reader_, element)) find_classes(*child, out);
  }
  const Element* find_body(const Element& element, std::string_view name) const {
    for (const Element* child : children(reader_, element)) {
      const std::string_view tag = child->Name();
      if (tag == "body" && child->Attribute("name") && name == child->Attribute("name")) return child;
      if (tag != "body" && tag != "frame") continue;
      if (const Element* hit = find_body(*child, name)) return hit;
    }
    return nullptr;
  }

  /// Copies classes and assets, and other elements if all their references are copied.
  void copy_sections(const Element& root, Element& into) {
    bool classes = false;
    for (const Element* section : children(reader_, root)) {
      const std::string_view tag = section->Name();
      if (tag == "default") {
        const char* name =
            section->Attribute("class");  // named top-level classes come from models attached to this one
        const bool main = !name || std::string_view(name) == "main";
        Element* made = copy(*section, into);
        if (main && made) made->SetAttribute("class", (class_prefix_ + "main").c_str());
        classes = classes || main;
      } else if (tag == "asset") {
        Element* made = add(into, "asset");
        for (const Element* asset : children(reader_, *section)) copy_asset(*asset, *made);
      }
    }
    if (!classes) add(into, "default")->SetAttribute("class", (class_prefix_ + "main").c_str());
    for (const char* name : {"contact", "tendon", "equality", "actuator", "sensor"}) {
      Element* made = add(into, name);
      section_ = name;
      for (const Element* element : sections(reader_, root, name)) {
        if (!names_copies_only(*element)) continue;
        Element* copied = copy(*element, *made);
        const std::string_view tag = element->Name();
        const bool classless = tag == "exclude" || name == std::string_view("sensor");
        if (copied && !copied->Attribute("class") && !classless)
          copied->SetAttribute("class", (class_prefix_ + "main").c_str());
      }
    }
    section_ = {};
    Element* keys = add(into, "keyframe");
    for (const Element* key : sections(reader_, root, "keyframe")) copy(*key, *keys);
  }
  void copy_asset(const Element& asset, Element& into) {
    const std::string_view tag = asset.Name();
    Element* made = tag == "model" ? nullptr : copy(asset, into);
    if (!made) return;
    const char* file = asset.Attribute("file");
    if (file && !asset.Attribute("name"))
      made->SetAttribute("name", (prefix_ + std::filesystem::path(file).stem().string()).c_str());
    if (!asset.Attribute("class") && (tag == "mesh" || tag == "material"))
      made->SetAttribute("class", (class_prefix_ + "main").c_str());
  }
  bool names_copies_only(const Element& element) const {
    for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next()) {
      const std::string_view kind = kind_of(element, a->Name());
      if (kind.empty() || kind == "class" || kind == "asset") continue;
      const auto* known = find_in(copied_, kind);
      if (!known || !known->contains(a->Value())) return false;
    }
    const auto all = children(reader_, element);
    return std::ranges::all_of(all, [&](const Element* child) { return names_copies_only(*child); });
  }
  static std::string_view kind_of(const Element& element, std::string_view attribute) {
    if (attribute == "objname") return object_kind(element.Attribute("objtype"));
    if (attribute == "refname") return object_kind(element.Attribute("reftype"));
    return named_kind(attribute);
  }

  Element* copy(const Element& element, Element& into) {
    if (!reader_.copies.take(element, prefix_.size())) return nullptr;
    Element* made = add_copy(reader_, element, into, [&](const tinyxml2::XMLAttribute& a) {
      const std::string_view name = a.Name(), kind = kind_of(element, name);
      if (name == "name")
        copied_[std::string(section_.empty() ? joint_or(element.Name()) : section_)].insert(a.Value());
      const bool named = *a.Value() && (name == "name" || !kind.empty());
      return (!named ? "" : kind == "class" ? class_prefix_ : prefix_) + a.Value();
    });
    if (const std::string_view tag = element.Name(); tag == "body" || tag == "key" || section_ == "actuator") {
      const std::vector<int>* before = find_in(reader_.attached, &element);
      std::vector<int> through = before ? *before : std::vector<int>{};
      through.push_back(number_);
      reader_.attached.emplace(made, std::move(through));
    }
    for (const Element* child : children(reader_, element)) copy(*child, *made);
    return made;
  }
  static std::string_view joint_or(std::string_view tag) { return tag == "freejoint" ? "joint" : tag; }
  static Element* add(Element& into, const char* tag) {
    Element* made = into.GetDocument()->NewElement(tag);
    into.InsertEndChild(made);
    return made;
  }

  Reader& reader_;
  std::map<std::string, Element*> loaded_;  ///< roots by file
  std::string prefix_, class_prefix_;
  int number_ = 0;            ///< of the current attachment
  std::string_view section_;  ///< being copied, e.g. tendon or actuator
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> copied_;  ///< copied names by kind
};

}  // namespace

void write_out_attachments(Reader& reader, Element& root) {
  std::vector<std::string> open{reader.file};
  Attacher(reader).expand(root, open);
}

}  // namespace kansetsu::io::mjcf
