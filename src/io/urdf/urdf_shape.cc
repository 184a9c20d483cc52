#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "io/urdf/urdf_codes.h"
#include "io/urdf/urdf_reader.h"

namespace kansetsu::io::urdf {
namespace {

/// A required, non-negative length.
double read_size(Reader& reader, const Element& element, const char* attribute) {
  double size = 0;
  read_required_number(reader.report, element, attribute, size);
  if (size >= 0) return size;
  reader.report.error(element, kRange, fmt::format("{} is negative: {}", attribute, format_number(size)),
                      "sizes are zero or positive [m]");
  return 0;
}

Shape read_box(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"size"});
  Box box;
  if (!element.Attribute("size"))
    report_missing(reader.report, element, "attribute size", "write <box size=\"1 2 3\"/>");
  read_vec3(reader.report, element, "size", box.size);
  if (box.size.x < 0 || box.size.y < 0 || box.size.z < 0) {
    reader.report.error(element, kRange, fmt::format("size is negative: {}", quote(element.Attribute("size"))),
                        "sizes are zero or positive [m]");
    box = {};
  }
  return box;
}

Shape read_sphere(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"radius"});
  return Sphere{read_size(reader, element, "radius")};
}

Shape read_cylinder(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"radius", "length"});
  return Cylinder{read_size(reader, element, "radius"), read_size(reader, element, "length")};
}

Shape read_capsule(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"radius", "length"});
  return Capsule{read_size(reader, element, "radius"), read_size(reader, element, "length")};
}

bool is_collision(const Element& mesh) {
  const tinyxml2::XMLNode* shape = mesh.Parent() ? mesh.Parent()->Parent() : nullptr;
  return shape && shape->ToElement() && std::string_view(shape->ToElement()->Name()) == "collision";
}

/// Resolves a mesh file. A missing collision mesh makes the model partial; a missing visual mesh is a warning.
std::string locate(Reader& reader, const Element& element, const std::string& uri) {
  const MeshPath found = reader.meshes.find(uri);
  const auto tell = [&](const char* code, std::string message, std::string hint) {
    const auto how = is_collision(element) ? &XmlReport::missing : &XmlReport::repeated_warning;
    (reader.report.*how)(element, code, std::move(message), std::move(hint));
  };
  if (found.status == MeshPath::Status::kRemote) {
    tell(kMeshRemote, "meshes are not fetched from the network",
         fmt::format("download {} and name the local file", quote(uri)));
  } else if (found.status == MeshPath::Status::kNoPackage) {
    tell(kPackageNotFound, fmt::format("package {} is not found", quote(found.package)),
         "name the folder that holds it by --package-path DIR, or in ROS_PACKAGE_PATH");
  } else if (found.status == MeshPath::Status::kNoFile) {
    tell(kMeshNotFound, "mesh files are not found", fmt::format("the first is {}", quote(uri)));
  } else if (found.status == MeshPath::Status::kOutside) {
    tell(kMeshOutside, "meshes outside the model's package are omitted",
         fmt::format("the first is {}; {}", quote(uri), reader.meshes.hint(found)));
  }
  return found.status == MeshPath::Status::kFound ? found.path : std::string();
}

Shape read_mesh(Reader& reader, const Element& element) {
  check_element(reader.report, element, {"filename", "scale"});
  Mesh mesh;
  if (auto uri = read_required_text(reader.report, element, "filename")) {
    mesh.uri = *uri;
    mesh.path = locate(reader, element, mesh.uri);
  }
  read_vec3(reader.report, element, "scale", mesh.scale);
  return mesh;
}

std::optional<Shape> read_geometry(Reader& reader, const Element& element) {
  using Read = Shape (*)(Reader&, const Element&);
  static constexpr std::pair<std::string_view, Read> kShapes[] = {{"box", read_box},
                                                                  {"sphere", read_sphere},
                                                                  {"cylinder", read_cylinder},
                                                                  {"capsule", read_capsule},
                                                                  {"mesh", read_mesh}};
  check_element(reader.report, element, {}, {"box", "sphere", "cylinder", "capsule", "mesh"});
  std::optional<Shape> shape;
  for (const Element* child = element.FirstChildElement(); child; child = child->NextSiblingElement()) {
    for (const auto& [tag, read] : kShapes) {
      if (tag != child->Name()) continue;
      if (shape) {
        reader.report.missing(*child, kRepeated, "second shape in one <geometry>; the first is used");
      } else {
        shape = read(reader, *child);
      }
    }
  }
  if (!element.FirstChildElement()) {
    report_missing(reader.report, element, "shape", "give <box>, <sphere>, <cylinder>, <capsule> or <mesh>");
  }
  return shape;
}

