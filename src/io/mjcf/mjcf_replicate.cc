#include <fmt/format.h>

#include <array>
#include <cmath>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"
#include "kansetsu/spatial/quaternion.h"

/// Expands <replicate> before anything else is read, into frames with copies; elements that refer to a copied name are copied as well.
/// Names get a number. The frame of copy i is rotated by i times the angles, and displaced by the offset in the axes of copy i − 1.
namespace kansetsu::io::mjcf {
namespace {

constexpr double kMostCopies = 10000;  // of one <replicate>

class Replicator {
 public:
  explicit Replicator(Reader& reader) : reader_(reader) {}

  void expand(const Element& root) {
    for (const Element* section : children(reader_, root)) {
      if (std::string_view(section->Name()) == "worldbody") find(*section);
    }
    if (copied_.empty()) return;
    for (const char* tag : {"contact", "tendon", "equality", "actuator", "sensor"}) {
      for (const Element* element : sections(reader_, root, tag)) copy_reference(*element);
    }
  }

 private:
  void find(const Element& element) {
    for (const Element* child : children(reader_, element)) {
      if (std::string_view(child->Name()) != "replicate") {
        find(*child);
        continue;
      }
      Element& root = new_root(reader_);
      write_copies(*child, root);
      reader_.included.emplace(child, &root);
    }
  }

  void write_copies(const Element& replicate, Element& into) {
    const Attributes a(reader_, replicate, nullptr);
    double count = 0;
    Vec3<> offset;
    std::array<double, 3> angles{};
    if (!a.number("count", count) || count < 1 || count > kMostCopies || count != std::floor(count))
      return reader_.report.error(replicate, kRange, fmt::format("count of <replicate> is {}", format_number(count)),
                                  fmt::format("give a whole number from 1 to {:.0f}", kMostCopies));
    a.vec3("offset", offset);
    a.numbers("euler", angles, 3);
    const std::string separator = read_text(reader_.report, replicate, "sep").value_or("");
    const std::size_t digits = fmt::format("{:.0f}", count).size();
    Vec3<> p;
    Mat3<> R = Mat3<>::identity();
    for (int i = 0; i < int(count) && reader_.copies.take(replicate, 0); ++i) {
      if (i > 0) {
        p = p + R * offset;
        R = euler_rotation(reader_.compiler_of(replicate), {i * angles[0], i * angles[1], i * angles[2]});
      }
      Element* frame = into.GetDocument()->NewElement("frame");
      into.InsertEndChild(frame);
      const Quaternion<> q = to_quaternion(R);
      frame->SetAttribute("pos", format_numbers(std::array{p.x, p.y, p.z}).c_str());
      frame->SetAttribute("quat", format_numbers(std::array{q.w, q.x, q.y, q.z}).c_str());
      const std::string suffix = fmt::format("{}{:0>{}}", separator, i, digits);
      for (const Element* child : children(reader_, replicate)) copy(*child, *frame, suffix);
    }
    if (reader_.copies.spent())
      reader_.report.error(replicate, kTooLargeModel, "copies of <replicate> are too many", "make the model smaller");
  }

  /// Copies an element and numbers its name; a nested <replicate> is expanded first.
  void copy(const Element& element, Element& into, const std::string& suffix) {
    if (std::string_view(element.Name()) == "replicate") {
      Element& inner = new_root(reader_);
      write_copies(element, inner);
      for (const Element* child = inner.FirstChildElement(); child; child = child->NextSiblingElement())
        copy(*child, into, suffix);
      return;
    }
    if (!reader_.copies.take(element, suffix.size())) return;
    Element* made = add_copy(reader_, element, into, [&](const tinyxml2::XMLAttribute& a) {
      if (std::string_view(a.Name()) != "name" || !*a.Value()) return std::string(a.Value());
      note(a.Value(), suffix);
      return a.Value() + suffix;
    });
    for (const Element* child : children(reader_, element)) copy(*child, *made, suffix);
  }

  void note(const char* name, const std::string& suffix) {
    Suffixes& suffixes = copied_[name];
    if (suffixes.known.insert(suffix).second) suffixes.order.push_back(suffix);
  }

  /// The suffixes of the first copied name that the element, or an element within it, refers to.
  const std::vector<std::string>* suffixes_of(const Element& element) const {
    for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next()) {
      if (!names_thing(a->Name())) continue;
      if (const auto found = copied_.find(a->Value()); found != copied_.end()) return &found->second.order;
    }
    for (const Element* child : children(reader_, element)) {
      if (const auto* found = suffixes_of(*child)) return found;
    }
    return nullptr;
  }
  static bool names_thing(std::string_view attribute) {
    return attribute != "name" && attribute != "class" && attribute != "user" && !attribute.ends_with("type");
  }
  void copy_reference(const Element& element) {
    const auto* suffixes = suffixes_of(element);
    if (!suffixes) return;
    Element& root = new_root(reader_);
    const std::vector<std::string> copies = *suffixes;
    for (const std::string& suffix : copies) write_reference(element, root, suffix, true);
    if (const char* name = element.Attribute("name"); name && *name) {  // an actuator may refer to a copied tendon
      for (const std::string& suffix : copies) note(name, suffix);
    }
    reader_.included.emplace(&element, &root);
  }
  void write_reference(const Element& element, Element& into, const std::string& suffix, bool top) {
    if (!reader_.copies.take(element, suffix.size())) return;
    Element* made = add_copy(reader_, element, into, [&](const tinyxml2::XMLAttribute& a) {
      const bool numbered =
          (top && std::string_view(a.Name()) == "name") || (names_thing(a.Name()) && copied_.contains(a.Value()));
      return a.Value() + (numbered ? suffix : "");
    });
    for (const Element* child : children(reader_, element)) write_reference(*child, *made, suffix, false);
  }

  Reader& reader_;
  struct Suffixes {
    std::vector<std::string> order;
    std::set<std::string> known;
  };
  std::map<std::string, Suffixes> copied_;  ///< by name
};

}  // namespace

void write_out_replicates(Reader& reader, const Element& root) { Replicator(reader).expand(root); }

}  // namespace kansetsu::io::mjcf
