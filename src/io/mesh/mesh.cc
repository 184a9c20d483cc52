#include "kansetsu/io/mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "io/bytes.h"
#include "io/file_report.h"
#include "io/mesh/mesh_codes.h"
#include "io/mesh/mesh_content.h"
#include "io/number.h"

namespace kansetsu::io {
namespace {

constexpr int kMaxReported = 20;  // of one kind of error, so that a file of another kind does not give a million lines

class MeshReader {
 public:
  MeshReader(std::string file_name, const Vec3<>& scale) : file_(std::move(file_name)), scale_(scale) {}

  Loaded<TriangleMesh> read(std::string_view bytes, MeshFormat format) {
    if (!std::isfinite(scale_.x + scale_.y + scale_.z) || scale_.x == 0 || scale_.y == 0 || scale_.z == 0) {
      error(mesh::kScale, 0, fmt::format("the scale is ({}, {}, {})", scale_.x, scale_.y, scale_.z),
            "give three finite numbers other than 0");
    }
    if (format == MeshFormat::kObj)
      read_obj(bytes);
    else if (format == MeshFormat::kMsh)
      read_msh(bytes);
    else if (is_binary_stl(bytes))
      read_binary_stl(bytes);
    else
      read_text_stl(bytes);
    return finish();
  }

 private:
  void error(const char* code, int line, std::string message, std::string hint) {
    if (++reported_ == kMaxReported + 1) hint = "there are more errors like these";
    if (reported_ > kMaxReported + 1) return;
    diagnostics_.push_back({Severity::kError, code, file_, line, {}, std::move(message), std::move(hint)});
  }
  void warning(const char* code, std::string message, std::string hint) {
    diagnostics_.push_back({Severity::kWarning, code, file_, 0, {}, std::move(message), std::move(hint)});
  }

  /// Binary files may begin with "solid" as well: their size tells.
  static bool is_binary_stl(std::string_view bytes) {
    if (bytes.size() < 84) return !bytes.empty() && is_binary(bytes);
    if (bytes.size() == 84 + 50 * std::size_t(triangle_count(bytes))) return true;
    return is_binary(bytes.substr(0, 4096));
  }
  static std::uint32_t triangle_count(std::string_view bytes) { return number_at<std::uint32_t>(bytes, 80); }

  void read_binary_stl(std::string_view bytes) {
    const std::size_t count = bytes.size() < 84 ? 0 : triangle_count(bytes);
    const std::size_t expected = 84 + 50 * count;
    if (bytes.size() < expected) {
      error(mesh::kTruncated, 0,
            fmt::format("the file has {} bytes, but {} triangles need {}", bytes.size(), count, expected),
            "it is truncated, or not an STL file");
      return;
    }
    if (bytes.size() > expected) {
      warning(mesh::kTrailing, fmt::format("{} bytes after the last of {} triangles", bytes.size() - expected, count),
              "they are not looked at");
    }
    for (std::size_t t = 0; t < count; ++t) {
      std::array<int, 3> corners{};
      for (std::size_t k = 0; k < 3; ++k) {
        float x[3];
        for (std::size_t i = 0; i < 3; ++i) x[i] = number_at<float>(bytes, 84 + 50 * t + 12 + 12 * k + 4 * i);
        const Vec3<> p{x[0], x[1], x[2]};
        if (!std::isfinite(p.x + p.y + p.z)) {
          error(mesh::kNumber, 0, fmt::format("corner {} of triangle {} is ({}, {}, {})", k, t, p.x, p.y, p.z),
                "write finite numbers");
        }
        corners[k] = shared_vertex(p);
      }
      data_.triangles.push_back(corners);
    }
  }

