#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "io/text.h"
#include "io/urdf/urdf_codes.h"
#include "io/urdf/urdf_reader.h"
#include "model/model_schema.h"

namespace kansetsu::io::urdf {
namespace {

/// The index of a joint coordinate; validate() checks it against the joint.
int read_index(Reader& reader, const Element& element) {
  double index = 0;
  read_number(reader.report, element, "index", index);
  if (index >= 0 && index < 6 && index == std::floor(index)) return static_cast<int>(index);
  reader.report.error(element, kRange, fmt::format("index {} is not a coordinate of the joint", format_number(index)),
                      "joints have up to six coordinates, counted from 0");
  return 0;
}

DofRef read_dof_ref(Reader& reader, const Element& element) {
  return {read_required_text(reader.report, element, "joint").value_or(""), read_index(reader, element)};
}

void read_dof(Reader& reader, const Element& element, JointDescription& joint) {
  check_element(
      reader.report, element,
      {"index", "lower", "upper", "velocity", "effort", "rotor_inertia", "damping", "friction", "stiffness", "rest"});
  const auto index = static_cast<std::size_t>(read_index(reader, element));
  if (index >= joint.dofs.size())
    return reader.report.error(element, kRange,
                               fmt::format("joint has {} coordinates, none of index {}", joint.dofs.size(), index),
                               "the first has index 0");
  DofDescription& dof = joint.dofs[index];
  for (const DofField& field : kDofFields) {
    if (field.range == NumberRange::kFinite)
      read_number(reader.report, element, field.key, dof.*field.member);
    else
      read_limit(reader, element, field.key, dof.*field.member);
  }
}

SwingTwistLimit read_swing_twist(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"swing", "lower", "upper"});
  SwingTwistLimit limit;
  read_limit(reader, element, "swing", limit.swing);
  read_limit(reader, element, "lower", limit.twist_lower);
  read_limit(reader, element, "upper", limit.twist_upper);
  return limit;
}

void read_coupling(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"joint", "index", "offset"}, {}, {"term"});
  Coupling coupling;
  coupling.line = element.GetLineNum();
  coupling.dependent = read_dof_ref(reader, element);
  read_number(reader.report, element, "offset", coupling.offset);
  for (const Element* e = element.FirstChildElement("term"); e; e = e->NextSiblingElement("term")) {
    check_element(reader.report, *e, {"joint", "index", "ratio"});
    Coupling::Term term;
    term.dof = read_dof_ref(reader, *e);
    read_number(reader.report, *e, "ratio", term.ratio);
    coupling.terms.push_back(std::move(term));
  }
  reader.description.couplings.push_back(std::move(coupling));
}

void read_actuator(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"name", "joint", "index", "gear", "effort"});
  Actuator actuator;
  actuator.name = read_required_text(reader.report, element, "name").value_or("");
  actuator.dof = read_dof_ref(reader, element);
  read_number(reader.report, element, "gear", actuator.gear);
  read_limit(reader, element, "effort", actuator.effort);
  reader.lines[{0, fmt::format("actuator[{}]", actuator.name)}] = element.GetLineNum();
  reader.description.actuators.push_back(std::move(actuator));
}

void add_filter(Reader& reader, const Element& element, std::string a, std::string b) {
  reader.lines[{0, fmt::format("collision_filter[{}, {}]", a, b)}] = element.GetLineNum();
  reader.description.collision_filters.push_back({std::move(a), std::move(b)});
}

void read_collision_filter(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"a", "b"});
  const auto a = read_required_text(reader.report, element, "a");
  const auto b = read_required_text(reader.report, element, "b");
  if (a && b) add_filter(reader, element, *a, *b);
}

constexpr const char* kGroup = "drake:collision_filter_group";
constexpr const char* kMember = "drake:member";
constexpr const char* kIgnored = "drake:ignored_collision_filter_group";

/// Drake's collision filter groups, expanded to pairs of links.
class CollisionGroups {
 public:
  explicit CollisionGroups(Reader& reader) : reader_(reader) {}

  void read_members(const Element& group) {
    check_element(reader_.report, group, {"name"}, {}, {kMember, kIgnored});
    const auto name = read_required_text(reader_.report, group, "name");
    std::vector<std::string>& links = members_[name.value_or("")];
    for (const Element* e = group.FirstChildElement(kMember); e; e = e->NextSiblingElement(kMember)) {
      if (auto link = read_required_text(reader_.report, *e, "link")) links.push_back(*std::move(link));
    }
  }

