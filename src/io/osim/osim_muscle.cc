#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/lookup.h"
#include "io/osim/osim_codes.h"
#include "io/osim/osim_reader.h"
#include "io/text.h"
#include "kansetsu/spatial/euler.h"

/// Muscles of an OpenSim model: paths become tendons, muscle parameters actuators on them.
namespace kansetsu::io::osim {
namespace {

/// A kind of muscle, and the curves used for it.
struct MuscleKind {
  HillCurves curves = HillCurves::kThelen;
  bool own = true;  ///< the curves are its own, not an approximation
};
const std::map<std::string_view, MuscleKind>& muscle_kinds() {
  static const std::map<std::string_view, MuscleKind> kKinds{
      {"Thelen2003Muscle", {}},
      {"Thelen2003Muscle_Deprecated", {}},
      {"DeGrooteFregly2016Muscle", {HillCurves::kDeGroote, true}},
      {"Millard2012EquilibriumMuscle", {HillCurves::kMillard, true}},
      {"Millard2012AccelerationMuscle", {HillCurves::kMillard, true}},
      {"RigidTendonMuscle", {HillCurves::kMillard, false}},
      {"Schutte1993Muscle_Deprecated", {HillCurves::kThelen, false}},
      {"Delp1990Muscle_Deprecated", {HillCurves::kThelen, false}}};
  return kKinds;
}

class MuscleReader {
 public:
  MuscleReader(const Element& root, const Element& model, XmlReport& report, OsimModel& out)
      : root_(root), model_(model), report_(report), out_(out) {
    for (const LinkDescription& link : out.model.links) bodies_.insert(link.name);
    bodies_.insert("ground");
    const auto& coordinates = out.map.coordinates;
    for (std::size_t i = 0; i < coordinates.size(); ++i) coordinates_.emplace(coordinates[i].name, int(i));
    for (const auto& [joint, axis] : out.map.joints)
      if (axis.function.is_identity()) joints_.emplace(axis.coordinate, joint);
    for (const Element* owner : {&model_, &root_}) read_defaults(*owner);
  }

  void read() {
    for (const Element* body : objects_of(model_, "BodySet")) read_wraps(*body);
    if (const Element* ground = model_.FirstChildElement("Ground")) read_wraps(*ground);
    for (const Element* force : objects_of(model_, "ForceSet")) read_force(*force);
  }

 private:
  Vec3<> turned(const Vec3<>& v) const { return out_.axes * v; }
  TendonPlace place(const std::string& body, const Transform<>& X) const {
    const Transform<> in_model{out_.axes * X.R, turned(X.p)};  // z of the object stays its z
    return {body == "ground" ? "" : body, to_pose(in_model)};
  }

  // --- Wrap objects

  struct WrapObject {
    TendonPart part{};
    bool known = false;  ///< a sphere or cylinder
  };

  void read_wraps(const Element& body) {
    const char* name = body.Attribute("name");
    const std::string on = std::string_view(body.Name()) == "Ground" ? "ground" : name ? name : "";
    for (const Element* object : objects_of(body, "WrapObjectSet")) {
      const char* called = object->Attribute("name");
      if (!called || !is_clean(called)) {
        report_.error(*object, kName, "a wrap object has no name", "give it one");
        continue;
      }
      const std::string_view kind = object->Name();
      WrapObject wrap;
      wrap.known = kind == "WrapSphere" || kind == "WrapCylinder";
      if (!child_flag(*object, "active", true)) continue;
      if (wrap.known) read_round(*object, on, wrap.part);
      wraps_.insert_or_assign(called, std::move(wrap));
    }
  }

