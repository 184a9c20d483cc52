#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/mesh/mesh_path.h"
#include "io/xml.h"
#include "kansetsu/io/urdf.h"

/// The parts of the URDF reader, one file per kind of element.
namespace kansetsu::io::urdf {

/// Lines that descriptions do not contain: by the line of a link or joint and its child element ("axis"), or by 0 and the path of
/// another part ("frame[grip]").
using Lines = std::map<std::pair<int, std::string>, int>;

/// A document being read.
struct Reader {
  XmlReport report;
  MeshFinder meshes;
  ModelDescription description;
  std::map<std::string, Material> materials;                            ///< every definition, by name
  std::vector<std::pair<std::string, const Element*>> named_materials;  ///< every use by name only
  std::vector<std::pair<std::string, const Element*>> mimics;           ///< every <mimic>, by the joint it names
  std::vector<const Element*> links;                                    ///< those of description.links, in order
  Lines lines;

  Reader(const std::string& file, const UrdfOptions& options);
};

// urdf_link.cc
/// Notes the lines of these children under the line of their link or joint.
void note_lines(Reader& reader, int line, const Element& element, Names tags);
void read_link(Reader& reader, const Element& element);
/// <origin xyz rpy>, or the attributes xyz and rpy of another element. Missing parts are zero.
Pose read_pose(Reader& reader, const Element& element);
/// The pose of the element's child <origin>.
Pose read_origin(Reader& reader, const Element& element);

// urdf_shape.cc
void read_shape(Reader& reader, const Element& element, std::vector<LinkShape>& shapes);
void read_global_material(Reader& reader, const Element& element);
/// Resolves references to materials by name.
void resolve_materials(Reader& reader);

// urdf_joint.cc
void read_joint(Reader& reader, const Element& element);
/// <drake:joint>: additional joint types of Drake.
void read_drake_joint(Reader& reader, const Element& element);
/// Checks that <mimic> refers to joints of one coordinate; called when all joints are known.
void check_mimics(Reader& reader);

// urdf_extension.cc
/// <kansetsu> in <robot>.
void read_model_extension(Reader& reader, const Element& element);
/// <kansetsu> in <joint>.
void read_joint_extension(Reader& reader, const Element& element, JointDescription& joint);
/// <frame name link xyz rpy>, a Drake extension.
void read_frame(Reader& reader, const Element& element);
/// <drake:collision_filter_group> of the whole document, as pairs of links.
void read_collision_groups(Reader& reader, const Element& robot);
/// A position, velocity or effort limit; infinite if it is inf or the largest double.
bool read_limit(Reader& reader, const Element& element, const char* attribute, double& out);

// urdf_mass.cc
/// Warns about moving links without mass.
void check_masses(Reader& reader, const Element& robot);

/// Parses without validating.
struct Parsed {
  ModelDescription description;
  std::vector<Diagnostic> diagnostics;
  Lines lines;
};
Parsed parse(std::string_view text, const std::string& file, const UrdfOptions& options);

}  // namespace kansetsu::io::urdf
