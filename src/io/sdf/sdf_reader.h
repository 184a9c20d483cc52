#pragma once

#include <tinyxml2.h>

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/mesh/mesh_path.h"
#include "io/sdf/sdf_codes.h"
#include "io/xml.h"
#include "kansetsu/io/references.h"
#include "kansetsu/scene/scene.h"

/// The parts of the SDF reader. Elements are read into models with links, joints and frames (sdf_model.cc). When all frames are known,
/// poses are resolved (sdf_frames.cc); figures and the environment are created last (sdf_figure.cc).
namespace kansetsu::io::sdf {

/// A pose, and the frame that it is relative to; empty: the default of its element.
struct WrittenPose {
  Transform<> X{};
  std::string relative_to{};
};

struct Model;
struct LinkRef {
  Model* model = nullptr;
  int link = -1;
};

/// A named frame of a model's scope.
struct Frame {
  enum class Kind { kLink, kJoint, kFrame, kModel } kind = Kind::kFrame;
  int index = 0;  ///< among links, joints or nested models
  const Element* element = nullptr;
  WrittenPose pose{};
  std::string attached_to{};
  enum class Progress { kNew, kBusy, kDone } progress = Progress::kNew;
  Transform<> X_MF{};  ///< in the model's frame, once done
  LinkRef on{};        ///< the link that it is attached to, once looked for
};

struct PlacedShape {
  LinkShape shape;
  std::string frame;  ///< of its pose; empty: the link's
  const Element* element = nullptr;
};

struct Link {
  std::string name;
  const Element* element = nullptr;
  Inertial inertial{1, {}, Sym3<>::diagonal(1, 1, 1)};  ///< SDF's default
  std::string inertial_frame{};                         ///< of the inertial's pose; empty: the link's
  std::vector<PlacedShape> collisions{}, visuals{};
  bool has_gravity = true, self_collide = false;
};

/// The contents of <axis> or <axis2>.
struct Axis {
  Vec3<> xyz{0, 0, 1};
  std::string expressed_in{};
  bool in_parent_model = false;
  DofDescription dof{};
  struct Mimic {
    std::string joint{};
    int axis = 0;
    double multiplier = 1, offset = 0, reference = 0;
  };
  std::optional<Mimic> mimic{};
  const Element* element = nullptr;
};

enum class JointKind { kRevolute, kContinuous, kPrismatic, kFixed, kBall, kUniversal, kRevolute2, kScrew, kGearbox };

struct Joint {
  std::string name;
  const Element* element = nullptr;
  JointKind kind = JointKind::kFixed;
  std::string parent{}, child{};
  Axis axes[2]{};
  double pitch = 0;  ///< [m/rad]
  double gear_ratio = 1;
  std::string gear_reference{};
};

/// A model, or the world.
struct Model {
  std::string name;
  const Element* element = nullptr;
  Model* parent = nullptr;  ///< null for the world
  int version = 0;          ///< of its file: 7 for 1.7
  bool is_static = false, self_collide = false;
  std::string canonical_link{}, placement_frame{};
  std::map<std::string, Frame, std::less<>> frames{};
  std::vector<Link> links{};
  std::vector<Joint> joints{};
  std::vector<std::unique_ptr<Model>> nested{};
  Transform<> X_WM{};
};

/// A document being read.
struct Reader {
  XmlReport report;
  std::string file;
  ReferenceOptions options;
  MeshFinder meshes;
  std::deque<tinyxml2::XMLDocument> documents;  ///< the file and the files it includes
  std::uintmax_t included_bytes = 0;            ///< of included files
  std::size_t includes = 0;                     ///< <include> elements, including unresolved ones
  std::map<const tinyxml2::XMLDocument*, std::filesystem::path> folders;
  std::map<const tinyxml2::XMLDocument*, int> versions;  ///< 7 for 1.7
  std::map<std::string, Surface> surfaces;               ///< by name
  Model world;
  int chain = 0;  ///< frames that are being resolved
  SceneDescription scene;

  Reader(const std::string& file_name, const ReferenceOptions& options);
};

// sdf_document.cc
/// Parses the text; null, and an error, if it is not an SDF document.
Element* load_document(Reader& reader, std::string_view text);
/// The model of an <include>; null, and a diagnostic, if it cannot be used.
const Element* load_include(Reader& reader, const Element& include);

// sdf_values.cc
const Element* find_child(const Element& element, const char* tag);
/// The text of a child; none if it is absent or invalid.
std::optional<std::string> child_text(Reader& reader, const Element& element, const char* tag);
/// Numbers of a child; false if it is absent, or invalid (then an error is reported).
bool child_numbers(Reader& reader, const Element& element, const char* tag, std::span<double> out);
bool child_number(Reader& reader, const Element& element, const char* tag, double& out);
bool child_vec3(Reader& reader, const Element& element, const char* tag, Vec3<>& out);
std::optional<bool> child_bool(Reader& reader, const Element& element, const char* tag);
WrittenPose read_pose(Reader& reader, const Element& element);
void unknown_name(Reader& reader, const Element& at, const char* kind, const std::string& name);

// sdf_schema.cc
/// Reports unsupported and unknown elements and attributes.
void check_schema(Reader& reader, const Element& element, std::string_view kind);

// sdf_geometry.cc
/// A collision or visual; none if it has no geometry.
std::optional<LinkShape> read_shape(Reader& reader, const Element& element, bool touches);
/// The inertial of shapes by their densities.
std::optional<Inertial> automatic_inertial(Reader& reader, const Element& link, const std::vector<PlacedShape>& shapes);

// sdf_joint.cc
void read_joint(Reader& reader, const Element& element, Model& model);

// sdf_model.cc
void read_world(Reader& reader, const Element& element);
void read_model(Reader& reader, const Element& element, Model& parent);

// sdf_frames.cc
/// Resolves the frames of all models, and reports problems.
void resolve_frames(Reader& reader, Model& model);
/// The pose of a frame in the model's frame; none, and an error, if it is unknown.
std::optional<Transform<>> find_frame(Reader& reader, Model& model, std::string_view name, const Element& at);
/// The link that a frame is attached to.
std::optional<LinkRef> find_link(Reader& reader, Model& model, std::string_view name, const Element& at);

// sdf_figure.cc
/// Creates figures and the environment from the models.
void make_figures(Reader& reader);

}  // namespace kansetsu::io::sdf
