#pragma once

#include <filesystem>
#include <string>

#include "io/file_gate.h"
#include "io/scene/scene_codes.h"
#include "io/scene/toml_table.h"
#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// The parts of the reader of scene files, one function per kind of table.
namespace kansetsu::io::scene {

struct Reader {
  TomlReport report;
  std::filesystem::path folder;  ///< of the scene file
  SceneDescription scene;
  std::vector<Diagnostic> warnings;  ///< about models that were read along

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

// scene_values.cc
/// p and rpy or quat_xyzw of the table itself.
Pose read_pose(TomlTable& table);
/// The pose in the table under the key.
Pose read_pose(TomlTable& table, const char* key);
std::optional<PrescribedMotion> read_motion(TomlTable& table, const char* key);
Motion<> read_velocity(TomlTable& table, const char* key);
/// {figure, link, p, rpy}, or {p, rpy} in the world.
Anchor read_anchor(TomlTable& table, const char* key);
ShapeRef read_shape_ref(TomlTable& table, const char* key);
/// kind = "hinge", or constrain = ["x", "ry", …]
ConstraintMask read_mask(TomlTable& table);
/// Whether one number may stand for all six directions; not where turns and shifts have different units.
enum class AllAtOnce { kYes, kNo };
/// A table of numbers by direction, {z = 0.5, rx = 0.1}; directions that it does not name keep their value.
void read_directions(TomlTable& table, const char* key, AllAtOnce all, PerDirection& out);
/// type = "box" and its sizes.
std::optional<Shape> read_shape(Reader& reader, TomlTable& table);
/// A shape with its name, pose, surface, masks and colour.
std::optional<LinkShape> read_link_shape(Reader& reader, TomlTable& table);
std::map<std::string, std::vector<double>> read_values(TomlTable& table, const char* key);
/// Numbers by name.
std::map<std::string, double> read_numbers(TomlTable& table, const char* key);
FigureState read_state(TomlTable& table);
ContactMaterial read_material(TomlTable& table, ContactMaterial material);
std::optional<std::uint64_t> read_seed(TomlTable& table);

// scene_figure.cc
void read_figure(Reader& reader, TomlTable& table);
void read_body(Reader& reader, TomlTable& table);

// scene_model.cc
/// Links and joints written in the scene itself.
ModelDescription read_model(Reader& reader, TomlTable& table, const std::string& name);
void read_dof(TomlTable& table, DofDescription& dof);

// scene_sections.cc
void read_settings(Reader& reader, TomlTable& table);
void read_surfaces(Reader& reader, TomlTable& root);
void read_environment(Reader& reader, TomlTable& table);
void read_connection(Reader& reader, TomlTable& table);
void read_spring(Reader& reader, TomlTable& table);
void read_controller(Reader& reader, TomlTable& table);
void read_sensor(Reader& reader, TomlTable& table);
void read_event(Reader& reader, TomlTable& table);
void read_recording(Reader& reader, TomlTable& table);
void read_keyframe(Reader& reader, TomlTable& table);

}  // namespace kansetsu::io::scene
