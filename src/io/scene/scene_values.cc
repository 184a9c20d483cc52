#include <fmt/format.h>

#include <cmath>

#include "io/number.h"
#include "io/scene/scene_reader.h"
#include "io/text.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::io::scene {
namespace {

void read_quaternion(TomlTable& table, Pose& pose) {
  const auto q = table.numbers("quat_xyzw");
  if (!q) return;
  double square = 0;
  for (const double x : *q) square += x * x;
  if (q->size() != 4 || !(std::abs(std::sqrt(square) - 1) < 1e-6)) {
    table.error_at("quat_xyzw", kRotation,
                   fmt::format("{} numbers of length {}", q->size(), format_number(std::sqrt(square))),
                   "a quaternion has four numbers x y z w and length 1");
    return;
  }
  if (table.has("rpy")) table.error_at("quat_xyzw", kConflict, "both rpy and quat_xyzw", "give one of them");
  pose.rpy = to_pose({to_mat3(Quaternion<>{(*q)[0], (*q)[1], (*q)[2], (*q)[3]}), {}}).rpy;
}

double size_of(TomlTable& table, const char* key) {
  const auto value = table.number(key);
  if (!value) {
    if (!table.has(key))
      table.error(kMissing, fmt::format("key '{}' is missing", key), fmt::format("write {} = 0.1", key));
    return 0;
  }
  if (*value > 0) return *value;
  table.error_at(key, kShape, fmt::format("{} is {}", key, format_number(*value)), "sizes are positive [m]");
  return 0;
}

std::optional<Shape> read_hull(TomlTable& table) {
  const auto numbers = table.numbers("vertices");
  if (!numbers || numbers->empty() || numbers->size() % 3 != 0) {
    table.error(kShape, "vertices of a hull are missing, or not three numbers each",
                "write vertices = [x, y, z, x, y, z, …]");
    return std::nullopt;
  }
  ConvexHull hull;
  for (std::size_t i = 0; i < numbers->size(); i += 3)
    hull.vertices.push_back({(*numbers)[i], (*numbers)[i + 1], (*numbers)[i + 2]});
  return hull;
}

std::optional<Shape> read_height_field(TomlTable& table) {
  HeightField field;
  const auto columns = table.integer("columns"), rows = table.integer("rows");
  const auto heights = table.numbers("heights");
  field.size_x = size_of(table, "size_x");
  field.size_y = size_of(table, "size_y");
  const bool sized = columns && rows && *columns >= 2 && *rows >= 2 && *columns < 100000 && *rows < 100000;
  if (!sized || !heights || heights->size() != std::size_t(*columns * *rows)) {
    table.error(kShape, "a height field needs columns and rows of two at least, and columns·rows heights",
                "row by row, y growing");
    return std::nullopt;
  }
  field.columns = int(*columns);
  field.rows = int(*rows);
  field.heights = *heights;
  return field;
}

std::optional<Shape> read_mesh(Reader& reader, TomlTable& table) {
  Mesh mesh;
  mesh.uri = table.required("file");
  table.read("scale", mesh.scale);
  const std::filesystem::path path = reader.folder / mesh.uri;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    if (reader.gate.allows(path)) {
      mesh.path = path.string();
    } else {
      table.error_at("file", kOutside, fmt::format("the mesh {} is outside of the scene's package", quote(mesh.uri)),
                     reader.gate.hint(path));
    }
  } else if (!mesh.uri.empty()) {
    table.error_at("file", kShape, fmt::format("there is no mesh file '{}'", path.string()),
                   "names are relative to the scene");
  }
  return mesh;
}

}  // namespace

Pose read_pose(TomlTable& table) {
  Pose pose;
  table.read("p", pose.p);
  table.read("rpy", pose.rpy);
  read_quaternion(table, pose);
  return pose;
}

Pose read_pose(TomlTable& table, const char* key) {
  auto inner = table.table(key);
  if (!inner) return {};
  const Pose pose = read_pose(*inner);
  inner->finish();
  return pose;
}