  /// Counts of vertices, normals, texture coordinates and triangles, then the lists themselves, all of four bytes.
  void read_msh(std::string_view bytes) {
    constexpr std::size_t kHead = 16;
    std::array<std::uint64_t, 4> count{};
    for (std::size_t i = 0; i < 4 && bytes.size() >= kHead; ++i) count[i] = number_at<std::uint32_t>(bytes, 4 * i);
    const std::uint64_t expected = kHead + 4 * (3 * count[0] + 3 * count[1] + 2 * count[2] + 3 * count[3]);
    if (bytes.size() != expected || count[0] == 0) {
      error(mesh::kTruncated, 0, fmt::format("the file has {} bytes, but its counts need {}", bytes.size(), expected),
            "it is truncated, or not an MSH file");
      return;
    }
    std::vector<int> vertex;  // by number in the file: equal ones are one
    for (std::size_t v = 0; v < count[0]; ++v) {
      float x[3];
      for (std::size_t i = 0; i < 3; ++i) x[i] = number_at<float>(bytes, kHead + 12 * v + 4 * i);
      const Vec3<> p{x[0], x[1], x[2]};
      if (!std::isfinite(p.x + p.y + p.z))
        error(mesh::kNumber, 0, fmt::format("vertex {} is ({}, {}, {})", v, p.x, p.y, p.z), "write finite numbers");
      vertex.push_back(shared_vertex(p));
    }
    const std::size_t faces = kHead + std::size_t(12 * count[0] + 12 * count[1] + 8 * count[2]);
    for (std::size_t t = 0; t < count[3]; ++t) {
      std::array<int, 3> corners{};
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t v = number_at<std::uint32_t>(bytes, faces + 12 * t + 4 * k);
        if (v < vertex.size()) {
          corners[k] = vertex[v];
          continue;
        }
        error(mesh::kIndex, 0, fmt::format("triangle {} names vertex {} of {}", t, v, vertex.size()),
              "count vertices from 0");
      }
      data_.triangles.push_back(corners);
    }
  }

  void read_text_stl(std::string_view text) {
    std::array<int, 3> corners{};
    int count = -1, line = 0;  // corners of the facet so far; −1: between facets
    for (std::string_view rest = text; !rest.empty();) {
      ++line;
      std::string_view words = next_line(rest);
      const std::string word = lower_case(next_word(words));
      if (word == "facet") {
        count = 0;
      } else if (word == "vertex") {
        const Vec3<> p = read_point(words, line);
        if (count >= 0 && count < 3) corners[std::size_t(count)] = shared_vertex(p);
        ++count;
      } else if (word == "endfacet") {
        if (count == 3)
          data_.triangles.push_back(corners);
        else
          error(mesh::kSyntax, line, fmt::format("a facet has {} corners", std::max(count, 0)), "a facet has three");
        count = -1;
      } else if (!word.empty() && word != "solid" && word != "outer" && word != "endloop" && word != "endsolid") {
        error(mesh::kSyntax, line, fmt::format("{} is not a keyword of STL files", quote(word)),
              "expected facet, vertex, …");
      }
    }
    if (count >= 0) error(mesh::kTruncated, line, "the file ends within a facet", "it was cut off");
  }

  void read_obj(std::string_view text) {
    int line = 0;
    for (std::string_view rest = text; !rest.empty();) {
      ++line;
      std::string_view words = next_line(rest);
      const std::string_view word = next_word(words);
      if (word == "v")
        data_.vertices.push_back(scaled(read_point(words, line)));
      else if (word == "f")
        read_face(words, line);
    }
    for (auto& [triangle, at] : unchecked_) {  // a face may come before its vertices
      for (int v : triangle) {
        if (v < int(data_.vertices.size())) continue;
        error(mesh::kIndex, at, fmt::format("vertex {} does not exist: there are {}", v + 1, data_.vertices.size()),
              "count vertices from 1");
        break;
      }
      data_.triangles.push_back(triangle);
    }
  }

  /// Corners as v, v/vt, v//vn or v/vt/vn; negative numbers count from the last vertex. Polygons become fans,
  /// quadrilaterals two triangles along the shorter diagonal.
  void read_face(std::string_view words, int line) {
    constexpr double kMostVertices = 1e9;  // what an int counts
    std::vector<int> corners;
    for (std::string_view word = next_word(words); !word.empty() && word[0] != '#'; word = next_word(words)) {
      double number = 0;
      const auto wrong = parse_numbers(word.substr(0, word.find('/')), {&number, 1});
      if (wrong || number != std::floor(number) || number == 0 || std::abs(number) > kMostVertices ||
          (number < 0 && -number > double(data_.vertices.size()))) {
        error(mesh::kIndex, line, fmt::format("{} names no vertex", quote(word)), "count vertices from 1");
        return;
      }
      corners.push_back(number > 0 ? int(number) - 1 : int(data_.vertices.size()) + int(number));
    }
    if (corners.size() < 3) {
      error(mesh::kSyntax, line, fmt::format("a face has {} corners", corners.size()), "a face has at least three");
      return;
    }
    if (corners.size() == 4 && !is_shorter(corners[0], corners[2], corners[1], corners[3]))
      std::ranges::rotate(corners, corners.begin() + 1);
    for (std::size_t k = 2; k < corners.size(); ++k)
      unchecked_.push_back({{corners[0], corners[k - 1], corners[k]}, line});
  }

