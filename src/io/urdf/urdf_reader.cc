#include "io/urdf/urdf_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "io/text.h"
#include "io/urdf/urdf_codes.h"
#include "io/urdf/urdf_document.h"

namespace kansetsu::io::urdf {
namespace {

constexpr XmlCodes kCodes{kMissing, kNumber, kCharacters, kRepeated, kUnknownElement, kUnknownAttribute, kTooMany};

/// Elements for other programs.
bool is_unused(std::string_view tag) { return tag == "transmission" || tag == "gazebo" || tag == "sensor"; }

void check_version(Reader& reader, const Element& robot) {
  const char* version = robot.Attribute("version");
  if (!version || std::string_view(version).starts_with("1.") || std::string_view(version) == "1") return;
  reader.report.warning(robot, kVersion,
                        fmt::format("version {} of URDF is not known; it is read as 1.0", quote(version)));
}

/// Adds a link "world" that joints refer to but the file does not define, as Drake does for robots fixed to the ground. Not if other
/// links are missing as well.
void add_world(Reader& reader, const Element& robot) {
  ModelDescription& model = reader.description;
  std::set<std::string_view> known{"world"};
  for (const LinkDescription& link : model.links) known.insert(link.name);
  const auto unknown_parent = [&](const JointDescription& joint) { return !known.contains(joint.parent); };
  const auto is_world = [](const LinkDescription& link) { return link.name == "world"; };
  if (std::ranges::any_of(model.joints, unknown_parent)) return;
  if (std::ranges::any_of(model.links, is_world)) return;
  for (const Element* joint = robot.FirstChildElement(); joint; joint = joint->NextSiblingElement()) {
    const Element* parent = joint->FirstChildElement("parent");
    if (!parent || !parent->Attribute("link", "world")) continue;
    reader.report.warning(*parent, kWorldAdded, "link 'world' is not defined; it is added without mass",
                          "write <link name=\"world\"/>");
    LinkDescription world;
    world.name = "world";
    world.line = parent->GetLineNum();
    model.links.insert(model.links.begin(), std::move(world));
    return;
  }
}

/// Notes the lines of joints, for findings about how links are connected.
void note_joints(Reader& reader) {
  std::map<std::string_view, int> line;
  for (const LinkDescription& link : reader.description.links) line.emplace(link.name, link.line);
  for (const JointDescription& joint : reader.description.joints) {
    const auto child = line.find(joint.child);
    if (child != line.end()) reader.lines.emplace(std::pair(child->second, "joint"), joint.line);
  }
}

void read_child(Reader& reader, const Element& child) {
  const std::string_view tag = child.Name();
  if (tag == "link") {
    read_link(reader, child);
  } else if (tag == "joint") {
    read_joint(reader, child);
  } else if (tag == "drake:joint") {
    read_drake_joint(reader, child);
  } else if (tag == "material") {
    read_global_material(reader, child);
  } else if (tag == "frame") {
    read_frame(reader, child);
  } else if (is_unused(tag)) {
    reader.report.repeated_warning(child, kUnused, fmt::format("<{}> is not used", tag));
  }
}

void read_robot(Reader& reader, const Element& robot) {
  check_element(reader.report, robot, {"name", "version"}, {"kansetsu"},
                {"link", "joint", "material", "frame", "transmission", "gazebo", "sensor", "drake:joint",
                 "drake:collision_filter_group"});
  const char* name = robot.Attribute("name");
  if (name && !*name) {
    reader.report.warning(robot, kEmptyName, "the robot's name is empty; it is called 'robot'",
                          "write <robot name=\"…\">");
    reader.description.name = "robot";
  } else {
    reader.description.name = read_required_text(reader.report, robot, "name").value_or("");
  }
  reader.lines[{0, ""}] = robot.GetLineNum();
  reader.lines[{0, fmt::format("model[{}]", reader.description.name)}] = robot.GetLineNum();
  check_version(reader, robot);
  for (const Element* child = robot.FirstChildElement(); child; child = child->NextSiblingElement()) {
    read_child(reader, *child);
  }
  // After the joints: mimics precede other couplings.
  if (const Element* extension = robot.FirstChildElement("kansetsu")) read_model_extension(reader, *extension);
  read_collision_groups(reader, robot);
  resolve_materials(reader);
  check_mimics(reader);
  check_masses(reader, robot);
  add_world(reader, robot);
  note_joints(reader);
}

}  // namespace

Reader::Reader(const std::string& file, const UrdfOptions& options)
    : report(file, kCodes), meshes(file, options.package_paths, options.allowed_paths, options.package) {}

Parsed parse(std::string_view text, const std::string& file, const UrdfOptions& options) {
  Parsed parsed;
  parsed.description.file = file;
  tinyxml2::XMLDocument document;
  std::string repaired;
  if (auto warning = as_utf8(text, repaired, file, kEncoding)) parsed.diagnostics.push_back(*std::move(warning));
  if (auto problem = parse_document(text, document)) {
    problem->file = file;
    parsed.diagnostics = {*std::move(problem)};
    return parsed;
  }
  Reader reader(file, options);
  for (Diagnostic& diagnostic : parsed.diagnostics) reader.report.add(std::move(diagnostic));
  reader.description.file = file;
  read_robot(reader, *document.RootElement());
  if (options.base) reader.description.base = *options.base;
  return {std::move(reader.description), reader.report.take(), std::move(reader.lines)};
}

}  // namespace kansetsu::io::urdf
