#include <fmt/format.h>

#include "io/scene/toml_record.h"
#include "kansetsu/model/solid.h"

namespace kansetsu::io::scene {
namespace {

/// Reads mass, com, inertia and inertia_rpy, or density of the link's shapes.
std::optional<Inertial> read_inertial(TomlTable& table, const LinkDescription& link) {
  const auto mass = table.number("mass"), density = table.number("density");
  const auto inertia = table.numbers("inertia");
  Inertial out;
  table.read("com", out.origin.p);
  table.read("inertia_rpy", out.origin.rpy);
  if (mass && density) table.error_at("density", kConflict, "both mass and density", "give one of them");
  if (!mass && !density) {
    if (inertia) table.error_at("inertia", kMissing, "an inertia without a mass", "write mass = …");
    return std::nullopt;
  }
  if (inertia) {
    const bool full = inertia->size() == 6;
    if (!mass || (inertia->size() != 3 && !full)) {
      table.error_at("inertia", kLength, "an inertia is three or six numbers, given together with a mass",
                     "xx, yy, zz, and xy, xz, yz");
      return std::nullopt;
    }
    const std::vector<double>& I = *inertia;
    out.mass = *mass;
    out.inertia = full ? Sym3<>{I[0], I[3], I[4], I[1], I[5], I[2]} : Sym3<>::diagonal(I[0], I[1], I[2]);
    return out;
  }
  if (mass && (table.has("com") || link.collisions.empty())) {
    out.mass = *mass;  // a point
    return out;
  }
  double total = 0;
  std::vector<Inertial> parts;
  for (const LinkShape& shape : link.collisions) {
    const auto body = solid(shape.shape);
    if (!body) {
      table.error(kShape, "a shape of the link encloses no volume (plane, height field, open mesh)",
                  "give mass, com and inertia");
      return std::nullopt;
    }
    total += body->measure;
    const Vec3<> centre = to_transform(shape.origin) * body->centre;
    parts.push_back({body->measure, {centre, shape.origin.rpy}, body->inertia});
  }
  const double scale = mass ? (total > 0 ? *mass / total : 0) : *density;
  for (Inertial& part : parts) {
    part.mass *= scale;
    part.inertia = scale * part.inertia;
  }
  return combine(parts);
}

LinkDescription read_link(Reader& reader, TomlTable& table) {
  LinkDescription link;
  link.name = table.required("name");
  link.line = table.line();
  for (const bool visual : {false, true}) {
    for (TomlTable& shape : table.tables(visual ? "visual" : "shape")) {
      if (auto read = read_link_shape(reader, shape))
        (visual ? link.visuals : link.collisions).push_back(*std::move(read));
      shape.finish();
    }
  }
  link.inertial = read_inertial(table, link);
  table.finish();
  return link;
}

JointDescription read_joint(TomlTable& table) {
  JointDescription joint;
  read_fields(table, joint);
  const std::string type = table.required("type");
  if (type == "continuous") {
    joint.type = JointType::kRevolute;
    joint.continuous = true;
  } else if (const auto found = find_joint_type(type)) {
    joint.type = *found;
  } else if (!type.empty()) {
    std::string known;
    for (const JointTypeInfo& row : joint_table()) known += std::string(row.name) + ", ";
    table.error_at("type", kKeyword, fmt::format("type = '{}' is not known", type), "known: " + known + "continuous");
  }
  if (table.has("swing")) read_fields(table, joint.swing_twist.emplace());
  read_value(table, "dofs", joint.dofs);
  DofDescription all;
  read_fields(table, all);
  if (joint.dofs.empty()) {
    if (all != DofDescription{}) joint.dofs.assign(std::size_t(info(joint.type).nv), all);
  } else {
    for_each_field<DofDescription>([&](const auto& field) {
      if (table.has(field.key))
        table.error_at(field.key, kConflict, "data of the joint and data of its coordinates are both given",
                       "put it into [[…dof]]");
    });
  }
  table.finish();
  return joint;
}

}  // namespace

ModelDescription read_model(Reader& reader, TomlTable& table, const std::string& name) {
  ModelDescription model;
  model.name = name;
  for (TomlTable& link : table.tables("link")) model.links.push_back(read_link(reader, link));
  for (TomlTable& joint : table.tables("joint")) model.joints.push_back(read_joint(joint));
  read_value(table, "gears", model.couplings);
  return model;
}

}  // namespace kansetsu::io::scene
