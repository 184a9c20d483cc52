#pragma once

#include <memory>
#include <optional>
#include <string>

#include "kansetsu/model/builder.h"
#include "kansetsu/model/edit.h"
#include "sim/collisions.h"
#include "sim/islands.h"
#include "sim/meeting.h"
#include "sim/world_state.h"

/// Worlds for the tests of single stages: plain data, without a World.
namespace kansetsu::stage {

inline constexpr double kStep = 2e-3, kG = 9.81;

inline WorldOptions world_options(Vec3<> gravity = {0, 0, -kG}) {
  WorldOptions out;
  out.time_step = kStep, out.gravity = gravity;
  return out;
}

inline Model body(const Shape& shape, const std::string& name = "body", double mass = 1) {
  return value_or_throw(Model::build(make_body(name, shape, mass, {}).model));
}

/// A rod of 1 kg and 1 m that hangs from the ground by a hinge about y.
inline Model rod(const DofDescription& dof = {}) {
  return ModelBuilder("rod")
      .base(Base::kFixed)
      .link("ground")
      .link("rod", {.mass = 1, .origin = {.p = {0, 0, -0.5}}, .inertia = Sym3<>::diagonal(1.0 / 12, 1.0 / 12, 0.01)})
      .joint({.name = "hinge",
              .type = JointType::kRevolute,
              .parent = "ground",
              .child = "rod",
              .axis = {0, 1, 0},
              .dofs = {dof}})
      .build();
}

/// A figure at its neutral position, with the collision shapes of its links.
inline FigureData& add(WorldState& world, const Model& model, const ContactMaterial& material = {},
                       FigureOptions figure = {}) {
  figure.name = model.name() + std::to_string(world.figures.size());
  world.figures.push_back(std::make_unique<FigureData>(with_gravity(model, world.options.gravity), figure));
  const MaterialId id = world.contacts.materials().add(material);
  const int index = int(world.figures.size()) - 1;
  add_shapes(world, index,
             [&](LinkId, const LinkShape&) -> std::optional<ShapeTraits> { return ShapeTraits{.material = id}; });
  filter_self_collisions(world, index);
  FigureData& f = *world.figures.back();
  f.set_mechanics();
  return f;
}

/// A ball of 0.1 m whose lowest point is at z.
inline FigureData& add_ball(WorldState& world, double z, const ContactMaterial& material = {}) {
  FigureData& f = add(world, body(Sphere{0.1}), material);
  f.q[2] = 0.1 + z;
  f.set_mechanics();
  return f;
}

inline void add_floor(WorldState& world, const ContactMaterial& material = {}, const Vec3<>& surface_velocity = {}) {
  const MaterialId id = world.contacts.materials().add(material);
  world.contacts.add({.geometry = Geometry(Plane{}),
                      .X_BS = {},
                      .material = id,
                      .name = "floor",
                      .moves = surface_velocity != Vec3<>{},
                      .surface_velocity = surface_velocity},
                     0, {});
}

/// The contacts at the present poses and velocities.
inline void find_contacts(WorldState& world) {
  for (const auto& f : world.figures) f->set_mechanics();
  const WorldOptions& o = world.options;
  world.contacts.find(world.figures, world.time, o.contact_margin, o.contact.tol_gap, look_ahead(o, o.time_step));
  world.contacts.keep_pressures();
}

inline void find_islands(WorldState& world, Islands& islands) {
  islands.find(world.figures, world.connections, world.contacts);
}

/// Joins two links of figures (−1: the world) in their present pose.
inline ConnectionData& join(WorldState& world, int a, int b, const ConnectionOptions& options = {}) {
  ConnectionData& c = world.connections.emplace_back();
  c.a = {FigureId(a), LinkId(0)}, c.b = {FigureId(b), LinkId(0)};
  c.options = options;
  c.X_AC = options.X_AC, c.X_BD = options.X_BC;
  activate(world.figures, world.time, c);
  return c;
}

}  // namespace kansetsu::stage
