#include "io/scene_xml.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lookup.h"
#include "io/link_index.h"
#include "io/text.h"

namespace kansetsu::io {

SceneXml::SceneXml(const SceneDescription& s, std::filesystem::path f, const XmlFormat& format, const char* root_tag)
    : scene(s), folder(std::move(f)), format_(format) {
  document.InsertEndChild(document.NewDeclaration());
  root = document.NewElement(root_tag);
  document.InsertEndChild(root);
}

Element& SceneXml::add(Element& parent, const char* tag) {
  Element* e = document.NewElement(tag);
  parent.InsertEndChild(e);
  return *e;
}

void SceneXml::set(Element& e, const char* name, const std::string& text) {
  e.SetAttribute(name, values_.checked(text).c_str());
}

void SceneXml::set(Element& e, const char* name, std::span<const double> numbers) {
  e.SetAttribute(name, values_.number_text(numbers).c_str());
}

void SceneXml::set_unless(Element& e, const char* name, double x, double usual) {
  if (x != usual) set(e, name, x);
}

Element& SceneXml::put(Element& parent, const char* tag, const std::string& text) {
  Element& e = add(parent, tag);
  e.SetText(values_.checked(text).c_str());
  return e;
}

Element& SceneXml::put(Element& parent, const char* tag, std::span<const double> numbers) {
  return put(parent, tag, values_.number_text(numbers));
}

void SceneXml::lose(std::string what, const std::string& first) {
  Loss& loss = losses_[std::move(what)];
  if (loss.count++ == 0) loss.first = first;
}

void SceneXml::fail(std::string what, std::string hint) {
  failures_.push_back({Severity::kError, format_.not_writable, {}, 0, {}, std::move(what), std::move(hint)});
}

void SceneXml::fail_free(const JointDescription& joint) {
  fail(fmt::format("the joint '{}' is free, but not the base of its figure", joint.name),
       "make the part that it carries a separate figure");
}

DofDescription SceneXml::ball_data(const JointDescription& joint) {
  DofDescription dof = dof_of(joint, 0);
  for (int k = 1; k < 3; ++k) {
    if (dof_of(joint, k) != dof)
      lose("ball joints with different data about each axis; those about x are written", joint.name);
  }
  dof.lower = -kInfinity, dof.upper = kInfinity, dof.rest = 0;
  return dof;
}

void SceneXml::lose_experiment() {
  for (const ControllerDescription& c : scene.controllers) lose("controllers", c.name);
  for (const EventDescription& e : scene.events) lose("events", e.name);
  for (const RecordingDescription& r : scene.recordings) lose("recordings", r.file);
  for (const FigureDescription& f : scene.figures) {
    if (f.base_motion && *f.base_motion != PrescribedMotion{}) lose("motions of bases", f.name);
  }
  for (const EnvironmentShape& e : scene.environment) {
    if (e.motion || e.surface_velocity != Vec3<>{}) lose("motions of the environment", e.shape.name);
  }
}

Loaded<std::string> SceneXml::text() {
  if (!values_.finite) fail("the scene contains numbers that are not finite", "write finite numbers");
  if (!values_.clean)
    fail("a name contains control characters or is not valid UTF-8", "use letters, digits and punctuation");
  std::vector<Diagnostic> out = failures_;
  for (const auto& [what, loss] : losses_) {
    std::string message = fmt::format("{} cannot express {}", format_.name, what);
    if (!loss.first.empty()) message += fmt::format(": {}", quote(loss.first));
    if (loss.count > 1) message += fmt::format(" and {} more", loss.count - 1);
    out.push_back({Severity::kWarning, format_.cannot_hold, {}, 0, {}, std::move(message), {}});
  }
  if (has_errors(out)) return {std::nullopt, std::move(out)};
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  return {std::string(printer.CStr()), std::move(out)};
}

std::vector<std::string> used_surfaces(const SceneDescription& scene) {
  std::vector<std::string> used;
  for (const EnvironmentShape& e : scene.environment) used.push_back(e.shape.surface);
  for (const FigureDescription& f : scene.figures) {
    for (const LinkDescription& link : f.model.links) {
      for (const LinkShape& shape : link.collisions) used.push_back(shape.surface.empty() ? f.surface : shape.surface);
    }
  }
  return used;
}

const ContactMaterial& surface_material(const SceneDescription& scene, const std::string& name) {
  const Surface* found = find_named(scene.surfaces, name);
  return found ? found->material : scene.default_surface;
}

ContactMaterial surface_pair(const SceneDescription& scene, const std::string& a, const std::string& b) {
  for (const SurfacePair& pair : scene.surface_pairs) {
    if ((pair.a == a && pair.b == b) || (pair.a == b && pair.b == a)) return pair.material;
  }
  return combine(surface_material(scene, a), surface_material(scene, b), scene.surface_rules);
}

std::vector<Diagnostic> write_scene_xml(
    const std::filesystem::path& file, const XmlFormat& format,
    const std::function<Loaded<std::string>(const std::filesystem::path&)>& to_text) {
  return replace_file(file, to_text(folder_of(file)), format.cannot_write);
}

}  // namespace kansetsu::io
