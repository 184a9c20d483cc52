#include "kansetsu/io/osim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/lookup.h"
#include "io/osim/osim_codes.h"
#include "io/osim/osim_reader.h"
#include "io/text.h"
#include "kansetsu/spatial/euler.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::io {
namespace {

using namespace osim;

/// A joint of the file: six motions between a frame on the parent and one on the child.
struct FileJoint {
  const Element* element = nullptr;
  std::string name{}, parent{}, child{};
  Transform<> X_PF{Mat3<>::identity(), {}}, X_CM{Mat3<>::identity(), {}};  ///< in file axes
  std::array<MapAxis, 3> turns{}, shifts{};
};

constexpr Vec3<> kAxes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/// The motions of joints other than CustomJoint, in the order of their coordinates: rotations about x y z are 0 1 2, translations 3 4 5.
const std::map<std::string_view, std::vector<int>>& joint_kinds() {
  static const std::map<std::string_view, std::vector<int>> kKinds{
      {"WeldJoint", {}},          {"PinJoint", {2}},
      {"SliderJoint", {3}},       {"BallJoint", {0, 1, 2}},
      {"GimbalJoint", {0, 1, 2}}, {"UniversalJoint", {0, 1}},
      {"PlanarJoint", {2, 3, 4}}, {"FreeJoint", {0, 1, 2, 3, 4, 5}}};
  return kKinds;
}

class OsimReader {
 public:
  explicit OsimReader(const std::string& file) : report_(file, codes()) { out_.model.file = file; }
  XmlReport& report() { return report_; }

  Loaded<OsimModel> read(const tinyxml2::XMLDocument& document) {
    const Element* model = document.RootElement()->FirstChildElement("Model");
    if (!model) {
      report_.error(*document.RootElement(), kMissing, "there is no <Model>", "name the file of a model");
      return fail();
    }
    const char* name = model->Attribute("name");
    out_.model.name = name && is_clean(name) ? name : "model";
    read_gravity(*model);
    read_bodies(*model);
    for (const Element* joint : objects_of(*model, "JointSet")) read_joint(*joint, nullptr);
    read_couplers(*model);
    build_tree(*document.RootElement());
    read_markers(*model);
    read_contact_spheres(*model);
    read_muscles(*document.RootElement(), *model, report_, out_);
    std::vector<Diagnostic> diagnostics = report_.take();
    if (has_errors(diagnostics)) return {std::nullopt, std::move(diagnostics)};
    for (Diagnostic& d : validate(out_.model)) diagnostics.push_back(std::move(d));
    for (Diagnostic& d : validate(out_.model, out_.actuation)) diagnostics.push_back(std::move(d));
    return loaded(std::move(out_), std::move(diagnostics));
  }

 private:
  Loaded<OsimModel> fail() { return {std::nullopt, report_.take()}; }

  Vec3<> turned(const Vec3<>& v) const { return out_.axes * v; }
  Transform<> turned(const Transform<>& X) const { return {out_.axes * X.R * transpose(out_.axes), turned(X.p)}; }

  /// By name, in logarithmic time.
  std::optional<int> find_coordinate(std::string_view name) const {
    const int* found = find_in(coordinates_, name);
    return found ? std::optional(*found) : std::nullopt;
  }

  /// Reads gravity, which determines the upward axis.
  void read_gravity(const Element& model) {
    Vec3<> g{0, -9.80665, 0};
    double v[3] = {g.x, g.y, g.z};
    child_numbers(report_, model, "gravity", v);
    g = {v[0], v[1], v[2]};
    const bool z_up = std::abs(g.z) > std::abs(g.y);
    if (!z_up) out_.axes = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};
    out_.model.gravity = turned(g);
  }

  void read_bodies(const Element& model) {
    for (const Element* body : objects_of(model, "BodySet")) {
      if (std::string_view(body->Name()) != "Body") continue;
      const char* name = body->Attribute("name");
      if (!name || !is_clean(name) || std::string_view(name).empty()) {
        report_.error(*body, kName, "a body has no name", "give it one");
        continue;
      }
      if (!names_.insert(name).second) {
        report_.error(*body, kName, fmt::format("there are two bodies {}", quote(name)), "names are unique");
        continue;
      }
      if (std::string_view(name) != "ground") read_body(*body, name);
      if (const Element* joint = body->FirstChildElement("Joint"))
        if (const Element* kind = joint->FirstChildElement()) read_joint(*kind, name);
    }
  }

