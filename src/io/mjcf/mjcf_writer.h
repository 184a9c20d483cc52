#pragma once

#include <tinyxml2.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/lookup.h"
#include "io/mjcf/mjcf_codes.h"
#include "io/mjcf/mjcf_surface.h"
#include "io/scene_xml.h"

/// The parts of the MJCF writer. Bodies are written first (mjcf_write_bodies.cc); elements that refer to them follow, and add sites
/// as needed. The reference configuration is the scene's initial state; for ball joints it is the identity.
namespace kansetsu::io::mjcf {

/// MuJoCo does not accept infinity, and warns about larger numbers (mjMAXVAL).
inline constexpr double kLargest = 1e10;

/// A joint of the file: a primitive of a figure's joint, or its free base.
struct WrittenJoint {
  std::string figure, joint;  ///< joint empty: the base
  int coordinate = 0;
  PrimitiveKind kind = PrimitiveKind::kHinge;
  double reference = 0;
  Mat3<> R_BK = Mat3<>::identity();  ///< axes of a ball joint in the body
};

struct WrittenBody {
  Element* element = nullptr;
  std::string name, figure;
  int parent = -1;        ///< −1: the world
  int group = 0;          ///< the topmost body of its welded group; −1: the world
  Transform<> X_W, X_W0;  ///< in the reference configuration; in the initial state
  bool touches = false;   ///< it has collision shapes
};

/// The body of a link, and its pose there.
struct LinkPlace {
  int body = -1;       ///< −1: the world
  Transform<> X_BL{};  ///< in the body's frame
};

struct WrittenGeom {
  Element* element = nullptr;
  int body = -1;
  std::string figure;
  const LinkShape* shape = nullptr;
  bool touches = false;
};

struct WrittenSite {
  Element* element = nullptr;
  std::string name;
  int body = -1;
  Transform<> X_BS{};
};

/// A figure's name, and the name of a part of it.
using Key = std::pair<std::string, std::string>;

/// A document being written.
struct Writer : SceneXml {
  SurfaceKeys surfaces;
  std::map<std::string, std::set<std::string>> taken;             ///< used names, by kind
  std::map<Key, std::string> joints, tendons, actuators, frames;  ///< names in the file
  std::map<Key, LinkPlace> links;
  std::vector<WrittenBody> bodies;                                  ///< depth first
  std::vector<WrittenJoint> coordinates;                            ///< joints in the order of qpos
  std::vector<std::pair<std::string, ActuatorDescription>> inputs;  ///< with figures, in the order of ctrl
  std::vector<WrittenGeom> geoms;
  std::vector<WrittenSite> sites;
  std::map<std::string, std::string> shape_bodies;  ///< bodies of single environment shapes, by shape
  std::vector<std::pair<Shape, std::string>> assets;

  Writer(const SceneDescription& scene, std::filesystem::path folder);

  /// The section with this tag, created on first use.
  Element& section(const char* tag);
  /// Sets pos and quat, unless they are zero and identity.
  void set_pose(Element& e, const Transform<>& X);
  /// Sets both bounds if one of them is finite.
  void set_range(Element& e, const char* name, const Interval& range);
  std::string take_name(const char* kind, const std::string& figure, const std::string& wanted);

  Element& element_of(int body) { return body < 0 ? section("worldbody") : *bodies[std::size_t(body)].element; }
  /// The place of a link or frame of a figure; of the world if the figure is empty.
  LinkPlace find_place(const std::string& figure, const std::string& link) const;
  std::string body_name(int body) const { return body < 0 ? "world" : bodies[std::size_t(body)].name; }
  WrittenSite& add_site(int body, const Transform<>& X_BS, const std::string& figure, const std::string& wanted);
  /// The site at a place, created if there is none.
  std::string site_at(const std::string& figure, const std::string& link, const Pose& pose, const std::string& wanted);
  std::string site_on(int body, const Transform<>& X_BS, const std::string& wanted);
  /// The same for a site with a volume.
  std::string site_on(int body, const Transform<>& X_BS, const Shape& volume, const std::string& wanted);
  /// The joint of a coordinate; empty if it is not in the file.
  std::string joint_of(const std::string& figure, const DofRef& dof) const;
};

// mjcf_write_bodies.cc
void write_bodies(Writer& writer);
void write_geom(Writer& writer, int body, const LinkShape& shape, const std::string& figure, bool touches);
/// The name of a geom; assigns one if it has none.
std::string name_geom(Writer& writer, WrittenGeom& geom, const std::string& wanted);

// mjcf_write_joints.cc
/// Writes a joint of a body. X_BS: its socket in the body's frame in the reference configuration.
void write_joint(Writer& writer, const FigureDescription& figure, const JointDescription& joint, int body,
                 const Transform<>& X_BS);
/// The position of a joint in the reference configuration.
std::vector<double> reference_of(const FigureDescription& figure, const JointDescription& joint);

// mjcf_write_tendons.cc
void write_tendons(Writer& writer);
/// Writes <joint> for each term of a fixed tendon.
void write_terms(Writer& writer, const FigureDescription& figure, const std::vector<TendonTerm>& terms,
                 Element& tendon);
double reference_length(const Writer& writer, const FigureDescription& figure, const TendonDescription& tendon);

// mjcf_write_acts.cc
void write_actuators(Writer& writer);
void write_sensors(Writer& writer);

// mjcf_write_equalities.cc
void write_equalities(Writer& writer);

// mjcf_write_contacts.cc
void write_contacts(Writer& writer);

// mjcf_write_keyframes.cc
void write_keyframes(Writer& writer);

}  // namespace kansetsu::io::mjcf