/// The path of a texture file that exists and may be read; otherwise only its name.
std::string texture_file(const Reader& reader, const std::string& uri) {
  if (uri.empty()) return {};
  const MeshPath found = reader.meshes.find(uri);
  std::error_code ignored;
  if (found.status == MeshPath::Status::kFound) return std::filesystem::absolute(found.path, ignored).string();
  return std::filesystem::path(uri).is_absolute() ? std::filesystem::path(uri).filename().string() : uri;
}

Material read_material(Reader& reader, const Element& element) {
  XmlReport& report = reader.report;
  check_element(report, element, {"name"}, {"color", "texture"});
  Material material;
  material.name = read_text(report, element, "name").value_or("");
  if (const Element* color = element.FirstChildElement("color")) {
    check_element(report, *color, {"rgba"});
    std::vector<double> rgba(4);
    if (!color->Attribute("rgba")) report_missing(report, *color, "attribute rgba", "write <color rgba=\"1 0 0 1\"/>");
    if (read_numbers(report, *color, "rgba", rgba)) {
      for (double& c : rgba) {
        if (c >= 0 && c <= 1) continue;
        report.repeated_warning(*color, kMaterial, "colour is not within 0 and 1, and is clipped");
        c = std::clamp(c, 0.0, 1.0);
      }
      material.rgba = std::move(rgba);
    }
  }
  if (const Element* texture = element.FirstChildElement("texture")) {
    check_element(report, *texture, {"filename"});
    material.texture =
        texture_file(reader, read_text(report, *texture, "filename").value_or(""));  // <texture/> is common
  }
  return material;
}

bool is_only_named(const Material& material) { return !material.rgba && material.texture.empty(); }

/// Notes a material of a link: a definition, or a reference by name.
void note_material(Reader& reader, const Element& element, const Material& material) {
  if (material.name.empty()) return;
  if (is_only_named(material)) {
    reader.named_materials.emplace_back(material.name, &element);
  } else {
    reader.materials.emplace(material.name, material);
  }
}

}  // namespace

void read_shape(Reader& reader, const Element& element, std::vector<LinkShape>& shapes) {
  XmlReport& report = reader.report;
  check_element(report, element, {"name"}, {"origin", "geometry", "material"});
  LinkShape shape;
  shape.name = read_text(report, element, "name").value_or("");
  shape.origin = read_origin(reader, element);
  if (const Element* material = element.FirstChildElement("material")) {
    shape.material = read_material(reader, *material);
    note_material(reader, *material, *shape.material);
  }
  const Element* geometry = element.FirstChildElement("geometry");
  if (!geometry) return report_missing(report, element, "<geometry>", "give it a shape, or remove it");
  if (auto read = read_geometry(reader, *geometry)) {
    shape.shape = *std::move(read);
    shapes.push_back(std::move(shape));
  }
}

void read_global_material(Reader& reader, const Element& element) {
  Material material = read_material(reader, element);
  if (material.name.empty()) {
    report_missing(reader.report, element, "attribute name", "shapes use a material by its name");
    return;
  }
  if (!reader.materials.emplace(material.name, material).second)
    return reader.report.warning(element, kMaterial,
                                 fmt::format("material {} is defined twice; the first is used", quote(material.name)));
  reader.description.materials.push_back(std::move(material));
}

void resolve_materials(Reader& reader) {
  for (const auto& [name, element] : reader.named_materials) {
    if (!reader.materials.contains(name)) {
      reader.report.repeated_warning(*element, kMaterial, fmt::format("material {} is not defined", quote(name)));
    }
  }
  for (LinkDescription& link : reader.description.links) {
    for (auto* shapes : {&link.visuals, &link.collisions}) {
      for (LinkShape& shape : *shapes) {
        if (!shape.material || !is_only_named(*shape.material)) continue;
        const auto found = reader.materials.find(shape.material->name);
        if (found != reader.materials.end()) shape.material = found->second;
      }
    }
  }
}

}  // namespace kansetsu::io::urdf
