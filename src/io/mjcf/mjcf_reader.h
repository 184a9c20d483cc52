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
/// The law of an actuator in MJCF's words: places in kActivationTypes, kGainTypes and kBiasTypes, with their numbers.
struct ActuatorLaw {
  int activation = 0, gain = 0, bias = 0;
  std::array<double, 10> activation_numbers{1}, gain_numbers{1}, bias_numbers{};
  double inherit_range = 0;  ///< the part of the range of the joint or tendon that is that of controls
};
/// A default class with everything it inherits: attributes by kind of element, laws by kind of actuator.
struct DefaultClass {
  std::string name;
  std::map<std::string, AttributeMap, std::less<>> kinds;
  std::map<std::string, ActuatorLaw, std::less<>> laws;
};

struct Reader;
struct ReferenceInertia;  // mjcf_inertia.cc

/// What <replicate> and <attach> may make of a short file, all of them together.
class CopyBudget {
 public:
  /// Whether one more copy of the element is within bounds. @param longer  characters that are added to each name in it
  bool take(const Element& element, std::size_t longer);
  bool spent() const { return spent_; }

 private:
  std::size_t parts_ = 0, characters_ = 0;
  bool spent_ = false;
};

/// Whether an attribute is absent or has nothing in it: numbers that are not given, as in MuJoCo.
bool is_blank(const char* value);

/// The attributes of an element, and below them those of its default class.
class Attributes {
 public:
  Attributes(Reader& reader, const Element& element, const AttributeMap* defaults)
      : reader_(reader), element_(element), defaults_(defaults) {}

  const Element& element() const { return element_; }
  bool has(const char* name) const { return find(name).text != nullptr; }
  /// None if it is absent, or no clean text.
  std::optional<std::string> text(const char* name) const;
  /// How many numbers there are, at least `least`, at most out.size(); 0 if absent or bad (then an error is reported).
  int numbers(const char* name, std::span<double> out, int least) const;
  bool number(const char* name, double& out) const { return numbers(name, {&out, 1}, 1) == 1; }
  bool integer(const char* name, int& out) const;
  bool vec3(const char* name, Vec3<>& out) const;
  /// The place of the keyword in `known`; none if absent or unknown (then an error is reported).
  std::optional<int> keyword(const char* name, Names known) const;
  std::optional<bool> boolean(const char* name) const;

 private:
  struct Found {
    const char* text = nullptr;
    const Element* at = nullptr;
  };
  Found find(const char* name) const;      ///< what is blank is not given
  Found find_any(const char* name) const;  ///< blank or not

  Reader& reader_;
  const Element& element_;
  const AttributeMap* defaults_;
};

// --- What elements become -------------------------------------------------------------------------------------------

/// In the order of MJCF's words.
enum class GeomType { kPlane, kSphere, kCapsule, kEllipsoid, kCylinder, kBox, kMesh, kHeightField, kOther };

struct Geom {
  const Element* element = nullptr;
  LinkShape shape;                   ///< origin in the body's frame
  bool has_shape = true;             ///< that Kansetsu knows
  std::optional<Inertial> mass;      ///< in the body's frame; none: no mass, or an unknown one
  std::optional<Attributes> mesh{};  ///< of one whose mass is a mesh's, asked for when it counts
  Transform<> X_BG;                  ///< pose as written
  std::optional<double> given_mass{};
  double density = 1000;
  bool shell = false;
  int group = 0;
  double friction = 1;
  double spin = 0, rolling = 0;  ///< torsional and rolling friction, where condim asks for them [m]
  int condim = 3, priority = 0;
  double clearance = 0;                 ///< it touches from this far away [m]
  std::optional<EllipsoidDrag> drag{};  ///< that a medium acts on, its pose X_BD
  Transform<> X_BD{};
};

enum class JointKind { kFree, kBall, kSlide, kHinge };

struct Joint {
  const Element* element = nullptr;
  std::string name;
  JointKind kind = JointKind::kHinge;
  Vec3<> p{}, axis{0, 0, 1};
  double reference = 0;
  double margin = 0;                      ///< of its limits, which hold from there
  std::array<double, 2> spring_damper{};  ///< time constant [s] and damping ratio; 0: none
  DofDescription dof{};
  std::optional<SwingTwistLimit> swing_twist{};
};

struct Site {
  std::string name;
  Transform<> X_BS;
  std::optional<Attributes> attributes{};
  std::string frame{};  ///< its name in the model, where bodies and sites share their names
  double half = 0;      ///< of its length, where fromto gives it
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
  int figure = -1;     ///< of the scene; −1: it cannot move
  bool mocap = false;  ///< its motion is given
  int joined = -1;     ///< of a child of the world: the one whose figure it is part of
  /// Its free joint is three slides along the world's axes and a ball joint, which are where the body is when they are zero.
  bool carried = false;
  double gravity_compensation = 0;
};