  void read_round(const Element& object, const std::string& body, TendonPart& out) {
    const bool sphere = std::string_view(object.Name()) == "WrapSphere";
    out.kind = sphere ? TendonPartKind::kSphere : TendonPartKind::kCylinder;
    out.radius = child_number(report_, object, "radius", 0);
    if (!sphere) out.length = child_number(report_, object, "length", 1);
    if (!(out.radius > 0) || !(out.length > 0))
      report_.error(object, kNumber, "the radius or length of a wrap object is not above zero", "e.g. 0.03");
    const Transform<> X{from_euler(EulerOrder::kXYZ, child_vector(report_, object, "xyz_body_rotation")),
                        child_vector(report_, object, "translation")};
    out.at = place(body, X);
    // A quadrant: the path stays on that side.
    const std::string quadrant = child_text(object, "quadrant");
    const std::size_t axis = quadrant.empty() ? std::string::npos : std::string_view("xyz").find(quadrant.back());
    if (axis == std::string::npos) return;
    const double far = (quadrant.front() == '-' ? -2 : 2) * out.radius;  // beyond the surface: outside
    const Vec3<> side{axis == 0 ? far : 0, axis == 1 ? far : 0, axis == 2 ? far : 0};
    out.side = place(body, {Mat3<>::identity(), X * side});
    out.side_is = TendonSide::kHalf;
  }

  // --- Paths

  /// The joint whose position equals a coordinate.
  std::optional<DofRef> joint_of(const Element& element, const std::string& coordinate) {
    const auto index = coordinates_.find(coordinate);
    if (index == coordinates_.end())
      return report_.refuse(element, kReference, fmt::format("there is no coordinate {}", quote(coordinate)),
                            "name a coordinate of the model");
    if (const auto joint = joints_.find(index->second); joint != joints_.end()) return DofRef{joint->second, 0};
    report_.warning(element, kIgnored, fmt::format("no joint turns by {} itself", quote(coordinate)),
                    "the muscle is ignored");
    return std::nullopt;
  }

  /// The name of a coordinate in files of version 2, 3 or 4.
  static std::string coordinate_text(const Element& point, const std::string& key) {
    std::string name = last_part(child_text(point, ("socket_" + key).c_str()));
    return name.empty() ? last_part(child_text(point, key.c_str())) : name;
  }

  std::optional<TendonPart> read_point(const Element& point) {
    std::string body = last_part(child_text(point, "socket_parent_frame"));
    if (body.empty()) body = last_part(child_text(point, "body"));
    if (!bodies_.contains(body))
      return report_.refuse(point, kReference, fmt::format("there is no body {}", quote(body)),
                            "name a body of the model");
    TendonPart part{.at = place(body, {Mat3<>::identity(), child_vector(report_, point, "location")})};
    part.at.pose.rpy = {};
    const std::string_view kind = point.Name();
    if (kind == "ConditionalPathPoint") {
      const auto dof = joint_of(point, coordinate_text(point, "coordinate"));
      double range[2] = {0, 0};
      child_numbers(report_, point, "range", range);
      if (!dof) return std::nullopt;
      part.when = TendonCondition{*dof, {range[0], range[1]}};
    } else if (kind == "MovingPathPoint") {
      part.at.pose.p = {};
      if (!read_shifts(point, part)) return std::nullopt;
    } else if (kind != "PathPoint") {
      return report_.refuse(point, kFunction, fmt::format("points of kind <{}> are not known", tag_of(point)),
                            "known: PathPoint, ConditionalPathPoint, MovingPathPoint");
    }
    return part;
  }

  bool read_shifts(const Element& point, TendonPart& part) {
    constexpr Vec3<> kUnits[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string letter(1, "xyz"[i]);
      const Element* function = point.FirstChildElement((letter + "_location").c_str());
      if (function && !function->FirstChildElement("function"))
        function = function->FirstChildElement();
      else if (function)
        function = function->FirstChildElement("function")->FirstChildElement();
      if (!function) continue;  // stays at zero
      const std::optional<CoordinateFunction> read = read_function(report_, *function);
      if (!read) return false;
      if (read->is_constant()) {
        part.at.pose.p += turned((*read)(0) * kUnits[i]);
        continue;
      }
      const auto dof = joint_of(point, coordinate_text(point, letter + "_coordinate"));
      if (!dof) return false;
      part.shifts.push_back({*dof, *read, turned(kUnits[i])});
    }
    return true;
  }

