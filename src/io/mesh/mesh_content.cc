#include "io/mesh/mesh_content.h"

#include <filesystem>

#include "io/bytes.h"
#include "io/json.h"
#include "io/recording/crc32.h"
#include "io/text.h"
#include "io/xml.h"
#include "kansetsu/io/mesh.h"

namespace kansetsu::io {
namespace {

constexpr std::size_t kStlHead = 84, kStlTriangle = 50;  // bytes

/// Without what follows the last triangle. The text of a text file, taken for a count, is larger than any file.
std::string_view stl_content(std::string_view bytes) {
  ByteReader in(bytes);
  in.raw(kStlHead - 4);
  const std::uint64_t size = kStlHead + kStlTriangle * std::uint64_t{in.take<std::uint32_t>()};
  return in.failed || size > bytes.size() ? bytes : bytes.substr(0, static_cast<std::size_t>(size));
}

bool is_collada(std::string_view text) {
  if (crowded_element_line(text)) return false;
  tinyxml2::XMLDocument document;
  document.Parse(text.data(), text.size());
  const Element* root = document.Error() ? nullptr : document.RootElement();
  return root && std::string_view(root->Name()) == "COLLADA" && root->FirstChildElement("library_geometries");
}

/// The JSON of a glTF file that has meshes and needs no other file: a page that shows it fetches nothing.
bool is_gltf(std::string_view text) {
  if (is_nested_too_deeply(text)) return false;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("asset") || !json.contains("meshes")) return false;
  for (const char* kind : {"buffers", "images"}) {
    for (const auto& part : json.value(kind, nlohmann::json::array())) {
      if (!part.is_object() || !part.contains("uri")) continue;
      if (!part["uri"].is_string() || !part["uri"].get_ref<const std::string&>().starts_with("data:")) return false;
    }
  }
  return json["meshes"].is_array();
}

bool is_glb(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.raw(4) != "glTF" || in.take<std::uint32_t>() != 2 || in.take<std::uint32_t>() != bytes.size()) return false;
  const auto size = in.take<std::uint32_t>();
  return in.raw(4) == "JSON" && is_gltf(in.raw(size)) && !in.failed;
}

/// Up to the end of its last chunk, if every chunk has its checksum, the first is the header, and there are pixels.
std::optional<std::string_view> png_content(std::string_view bytes) {
  constexpr std::string_view kMagic = "\x89PNG\r\n\x1a\n";
  ByteReader in(bytes);
  const auto is_side = [](std::uint32_t side) { return side > 0 && side <= kLargestSide; };
  if (in.raw(kMagic.size()) != kMagic) return std::nullopt;
  for (bool first = true, pixels = false; !in.failed; first = false) {
    const std::uint32_t size = big_endian(in.raw(4));
    const std::string_view chunk = in.raw(4 + std::size_t{size}), type = chunk.substr(0, 4);
    if (big_endian(in.raw(4)) != crc32(chunk) || in.failed || first != (type == "IHDR")) return std::nullopt;
    if (first && (size != 13 || !is_side(big_endian(chunk.substr(4, 4))) || !is_side(big_endian(chunk.substr(8, 4)))))
      return std::nullopt;
    pixels |= type == "IDAT";
    if (type == "IEND") return pixels ? std::optional(bytes.substr(0, bytes.size() - in.rest.size())) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> mesh_content(std::string_view bytes, std::string_view ending) {
  if (ending == ".stl" && parse_mesh(bytes, MeshFormat::kStl)) return stl_content(bytes);
  if (ending == ".png") return png_content(bytes);
  const bool whole = (ending == ".obj" && parse_mesh(bytes, MeshFormat::kObj)) ||
                     (ending == ".dae" && is_collada(bytes)) || (ending == ".gltf" && is_gltf(bytes)) ||
                     (ending == ".glb" && is_glb(bytes));
  return whole ? std::optional(bytes) : std::nullopt;
}

std::string lower_ending(std::string_view file) { return lower_case(std::filesystem::path(file).extension().string()); }

}  // namespace kansetsu::io
