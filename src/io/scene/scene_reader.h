#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/file_gate.h"
#include "io/scene/scene_codes.h"
#include "io/scene/toml_table.h"
#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// The parts of the scene reader, one function per kind of table.
namespace kansetsu::io::scene {

/// A model file, read once.
struct ModelFile {
  std::vector<Diagnostic> diagnostics{};
  bool readable = false;
  std::string first{};                                 ///< name of the first figure; empty for URDF files
  std::map<std::string, FigureDescription> figures{};  ///< by name
  std::vector<ContactExclusion> exclusions{};          ///< between links of one figure
};

struct Reader {
  TomlReport report;
  std::filesystem::path folder;  ///< of the scene file
  SceneDescription scene;
  std::vector<Diagnostic> warnings;        ///< about model files
  std::map<std::string, ModelFile> files;  ///< by path
  std::size_t links = 0;                   ///< of all figures

  ReferenceOptions options;
  FileGate gate;

  Reader(const std::string& file, const ReferenceOptions& references)
      : report(file),
        folder(std::filesystem::path(file).parent_path()),
        options(references),
        gate(file, references.allowed_paths, references.package) {
    options.package = gate.package();  // for files that the scene refers to
  }
};

// scene_values.cc: values that the schema cannot express.
/// p, and rpy or quat_xyzw.
void read_fields(TomlTable& table, Pose& out);
/// The default of the dynamic friction is at most the static one.
void read_fields(TomlTable& table, ContactMaterial& out);
/// By direction only: rotations and translations have different units.
void read_fields(TomlTable& table, Compliance& out);
/// One number for all six directions, or a table, {z = 0.5, rx = 0.1}; other directions keep their value.
void read_value(TomlTable& table, const char* key, PerDirection& out);
/// [lower, upper]; either may be infinite.
void read_value(TomlTable& table, const char* key, Interval& out);
/// kind = "hinge", or constrain = ["x", "ry", …]
void read_value(TomlTable& table, const char* key, ConstraintMask& out);
void read_value(TomlTable& table, const char* key, SensorKind& out);
void read_value(TomlTable& table, const char* key, std::vector<Recorded>& out);
void read_value(TomlTable& table, const char* key, std::map<std::string, std::vector<double>>& out);
void read_value(TomlTable& table, const char* key, std::map<std::string, double>& out);
/// At most out.size() numbers; the rest is set to zero.
void read_numbers(TomlTable& table, const char* key, std::span<double> out);
template <std::size_t N>
void read_value(TomlTable& table, const char* key, std::array<double, N>& out) {
  read_numbers(table, key, out);
}
/// Called after the fields of a record have been read.
template <class Record>
void complete(TomlTable&, Record&) {}
void complete(TomlTable& table, Anchor& anchor);
void complete(TomlTable& table, ShapeRef& ref);
void complete(TomlTable& table, CoordinateFunction& function);

/// type = "box" and its sizes.
std::optional<Shape> read_shape(Reader& reader, TomlTable& table);
/// A shape with its name, pose, surface, masks and colour.
std::optional<LinkShape> read_link_shape(Reader& reader, TomlTable& table);

// scene_figure.cc
void read_figure(Reader& reader, TomlTable& table);
void read_body(Reader& reader, TomlTable& table);

// scene_model.cc
/// Inline links and joints.
ModelDescription read_model(Reader& reader, TomlTable& table, const std::string& name);

// scene_sections.cc
void read_surfaces(Reader& reader, TomlTable& root);
void read_environment(Reader& reader, TomlTable& table);
void read_controller(Reader& reader, TomlTable& table);
void read_sensor(Reader& reader, TomlTable& table);
void read_event(Reader& reader, TomlTable& table);
void read_keyframe(Reader& reader, TomlTable& table);

}  // namespace kansetsu::io::scene
