#pragma once

#include <tinyxml2.h>

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/text.h"
#include "io/xml.h"
#include "io/xml_writer.h"
#include "kansetsu/scene/scene.h"

/// Shared by the MJCF and SDF writers: elements with validated numbers and texts, and a list of what the format cannot express.
namespace kansetsu::io {

/// An output format: its name and diagnostic codes.
struct XmlFormat {
  const char* name;
  const char* cannot_hold;
  const char* not_writable;
  const char* cannot_write;
};

struct SceneXml {
  const SceneDescription& scene;
  std::filesystem::path folder;  ///< mesh files are named relative to it; empty: as found
  tinyxml2::XMLDocument document;
  Element* root = nullptr;

  SceneXml(const SceneDescription& scene, std::filesystem::path folder, const XmlFormat& format, const char* root_tag);

  Element& add(Element& parent, const char* tag);
  void set(Element& e, const char* name, const std::string& text);
  void set(Element& e, const char* name, const char* text) { set(e, name, std::string(text)); }
  void set(Element& e, const char* name, std::span<const double> numbers);
  void set(Element& e, const char* name, double x) { set(e, name, std::span<const double>(&x, 1)); }
  void set(Element& e, const char* name, const Vec3<>& v) { set(e, name, std::array{v.x, v.y, v.z}); }
  void set_unless(Element& e, const char* name, double x, double usual);
  /// Adds a child element with text.
  Element& put(Element& parent, const char* tag, const std::string& text);
  Element& put(Element& parent, const char* tag, std::span<const double> numbers);
  Element& put(Element& parent, const char* tag, double x) { return put(parent, tag, std::span<const double>(&x, 1)); }
  Element& put(Element& parent, const char* tag, const Vec3<>& v) {
    return put(parent, tag, std::array{v.x, v.y, v.z});
  }

  /// Records something that the format cannot express; reported once, with the count and the first instance.
  void lose(std::string what, const std::string& first);
  void fail(std::string what, std::string hint);
  /// The error for a free joint that is not the base of its figure.
  void fail_free(const JointDescription& joint);
  /// The data of a ball joint, the same for all axes, without limits and rest. Different data about y and z are recorded as lost.
  DofDescription ball_data(const JointDescription& joint);
  /// Records what only scenes have: controllers, events, recordings, prescribed motions.
  void lose_experiment();
  /// The text of the document, or the errors.
  Loaded<std::string> text();
  /// The name of a mesh file relative to the folder.
  std::string file_name(const std::string& path) const { return name_from(folder, path); }

 private:
  struct Loss {
    int count = 0;
    std::string first;
  };

  const XmlFormat& format_;
  std::map<std::string, Loss> losses_;
  std::vector<Diagnostic> failures_;
  XmlValues values_;
};

/// The surfaces of all shapes that may touch, with repetitions.
std::vector<std::string> used_surfaces(const SceneDescription& scene);
const ContactMaterial& surface_material(const SceneDescription& scene, const std::string& name);
/// The material of a pair of surfaces.
ContactMaterial surface_pair(const SceneDescription& scene, const std::string& a, const std::string& b);

/// Writes the result of `to_text(folder)` atomically.
std::vector<Diagnostic> write_scene_xml(
    const std::filesystem::path& file, const XmlFormat& format,
    const std::function<Loaded<std::string>(const std::filesystem::path&)>& to_text);

}  // namespace kansetsu::io