  void read_body(const Element& body, const std::string& name) {
    LinkDescription link{.name = name};
    link.line = body.GetLineNum();
    Inertial inertial;
    inertial.mass = child_number(report_, body, "mass", 0);
    double I[6] = {};
    if (!child_numbers(report_, body, "inertia", I)) {
      int i = 0;
      for (const char* entry : {"inertia_xx", "inertia_yy", "inertia_zz", "inertia_xy", "inertia_xz", "inertia_yz"})
        I[i++] = child_number(report_, body, entry, 0);
    }
    inertial.origin = to_pose({out_.axes, turned(child_vector(report_, body, "mass_center"))});
    inertial.inertia = {I[0], I[3], I[4], I[1], I[5], I[2]};
    if (inertial.mass > 0) link.inertial = inertial;
    out_.model.links.push_back(std::move(link));
  }

  Transform<> read_frame(const Element& element, const char* place, const char* orientation) {
    const Vec3<> angles = child_vector(report_, element, orientation);
    return {from_euler(EulerOrder::kXYZ, angles), child_vector(report_, element, place)};
  }

  void read_joint(const Element& element, const char* child) {
    FileJoint joint{.element = &element};
    const char* name = element.Attribute("name");
    joint.name = name && is_clean(name) && *name ? name : fmt::format("joint_{}", joints_.size());
    if (child) {  // version 3: the joint is an element of the child body
      joint.child = child;
      joint.parent = last_part(child_text(element, "parent_body"));
      joint.X_PF = read_frame(element, "location_in_parent", "orientation_in_parent");
      joint.X_CM = read_frame(element, "location", "orientation");
    } else {
      resolve_socket(element, "socket_parent_frame", joint.parent, joint.X_PF);
      resolve_socket(element, "socket_child_frame", joint.child, joint.X_CM);
    }
    if (child_flag(element, "reverse", false))
      return report_.error(element, kJointKind, "the joint is reversed", "exchange its parent and child");
    if (joint.parent.empty() || joint.child.empty())
      return report_.error(element, kMissing, "the joint has no parent or no child", "name both bodies");
    const std::vector<int> own = read_coordinates(element);
    if (read_motions(element, own, joint)) joints_.push_back(std::move(joint));
  }

  /// Version 4: a path to a body, or to a frame of the joint on a body.
  void resolve_socket(const Element& joint, const char* socket, std::string& body, Transform<>& X) {
    body = last_part(child_text(joint, socket));
    const Element* frames = joint.FirstChildElement("frames");
    for (int depth = 0; frames && depth < 4; ++depth) {
      bool found = false;
      for (const Element* f = frames->FirstChildElement(); f && !found; f = f->NextSiblingElement()) {
        if (!f->Attribute("name") || body != f->Attribute("name")) continue;
        X = read_frame(*f, "translation", "orientation") * X;
        body = last_part(child_text(*f, "socket_parent"));
        found = true;
      }
      if (!found) return;
    }
  }

  std::vector<int> read_coordinates(const Element& joint) {
    std::vector<int> own;
    std::vector<const Element*> elements = objects_of(joint, "CoordinateSet");
    if (const Element* list = joint.FirstChildElement("coordinates"))
      for (const Element* c = list->FirstChildElement(); c; c = c->NextSiblingElement()) elements.push_back(c);
    for (const Element* c : elements) {
      const char* name = c->Attribute("name");
      if (!name || !is_clean(name) || find_coordinate(name)) {
        report_.error(*c, kName, "a coordinate has no name, or that of another", "names are unique");
        continue;
      }
      MapCoordinate coordinate{.name = name, .rotational = child_text(*c, "motion_type") != "translational"};
      coordinate.value = child_number(report_, *c, "default_value", 0);
      double range[2] = {-kInfinity, kInfinity};
      child_numbers(report_, *c, "range", range);
      if (range[0] < range[1]) coordinate.lower = range[0], coordinate.upper = range[1];
      coordinate.locked = child_flag(*c, "locked", false);
      own.push_back(int(out_.map.coordinates.size()));
      coordinates_.emplace(name, own.back());
      out_.map.coordinates.push_back(std::move(coordinate));
    }
    return own;
  }