  void read_ignored(const Element& group) {
    const char* name = group.Attribute("name");
    for (const Element* e = group.FirstChildElement(kIgnored); e && name; e = e->NextSiblingElement(kIgnored)) {
      const auto other = read_required_text(reader_.report, *e, "name");
      if (!other) continue;
      if (members_.contains(*other)) {
        add_pairs(*e, members_[name], members_[*other]);
      } else {
        reader_.report.error(*e, kMissing, fmt::format("collision filter group {} is not defined", quote(*other)),
                             "correct the name, or define the group");
      }
    }
  }

 private:
  void add_pairs(const Element& at, const std::vector<std::string>& group, const std::vector<std::string>& other) {
    for (const std::string& a : group) {
      for (const std::string& b : other) {
        if (a == b || !pairs_.insert(std::minmax(a, b)).second) continue;
        if (pairs_.size() > kMostPairs)
          return reader_.report.error(at, kRange,
                                      fmt::format("collision filter groups make more than {} pairs", kMostPairs),
                                      "filter fewer links");
        add_filter(reader_, at, a, b);
      }
    }
  }

  static constexpr std::size_t kMostPairs = 100'000;
  Reader& reader_;
  std::map<std::string, std::vector<std::string>> members_;
  std::set<std::pair<std::string, std::string>> pairs_;
};

}  // namespace

bool read_limit(Reader& reader, const Element& element, const char* attribute, double& out) {
  if (!read_number(reader.report, element, attribute, out, Infinity::kAllow)) return false;
  if (std::abs(out) == std::numeric_limits<double>::max()) out = std::copysign(kInfinity, out);
  return true;
}

void read_model_extension(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"base", "gravity"}, {"origin"}, {"coupling", "actuator", "collision_filter"});
  ModelDescription& model = reader.description;
  if (const auto base = read_text(reader.report, element, "base")) {
    if (*base == "free") model.base = Base::kFree;
    if (*base != "free" && *base != "fixed") {
      reader.report.error(element, kRange, fmt::format("base={} is neither fixed nor free", quote(*base)),
                          "write base=\"fixed\" or base=\"free\"");
    }
  }
  read_vec3(reader.report, element, "gravity", model.gravity);
  model.base_pose = read_origin(reader, element);
  for (const Element* child = element.FirstChildElement(); child; child = child->NextSiblingElement()) {
    const std::string_view tag = child->Name();
    if (tag == "coupling") read_coupling(reader, *child);
    if (tag == "actuator") read_actuator(reader, *child);
    if (tag == "collision_filter") read_collision_filter(reader, *child);
  }
}

void read_joint_extension(Reader& reader, const Element& element, JointDescription& joint) {
  check_element(reader.report, element, {"pitch", "second_axis"}, {"swing_twist"}, {"dof"});
  read_number(reader.report, element, "pitch", joint.pitch);
  read_vec3(reader.report, element, "second_axis", joint.second_axis);
  for (const Element* e = element.FirstChildElement("dof"); e; e = e->NextSiblingElement("dof")) {
    read_dof(reader, *e, joint);
  }
  if (const Element* e = element.FirstChildElement("swing_twist")) joint.swing_twist = read_swing_twist(reader, *e);
}

void read_frame(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"name", "link", "xyz", "rpy"});
  FrameDescription frame;
  frame.name = read_required_text(reader.report, element, "name").value_or("");
  frame.link = read_required_text(reader.report, element, "link").value_or("");
  frame.origin = read_pose(reader, element);
  reader.lines[{0, fmt::format("frame[{}]", frame.name)}] = element.GetLineNum();
  reader.description.frames.push_back(std::move(frame));
}

void read_collision_groups(Reader& reader, const Element& robot) {
  CollisionGroups groups(reader);
  for (const Element* e = robot.FirstChildElement(kGroup); e; e = e->NextSiblingElement(kGroup))
    groups.read_members(*e);
  for (const Element* e = robot.FirstChildElement(kGroup); e; e = e->NextSiblingElement(kGroup))
    groups.read_ignored(*e);
}

}  // namespace kansetsu::io::urdf
