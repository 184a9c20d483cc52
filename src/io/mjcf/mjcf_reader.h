#pragma once

#include <tinyxml2.h>

#include <array>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/lookup.h"
#include "io/file_gate.h"
#include "io/mjcf/mjcf_codes.h"
#include "io/mjcf/mjcf_surface.h"
#include "io/xml.h"
#include "kansetsu/io/references.h"
#include "kansetsu/model/solid.h"
#include "kansetsu/scene/scene.h"
#include "kansetsu/spatial/quaternion.h"
#include "model/tendon_path.h"

/// The parts of the MJCF reader. Elements are read into bodies that know their joints and geoms (mjcf_body.cc, mjcf_geom.cc);
/// figures and the environment are made of them when all is known (mjcf_figure.cc).
namespace kansetsu::io::mjcf {

// --- Default classes and attributes ---------------------------------------------------------------------------------

struct DefaultValue {
  const char* text = "";  ///< of the document: thousands of classes may inherit it
  const Element* at = nullptr;
};
using AttributeMap = std::map<std::string, DefaultValue, std::less<>>;
/// An actuator law in MJCF's terms: indices in kActivationTypes, kGainTypes and kBiasTypes, with parameters.
struct ActuatorLaw {
  int activation = 0, gain = 0, bias = 0;
  std::array<double, 10> activation_numbers{1}, gain_numbers{1}, bias_numbers{};
  double inherit_range = 0;  ///< the fraction of the range of the joint or tendon used as control range
};
/// A default class with everything that it inherits: attributes by kind of element, laws by kind of actuator.
struct DefaultClass {
  std::string name;
  std::map<std::string, AttributeMap, std::less<>> kinds;
  std::map<std::string, ActuatorLaw, std::less<>> laws;
};

struct Reader;
struct ReferenceInertia;  // mjcf_inertia.cc

/// Limits the total size of copies by <replicate> and <attach>.
class CopyBudget {
 public:
  /// Whether one more copy of the element is within the limit. @param longer  characters added to each name
  bool take(const Element& element, std::size_t longer);
  bool spent() const { return spent_; }

 private:
  std::size_t parts_ = 0, characters_ = 0;
  bool spent_ = false;
};

/// Whether an attribute is absent or blank; MuJoCo treats both alike.
bool is_blank(const char* value);

/// The attributes of an element, with those of its default class as fallback.
class Attributes {
 public:
  Attributes(Reader& reader, const Element& element, const AttributeMap* defaults)
      : reader_(reader), element_(element), defaults_(defaults) {}

  const Element& element() const { return element_; }
  bool has(const char* name) const { return find(name).text != nullptr; }
  /// None if it is absent, or invalid (then an error is reported).
  std::optional<std::string> text(const char* name) const;
  /// Reads at least `least` and at most out.size() numbers. Returns their count; 0 if absent or invalid (then an error is reported).
  int numbers(const char* name, std::span<double> out, int least) const;
  bool number(const char* name, double& out) const { return numbers(name, {&out, 1}, 1) == 1; }
  bool integer(const char* name, int& out) const;
  bool vec3(const char* name, Vec3<>& out) const;
  /// The index of the keyword in `known`; none if absent or unknown (then an error is reported).
  std::optional<int> keyword(const char* name, Names known) const;
  std::optional<bool> boolean(const char* name) const;

 private:
  struct Found {
    const char* text = nullptr;
    const Element* at = nullptr;
  };
  Found find(const char* name) const;      ///< ignores blank values
  Found find_any(const char* name) const;  ///< blank or not

