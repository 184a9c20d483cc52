#include "io/mjcf/mjcf_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/file_report.h"
#include "io/unique_names.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::io {
namespace mjcf {
namespace {

constexpr XmlFormat kMjcfFormat{"MJCF", kCannotHold, kNotWritable, kCannotWrite};
constexpr double kSamePlace = 1e-12;  // [m, 1] sites that coincide: rounding of a few products of poses

bool same_place(const Transform<>& A, const Transform<>& B) {
  const Transform<> D = inverse(A) * B;
  const Mat3<> E = D.R - Mat3<>::identity();
  return norm(A.p - B.p) <= kSamePlace && norm(E.x) + norm(E.y) + norm(E.z) <= kSamePlace;
}

/// Type and size of a site for a volume.
std::pair<const char*, std::vector<double>> site_volume(const Shape& shape) {
  if (const auto* x = std::get_if<Capsule>(&shape)) return {"capsule", {x->radius, 0.5 * x->length}};
  if (const auto* x = std::get_if<Cylinder>(&shape)) return {"cylinder", {x->radius, 0.5 * x->length}};
  if (const auto* x = std::get_if<Box>(&shape)) return {"box", {0.5 * x->size.x, 0.5 * x->size.y, 0.5 * x->size.z}};
  const auto* sphere = std::get_if<Sphere>(&shape);
  return {"sphere", {sphere ? sphere->radius : 0.005}};
}

/// Whether it is switched off in all figures.
bool is_off(const SceneDescription& scene, bool JointSwitches::* what) {
  const auto off = [&](const FigureDescription& f) { return !(f.switches.*what); };
  return !scene.figures.empty() && std::ranges::all_of(scene.figures, off);
}

void write_settings(Writer& w) {
  const SceneDescription& scene = w.scene;
  if (!scene.name.empty()) w.set(*w.root, "model", scene.name);
  Element& compiler = w.section("compiler");
  w.set(compiler, "angle", "radian");
  w.set(compiler, "autolimits", "true");
  w.set(compiler, "inertiafromgeom", "false");
  Element& option = w.section("option");
  w.set(option, "timestep", scene.time_step);
  w.set(option, "gravity", scene.gravity);
  w.set(option, "magnetic", scene.magnetic);
  if (scene.integrator == Integrator::kRk4) w.set(option, "integrator", "RK4");
  if (scene.integrator == Integrator::kAdaptive) w.lose("the adaptive integrator; replaced by Euler", scene.name);
  w.set_unless(option, "density", scene.medium.density, 0);
  w.set_unless(option, "viscosity", scene.medium.viscosity, 0);
  if (scene.medium.wind != Vec3<>{}) w.set(option, "wind", scene.medium.wind);
  static constexpr std::pair<const char*, bool JointSwitches::*> kFlags[] = {{"limit", &JointSwitches::limits},
                                                                             {"frictionloss", &JointSwitches::friction},
                                                                             {"spring", &JointSwitches::springs},
                                                                             {"damper", &JointSwitches::damping},
                                                                             {"actuation", &JointSwitches::actuators}};
  Element* flag = nullptr;
  const auto disable = [&](const char* name) {
    if (!flag) flag = &w.add(option, "flag");
    w.set(*flag, name, "disable");
  };
  if (!scene.contacts) disable("contact");
  for (const auto& [name, what] : kFlags) {
    if (is_off(scene, what)) disable(name);
  }
}

/// Records what MJCF cannot express.
void tell_rest(Writer& w) {
  w.lose_experiment();
  for (const std::string& pair : w.surfaces.lost_pairs()) w.lose("how these surfaces combine", pair);
  for (const std::string& name : w.surfaces.lost_numbers())
    w.lose("dynamic friction other than static friction, and restitution", name);
}

Loaded<std::string> text_of(const SceneDescription& scene, const std::filesystem::path& folder) {
  if (std::vector<Diagnostic> problems = errors_of(validate(scene)); !problems.empty())
    return {std::nullopt, std::move(problems)};
  Writer w(scene, folder);
  write_settings(w);
  write_bodies(w);
  write_tendons(w);
  write_equalities(w);
  write_contacts(w);
  write_actuators(w);
  write_sensors(w);
  write_keyframes(w);
  tell_rest(w);
  return w.text();
}

}  // namespace

Writer::Writer(const SceneDescription& s, std::filesystem::path f)
    : SceneXml(s, std::move(f), kMjcfFormat, "mujoco"), surfaces(s, used_surfaces(s)) {
  taken["body"].insert("world");
}

/// Sections are created in the usual order.
Element& Writer::section(const char* tag) {
  static constexpr std::string_view kOrder[] = {"compiler", "option",   "asset",    "worldbody", "contact",
                                                "tendon",   "equality", "actuator", "sensor",    "keyframe"};
  if (Element* found = root->FirstChildElement(tag)) return *found;
  Element* made = document.NewElement(tag);
  const auto place = [&](std::string_view name) { return std::ranges::find(kOrder, name) - std::begin(kOrder); };
  Element* before = nullptr;
  for (Element* e = root->FirstChildElement(); e; e = e->NextSiblingElement()) {
    if (place(e->Name()) < place(tag)) before = e;
  }
  before ? root->InsertAfterChild(before, made) : root->InsertFirstChild(made);
  return *made;
}

void Writer::set_pose(Element& e, const Transform<>& X) {
  if (X.p != Vec3<>{}) set(e, "pos", X.p);
  const Quaternion<> q = to_quaternion(X.R);
  if (q.x != 0 || q.y != 0 || q.z != 0) set(e, "quat", std::array{q.w, q.x, q.y, q.z});
}

void Writer::set_range(Element& e, const char* name, const Interval& range) {
  if (!range.is_bounded()) return;
  set(e, name, std::array{std::max(range.lower, -kLargest), std::min(range.upper, kLargest)});
}

std::string Writer::take_name(const char* kind, const std::string& figure, const std::string& wanted) {
  std::set<std::string>& names = taken[kind];
  if (!wanted.empty() && names.insert(wanted).second) return wanted;
  return unique_name(names, figure.empty() ? wanted : figure + "/" + wanted);
}

LinkPlace Writer::find_place(const std::string& figure, const std::string& link) const {
  if (figure.empty()) return {};
  const FigureDescription* f = find_named(scene.figures, figure);
  if (!f || f->model.links.empty()) return {};
  if (const LinkPlace* found = find_in(links, {figure, link})) return *found;
  const FrameDescription* frame = find_named(f->model.frames, link);
  if (!frame) return links.at({figure, f->model.links.front().name});
  LinkPlace place = links.at({figure, frame->link});
  place.X_BL = place.X_BL * to_transform(frame->origin);
  return place;
}

std::string Writer::site_on(int body, const Transform<>& X_BS, const std::string& wanted) {
  for (const WrittenSite& site : sites) {
    if (site.body == body && same_place(site.X_BS, X_BS)) return site.name;
  }
  return add_site(body, X_BS, {}, wanted).name;
}

std::string Writer::site_on(int body, const Transform<>& X_BS, const Shape& volume, const std::string& wanted) {
  const auto [type, size] = site_volume(volume);
  const std::string text = format_numbers(size);
  const auto fits = [&](const WrittenSite& site) {
    const char *own = site.element->Attribute("type"), *own_size = site.element->Attribute("size");
    return site.body == body && same_place(site.X_BS, X_BS) &&
           (!own || (own == std::string_view(type) && own_size == text));
  };
  const auto found = std::ranges::find_if(sites, fits);
  const WrittenSite& site = found != sites.end() ? *found : add_site(body, X_BS, {}, wanted);
  set(*site.element, "type", type);
  set(*site.element, "size", text);
  return site.name;
}

WrittenSite& Writer::add_site(int body, const Transform<>& X_BS, const std::string& figure, const std::string& wanted) {
  Element& e = add(element_of(body), "site");
  const std::string name = take_name("site", figure, wanted);
  set(e, "name", name);
  set_pose(e, X_BS);
  return sites.emplace_back(WrittenSite{&e, name, body, X_BS});
}

std::string Writer::site_at(const std::string& figure, const std::string& link, const Pose& pose,
                            const std::string& wanted) {
  if (const std::string* found = find_in(frames, {figure, link}); found && pose == Pose{}) return *found;
  const LinkPlace place = find_place(figure, link);
  return site_on(place.body, place.X_BL * to_transform(pose), wanted);
}

std::string Writer::joint_of(const std::string& figure, const DofRef& dof) const {
  const std::string* found =
      find_in(joints, {figure, dof.index == 0 ? dof.joint : fmt::format("{}[{}]", dof.joint, dof.index)});
  return found ? *found : std::string();
}

}  // namespace mjcf

Loaded<std::string> to_mjcf(const SceneDescription& scene) { return mjcf::text_of(scene, {}); }

std::vector<Diagnostic> write_mjcf(const SceneDescription& scene, const std::filesystem::path& file) {
  return write_scene_xml(file, mjcf::kMjcfFormat,
                         [&](const std::filesystem::path& folder) { return mjcf::text_of(scene, folder); });
}

}  // namespace kansetsu::io