  /// Adds wrap objects to the stretches of the path in their range.
  void add_wraps(const Element& path, std::vector<std::vector<TendonPart>>& stretches) {
    std::set<std::size_t> free;  // stretches without a wrap object
    for (std::size_t k = 0; k < stretches.size(); ++k) free.insert(free.end(), k);
    for (const Element* wrap : objects_of(path, "PathWrapSet")) {
      const std::string name = last_part(child_text(*wrap, "wrap_object"));
      const auto found = wraps_.find(name);
      if (found == wraps_.end()) continue;  // switched off
      if (!found->second.known) {
        report_.repeated_warning(*wrap, kIgnored, fmt::format("paths do not wrap around {}", quote(name)),
                                 "spheres and cylinders are supported, ellipsoids and tori are not");
        continue;
      }
      double range[2] = {-1, -1};
      child_numbers(report_, *wrap, "range", range);
      const std::size_t count = stretches.size();
      const std::size_t first = range[0] < 1 ? 0 : std::size_t(std::min(range[0], double(count) + 1)) - 1;
      const std::size_t last = range[1] < 1 ? count : std::size_t(std::min(range[1], double(count) + 1)) - 1;
      std::size_t straight = 0;
      for (auto k = free.lower_bound(first); k != free.end() && *k < last; k = free.erase(k), ++straight)
        stretches[*k].push_back(found->second.part);
      if (first < last && straight < last - first)
        report_.repeated_warning(
            *wrap, kIgnored,
            fmt::format("paths do not wrap around {} where they wrap around another object", quote(name)),
            "between two points a path wraps around one object");
    }
  }

  bool read_path(const Element& force, TendonDescription& out) {
    const Element* path = force.FirstChildElement("GeometryPath");
    if (const Element* holder = force.FirstChildElement("path"); !path && holder)
      path = holder->FirstChildElement("GeometryPath");
    if (!path) {
      report_.warning(force, kIgnored, "the muscle has no <GeometryPath> and is ignored",
                      "lengths that are functions of coordinates are not known");
      return false;
    }
    std::vector<TendonPart> points;
    bool whole = true;
    for (const Element* point : objects_of(*path, "PathPointSet")) {
      std::optional<TendonPart> part = read_point(*point);
      whole = whole && part;
      if (part) points.push_back(*std::move(part));
    }
    if (whole && points.size() < 2)
      report_.error(*path, kMissing, fmt::format("the path has {} point(s)", points.size()), "it needs at least two");
    if (!whole || points.size() < 2) return false;
    std::vector<std::vector<TendonPart>> stretches(points.size() - 1);
    add_wraps(*path, stretches);
    for (std::size_t k = 0; k < points.size(); ++k) {
      out.path.push_back(std::move(points[k]));
      if (k < stretches.size()) out.path.insert(out.path.end(), stretches[k].begin(), stretches[k].end());
    }
    return true;
  }

  // --- Muscles

  /// Reads the defaults of each kind of force; the first has precedence, and the model's over the file's.
  void read_defaults(const Element& owner) {
    const Element* defaults = owner.FirstChildElement("defaults");
    std::set<std::string_view> seen;
    for (const Element* kind = defaults ? defaults->FirstChildElement() : nullptr; kind;
         kind = kind->NextSiblingElement()) {
      if (!seen.insert(kind->Name()).second) continue;
      for (const Element* e = kind->FirstChildElement(); e; e = e->NextSiblingElement())
        defaults_[kind->Name()].emplace(e->Name(), Default{e, std::nullopt});
    }
  }

  /// A number of a force: its own, that of the defaults, or `usual`.
  double number(const Element& force, const char* key, double usual) {
    if (force.FirstChildElement(key)) return child_number(report_, force, key, usual);
    auto* kind = find_in(defaults_, std::string_view(force.Name()));
    Default* found = kind ? find_in(*kind, std::string_view(key)) : nullptr;
    if (!found) return usual;
    auto& [element, value] = *found;
    if (!value) value = child_number(report_, *element->Parent()->ToElement(), key, usual);
    return *value;
  }