  bool read_motions(const Element& element, const std::vector<int>& own, FileJoint& joint) {
    for (int i = 0; i < 3; ++i) {
      joint.turns[std::size_t(i)].axis = joint.shifts[std::size_t(i)].axis = kAxes[i];
      joint.turns[std::size_t(i)].function = joint.shifts[std::size_t(i)].function = CoordinateFunction::constant(0);
    }
    const std::string kind(element.Name());
    if (kind == "CustomJoint") return read_spatial_transform(element, joint);
    const auto found = joint_kinds().find(kind);
    if (found == joint_kinds().end())
      return report_.fail(element, kJointKind, fmt::format("joints of kind <{}> are not known", tag_of(element)),
                          "known: Custom, Weld, Pin, Slider, Ball, Gimbal, Universal, Planar and FreeJoint");
    if (own.size() != found->second.size())
      return report_.fail(element, kMissing,
                          fmt::format("{} coordinates, {} are needed", own.size(), found->second.size()),
                          "each motion of the joint has one");
    for (std::size_t i = 0; i < own.size(); ++i) {
      const int motion = found->second[i];
      MapAxis& axis = motion < 3 ? joint.turns[std::size_t(motion)] : joint.shifts[std::size_t(motion - 3)];
      axis.coordinate = own[i];
      axis.function = CoordinateFunction::linear();
      if (motion >= 3) out_.map.coordinates[std::size_t(own[i])].rotational = false;
    }
    return true;
  }

  bool read_spatial_transform(const Element& element, FileJoint& joint) {
    const Element* transform = element.FirstChildElement("SpatialTransform");
    if (!transform) return report_.fail(element, kMissing, "there is no <SpatialTransform>", "a CustomJoint has one");
    int k = 0;
    for (const Element* axis = transform->FirstChildElement("TransformAxis"); axis && k < 6;
         axis = axis->NextSiblingElement("TransformAxis"), ++k) {
      MapAxis& out = k < 3 ? joint.turns[std::size_t(k)] : joint.shifts[std::size_t(k - 3)];
      double v[3] = {out.axis.x, out.axis.y, out.axis.z};
      child_numbers(report_, *axis, "axis", v);
      out.axis = {v[0], v[1], v[2]};
      constexpr double kNoLength = 1e-9;  // axes are unit vectors in files; shorter: a rounded zero
      if (!(norm(out.axis) > kNoLength)) return report_.fail(*axis, kNumber, "the axis has no length", "e.g. 0 0 1");
      if (k < 3) out.axis = (1 / norm(out.axis)) * out.axis;
      if (!read_axis(*axis, out)) return false;
    }
    return true;
  }

  bool read_axis(const Element& axis, MapAxis& out) {
    const Element* function = axis.FirstChildElement("function");
    function = function ? function->FirstChildElement() : nullptr;
    for (const Element* e = axis.FirstChildElement(); e && !function; e = e->NextSiblingElement())
      if (std::string_view(e->Name()) != "coordinates" && std::string_view(e->Name()) != "axis" &&
          e->FirstChildElement())
        function = e;
    for (const char* name : {"Constant", "LinearFunction"})
      if (!function) function = axis.FirstChildElement(name);
    if (!function) return true;  // stays at zero
    const std::optional<CoordinateFunction> read = read_function(report_, *function);
    if (!read) return false;
    out.function = *read;
    std::string_view words = {};
    const std::string list = child_text(axis, "coordinates");
    words = list;
    const std::string_view first = next_word(words);
    if (first.empty()) {
      if (!out.function.is_constant()) out.function = CoordinateFunction::constant(out.function(0));
      return true;
    }
    if (!next_word(words).empty())
      return report_.fail(axis, kFunction, "functions of several coordinates are not known", "one coordinate per axis");
    const std::optional<int> coordinate = find_coordinate(first);
    if (!coordinate)
      return report_.fail(axis, kReference, fmt::format("there is no coordinate {}", quote(first)),
                          "a joint's axes move by the joint's own coordinates");
    out.coordinate = *coordinate;
    return true;
  }

