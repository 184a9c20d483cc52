#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "io/scene_xml.h"
#include "io/sdf/sdf_codes.h"

/// The parts of the SDF writer. A figure is a model, its links stand where they are when all coordinates are zero
/// (sdf_write_model.cc); shapes of the surroundings are static models, connections joints of the world (sdf_writer.cc).
namespace kansetsu::io::sdf {

/// A model of the file: names of its parts, and the models within it. All of them have the frame of the outermost.
struct Scope {
  Element* element = nullptr;
  std::string path{};  ///< "inner::" of one within a model
  std::set<std::string> names{};
  std::map<std::string, Scope> inner{};
};

/// An outermost model.
struct WrittenModel {
  Scope scope{};
  Transform<> X_WM{};
  bool self_collides = false;
};

/// Where a link or frame of a figure is.
struct WrittenPart {
  std::string model{};  ///< the outermost
  std::string name{};   ///< within it, with "::"; "world" if it is none
  Transform<> X_W{};    ///< where all coordinates are zero
};

/// A coordinate of a joint: where its gear would be written.
struct WrittenAxis {
  Element* axis = nullptr;
  const Scope* scope = nullptr;
  std::string joint{};
  int index = 0;
};

/// A thing by its figure and its own name.
using Key = std::pair<std::string, std::string>;

struct Writer : SceneXml {
  Element* parent = nullptr;  ///< of models: <world> or <sdf>
  std::map<std::string, WrittenModel> models{};
  std::map<Key, WrittenPart> parts{};
  bool plain_masks = true;    ///< every shape touches all or nothing
  bool needs_newest = false;  ///< SDF 1.11: gears, joints of the world

  Writer(const SceneDescription& scene, std::filesystem::path folder);

  /// A model of that name, or one like it if it is taken.
  std::pair<std::string, WrittenModel*> add_model(const std::string& wanted);
  void put_pose(Element& e, const Transform<>& X);
};

enum class PartKind { kLink, kJoint, kFrame };
struct NamedPart {
  Scope* scope = nullptr;
  std::string name{};  ///< in the scope
};
/// The scope that the name "inner::part" asks for, as far as what the part refers to is in it, and the part's name there; another one if it is
/// taken.
NamedPart name_part(Writer& writer, Scope& top, const std::string& wanted, PartKind kind,
                    std::initializer_list<std::string> refers_to = {});
/// "inner::part" as it is called in a scope that it is within.
std::string name_within(const Scope& scope, const std::string& name);

// sdf_write_model.cc
void write_figure(Writer& writer, const FigureDescription& figure);
/// A new <joint> and its name; X_CJ is its pose in the child. Without a scope it is the world's.
std::pair<Element*, NamedPart> add_joint(Writer& writer, Scope* scope, const std::string& wanted, const char* type,
                                         const std::string& parent, const std::string& child, const Transform<>& X_CJ);
struct HeldPair {
  std::string name{};
  WrittenPart a{}, b{};
  Pose pose_a{}, pose_b{};
  ConstraintMask mask = kWeldMask;
};
/// A joint that holds two anchors together, which coincide where all coordinates are zero; reported if they do not, or if SDF has none
/// like it.
void write_holding_joint(Writer& writer, Scope* scope, const HeldPair& pair);

// sdf_write_shape.cc
enum class ShapeUse { kCollision, kVisual };
/// Names of the shapes of a link that are taken.
struct ShapeNames {
  std::set<std::string> collisions{}, visuals{};
};
/// `surface` is that of the shape, or of its figure.
void write_shape(Writer& writer, Element& link, ShapeNames& names, const LinkShape& shape, const Transform<>& X_LS,
                 const std::string& surface, ShapeUse use);

}  // namespace kansetsu::io::sdf