/// A tendon, and what it is in the reference configuration.
struct Tendon {
  std::string name;
  int figure = -1;  ///< −1: it is left out
  double length = 0;
  std::vector<Pull> pulls{};                             ///< by body
  std::vector<std::pair<std::string, double>> joints{};  ///< of one without a path
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

/// What elements of one model are read by: the main file's, or that of a model it attaches.
struct Source {
  Compiler compiler;
  std::filesystem::path folder;
};

struct MeshAsset {
  std::string file;  ///< empty: vertices within the MJCF file; else in the folder
  std::filesystem::path folder{};
  Vec3<> scale{1, 1, 1};
  Transform<> X_reference{};
  MeshMass mass = MeshMass::kPyramids;
  std::shared_ptr<const TriangleMeshData> inline_data{};
  bool loaded = false;
  TriangleMesh surface{};  ///< once loaded
};

/// Where the named parts of bodies are: the body, and the place in its list. Made when all bodies are known.
struct PartIndex {
  using Places = std::map<std::string, std::pair<int, int>, std::less<>>;
  Places bodies, joints, sites, geoms;
  std::map<std::string, std::size_t, std::less<>> tendons, inputs;
  std::vector<Transform<>> X_WB;       ///< of all bodies
  std::vector<Transform<>> X_WB_rest;  ///< and while the springs of joints rest

  static const std::pair<int, int>* find(const Places& places, std::string_view name) {
    const auto found = places.find(name);
    return found == places.end() ? nullptr : &found->second;
  }
};

/// A document being read.
struct Reader {
  XmlReport report;
  std::string file;
  FileGate gate;
  std::deque<tinyxml2::XMLDocument> documents;        ///< the file and those it includes
  std::map<const Element*, const Element*> included;  ///< whose children stand for an <include> or what is written out
  std::map<const Element*, std::vector<int>> attached;  ///< the attachments that a copied element came through
  std::set<std::string> included_files;
  std::size_t other_files = 0;        ///< includes and models that were opened
  std::uintmax_t included_bytes = 0;  ///< of these
  std::uintmax_t asset_bytes = 0;     ///< of meshes and height fields that were read; one file may be named often
  bool take_asset(const Element& at,
                  const std::filesystem::path& path);  ///< whether it may be read as well; reported if not
  CopyBudget copies;

  Source main;
  std::map<const tinyxml2::XMLDocument*, std::shared_ptr<Source>> sources;  ///< of attached models
  const Source& source_of(const Element& element) const {
    const auto found = sources.find(report.origin(element).GetDocument());
    return found == sources.end() ? main : *found->second;
  }
  const Compiler& compiler_of(const Element& element) const { return source_of(element).compiler; }
  Body& body(int i) { return bodies[std::size_t(i)]; }
  const Body& body(int i) const { return bodies[std::size_t(i)]; }
  FigureDescription& figure(int i) { return scene.figures[std::size_t(i)]; }
  const FigureDescription& figure(int i) const { return scene.figures[std::size_t(i)]; }
  const std::filesystem::path& folder_of(const Element& element) const { return source_of(element).folder; }
  std::map<std::string, DefaultClass, std::less<>> classes;
  std::size_t default_values = 0;  ///< of all classes, inherited ones counted
  std::map<std::string, MeshAsset> meshes;
  std::map<std::string, std::optional<HeightField>> hfields;  ///< none: not read
  std::size_t hfield_samples = 0;                             ///< of these, and of all geoms that have one
  std::map<std::string, std::vector<double>> colours;         ///< of materials
  std::map<std::string, std::string> textures;                ///< files of flat pictures, by texture
  std::map<std::string, std::string> material_textures;
  std::map<std::string, std::set<std::string>> names;  ///< that are taken, by kind
  std::set<std::string, std::less<>> given_names;      ///< in the file, of any kind
  std::vector<Body> bodies;                            ///< depth first; 0 is the world
  PartIndex index;
  std::set<std::string> paired_geoms;  ///< that <contact><pair> names
  JointSwitches switches;
  bool equalities = true, clamp_controls = true;
  /// Of each actuator of the file, in its order: whose ctrl and act a keyframe's are.
  struct Input {
    int figure = -1;  ///< −1: it is left out
    const Element* element = nullptr;
    std::string name{};
    bool has_activation = false;
    Interval range{};
  };
  std::vector<Input> inputs;
  std::vector<Tendon> tendons;
  SceneDescription scene;
  std::map<int, std::shared_ptr<const ReferenceInertia>> inertias;  ///< by figure, when asked for