  void read_couplers(const Element& model) {
    for (const Element* c : objects_of(model, "ConstraintSet")) {
      if (std::string_view(c->Name()) != "CoordinateCouplerConstraint") {
        report_.repeated_warning(*c, kIgnored, fmt::format("<{}> is not used", tag_of(*c)),
                                 "coupled coordinates are the only constraints");
        continue;
      }
      if (child_flag(*c, "isDisabled", false) || !child_flag(*c, "isEnforced", true)) continue;
      const auto dependent = find_coordinate(child_text(*c, "dependent_coordinate_name")),
                 leader = find_coordinate(child_text(*c, "independent_coordinate_names"));
      const Element* function = c->FirstChildElement("coupled_coordinates_function");
      function = function ? function->FirstChildElement() : nullptr;
      if (!dependent || !leader || dependent == leader || !function) {
        report_.error(*c, kReference, "the coupling has no function, or not two coordinates of the model",
                      "one coordinate follows one other");
        continue;
      }
      if (out_.map.coordinates[std::size_t(*leader)].follows >= 0) {
        report_.error(*c, kReference, "the leading coordinate depends on another",
                      "chains of couplings are not supported");
        continue;
      }
      std::optional<CoordinateFunction> read = read_function(report_, *function);
      if (!read) continue;
      read->scale *= child_number(report_, *c, "scale_factor", 1);
      out_.map.coordinates[std::size_t(*dependent)].follows = *leader;
      out_.map.coordinates[std::size_t(*dependent)].function = *std::move(read);
    }
  }

  /// Builds the tree from ground outward; each joint becomes a chain of joints of one coordinate.
  void build_tree(const Element& document) {
    const FileJoint* root = nullptr;
    for (const FileJoint& joint : joints_) {
      for (const std::string& body : {joint.parent, joint.child})
        if (body != "ground" && !names_.contains(body))
          report_.error(*joint.element, kReference, fmt::format("there is no body {}", quote(body)),
                        "name a body of the model");
      if (joint.parent != "ground") continue;
      if (root)
        report_.error(*joint.element, kTree,
                      fmt::format("{} and {} both have ground as parent", root->name, joint.name),
                      "one figure per file");
      root = &joint;
    }
    if (!root)
      return report_.error(document, kTree, "no joint has ground as its parent",
                           "the first joint has ground as its parent");
    bool moves = false;
    for (int i = 0; i < 3; ++i)
      moves |=
          !root->turns[std::size_t(i)].function.is_constant() || !root->shifts[std::size_t(i)].function.is_constant();
    out_.model.base = moves ? Base::kFree : Base::kFixed;
    out_.map.base_turns = root->turns, out_.map.base_shifts = root->shifts;
    for (MapAxis& a : out_.map.base_turns) a.axis = turned(a.axis);
    for (MapAxis& a : out_.map.base_shifts) a.axis = turned(a.axis);
    out_.map.base_socket = turned(root->X_PF), out_.map.base_plug = turned(root->X_CM);
    if (!moves) {
      Transform<> X{Mat3<>::identity(), {}};
      for (const MapAxis& a : out_.map.base_turns) X.R = X.R * exp_rotation(a.function(0) * a.axis);
      for (const MapAxis& a : out_.map.base_shifts) X.p += a.function(0) * a.axis;
      out_.model.base_pose = to_pose(out_.map.base_socket * X * inverse(out_.map.base_plug));
    }
    // The root's link comes first.
    std::stable_partition(out_.model.links.begin(), out_.model.links.end(),
                          [&](const LinkDescription& l) { return l.name == root->child; });
    for (const FileJoint& joint : joints_)
      if (&joint != root) add_chain(joint);
  }