  Reader& reader_;
  const Element& element_;
  const AttributeMap* defaults_;
};

// --- Parts of a model -------------------------------------------------------------------------------------------

/// In the order of MJCF's keywords.
enum class GeomType { kPlane, kSphere, kCapsule, kEllipsoid, kCylinder, kBox, kMesh, kHeightField, kOther };

struct Geom {
  const Element* element = nullptr;
  LinkShape shape;                   ///< origin in the body's frame
  bool has_shape = true;             ///< supported by Kansetsu
  std::optional<Inertial> mass;      ///< in the body's frame; none: no mass, or an unknown one
  std::optional<Attributes> mesh{};  ///< of a geom whose mass is that of a mesh; evaluated when needed
  Transform<> X_BG;                  ///< pose as written
  std::optional<double> given_mass{};
  double density = 1000;
  bool shell = false;
  int group = 0;
  double friction = 1;
  double spin = 0, rolling = 0;  ///< torsional and rolling friction, if condim enables them [m]
  int condim = 3, priority = 0;
  double clearance = 0;                 ///< distance at which contact begins [m]
  std::optional<EllipsoidDrag> drag{};  ///< for fluid forces, at X_BD
  Transform<> X_BD{};
};

enum class JointKind { kFree, kBall, kSlide, kHinge };

struct Joint {
  const Element* element = nullptr;
  std::string name;
  JointKind kind = JointKind::kHinge;
  Vec3<> p{}, axis{0, 0, 1};
  double reference = 0;
  double margin = 0;                      ///< of the limits, which act from there
  std::array<double, 2> spring_damper{};  ///< time constant [s] and damping ratio; 0: none
  DofDescription dof{};
  std::optional<SwingTwistLimit> swing_twist{};
};

struct Site {
  std::string name;
  Transform<> X_BS;
  std::optional<Attributes> attributes{};
  std::string frame{};  ///< its name in the model, where bodies and sites share their names
  double half = 0;      ///< half length, if given by fromto
};

struct Body {
  const Element* element = nullptr;
  std::string name;
  int parent = -1;         ///< index; 0 is the world
  Transform<> X_PB, X_WB;  ///< in the reference configuration
  std::optional<Inertial> inertial;
  std::vector<Joint> joints;
  std::vector<Geom> geoms;
  std::vector<Site> sites;
  std::vector<int> children;
  int figure = -1;     ///< of the scene; −1: fixed
  bool mocap = false;  ///< its motion is prescribed
  int joined = -1;     ///< for a child of the world: the child whose figure it belongs to
  /// Its free joint is replaced by three slides along the world's axes and a ball joint.
  bool carried = false;
  double gravity_compensation = 0;
};

/// A tendon, with its length and moment in the reference configuration.
struct Tendon {
  std::string name;
  int figure = -1;  ///< −1: it is left out
  double length = 0;
  std::vector<Pull> pulls{};                             ///< by body
  std::vector<std::pair<std::string, double>> joints{};  ///< of a fixed tendon
  Interval limit{};
};

struct Compiler {
  bool degrees = true, autolimits = true, balance_inertia = false;
  std::string eulerseq = "xyz";
  enum { kFalse, kTrue, kAuto } inertia_from_geom = kAuto;
  int group_lower = 0, group_upper = 5;
  double bound_mass = 0, bound_inertia = 0, total_mass = -1;
  std::string mesh_folder, texture_folder;
  bool strip_path = false, fit_aabb = false;

  double angle(double x) const { return degrees ? x * 0.017453292519943295 : x; }
};

/// Settings for reading the elements of one model: the main file or an attached model.
struct Source {
  Compiler compiler;
  std::filesystem::path folder;
};

struct MeshAsset {
  std::string file;  ///< relative to `folder`; empty for inline vertices
  std::filesystem::path folder{};
  Vec3<> scale{1, 1, 1};
  Transform<> X_reference{};
  MeshMass mass = MeshMass::kPyramids;
  std::shared_ptr<const TriangleMeshData> inline_data{};
  bool loaded = false;
  TriangleMesh surface{};  ///< once loaded
};

/// Named parts of bodies: the body, and the index in its list. Built when all bodies are known.
struct PartIndex {
  using Places = std::map<std::string, std::pair<int, int>, std::less<>>;
  Places bodies, joints, sites, geoms;
  std::map<std::string, std::size_t, std::less<>> tendons, inputs;
  std::vector<Transform<>> X_WB;       ///< of all bodies
  std::vector<Transform<>> X_WB_rest;  ///< of all bodies with all joint springs at rest
};

/// A document being read.
struct Reader {
  XmlReport report;
  std::string file;
  FileGate gate;
  std::deque<tinyxml2::XMLDocument> documents;  ///< the file and the files it includes
  std::map<const Element*, const Element*>
      included;  ///< root whose children replace an <include> or an expanded element
  std::map<const Element*, std::vector<int>> attached;  ///< the attachments through which an element was copied
  std::set<std::string> included_files;
  std::size_t other_files = 0;        ///< opened includes and models
  std::uintmax_t included_bytes = 0;  ///< of these
  std::uintmax_t asset_bytes = 0;     ///< of meshes and height fields read; one file may be read repeatedly
  bool take_asset(const Element& at,
                  const std::filesystem::path& path);  ///< whether it is within the limit; an error if not
  CopyBudget copies;

