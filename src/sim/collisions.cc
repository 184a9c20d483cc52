#include "sim/collisions.h"

namespace kansetsu {
namespace {

/// Families of the broad phase: what cannot move, and then one per figure.
constexpr int kUnmoved = 0, kFirstFigure = 1;

/// The number of a body in the broad phase; fixed bodies never meet the environment, nor fixed bodies of other figures.
int broad_body(WorldState& world, int figure, int body) {
  FigureData& f = world.figure(figure);
  int& number = body < 0 ? f.broad_base : f.broad_bodies[size_t(body)];
  if (number >= 0) return number;
  number = world.broad_bodies++;
  if (body >= 0) return number;
  for (const int fixed : {0, number}) world.contacts.change_filters().set_family(fixed, kUnmoved);
  return number;
}

}  // namespace

void add_shapes(WorldState& world, int figure,
                const std::function<std::optional<ShapeTraits>(LinkId, const LinkShape&)>& traits) {
  FigureData& f = world.figure(figure);
  f.broad_bodies.assign(size_t(f.model.tree().body_count()), -1);
  for (int i = 0; i < f.model.link_count(); ++i) {
    const int body = f.mechanics.body_of(LinkId(i));
    for (const LinkShape& s : f.model.link(LinkId(i)).collisions) {
      const std::optional<ShapeTraits> own = traits(LinkId(i), s);
      if (!own) continue;
      world.contacts.add({.figure = body >= 0 ? figure : -1,
                          .body = body,
                          .owner = figure,
                          .link = LinkId(i),
                          .geometry = Geometry(s.shape),
                          .X_BS = f.model.tree().links[size_t(i)].X_BL * to_transform(s.origin),
                          .material = own->material,
                          .name = s.name},
                         broad_body(world, figure, body), own->groups);
    }
  }
}

void filter_self_collisions(WorldState& world, int figure) {
  FigureData& f = world.figure(figure);
  const Tree& tree = f.model.tree();
  const auto number = [&](int body) { return body < 0 ? f.broad_base : f.broad_bodies[size_t(body)]; };
  const auto exclude = [&](int a, int b) {
    const int x = number(a), y = number(b);
    if (a != b && x >= 0 && y >= 0) world.contacts.change_filters().exclude_bodies(x, y);
  };
  if (f.options.self_collision == SelfCollision::kNone) {
    for (int a = 0; a < tree.body_count(); ++a) {
      if (number(a) >= 0) world.contacts.change_filters().set_family(number(a), kFirstFigure + figure);
      exclude(a, -1);  // what cannot move has a family of its own
    }
    return;
  }
  if (f.options.self_collision == SelfCollision::kNotNeighbours) {
    for (int a = 0; a < tree.body_count(); ++a) {
      int parent = tree.bodies[size_t(a)].parent;
      while (parent >= 0 && f.broad_bodies[size_t(parent)] < 0) parent = tree.bodies[size_t(parent)].parent;
      exclude(a, parent);
    }
  }
  for (const CollisionFilter& filter : f.model.description().collision_filters) {
    const auto a = f.model.find_link(filter.a), b = f.model.find_link(filter.b);
    if (a && b) exclude(f.mechanics.body_of(*a), f.mechanics.body_of(*b));
  }
}

}  // namespace kansetsu