  void read_force(const Element& force) {
    const std::string_view kind = force.Name();
    const auto muscle = muscle_kinds().find(kind);
    const bool cable = kind == "PathActuator";
    if (muscle == muscle_kinds().end() && !cable)
      return report_.repeated_warning(force, kIgnored, fmt::format("<{}> is not used", tag_of(force)),
                                      "of forces, muscles and path actuators are");
    if (child_flag(force, "isDisabled", false) || !child_flag(force, "appliesForce", true)) return;
    const char* name = force.Attribute("name");
    if (!name || !is_clean(name) || !*name || !names_.insert(name).second)
      return report_.error(force, kName, "a muscle has no name, or that of another", "names are unique");
    TendonDescription tendon{.name = name};
    tendon.line = force.GetLineNum();
    if (!read_path(force, tendon)) return;
    ActuatorDescription out{.name = name};
    out.transmission = Transmission::kTendon, out.target = name;
    out.line = force.GetLineNum();
    out.control_range = {number(force, "min_control", cable ? -kInfinity : 0.01),
                         number(force, "max_control", cable ? kInfinity : 1)};
    if (cable)
      out.gain_numbers = {-number(force, "optimal_force", 1)};
    else
      read_muscle(force, muscle->second, out);
    out_.actuation.tendons.push_back(std::move(tendon));
    out_.actuation.actuators.push_back(std::move(out));
  }

  void read_muscle(const Element& force, const MuscleKind& kind, ActuatorDescription& out) {
    if (!kind.own)
      report_.repeated_warning(
          force, kApproximated,
          fmt::format("curves of <{}> are those of {}", tag_of(force),
                      kind.curves == HillCurves::kThelen ? "Thelen (2003)" : "Millard et al. (2013)"),
          "forces differ by some percent of the largest");
    out.gain = GainLaw::kHill, out.bias = BiasLaw::kHill, out.activation = ActivationLaw::kMuscle;
    out.activation_numbers = {number(force, "activation_time_constant", 0.015),
                              number(force, "deactivation_time_constant", 0.05), 0};
    out.activation_range = {number(force, "minimum_activation", 0.01), 1};
    HillMuscle& m = out.hill;
    m.curves = kind.curves;
    m.force = number(force, "max_isometric_force", 1000);
    m.fibre_length = number(force, "optimal_fiber_length", 0.1);
    m.tendon_length = number(force, "tendon_slack_length", 0.2);
    m.pennation = number(force, "pennation_angle_at_optimal", number(force, "pennation_angle", 0));
    m.fastest = number(force, "max_contraction_velocity", number(force, "Vmax", 10));
    m.width = number(force, "KshapeActive", m.width);
    if (kind.curves == HillCurves::kMillard) m.passive_strain = 0.7, m.passive_shape = 4;
    m.passive_strain = number(force, "FmaxMuscleStrain", m.passive_strain);
    m.passive_shape = number(force, "KshapePassive", m.passive_shape);
    m.curvature = number(force, "Af", m.curvature);
    m.lengthening = number(force, "Flen", m.lengthening);
    if (const Element* curve = force.FirstChildElement("ForceVelocityCurve"))
      m.lengthening = child_number(report_, *curve, "max_eccentric_velocity_force_multiplier", m.lengthening);
  }

  const Element &root_, &model_;
  XmlReport& report_;
  OsimModel& out_;
  std::set<std::string, std::less<>> bodies_, names_;
  std::map<std::string, int, std::less<>> coordinates_;  ///< numbers by name
  std::map<int, std::string> joints_;                    ///< joints whose position equals a coordinate
  struct Default {
    const Element* element = nullptr;
    std::optional<double> value{};  ///< once evaluated
  };
  std::map<std::string, std::map<std::string, Default, std::less<>>, std::less<>> defaults_;  ///< by kind and key
  std::map<std::string, WrapObject, std::less<>> wraps_;
};

}  // namespace

void read_muscles(const Element& root, const Element& model, XmlReport& report, OsimModel& out) {
  MuscleReader(root, model, report, out).read();
}

}  // namespace kansetsu::io::osim
