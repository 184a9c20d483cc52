#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "io/number.h"
#include "io/scene/scene_masks.h"
#include "io/scene/toml_record.h"
#include "io/text.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu::io::scene {
namespace {

void read_quaternion(TomlTable& table, Pose& pose) {
  const auto q = table.numbers("quat_xyzw");
  if (!q) return;
  double square = 0;
  for (const double x : *q) square += x * x;
  if (q->size() != 4 || !(std::abs(std::sqrt(square) - 1) <= kUnitQuaternion)) {
    table.error_at("quat_xyzw", kRotation,
                   fmt::format("{} numbers of length {}", q->size(), format_number(std::sqrt(square))),
                   "a quaternion has four numbers x y z w and length 1");
    return;
  }
  if (table.has("rpy")) table.error_at("quat_xyzw", kConflict, "both rpy and quat_xyzw", "give one of them");
  pose.rpy = to_pose({to_mat3(Quaternion<>{(*q)[0], (*q)[1], (*q)[2], (*q)[3]}), {}}).rpy;
}

/// Of an Anchor or ShapeRef.
template <class Place>
void check_link(TomlTable& table, const Place& place) {
  if (place.figure.empty() && !place.link.empty())
    table.error(kMissing, "a link without a figure", "name the figure it belongs to");
}

double size_of(TomlTable& table, const char* key) {
  const auto value = table.number(key);
  if (!value) {
    if (!table.has(key))
      table.error(kMissing, fmt::format("key '{}' is missing", key), fmt::format("write {} = 0.1", key));
    return 0;
  }
  if (*value >= 0) return *value;  // spheres of radius 0 are points: robots have them under their feet
  table.error_at(key, kShape, fmt::format("{} is {}", key, format_number(*value)), "sizes are zero or positive [m]");
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
    table.error(kShape, "a height field needs at least two columns and two rows, and columns·rows heights",
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

void read_fields(TomlTable& table, Pose& out) {
  table.read("p", out.p);
  table.read("rpy", out.rpy);
  read_quaternion(table, out);
}

void complete(TomlTable& table, Anchor& anchor) { check_link(table, anchor); }
void complete(TomlTable& table, ShapeRef& ref) { check_link(table, ref); }
void complete(TomlTable& table, CoordinateFunction& function) {
  if (const auto problem = function.prepare())
    table.error_at("function", kLength, "the function of the shift: " + *problem, "see docs/formats/scene.md");
}

void read_fields(TomlTable& table, Compliance& out) {
  for (const auto& [key, numbers] : {std::pair("stiffness", &out.stiffness), std::pair("damping", &out.damping)}) {
    if (!table.has(key) || table.is_table(key)) {
      read_value(table, key, *numbers);
      continue;
    }
    table.allow(key);
    table.error_at(key, kType, fmt::format("{} is not a table", key),
                   fmt::format("write {} = {{x = 1e4, rz = 20}}: turns and shifts have different units", key));
  }
}

void read_value(TomlTable& table, const char* key, PerDirection& out) {
  if (!table.is_table(key)) {
    if (const auto all = table.number(key)) out = *all;
    return;
  }
  std::optional<TomlTable> each = table.table(key);
  for (int k = 0; k < 6; ++k) each->read(kDirectionNames[k].data(), out[k]);
  each->finish();
}

void read_value(TomlTable& table, const char* key, Interval& out) {
  const auto numbers = table.numbers(key, TomlTable::Infinite::kAllowed);
  if (!numbers) return;
  if (numbers->size() == 2)
    out = {(*numbers)[0], (*numbers)[1]};
  else
    table.error_at(key, kLength, fmt::format("{} has {} numbers", key, numbers->size()), "a range is [lower, upper]");
}

void read_numbers(TomlTable& table, const char* key, std::span<double> out) {
  const auto numbers = table.numbers(key);
  if (!numbers) return;
  if (numbers->size() > out.size())
    return table.error_at(key, kLength, fmt::format("more than {} numbers", out.size()), "leave some out");
  std::ranges::fill(out, 0);
  std::ranges::copy(*numbers, out.begin());
}

void read_value(TomlTable& table, const char* key, ConstraintMask& out) {
  if (!table.has("constrain")) {
    if (const auto kind = table.keyword(key, kMaskWords)) out = kMasks[std::size_t(*kind)];
    return;
  }
  if (table.has(key)) table.error_at(key, kConflict, "both kind and constrain", "give one of them");
  out = 0;
  for (const std::string& word : table.texts("constrain").value_or(std::vector<std::string>{})) {
    const auto* found = std::ranges::find(kDirectionNames, word);
    if (found == std::end(kDirectionNames))
      table.error_at("constrain", kKeyword, fmt::format("direction '{}' is not known", word),
                     "known: rx, ry, rz, x, y, z");
    else
      out = ConstraintMask(out | (1u << (found - kDirectionNames)));
  }
}

void read_value(TomlTable& table, const char* key, SensorKind& out) {
  const std::string word = table.text(key).value_or("");
  if (const auto known = sensor_kind(word))
    out = *known;
  else if (!word.empty())
    table.error_at(key, kKeyword, fmt::format("there is no sensor '{}'", word), "see docs/formats/scene.md");
}

void read_value(TomlTable& table, const char* key, std::vector<Recorded>& out) {
  const auto words = table.texts(key);
  if (!words) return;
  out.clear();
  for (const std::string& word : *words) {
    const auto* found = std::ranges::find(kWords<Recorded>, word);
    if (found == kWords<Recorded>.end())
      table.error_at(key, kKeyword, fmt::format("'{}' cannot be recorded", word),
                     fmt::format("known: {}", fmt::join(kWords<Recorded>, ", ")));
    else
      out.push_back(Recorded(found - kWords<Recorded>.begin()));
  }
}

void read_value(TomlTable& table, const char* key, std::map<std::string, std::vector<double>>& out) {
  if (auto inner = table.table(key)) {
    for (const std::string& name : inner->keys()) {
      if (auto values = inner->one_or_more(name)) out[name] = *std::move(values);
    }
  }
}

void read_value(TomlTable& table, const char* key, std::map<std::string, double>& out) {
  if (auto inner = table.table(key)) {
    for (const std::string& name : inner->keys()) inner->read(name.c_str(), out[name]);
  }
}

void read_fields(TomlTable& table, ContactMaterial& out) {
  const bool only_static = table.has("static_friction") && !table.has("dynamic_friction");
  for_each_field<ContactMaterial>([&](const auto& field) { table.read(field.key, out.*field.member); });
  if (only_static) out.mu_d = std::min(out.mu_d, out.mu_s);
}

std::optional<Shape> read_shape(Reader& reader, TomlTable& table) {
  static constexpr std::string_view kTypes[] = {"plane",   "sphere", "box",          "cylinder",
                                                "capsule", "hull",   "height_field", "mesh"};
  if (!table.has("type"))
    table.error(kMissing, "key 'type' is missing", "plane, sphere, box, cylinder, capsule, hull, height_field or mesh");
  const auto type = table.keyword("type", kTypes);
  if (!type) return std::nullopt;
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
      if (!(box.size.x >= 0 && box.size.y >= 0 && box.size.z >= 0))
        table.error_at("size", kShape, "a box with a negative size", "sizes are zero or positive [m]");
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
  read_value(table, "pose", out.origin);
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
    if (rgba->size() == 4 && std::ranges::all_of(*rgba, inside))
      out.material = Material{{}, *rgba, {}};
    else
      table.error_at("color", kLength, "a colour is four numbers in 0…1", "red, green, blue and opacity");
  }
  auto shape = read_shape(reader, table);
  if (!shape) return std::nullopt;
  out.shape = *std::move(shape);
  return out;
}

}  // namespace kansetsu::io::scene
