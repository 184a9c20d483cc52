#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>
#include <filesystem>

#include "geometry/hull.h"
#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"
#include "kansetsu/io/mesh.h"
#include "kansetsu/spatial/eigen.h"

/// Mesh assets: files or inline vertices, transformed by v ↦ S·Rᵀ·(v − p). MuJoCo recentres meshes to their principal axes and moves
/// the geom accordingly, so the surface stays where the file has it.
namespace kansetsu::io::mjcf {
namespace {

constexpr std::size_t kMostNumbers = 30'000'000;  // of one list in a file: 240 MB

/// Reads and checks a list of numbers.
template <class T>
bool read_list(Reader& reader, const Element& element, const char* name, int group, double largest,
               std::vector<T>& out) {
  const char* text = element.Attribute(name);
  if (is_blank(text)) return true;
  std::vector<double> values(std::min(std::size_t(count_words(text)), kMostNumbers));
  auto problem = parse_numbers(text, values);
  if (!problem && values.size() % std::size_t(group) != 0)
    problem = fmt::format("{} numbers are not a multiple of {}", values.size(), group);
  for (const double x : values) {
    const bool whole = largest == kInfinity || (x >= 0 && x <= largest && x == std::floor(x));
    if (!problem && !whole) problem = fmt::format("number is too large in attribute '{}', or not an index", name);
  }
  if (problem)
    return reader.report.fail(element, kNumber, fmt::format("bad format in attribute '{}': {}", name, *problem),
                              "write plain numbers");
  for (const double x : values) out.push_back(T(x));
  return true;
}

TriangleMeshData hull_surface(std::span<const Vec3<>> points) {
  const HullData hull = make_hull(points);
  TriangleMeshData out{hull.vertices, {}};
  for (const HullData::Face& face : hull.faces) {
    const auto at = [&](int k) { return hull.loop[std::size_t(face.first + k)]; };
    for (int k = 2; k < face.count; ++k) out.triangles.push_back({at(0), at(k - 1), at(k)});
  }
  return out;
}

/// Inline vertices with faces, or with the faces of their hull.
void read_inline(Reader& reader, const Element& element, MeshAsset& mesh) {
  std::vector<double> numbers;
  std::vector<int> corners;
  const bool read = read_list(reader, element, "vertex", 3, kInfinity, numbers) &&
                    read_list(reader, element, "face", 3, 2147483647.0, corners);
  if (!read || numbers.empty()) return;
  TriangleMeshData data;
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    data.vertices.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  for (std::size_t i = 0; i < corners.size(); i += 3) {
    const std::array<int, 3> face{corners[i], corners[i + 1], corners[i + 2]};
    for (const int v : face) {
      if (std::size_t(v) < data.vertices.size()) continue;
      return reader.report.error(element, kRange, fmt::format("face names vertex {} of {}", v, data.vertices.size()),
                                 "count vertices from 0");
    }
    data.triangles.push_back(face);
  }
  if (data.triangles.empty()) data = hull_surface(data.vertices);
  if (data.triangles.empty())
    return reader.report.error(element, kRange, "the vertices are on a line", "give at least three that are not");
  if (mesh.file.empty()) mesh.inline_data = std::make_shared<const TriangleMeshData>(std::move(data));
}

/// The path of the asset's file.
std::filesystem::path path_of_mesh(const MeshAsset& asset) { return asset.folder / asset.file; }

TriangleMesh placed(const TriangleMeshData& data, const MeshAsset& asset) {
  TriangleMeshData out = data;
  const Mat3<> R_inverse = transpose(asset.X_reference.R);
  const Vec3<>& s = asset.scale;
  for (Vec3<>& v : out.vertices) {
    const Vec3<> x = R_inverse * (v - asset.X_reference.p);
    v = {s.x * x.x, s.y * x.y, s.z * x.z};
  }
  if (s.x * s.y * s.z < 0) {
    for (auto& t : out.triangles) std::swap(t[1], t[2]);
  }
  return {std::make_shared<const TriangleMeshData>(std::move(out))};
}

/// The surface in the geom's frame; empty if the file is missing or unreadable.
TriangleMesh load_surface(Reader& reader, const Element& at, MeshAsset& asset) {
  if (asset.loaded) return asset.surface;
  asset.loaded = true;
  if (asset.inline_data) return asset.surface = placed(*asset.inline_data, asset);
  const std::filesystem::path path = path_of_mesh(asset);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) || !reader.gate.allows(path)) return {};  // reported elsewhere
  if (!reader.take_asset(at, path)) return {};
  Loaded<TriangleMesh> loaded = load_mesh(path);
  if (loaded) return asset.surface = placed(*loaded.value->data, asset);
  for (const Diagnostic& d : loaded.diagnostics) {
    if (!d.is_error()) continue;
    reader.report.warning(at, kMeshMass, fmt::format("{}: {}", path.string(), d.message), d.hint);
    break;
  }
  return {};
}

MeshAsset* find_mesh(Reader& reader, const Attributes& a) {
  const std::string name = a.text("mesh").value_or("");
  if (MeshAsset* asset = find_in(reader.meshes, name)) return asset;
  reader.report.error(a.element(), kUnknownName, fmt::format("unknown mesh {}", quote(name)), "define it in <asset>");
  return nullptr;
}

}  // namespace