  Reader(const std::string& file_name, const ReferenceOptions& options);
};

/// Where a frame or body stands while its children are read.
struct Place {
  int body = 0;
  Transform<> X_BF;  ///< of the innermost <frame>
  std::string childclass;
};

// mjcf_document.cc
/// Parses the text; an error is reported if it is no MJCF document.
Element* load_document(Reader& reader, std::string_view text);
/// The root of another file that an element names; an error if it cannot be used.
Element* load_model(Reader& reader, const Element& element, const std::filesystem::path& path);
/// Reads every file that the document includes.
void load_includes(Reader& reader, const Element& root);
/// The root of a document for elements that are made up.
Element& new_root(Reader& reader);
/// A copy of the element without its children, its attributes as `value_of` says.
Element* add_copy(Reader& reader, const Element& element, Element& into,
                  const std::function<std::string(const tinyxml2::XMLAttribute&)>& value_of);
/// The children of an element, those of included files in their place.
std::vector<const Element*> children(const Reader& reader, const Element& element);
/// Children of several elements of one name: all sections <asset>, say.
std::vector<const Element*> sections(const Reader& reader, const Element& root, std::string_view tag);

/// The folder that an asset's file is named from: of the main file and its `subfolder`; where there is no such file, of the
/// file that names it.
std::filesystem::path folder_of_asset(const Reader& reader, const Element& element, const std::string& subfolder,
                                      const std::string& file);

// mjcf_attach.cc
/// Puts parts of other models in the place of every <attach>.
void write_out_attachments(Reader& reader, Element& root);

// mjcf_replicate.cc
/// Puts copies in the place of every <replicate>, and of what names a copied thing.
void write_out_replicates(Reader& reader, const Element& root);

// mjcf_attributes.cc
void read_defaults(Reader& reader, const Element& root);
/// The class of an element, or that of its surroundings; none if there is none of that name.
const DefaultClass* class_of(const Reader& reader, const Element& element, const std::string& childclass);
/// The attributes of an element of a kind ("geom", "actuator", …), with its class or that of its surroundings.
Attributes attributes_of(Reader& reader, const Element& element, std::string_view kind, const std::string& childclass);
/// A number that must not be negative; newer files may hold the coefficients of a polynomial.
double read_amount(Reader& reader, const Attributes& a, const char* name);
/// How far from a surface or a limit it holds already; 0 unless given.
double read_margin(Reader& reader, const Attributes& a);
/// Notes every name in the file: one that is made up must not be that of a later element.
void gather_names(Reader& reader, const Element& root);
/// The element's name, made up from `fallback` if it has none; an error if it is taken.
std::string take_name(Reader& reader, const Element& element, const std::string& kind, const std::string& fallback);

// mjcf_schema.cc
/// Reports every element and attribute that is not honoured though it may have an effect, and those nobody knows.
void check_schema(Reader& reader, const Element& root);

// mjcf_pose.cc
/// pos and one of quat, axisangle, xyaxes, zaxis, euler.
Transform<> read_pose(Reader& reader, const Attributes& attributes);
/// Between the two points of fromto; none, and an error, if it has no direction.
struct Ends {
  Transform<> X;    ///< in the middle, z towards the first point
  double half = 0;  ///< of the length
};
std::optional<Ends> read_ends(Reader& reader, const Attributes& attributes);
/// Where bodies are while the springs of all hinges and slides rest.
std::vector<Transform<>> poses_at_rest(const Reader& reader);
/// Of a quaternion w x y z of any length; none if it has no direction.
std::optional<Quaternion<>> turn_of(std::span<const double, 4> wxyz);
/// By three angles, as the compiler element says.
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
/// The mesh that a geom names; none, and an error, if there is no such mesh.
std::optional<PlacedShape> mesh_shape(Reader& reader, const Attributes& geom);
/// Of density one, in the geom's frame; none if the mesh is not there or encloses nothing.
std::optional<MeshSolid> mesh_mass(Reader& reader, const Attributes& geom, bool shell);
/// The box of the mesh's inertia in the geom's frame.
struct FittedBox {
  Vec3<> half;
  Transform<> X_GB;
};
std::optional<FittedBox> fit_box(Reader& reader, const Attributes& geom);

// mjcf_hfield.cc
void read_hfield_asset(Reader& reader, const Element& element);
/// The height field that a geom names; none if it is not read, and an error if there is none of that name.
std::optional<Shape> hfield_shape(Reader& reader, const Attributes& geom);

// mjcf_geom.cc
/// By its half sizes, as geoms and sites have them.
Shape primitive_shape(GeomType type, const Vec3<>& size);
void read_geom(Reader& reader, const Element& element, const Place& place);
/// Masses of bodies from their geoms, bounds and total mass as the compiler element says.
void set_masses(Reader& reader);

// mjcf_joined.cc
/// Finds the children of the world that tendons, couplings and actuators join: they become one figure. Free joints of these, and
/// those with data of their own, become slides and a ball joint.
void join_figures(Reader& reader, const Element& root);

// mjcf_figure.cc
/// Makes figures and the environment of the bodies.
void make_figures(Reader& reader);
/// The index after the last body of a subtree.
int end_of(const Reader& reader, int body);
/// Whether anything in the subtree of a child of the world can move.
bool moves(const Reader& reader, int root);
/// A place on a body, as an anchor of the scene.
Anchor anchor_on(const Reader& reader, int body, const Transform<>& X_BA);
/// The surface of the scene for a geom's friction.
void set_surfaces(Reader& reader);
/// Geoms of groups that MuJoCo does not show become transparent, where a body has others. mjcf_shown.cc
void hide_unshown_groups(Reader& reader);
void index_parts(Reader& reader);
/// The number of the body, −1 if there is none of that name.
int find_body(const Reader& reader, std::string_view name);

// mjcf_sections.cc
struct JointPlace {
  const Body* body = nullptr;
  const Joint* joint = nullptr;
  explicit operator bool() const { return joint; }
};
JointPlace find_joint(const Reader& reader, std::string_view name);
struct SitePlace {
  int body = -1;
  const Site* site = nullptr;
  explicit operator bool() const { return site; }
};
SitePlace find_site(const Reader& reader, std::string_view name);
struct GeomPlace {
  int body = -1;
  const Geom* geom = nullptr;
  explicit operator bool() const { return geom; }
};
GeomPlace find_geom(const Reader& reader, std::string_view name);
void unknown(Reader& reader, const Element& at, const char* kind, const std::string& name);
/// The thing of this kind that an attribute names, by find_site() and its like; nothing, and an error, if there is none.
template <class Place>
Place read_named(Reader& reader, const Element& element, const char* attribute, const char* kind,
                 Place (*find)(const Reader&, std::string_view)) {
  const auto name = read_required_text(reader.report, element, attribute);
  Place found = name ? find(reader, *name) : Place{};
  if (name && !found) unknown(reader, element, kind, *name);
  return found;
}
/// A coupling of two joints, or of two tendons, of a figure: of their names, and of their values in the reference configuration.
struct CoupledPart {
  std::string name;
  double reference = 0;
};
void add_coupling(Reader& reader, const Element& element, int figure, const CoupledPart& dependent,
                  const std::optional<CoupledPart>& driver, bool tendons);

// mjcf_tendon.cc
void read_tendons(Reader& reader, const Element& root);
const Tendon* find_tendon(const Reader& reader, std::string_view name);
/// Two tendons whose lengths go together.
void read_tendon_coupling(Reader& reader, const Element& element, bool active);
/// A range that holds if it is limited, or if it is there and files tell so by it.
Interval read_limits(Reader& reader, const Attributes& a, const char* range, const char* limited, bool always = false);

// mjcf_sensor.cc
void read_sensors(Reader& reader, const Element& root);

// mjcf_actuator.cc
void read_actuators(Reader& reader, const Element& root);

// mjcf_actuator_law.cc
/// Whether an element is an actuator of a kind that has a law here.
bool has_law(std::string_view tag);
/// The law of an actuator of a class: what the class has for its kind, and then what the element says.
ActuatorLaw read_law(Reader& reader, const Element& element, const DefaultClass* of);
/// What an actuator's element in a class says about the laws of all kinds.
void read_default_law(Reader& reader, const Element& element, DefaultClass& of);

// mjcf_inertia.cc
/// How a length changes with the coordinates of a figure in the reference configuration.
struct ReferenceMoment {
  std::vector<std::pair<std::string, double>> joints{};  ///< of joints of one coordinate
  std::vector<Pull> pulls{};                             ///< by body
};
/// |M⁻¹·moment|, and the inertia along it, 1/(moment·M⁻¹·moment); none where M is singular or has too many rows.
std::optional<double> unit_acceleration(Reader& reader, int figure, const ReferenceMoment& moment);
std::optional<double> felt_inertia(Reader& reader, int figure, const ReferenceMoment& moment);
/// Stiffness and damping of joints that have a time constant instead, by the inertia they feel.
void set_spring_dampers(Reader& reader);

// mjcf_sections.cc
void read_equalities(Reader& reader, const Element& root);
void read_contacts(Reader& reader, const Element& root);
void read_keyframes(Reader& reader, const Element& root);

}  // namespace kansetsu::io::mjcf