  void add_chain(const FileJoint& joint) {
    std::string parent = joint.parent;
    Transform<> X = turned(joint.X_PF);  // from the last link of the chain to the next frame
    std::vector<JointDescription> chain;
    const auto add = [&](const MapAxis& motion, JointType type, const std::string& suffix) {
      const Vec3<> axis = turned(motion.axis);
      if (motion.coordinate < 0) {
        const double value = motion.function(0);
        X = X * (type == JointType::kRevolute ? Transform<>{exp_rotation(value * axis), {}}
                                              : Transform<>{Mat3<>::identity(), value * axis});
        return;
      }
      const MapCoordinate& c = out_.map.coordinates[std::size_t(motion.coordinate)];
      const bool own = motion.function.is_identity() && !names_.contains("joint " + c.name);
      JointDescription out{.name = own ? c.name : joint.name + "_" + suffix, .type = type, .parent = parent};
      out.child = fmt::format("{}_{}", joint.name, suffix);
      out.socket = to_pose(X), out.axis = axis;
      out.line = joint.element->GetLineNum();
      if (own) {
        names_.insert("joint " + c.name);
        out.dofs = {{.lower = c.lower, .upper = c.upper}};
      }
      MapAxis mapped = motion;
      mapped.function.scale *= norm(axis);  // the model's axis has length one
      out_.map.joints.emplace_back(out.name, std::move(mapped));
      parent = out.child;
      X = {Mat3<>::identity(), {}};
      chain.push_back(std::move(out));
    };
    for (int i = 0; i < 3; ++i) add(joint.shifts[std::size_t(i)], JointType::kPrismatic, fmt::format("shift{}", i + 1));
    for (int i = 0; i < 3; ++i) add(joint.turns[std::size_t(i)], JointType::kRevolute, fmt::format("turn{}", i + 1));
    if (chain.empty()) chain.push_back({.name = joint.name, .parent = parent, .socket = to_pose(X)});
    // Constant motions after the last coordinate go into the plug.
    const Transform<> rest = chain.back().type == JointType::kFixed ? Transform<>{Mat3<>::identity(), {}} : X;
    chain.back().child = joint.child;
    chain.back().plug = to_pose(turned(joint.X_CM) * inverse(rest));
    for (JointDescription& j : chain) {
      if (j.child != joint.child) out_.model.links.push_back({.name = j.child});
      out_.model.joints.push_back(std::move(j));
    }
  }

  void read_markers(const Element& model) {
    std::set<std::string, std::less<>> taken;
    for (const Element* marker : objects_of(model, "MarkerSet")) {
      const char* name = marker->Attribute("name");
      std::string body = last_part(child_text(*marker, "body"));
      if (body.empty()) body = last_part(child_text(*marker, "socket_parent_frame"));
      if (!name || !is_clean(name) || !names_.contains(body) || body == "ground" || !taken.insert(name).second) {
        report_.repeated_warning(*marker, kIgnored,
                                 "a marker is ignored: its body is not in the model, or its name is not unique",
                                 "name both");
        continue;
      }
      out_.model.frames.push_back({name, body, {turned(child_vector(report_, *marker, "location")), {}}});
      out_.markers.emplace_back(name);
    }
  }

  void read_contact_spheres(const Element& model) {
    std::map<std::string, LinkDescription*, std::less<>> links;
    for (LinkDescription& link : out_.model.links) links.emplace(link.name, &link);
    for (const Element* shape : objects_of(model, "ContactGeometrySet")) {
      std::string body = last_part(child_text(*shape, "body_name"));
      if (body.empty()) body = last_part(child_text(*shape, "socket_frame"));
      if (std::string_view(shape->Name()) != "ContactSphere") {
        if (std::string_view(shape->Name()) != "ContactHalfSpace")
          report_.repeated_warning(*shape, kIgnored, fmt::format("<{}> is not used", tag_of(*shape)), "spheres are");
        continue;
      }
      const double radius = child_number(report_, *shape, "radius", 0);
      const auto link = links.find(body);
      if (link != links.end() && radius > 0)
        link->second->collisions.push_back(
            {.origin = {turned(child_vector(report_, *shape, "location")), {}}, .shape = Sphere{radius}});
    }
  }

  XmlReport report_;
  OsimModel out_;
  std::map<std::string, int, std::less<>> coordinates_;  ///< numbers by name
  std::set<std::string, std::less<>> names_;             ///< of bodies; "joint NAME" of joints called after coordinates
  std::vector<FileJoint> joints_;
};

}  // namespace

bool names_osim(const std::filesystem::path& file) { return same_word(file.extension().string(), ".osim"); }

Loaded<OsimModel> parse_osim(std::string_view text, const std::string& file_name) {
  OsimReader reader(file_name);
  tinyxml2::XMLDocument document;
  if (!parse_document(text, document, reader.report())) return {std::nullopt, reader.report().take()};
  return reader.read(document);
}

Loaded<OsimModel> read_osim(const std::filesystem::path& file) {
  OsimReader reader(file.string());
  tinyxml2::XMLDocument document;
  if (!open_document(file, document, reader.report())) return {std::nullopt, reader.report().take()};
  return reader.read(document);
}

}  // namespace kansetsu::io