bool Reader::take_asset(const Element& at, const std::filesystem::path& path) {
  constexpr std::uintmax_t kMost = std::uintmax_t{1} << 30, kLeast = 4096;  // [byte]; opening a file costs as well
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error) asset_bytes += std::max(size, kLeast);
  if (asset_bytes <= kMost) return true;
  return report.fail(at, kTooLargeModel, "the files of meshes and height fields are larger than 1 GiB together",
                     "name one file once, and use its asset in many geoms");
}

void read_mesh_asset(Reader& reader, const Element& element) {
  const Attributes a = attributes_of(reader, element, "mesh", {});
  MeshAsset mesh;
  mesh.file = a.text("file").value_or("");
  const Compiler& compiler = reader.compiler_of(element);
  if (compiler.strip_path) mesh.file = std::filesystem::path(mesh.file).filename().string();
  mesh.folder = folder_of_asset(reader, element, compiler.mesh_folder, mesh.file);
  a.vec3("scale", mesh.scale);
  a.vec3("refpos", mesh.X_reference.p);
  std::array<double, 4> q{1, 0, 0, 0};
  if (a.numbers("refquat", q, 4) == 4) {
    if (const auto turn = turn_of(q))
      mesh.X_reference.R = to_mat3(*turn);
    else
      reader.report.error(element, kZeroVector, "zero quaternion is not allowed", "the identity is 1 0 0 0");
  }
  static constexpr MeshMass kMasses[] = {MeshMass::kConvex, MeshMass::kExact, MeshMass::kPyramids, MeshMass::kShell};
  if (const auto kind = a.keyword("inertia", {"convex", "exact", "legacy", "shell"})) mesh.mass = kMasses[*kind];
  read_inline(reader, element, mesh);
  std::string fallback = std::filesystem::path(mesh.file).stem().string();
  if (!element.Attribute("name") && !fallback.empty()) {
    // A mesh without a name is named after its file.
    if (!reader.names["mesh"].insert(fallback).second) {
      reader.report.error(element, kRepeatedName, fmt::format("repeated name {} in mesh", quote(fallback)),
                          "give one of them a name");
    }
  } else {
    fallback = take_name(reader, element, "mesh", "mesh");
  }
  reader.meshes.emplace(fallback, std::move(mesh));
}

std::optional<PlacedShape> mesh_shape(Reader& reader, const Attributes& a) {
  MeshAsset* asset = find_mesh(reader, a);
  if (!asset) return std::nullopt;
  if (asset->file.empty()) {
    if (!asset->inline_data) return std::nullopt;
    return PlacedShape{load_surface(reader, a.element(), *asset), {}};
  }
  const Vec3<>& s = asset->scale;
  const Transform<>& X = asset->X_reference;
  const bool turned = X.R != Mat3<>::identity(), uniform = s.x == s.y && s.y == s.z;
  const std::filesystem::path path = path_of_mesh(*asset);
  std::error_code ignored;
  const bool absolute = std::filesystem::path(asset->file).is_absolute();
  Mesh mesh{(absolute ? path : path.lexically_relative(reader.main.folder)).generic_string(), {}, s};
  const bool there = std::filesystem::is_regular_file(path, ignored);
  if (there && !reader.gate.allows(path)) {
    reader.report.repeated_warning(a.element(), kMeshOutside, "meshes outside the model's package are omitted",
                                   reader.gate.hint(path));
  } else if (there && turned && !uniform) {  // not expressible as a scale of the file's axes
    if (TriangleMesh surface = load_surface(reader, a.element(), *asset); surface.data)
      return PlacedShape{std::move(surface), {}};
  } else if (there) {
    mesh.path = path.string();
  }
  const Mat3<> R = transpose(X.R);
  const Vec3<> p = R * X.p;
  return PlacedShape{std::move(mesh), {R, {-s.x * p.x, -s.y * p.y, -s.z * p.z}}};
}

std::optional<MeshSolid> mesh_mass(Reader& reader, const Attributes& a, bool shell) {
  MeshAsset* asset = find_mesh(reader, a);
  if (!asset) return std::nullopt;
  const TriangleMesh surface = load_surface(reader, a.element(), *asset);
  if (!surface.data) return std::nullopt;
  const MeshSolid solid = mesh_solid(*surface.data, shell ? MeshMass::kShell : asset->mass);
  if (solid.measure > 0) return solid;
  reader.report.warning(a.element(), kMeshMass, "the mesh encloses no volume, or faces inwards",
                        "inertia=\"shell\" gives a surface mass");
  return std::nullopt;
}

std::optional<FittedBox> fit_box(Reader& reader, const Attributes& a) {
  const auto solid = mesh_mass(reader, a, false);
  if (!solid) return std::nullopt;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(to_eigen(solid->inertia) / solid->measure);
  FittedBox box;
  const Eigen::Vector3d J = solver.eigenvalues().reverse();  // the longest side is the third
  Eigen::Matrix3d R = solver.eigenvectors().rowwise().reverse();
  if (R.determinant() < 0) R.col(0) = -R.col(0);
  const auto half = [&](double along, double b, double c) {
    return 0.5 * std::sqrt(std::max(0.0, 6 * (b + c - along)));
  };
  box.half = {half(J[0], J[1], J[2]), half(J[1], J[0], J[2]), half(J[2], J[0], J[1])};
  box.X_GB = {{{R(0, 0), R(0, 1), R(0, 2)}, {R(1, 0), R(1, 1), R(1, 2)}, {R(2, 0), R(2, 1), R(2, 2)}}, solid->centre};
  return box;
}

}  // namespace kansetsu::io::mjcf