  Source main;
  std::map<const tinyxml2::XMLDocument*, std::shared_ptr<Source>> sources;  ///< of attached models
  const Source& source_of(const Element& element) const {
    const auto* found = find_in(sources, report.origin(element).GetDocument());
    return found ? **found : main;
  }
  const Compiler& compiler_of(const Element& element) const { return source_of(element).compiler; }
  Body& body(int i) { return bodies[std::size_t(i)]; }
  const Body& body(int i) const { return bodies[std::size_t(i)]; }
  FigureDescription& figure(int i) { return scene.figures[std::size_t(i)]; }
  const FigureDescription& figure(int i) const { return scene.figures[std::size_t(i)]; }
  const std::filesystem::path& folder_of(const Element& element) const { return source_of(element).folder; }
  std::map<std::string, DefaultClass, std::less<>> classes;
  std::size_t default_values = 0;  ///< of all classes, including inherited ones
  std::map<std::string, MeshAsset> meshes;
  std::map<std::string, std::optional<HeightField>> hfields;  ///< none: invalid
  std::size_t hfield_samples = 0;                             ///< of these, and of all geoms that use one
  std::map<std::string, std::vector<double>> colours;         ///< of materials
  std::map<std::string, std::string> textures;                ///< files of 2D textures, by name
  std::map<std::string, std::string> material_textures;
  std::map<std::string, std::set<std::string>> names;  ///< used names, by kind
  std::set<std::string, std::less<>> given_names;      ///< all names in the file
  std::vector<Body> bodies;                            ///< depth first; 0 is the world
  PartIndex index;
  std::set<std::string> paired_geoms;  ///< referred to by <contact><pair>
  JointSwitches switches;
  bool equalities = true, clamp_controls = true;
  /// Actuators in the order of the file, for ctrl and act of keyframes.
  struct Input {
    int figure = -1;  ///< −1: ignored
    const Element* element = nullptr;
    std::string name{};
    bool has_activation = false;
    Interval range{};
  };
  std::vector<Input> inputs;
  std::vector<Tendon> tendons;
  SceneDescription scene;
  std::map<int, std::shared_ptr<const ReferenceInertia>> inertias;  ///< by figure, computed on demand

