#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"

namespace kansetsu::io::mjcf {
namespace {

/// The children of the root with this tag.
std::vector<const Element*> named(const Reader& reader, const Element& root, std::string_view tag) {
  std::vector<const Element*> out;
  for (const Element* child : children(reader, root)) {
    if (tag == child->Name()) out.push_back(child);
  }
  return out;
}

bool is_euler_sequence(const std::string& text) {
  if (text.size() != 3) return false;
  return text.find_first_not_of("xyzXYZ") == std::string::npos;
}

void read_flags(Reader& reader, const Attributes& flag) {
  const auto off = [&](const char* name) {
    const auto value = flag.keyword(name, {"disable", "enable"});
    return value && *value == 0;
  };
  SceneDescription& scene = reader.scene;
  const bool constraint = off("constraint"), passive = off("passive");
  if (off("gravity")) scene.gravity = {};
  if (off("contact") || constraint) scene.contacts = false;
  if (off("limit") || constraint) reader.switches.limits = false;
  if (off("frictionloss") || constraint) reader.switches.friction = false;
  if (off("spring") || passive) reader.switches.springs = false;
  if (off("damper") || passive) reader.switches.damping = false;
  if (off("equality") || constraint) reader.equalities = false;
  if (off("actuation")) reader.switches.actuators = false;
  if (off("clampctrl")) reader.clamp_controls = false;
}

void read_option(Reader& reader, const Element& element) {
  const Attributes a(reader, element, nullptr);
  SceneDescription& scene = reader.scene;
  if (a.number("timestep", scene.time_step) && !(scene.time_step > 0 && scene.time_step <= 1e6)) {
    reader.report.error(element, kRange, fmt::format("timestep is {}", format_number(scene.time_step)),
                        "give a time above 0 [s]");
    scene.time_step = 0.002;
  }
  a.vec3("gravity", scene.gravity);
  a.vec3("magnetic", scene.magnetic);
  if (const auto kind = a.keyword("integrator", {"Euler", "RK4", "implicit", "implicitfast"})) {
    scene.integrator = *kind == 1 ? Integrator::kRk4 : Integrator::kSemiImplicit;
    if (*kind > 1) {
      reader.report.warning(element, kIntegrator,
                            fmt::format("integrator {} is read as semi_implicit", a.text("integrator").value_or("")),
                            "damping and gains are integrated implicitly in any case");
    }
  }
  a.number("density", scene.medium.density);
  a.number("viscosity", scene.medium.viscosity);
  a.vec3("wind", scene.medium.wind);
  bool first = true;
  for (const Element* child : children(reader, element)) {
    if (std::string_view(child->Name()) != "flag") continue;
    if (!first) reader.report.error(*child, kUnique, "unique element 'flag' found 2 times", "join them");
    if (first) read_flags(reader, Attributes(reader, *child, nullptr));
    first = false;
  }
}

void read_material(Reader& reader, const Element& element) {
  const std::string name = take_name(reader, element, "material", "material");
  const Attributes a = attributes_of(reader, element, "material", {});
  std::array<double, 4> rgba{1, 1, 1, 1};
  if (a.numbers("rgba", rgba, 3) > 0) reader.colours[name] = {rgba.begin(), rgba.end()};
  if (const auto texture = a.text("texture")) reader.material_textures[name] = *texture;
}

/// 2D textures from files are used; cube, skybox and procedural textures are not.
void read_texture(Reader& reader, const Element& element) {
  const char *file = element.Attribute("file"), *type = element.Attribute("type"), *name = element.Attribute("name");
  if (!file || !type || std::string_view(type) != "2d") return;
  const std::filesystem::path path =
      folder_of_asset(reader, element, reader.compiler_of(element).texture_folder, file) / file;
  reader.textures.emplace(name ? name : std::filesystem::path(file).stem().string(), path.string());
}

}  // namespace

void read_compiler(Reader& reader, const Element& root, Compiler& c) {
  for (const Element* element : named(reader, root, "compiler")) {
    const Attributes a(reader, *element, nullptr);
    if (const auto angle = a.keyword("angle", {"radian", "degree"})) c.degrees = *angle == 1;
    if (const auto where = a.keyword("coordinate", {"local", "global"}); where && *where == 1) {
      reader.report.error(*element, kGlobalCoordinates, "global coordinates are not supported",
                          "load and save the model with an older MuJoCo, which writes local coordinates");
    }
    if (const auto sequence = a.text("eulerseq")) {
      if (is_euler_sequence(*sequence))
        c.eulerseq = *sequence;
      else
        reader.report.error(*element, kKeyword, fmt::format("eulerseq={} is not known", quote(*sequence)),
                            "write three letters of x, y, z");
    }
    if (const auto v = a.boolean("autolimits")) c.autolimits = *v;
    if (const auto v = a.boolean("balanceinertia")) c.balance_inertia = *v;
    if (const auto v = a.boolean("strippath")) c.strip_path = *v;
    if (const auto v = a.boolean("fitaabb")) c.fit_aabb = *v;
    if (const auto v = a.keyword("inertiafromgeom", {"false", "true", "auto"})) {
      c.inertia_from_geom = *v == 0 ? Compiler::kFalse : *v == 1 ? Compiler::kTrue : Compiler::kAuto;
    }
    std::array<double, 2> range{0, 5};
    if (a.numbers("inertiagrouprange", range, 2) == 2) {
      c.group_lower = int(std::clamp(range[0], -1e6, 1e6));
      c.group_upper = int(std::clamp(range[1], -1e6, 1e6));
    }
    a.number("boundmass", c.bound_mass);
    a.number("boundinertia", c.bound_inertia);
    a.number("settotalmass", c.total_mass);
    if (const auto folder = a.text("assetdir")) c.mesh_folder = c.texture_folder = *folder;
    if (const auto folder = a.text("texturedir")) c.texture_folder = *folder;
    if (const auto folder = a.text("meshdir")) c.mesh_folder = *folder;
  }
}

void read_options(Reader& reader, const Element& root) {
  reader.scene.time_step = 0.002;
  for (const Element* element : named(reader, root, "option")) read_option(reader, *element);
}

void read_assets(Reader& reader, const Element& root) {
  for (const Element* element : sections(reader, root, "asset")) {
    const std::string_view tag = element->Name();
    if (tag == "mesh") read_mesh_asset(reader, *element);
    if (tag == "hfield") read_hfield_asset(reader, *element);
    if (tag == "material") read_material(reader, *element);
    if (tag == "texture") read_texture(reader, *element);
  }
}

}  // namespace kansetsu::io::mjcf
