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

/// The parts of the reader of scene files, one function per kind of table.
namespace kansetsu::io::scene {

/// What a file that figures are from holds: it is read once, however many name it.
struct ModelFile {
  std::vector<Diagnostic> diagnostics{};
  bool readable = false;
  std::string first{};                                 ///< figure; empty: a URDF file, whose model has no name here
  std::map<std::string, FigureDescription> figures{};  ///< by name
};

struct Reader {
  TomlReport report;
  std::filesystem::path folder;  ///< of the scene file
  SceneDescription scene;
  std::vector<Diagnostic> warnings;        ///< about models that were read along
  std::map<std::string, ModelFile> files;  ///< by path
  std::size_t links = 0;                   ///< of all figures

  ReferenceOptions options;
  FileGate gate;

  Reader(const std::string& file, const ReferenceOptions& references)
      : report(file),
        folder(std::filesystem::path(file).parent_path()),
        options(references),
        gate(file, references.allowed_paths, references.package) {
    options.package = gate.package();  // of what the scene names
  }
};

// scene_values.cc: what the schema does not express.
/// p and rpy or quat_xyzw of the table itself.
void read_fields(TomlTable& table, Pose& out);
/// A dynamic friction that is not given is no larger than the static one.
void read_fields(TomlTable& table, ContactMaterial& out);
/// By direction only: turns and shifts have different units.
void read_fields(TomlTable& table, Compliance& out);
/// One number for all six directions, or a table of numbers, {z = 0.5, rx = 0.1}; others keep their value.
void read_value(TomlTable& table, const char* key, PerDirection& out);
/// [lower, upper]; either may be infinite.
void read_value(TomlTable& table, const char* key, Interval& out);
/// kind = "hinge", or constrain = ["x", "ry", …]
void read_value(TomlTable& table, const char* key, ConstraintMask& out);
void read_value(TomlTable& table, const char* key, SensorKind& out);
void read_value(TomlTable& table, const char* key, std::vector<Recorded>& out);
void read_value(TomlTable& table, const char* key, std::map<std::string, std::vector<double>>& out);
void read_value(TomlTable& table, const char* key, std::map<std::string, double>& out);
/// As many numbers as it has room for, or fewer; the rest is zero.
void read_numbers(TomlTable& table, const char* key, std::span<double> out);
template <std::size_t N>
void read_value(TomlTable& table, const char* key, std::array<double, N>& out) {
  read_numbers(table, key, out);
}
/// Called when all fields of a record are read.
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
/// Links and joints written in the scene itself.
ModelDescription read_model(Reader& reader, TomlTable& table, const std::string& name);

// scene_sections.cc
void read_surfaces(Reader& reader, TomlTable& root);
void read_environment(Reader& reader, TomlTable& table);
void read_controller(Reader& reader, TomlTable& table);
void read_sensor(Reader& reader, TomlTable& table);
void read_event(Reader& reader, TomlTable& table);
void read_keyframe(Reader& reader, TomlTable& table);

}  // namespace kansetsu::io::scene