  Reader(const std::string& file_name, const ReferenceOptions& options);
};

/// The context of an element: its body, frame and default class.
struct Place {
  int body = 0;
  Transform<> X_BF;  ///< of the innermost <frame>
  std::string childclass;
};

// mjcf_document.cc
/// Parses the text; null, and an error, if it is not an MJCF document.
Element* load_document(Reader& reader, std::string_view text);
/// The root of another file; null, and an error, if it cannot be used.
Element* load_model(Reader& reader, const Element& element, const std::filesystem::path& path);
/// Reads all included files.
void load_includes(Reader& reader, const Element& root);
/// The root of a new document for generated elements.
Element& new_root(Reader& reader);
/// A copy of the element without children; `value_of` gives the values of attributes.
Element* add_copy(Reader& reader, const Element& element, Element& into,
                  const std::function<std::string(const tinyxml2::XMLAttribute&)>& value_of);
/// The children of an element, with includes resolved.
std::vector<const Element*> children(const Reader& reader, const Element& element);
/// The children of all sections with this tag, e.g. <asset>.
std::vector<const Element*> sections(const Reader& reader, const Element& root, std::string_view tag);

/// The folder of an asset's file: the main file's with `subfolder`, or that of the referring file if the asset exists there only.
std::filesystem::path folder_of_asset(const Reader& reader, const Element& element, const std::string& subfolder,
                                      const std::string& file);

// mjcf_attach.cc
/// Expands all <attach> elements.
void write_out_attachments(Reader& reader, Element& root);

// mjcf_replicate.cc
/// Expands all <replicate> elements, and elements that refer to copied names.
void write_out_replicates(Reader& reader, const Element& root);

// mjcf_attributes.cc
void read_defaults(Reader& reader, const Element& root);
/// The class of an element, or of its parent; null if it is unknown.
const DefaultClass* class_of(const Reader& reader, const Element& element, const std::string& childclass);
/// The attributes of an element of a kind ("geom", "actuator", …), with its class or that of its parent.
Attributes attributes_of(Reader& reader, const Element& element, std::string_view kind, const std::string& childclass);
/// A non-negative number; newer files may have polynomial coefficients.
double read_amount(Reader& reader, const Attributes& a, const char* name);
/// The attribute margin; 0 by default.
double read_margin(Reader& reader, const Attributes& a);
/// Collects all names in the file, so that generated names do not clash with later elements.
void gather_names(Reader& reader, const Element& root);
/// The element's name, or one generated from `fallback`; an error if it is already used.
std::string take_name(Reader& reader, const Element& element, const std::string& kind, const std::string& fallback);

// mjcf_schema.cc
/// Reports unsupported and unknown elements and attributes.
void check_schema(Reader& reader, const Element& root);

// mjcf_pose.cc
/// pos and one of quat, axisangle, xyaxes, zaxis, euler.
Transform<> read_pose(Reader& reader, const Attributes& attributes);
/// The frame between the two points of fromto; none, and an error, if they coincide.
struct Ends {
  Transform<> X;    ///< at the midpoint, z towards the first point
  double half = 0;  ///< half length
};
std::optional<Ends> read_ends(Reader& reader, const Attributes& attributes);
/// Poses of all bodies with the springs of all hinges and slides at rest.
std::vector<Transform<>> poses_at_rest(const Reader& reader);
/// A normalised quaternion from w x y z; none if its length is zero or infinite.
std::optional<Quaternion<>> turn_of(std::span<const double, 4> wxyz);
/// The rotation by three Euler angles, with the compiler's eulerseq and unit.
Mat3<> euler_rotation(const Compiler& compiler, const std::array<double, 3>& angles);

// mjcf_options.cc
void read_compiler(Reader& reader, const Element& root, Compiler& out);
void read_options(Reader& reader, const Element& root);
void read_assets(Reader& reader, const Element& root);

// mjcf_body.cc
void read_world(Reader& reader, const Element& root);

// mjcf_mesh.cc
void read_mesh_asset(Reader& reader, const Element& element);
struct PlacedShape {
  Shape shape;
  Transform<> X_GS;  ///< in the geom's frame
};
/// A geom's mesh; none, and an error, if it is unknown.
std::optional<PlacedShape> mesh_shape(Reader& reader, const Attributes& geom);
/// A geom's mesh with unit density in the geom's frame; none if it is missing or encloses no volume.
std::optional<MeshSolid> mesh_mass(Reader& reader, const Attributes& geom, bool shell);
/// The equivalent inertia box of a geom's mesh in the geom's frame.
struct FittedBox {
  Vec3<> half;
  Transform<> X_GB;
};
std::optional<FittedBox> fit_box(Reader& reader, const Attributes& geom);

// mjcf_hfield.cc
void read_hfield_asset(Reader& reader, const Element& element);
/// A geom's height field; none if it is invalid, and an error if it is unknown.
std::optional<Shape> hfield_shape(Reader& reader, const Attributes& geom);

// mjcf_geom.cc
/// A primitive by its half sizes, as geoms and sites have them.
Shape primitive_shape(GeomType type, const Vec3<>& size);
void read_geom(Reader& reader, const Element& element, const Place& place);
/// Masses of bodies from geoms, and the compiler's bounds and total mass.
void set_masses(Reader& reader);

// mjcf_joined.cc
/// Finds children of the world that tendons, couplings or actuators connect: they become one figure. Their free joints, and free
/// joints with joint data, become slides and a ball joint.
void join_figures(Reader& reader, const Element& root);

// mjcf_figure.cc
/// Creates figures and the environment from the bodies.
void make_figures(Reader& reader);
/// Whether a geom can have contacts: by its masks or a <pair>.
bool can_touch(const Reader& reader, const Geom& geom);
/// The index after the last body of a subtree.
int end_of(const Reader& reader, int body);
/// Whether the subtree of a child of the world has joints.
bool moves(const Reader& reader, int root);
/// A place on a body, as an anchor of the scene.
Anchor anchor_on(const Reader& reader, int body, const Transform<>& X_BA);
/// Creates surfaces from the contact parameters of geoms.
void set_surfaces(Reader& reader);
/// Geoms of groups that MuJoCo does not show become transparent, where a body has others. mjcf_shown.cc
void hide_unshown_groups(Reader& reader);
void index_parts(Reader& reader);
std::optional<int> find_body(const Reader& reader, std::string_view name);

// mjcf_sections.cc
/// A named part and its body; null if the name is unknown.
template <class Part>
struct PlaceOf {
  int body = -1;
  const Part* part = nullptr;

