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

/// What the writers of scenes as XML share: elements with numbers that must be finite and texts that must be clean, and what the
/// format cannot hold.
namespace kansetsu::io {

/// A format that scenes are written in: its name and the codes of its diagnostics.
struct XmlFormat {
  const char* name;
  const char* cannot_hold;
  const char* not_writable;
  const char* cannot_write;
};

struct SceneXml {
  const SceneDescription& scene;
  std::filesystem::path folder;  ///< that mesh files are named from; empty: as they were found
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
  /// A child that holds text.
  Element& put(Element& parent, const char* tag, const std::string& text);
  Element& put(Element& parent, const char* tag, std::span<const double> numbers);
  Element& put(Element& parent, const char* tag, double x) { return put(parent, tag, std::span<const double>(&x, 1)); }
  Element& put(Element& parent, const char* tag, const Vec3<>& v) {
    return put(parent, tag, std::array{v.x, v.y, v.z});
  }

  /// What the format cannot hold exactly; reported once, with the count and the first of them.
  void lose(std::string what, const std::string& first);
  void fail(std::string what, std::string hint);
  /// Of a free joint that is not the base of its figure.
  void fail_free(const JointDescription& joint);
  /// What a ball joint has about all axes alike, without limits and rest; other data about y and z are lost.
  DofDescription ball_data(const JointDescription& joint);
  /// What stands in a scene and has no place in a model: controllers, events, recordings, given motions.
  void lose_experiment();
  /// The text of the document, unless something failed.
  Loaded<std::string> text();
  /// The name of a mesh file, from the folder.
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

/// The surfaces of the shapes that may touch; each as often as it is used.
std::vector<std::string> used_surfaces(const SceneDescription& scene);
const ContactMaterial& surface_material(const SceneDescription& scene, const std::string& name);
/// What the scene says of two surfaces.
ContactMaterial surface_pair(const SceneDescription& scene, const std::string& a, const std::string& b);

/// Writes what `to_text` makes of the folder of the file, so that no half-written file is ever seen.
std::vector<Diagnostic> write_scene_xml(
    const std::filesystem::path& file, const XmlFormat& format,
    const std::function<Loaded<std::string>(const std::filesystem::path&)>& to_text);

}  // namespace kansetsu::io