std::optional<PrescribedMotion> read_motion(TomlTable& table, const char* key) {
  auto inner = table.table(key);
  if (!inner) return std::nullopt;
  PrescribedMotion m;
  inner->read("velocity", m.velocity);
  inner->read("amplitude", m.amplitude);
  inner->read("axis", m.axis);
  inner->read("rate", m.rate);
  inner->read("swing", m.swing);
  inner->read("frequency", m.frequency);
  inner->read("phase", m.phase);
  inner->read("start", m.start);
  inner->read("stop", m.stop);
  inner->finish();
  return m;
}

Motion<> read_velocity(TomlTable& table, const char* key) {
  Motion<> V{};
  if (auto inner = table.table(key)) {
    inner->read("omega", V.w);
    inner->read("v", V.v);
    inner->finish();
  }
  return V;
}

Anchor read_anchor(TomlTable& table, const char* key) {
  Anchor anchor;
  auto inner = table.table(key);
  if (!inner) {
    if (!table.has(key))
      table.error(kMissing, fmt::format("key '{}' is missing", key),
                  fmt::format("write {} = {{figure = \"…\", link = \"…\"}}", key));
    return anchor;
  }
  inner->read("figure", anchor.figure);
  inner->read("link", anchor.link);
  if (anchor.figure.empty() && !anchor.link.empty())
    inner->error(kMissing, "a link without a figure", "name the figure it belongs to");
  anchor.pose = read_pose(*inner);
  inner->finish();
  return anchor;
}

ShapeRef read_shape_ref(TomlTable& table, const char* key) {
  ShapeRef ref;
  if (auto inner = table.table(key)) {
    inner->read("figure", ref.figure);
    inner->read("link", ref.link);
    inner->read("shape", ref.shape);
    if (ref.figure.empty() && !ref.link.empty())
      inner->error(kMissing, "a link without a figure", "name the figure it belongs to");
    inner->finish();
  }
  return ref;
}

void read_directions(TomlTable& table, const char* key, AllAtOnce all, PerDirection& out) {
  if (!table.has(key)) return;
  if (!table.is_table(key)) {
    if (all == AllAtOnce::kYes) {
      if (const auto x = table.number(key)) out = *x;
      return;
    }
    table.allow(key);
    table.error_at(key, kType, fmt::format("{} is not a table", key),
                   fmt::format("write {} = {{x = 1e4, rz = 20}}: turns and shifts have different units", key));
    return;
  }
  std::optional<TomlTable> each = table.table(key);
  if (!each) return;
  for (int k = 0; k < 6; ++k) each->read(kDirectionNames[k].data(), out[k]);
  each->finish();
}

ConstraintMask read_mask(TomlTable& table) {
  static constexpr ConstraintMask kKinds[] = {kWeldMask,        kPointMask,     kHingeMask,        kSliderMask,
                                              kCylindricalMask, kUniversalMask, kPointInPlaneMask, kOrientationMask};
  if (table.has("constrain")) {
    if (table.has("kind")) table.error_at("kind", kConflict, "both kind and constrain", "give one of them");
    ConstraintMask mask = 0;
    for (const std::string& word : table.texts("constrain").value_or(std::vector<std::string>{})) {
      const auto* found = std::find(std::begin(kDirectionNames), std::end(kDirectionNames), word);
      if (found == std::end(kDirectionNames))
        table.error_at("constrain", kKeyword, fmt::format("direction '{}' is not known", word),
                       "known: rx, ry, rz, x, y, z");
      else
        mask = ConstraintMask(mask | (1u << (found - kDirectionNames)));
    }
    return mask;
  }
  const auto kind = table.keyword(
      "kind", {"weld", "point", "hinge", "slider", "cylindrical", "universal", "point_in_plane", "orientation"});
  return kind ? kKinds[*kind] : kWeldMask;
}