  explicit operator bool() const { return part; }
  const Part* operator->() const { return part; }
};
using JointPlace = PlaceOf<Joint>;
using SitePlace = PlaceOf<Site>;
using GeomPlace = PlaceOf<Geom>;
JointPlace find_joint(const Reader& reader, std::string_view name);
SitePlace find_site(const Reader& reader, std::string_view name);
GeomPlace find_geom(const Reader& reader, std::string_view name);
void unknown(Reader& reader, const Element& at, const char* kind, const std::string& name);
/// The result of find_site() or a similar function; null, and an error, if the name is unknown.
template <class Place>
Place find_known(Reader& reader, const Element& at, const char* kind, const std::string& name,
                 Place (*find)(const Reader&, std::string_view)) {
  Place found = find(reader, name);
  if (!found) unknown(reader, at, kind, name);
  return found;
}
/// The same for the name in a required attribute.
template <class Place>
Place read_named(Reader& reader, const Element& element, const char* attribute, const char* kind,
                 Place (*find)(const Reader&, std::string_view)) {
  const auto name = read_required_text(reader.report, element, attribute);
  return name ? find_known(reader, element, kind, *name, find) : Place{};
}

/// A joint or tendon in a coupling: its name, and its value in the reference configuration.
struct CoupledPart {
  std::string name;
  double reference = 0;
};
void add_coupling(Reader& reader, const Element& element, int figure, const CoupledPart& dependent,
                  const std::optional<CoupledPart>& driver, bool tendons);

// mjcf_tendon.cc
void read_tendons(Reader& reader, const Element& root);
const Tendon* find_tendon(const Reader& reader, std::string_view name);
/// A coupling of two tendons.
void read_tendon_coupling(Reader& reader, const Element& element, bool active);
/// A range, if it is enabled: by `limited`, or by its presence with autolimits.
Interval read_limits(Reader& reader, const Attributes& a, const char* range, const char* limited, bool always = false);

// mjcf_sensor.cc
void read_sensors(Reader& reader, const Element& root);

// mjcf_actuator.cc
void read_actuators(Reader& reader, const Element& root);

// mjcf_actuator_law.cc
/// Whether an element is a supported kind of actuator.
bool has_law(std::string_view tag);
/// The law of an actuator: that of its class, modified by the element.
ActuatorLaw read_law(Reader& reader, const Element& element, const DefaultClass* of);
/// Applies an actuator element of a default class to the laws of the class.
void read_default_law(Reader& reader, const Element& element, DefaultClass& of);

// mjcf_inertia.cc
/// The moment arms of a length in the reference configuration.
struct ReferenceMoment {
  std::vector<std::pair<std::string, double>> joints{};  ///< arms at joints of one coordinate
  std::vector<Pull> pulls{};                             ///< by body
};
/// |M⁻¹·moment|, and the effective inertia 1/(moment·M⁻¹·moment); none if M is singular or too large.
std::optional<double> unit_acceleration(Reader& reader, int figure, const ReferenceMoment& moment);
std::optional<double> felt_inertia(Reader& reader, int figure, const ReferenceMoment& moment);
/// Sets stiffness and damping of joints with springdamper, by their effective inertia.
void set_spring_dampers(Reader& reader);

// mjcf_sections.cc
void read_equalities(Reader& reader, const Element& root);
void read_contacts(Reader& reader, const Element& root);
void read_keyframes(Reader& reader, const Element& root);

}  // namespace kansetsu::io::mjcf
