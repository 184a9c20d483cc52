#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "io/scene_xml.h"
#include "io/sdf/sdf_codes.h"

/// The parts of the SDF writer. A figure becomes a model with its links at zero coordinates (sdf_write_model.cc); environment shapes
/// become static models, connections joints of the world (sdf_writer.cc).
namespace kansetsu::io::sdf {

/// A model of the file with the names of its parts and nested models. All share the frame of the outermost model.
struct Scope {
  Element* element = nullptr;
  std::string path{};  ///< "inner::" for a nested model
  std::set<std::string> names{};
  std::map<std::string, Scope> inner{};
};

/// An outermost model.
struct WrittenModel {
  Scope scope{};
  Transform<> X_WM{};
  bool self_collides = false;
};

/// The place of a link or frame of a figure.
struct WrittenPart {
  std::string model{};  ///< the outermost
  std::string name{};   ///< within the model, with "::"; or "world"
  Transform<> X_W{};    ///< at zero coordinates
};

/// The <axis> of a coordinate, where a mimic is written.
struct WrittenAxis {
  Element* axis = nullptr;
  const Scope* scope = nullptr;
  std::string joint{};
  int index = 0;
};

/// A figure's name, and the name of a part of it.
using Key = std::pair<std::string, std::string>;

struct Writer : SceneXml {
  Element* parent = nullptr;  ///< of models: <world> or <sdf>
  std::map<std::string, WrittenModel> models{};
  std::map<Key, WrittenPart> parts{};
  bool plain_masks = true;    ///< all shapes collide with everything or nothing
  bool needs_newest = false;  ///< SDF 1.11: mimics, joints of the world

  Writer(const SceneDescription& scene, std::filesystem::path folder);

  /// Adds a model; its name gets a number if it is taken.
  std::pair<std::string, WrittenModel*> add_model(const std::string& wanted);
  void put_pose(Element& e, const Transform<>& X);
};

enum class PartKind { kLink, kJoint, kFrame };
struct NamedPart {
  Scope* scope = nullptr;
  std::string name{};  ///< in the scope
};
/// The scope for a name "inner::part", as far as it contains everything that the part refers to, and the part's name in it, made unique.
NamedPart name_part(Writer& writer, Scope& top, const std::string& wanted, PartKind kind,
                    std::initializer_list<std::string> refers_to = {});
/// The name of "inner::part" relative to an enclosing scope.
std::string name_within(const Scope& scope, const std::string& name);

// sdf_write_model.cc
void write_figure(Writer& writer, const FigureDescription& figure);
/// Adds a <joint>. X_CJ: its pose in the child. @param scope  null: the world
std::pair<Element*, NamedPart> add_joint(Writer& writer, Scope* scope, const std::string& wanted, const char* type,
                                         const std::string& parent, const std::string& child, const Transform<>& X_CJ);
struct HeldPair {
  std::string name{};
  WrittenPart a{}, b{};
  Pose pose_a{}, pose_b{};
  ConstraintMask mask = kWeldMask;
};
/// A joint between two anchors that coincide at zero coordinates. Recorded as lost if they do not, or if SDF has no such joint.
void write_holding_joint(Writer& writer, Scope* scope, const HeldPair& pair);

// sdf_write_shape.cc
enum class ShapeUse { kCollision, kVisual };
/// Used names of a link's shapes.
struct ShapeNames {
  std::set<std::string> collisions{}, visuals{};
};
/// @param surface  of the shape or its figure
void write_shape(Writer& writer, Element& link, ShapeNames& names, const LinkShape& shape, const Transform<>& X_LS,
                 const std::string& surface, ShapeUse use);

}  // namespace kansetsu::io::sdf