std::optional<Shape> read_shape(Reader& reader, TomlTable& table) {
  const auto type =
      table.keyword("type", {"plane", "sphere", "box", "cylinder", "capsule", "hull", "height_field", "mesh"});
  if (!type) {
    if (!table.has("type"))
      table.error(kMissing, "key 'type' is missing",
                  "plane, sphere, box, cylinder, capsule, hull, height_field or mesh");
    return std::nullopt;
  }
  switch (*type) {
    case 0:
      return Plane{};
    case 1:
      return Sphere{size_of(table, "radius")};
    case 2: {
      Box box;
      if (!table.has("size"))
        table.error(kMissing, "key 'size' is missing", "write size = [x, y, z], the full edge lengths");
      table.read("size", box.size);
      if (!(box.size.x > 0 && box.size.y > 0 && box.size.z > 0))
        table.error_at("size", kShape, "a box without volume", "sizes are positive [m]");
      return box;
    }
    case 3:
      return Cylinder{size_of(table, "radius"), size_of(table, "length")};
    case 4:
      return Capsule{size_of(table, "radius"), size_of(table, "length")};
    case 5:
      return read_hull(table);
    case 6:
      return read_height_field(table);
    default:
      return read_mesh(reader, table);
  }
}

std::optional<LinkShape> read_link_shape(Reader& reader, TomlTable& table) {
  LinkShape out;
  table.read("name", out.name);
  table.read("surface", out.surface);
  out.origin = read_pose(table, "pose");
  for (const auto& [key, member] :
       {std::pair("contype", &LinkShape::contype), std::pair("conaffinity", &LinkShape::conaffinity)}) {
    const auto mask = table.integer(key);
    if (mask && *mask > 0xFFFFFFFF)
      table.error_at(key, kType, "more than 32 bits", "give a number below 2^32");
    else if (mask)
      out.*member = std::uint32_t(*mask);
  }
  if (const auto rgba = table.numbers("color")) {
    const auto inside = [](double x) { return x >= 0 && x <= 1; };
    if (rgba->size() == 4 && std::all_of(rgba->begin(), rgba->end(), inside))
      out.material = Material{{}, *rgba, {}};
    else
      table.error_at("color", kLength, "a colour is four numbers in 0…1", "red, green, blue and opacity");
  }
  auto shape = read_shape(reader, table);
  if (!shape) return std::nullopt;
  out.shape = *std::move(shape);
  return out;
}

std::map<std::string, std::vector<double>> read_values(TomlTable& table, const char* key) {
  std::map<std::string, std::vector<double>> out;
  if (auto inner = table.table(key)) {
    for (const std::string& name : inner->keys()) {
      if (auto values = inner->one_or_more(name)) out[name] = *std::move(values);
    }
  }
  return out;
}

std::map<std::string, double> read_numbers(TomlTable& table, const char* key) {
  std::map<std::string, double> out;
  if (auto inner = table.table(key)) {
    for (const std::string& name : inner->keys()) inner->read(name.c_str(), out[name]);
    inner->finish();
  }
  return out;
}

FigureState read_state(TomlTable& table) {
  FigureState state;
  state.base = read_pose(table, "pose");
  state.velocity = read_velocity(table, "velocity");
  state.q = read_values(table, "q");
  state.v = read_values(table, "v");
  state.control = read_numbers(table, "control");
  state.activation = read_numbers(table, "activation");
  return state;
}

ContactMaterial read_material(TomlTable& table, ContactMaterial material) {
  const bool only_static = table.has("static_friction") && !table.has("dynamic_friction");
  table.read("static_friction", material.mu_s);
  if (only_static) material.mu_d = std::min(material.mu_d, material.mu_s);
  table.read("dynamic_friction", material.mu_d);
  table.read("restitution", material.restitution);
  table.read("spin_radius", material.spin_radius);
  table.read("rolling_radius", material.rolling_radius);
  table.read("clearance", material.clearance);
  return material;
}

std::optional<std::uint64_t> read_seed(TomlTable& table) {
  const auto seed = table.integer("seed");
  return seed ? std::optional(std::uint64_t(*seed)) : std::nullopt;
}

}  // namespace kansetsu::io::scene
