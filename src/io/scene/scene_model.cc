#include <fmt/format.h>

#include "io/scene/scene_reader.h"
#include "io/urdf/dof_attributes.h"
#include "kansetsu/model/solid.h"

namespace kansetsu::io::scene {
namespace {

/// mass with com, inertia and inertia_rpy, or density over the link's shapes.
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
      table.error_at("inertia", kLength, "an inertia is three or six numbers beside a mass",
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
    const auto V = volume(shape.shape);
    if (!V) {
      table.error(kShape, "a shape of the link has no volume of its own (mesh, hull, plane)",
                  "give mass, com and inertia");
      return std::nullopt;
    }
    total += *V;
    parts.push_back({*V, shape.origin, *solid_inertia(shape.shape, *V)});
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
  joint.line = table.line();
  joint.name = table.required("name");
  joint.parent = table.required("parent");
  joint.child = table.required("child");
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
  joint.socket = read_pose(table, "socket");
  joint.plug = read_pose(table, "plug");
  table.read("axis", joint.axis);
  table.read("second_axis", joint.second_axis);
  table.read("pitch", joint.pitch);
  if (table.has("swing")) {
    SwingTwistLimit limit;
    table.read("swing", limit.swing);
    table.read("twist_lower", limit.twist_lower);
    table.read("twist_upper", limit.twist_upper);
    joint.swing_twist = limit;
  }
  for (TomlTable& dof : table.tables("dof")) {
    read_dof(dof, joint.dofs.emplace_back());
    dof.finish();
  }
  if (joint.dofs.empty()) {
    DofDescription dof;
    read_dof(table, dof);
    if (dof != DofDescription{}) joint.dofs.assign(std::size_t(info(joint.type).nv), dof);
  } else {
    DofDescription ignored;
    for (const DofAttribute& attribute : kDofAttributes) {
      if (table.has(attribute.name))
        table.error_at(attribute.name, kConflict, "data of the joint beside those of its coordinates",
                       "put it into [[…dof]]");
    }
    read_dof(table, ignored);
  }
  table.finish();
  return joint;
}

Coupling read_coupling(TomlTable& table) {
  Coupling coupling;
  coupling.line = table.line();
  coupling.dependent.joint = table.required("joint");
  coupling.dependent.index = int(std::min<std::int64_t>(table.integer("index").value_or(0), 100));
  table.read("offset", coupling.offset);
  for (TomlTable& term : table.tables("term")) {
    Coupling::Term out;
    out.dof.joint = term.required("joint");
    out.dof.index = int(std::min<std::int64_t>(term.integer("index").value_or(0), 100));
    term.read("ratio", out.ratio);
    term.finish();
    coupling.terms.push_back(out);
  }
  table.finish();
  return coupling;
}

}  // namespace

void read_dof(TomlTable& table, DofDescription& dof) {
  for (const DofAttribute& attribute : kDofAttributes) table.read(attribute.name, dof.*attribute.member);
}

ModelDescription read_model(Reader& reader, TomlTable& table, const std::string& name) {
  ModelDescription model;
  model.name = name;
  for (TomlTable& link : table.tables("link")) model.links.push_back(read_link(reader, link));
  for (TomlTable& joint : table.tables("joint")) model.joints.push_back(read_joint(joint));
  for (TomlTable& gear : table.tables("gear")) model.couplings.push_back(read_coupling(gear));
  return model;
}

}  // namespace kansetsu::io::scene