  /// Whether a is nearer to b than c to d; where vertices come after their face, it is.
  bool is_shorter(int a, int b, int c, int d) const {
    if (std::max({a, b, c, d}) >= int(data_.vertices.size())) return true;
    const auto apart = [&](int i, int k) {
      const Vec3<> line = data_.vertices[std::size_t(k)] - data_.vertices[std::size_t(i)];
      return dot(line, line);
    };
    return apart(a, b) < apart(c, d);
  }

  Vec3<> read_point(std::string_view words, int line) {
    double x[3] = {0, 0, 0};
    for (double& value : x) {
      const std::string_view word = next_word(words);
      if (const auto wrong = parse_numbers(word, {&value, 1})) {
        error(mesh::kNumber, line, *wrong, "a vertex is three finite numbers");
        return {};
      }
    }
    return {x[0], x[1], x[2]};
  }

  Vec3<> scaled(const Vec3<>& p) const { return {scale_.x * p.x, scale_.y * p.y, scale_.z * p.z}; }

  /// STL repeats every corner: equal ones are one vertex.
  int shared_vertex(const Vec3<>& p) {
    const Vec3<> key{p.x + 0.0, p.y + 0.0, p.z + 0.0};  // −0 is 0
    const std::string_view bytes(reinterpret_cast<const char*>(&key), sizeof key);
    const auto [place, is_new] = places_.try_emplace(std::string(bytes), int(data_.vertices.size()));
    if (is_new) data_.vertices.push_back(scaled(p));
    return place->second;
  }

  Loaded<TriangleMesh> finish() {
    if (has_errors(diagnostics_)) return {std::nullopt, std::move(diagnostics_)};
    const auto at = [&](int v) { return data_.vertices[std::size_t(v)]; };
    const std::size_t before = data_.triangles.size();
    std::erase_if(data_.triangles, [&](const std::array<int, 3>& t) {
      const Vec3<> n = cross(at(t[1]) - at(t[0]), at(t[2]) - at(t[0]));
      return !(dot(n, n) > 0);
    });
    if (data_.triangles.empty()) {
      error(mesh::kEmpty, 0, fmt::format("no triangle with an area, of {}", before),
            "check that the file contains a surface");
      return {std::nullopt, std::move(diagnostics_)};
    }
    if (data_.triangles.size() < before)
      warning(mesh::kDegenerate,
              fmt::format("{} of {} triangles have no area", before - data_.triangles.size(), before),
              "they are ignored");
    if (scale_.x * scale_.y * scale_.z < 0) {
      for (auto& t : data_.triangles) std::swap(t[1], t[2]);
    }
    return {TriangleMesh{std::make_shared<const TriangleMeshData>(std::move(data_))}, std::move(diagnostics_)};
  }

  std::string file_;
  Vec3<> scale_;
  TriangleMeshData data_;
  std::vector<std::pair<std::array<int, 3>, int>> unchecked_;  ///< triangles of an OBJ file and their lines
  std::unordered_map<std::string, int> places_;
  std::vector<Diagnostic> diagnostics_;
  int reported_ = 0;
};

}  // namespace

Loaded<TriangleMesh> parse_mesh(std::string_view bytes, MeshFormat format, const std::string& file_name,
                                const Vec3<>& scale) {
  return MeshReader(file_name, scale).read(bytes, format);
}

Loaded<TriangleMesh> load_mesh(const std::filesystem::path& file, const Vec3<>& scale) {
  const std::string name = file.string(), ending = lower_ending(name);
  if (ending != ".stl" && ending != ".obj" && ending != ".msh") {
    return {std::nullopt,
            {about_file(Severity::kError, mesh::kFormat, name,
                        fmt::format("{} is not a mesh format that can be read", quote(ending)),
                        "convert it to .stl or .obj")}};
  }
  constexpr FileCodes kCodes{mesh::kMissingFile, mesh::kNotAFile, mesh::kUnreadable, mesh::kTooLarge,
                             "simplify the mesh"};
  const MeshFormat format = ending == ".obj"   ? MeshFormat::kObj
                            : ending == ".msh" ? MeshFormat::kMsh
                                               : MeshFormat::kStl;
  return parse_file(file, kCodes, [&](const std::string& bytes) { return parse_mesh(bytes, format, name, scale); });
}

Loaded<TriangleMesh> load_mesh(const Mesh& reference) {
  if (!reference.path.empty()) return load_mesh(std::filesystem::path(reference.path), reference.scale);
  return {std::nullopt,
          {about_file(Severity::kError, mesh::kMissingFile, reference.uri,
                      "the file of this mesh was not found when the model was read",
                      "give the folder that holds it as a package path")}};
}

}  // namespace kansetsu::io
