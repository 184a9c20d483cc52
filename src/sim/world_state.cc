#include "sim/world_state.h"

#include <algorithm>

#include "actuation/plan.h"
#include "sim/actuators.h"

namespace kansetsu {

void WorldState::refresh() {
  if (is_current || in_step) return;
  for (const std::unique_ptr<FigureData>& f : figures) {
    if (f->nap < 0) f->set_mechanics();
  }
  is_current = true;
}

double kinetic_energy(const WorldState& world) {
  double sum = 0;
  for (const auto& f : world.figures) sum += f->energy_of(f->q, f->v).kinetic;
  return sum;
}

double potential_energy(WorldState& world) {
  double sum = 0;
  for (const auto& f : world.figures) {
    sum += f->energy_of(f->q, f->v).potential;
    for (const DriveCoordinate& d : f->drives) {
      if (!f->options.switches.springs || d.dof.stiffness == 0) continue;
      const double x = d.position(f->q) - d.dof.rest;
      sum += 0.5 * d.dof.stiffness * x * x;
    }
    if (f->actuators.actuation.plan().sprung.empty()) continue;
    world.refresh();
    place_actuators(*f);
    sum += tendon_energy(*f);
  }
  for (ConnectionData& c : world.connections) {
    if (!c.active || c.soft == 0) continue;
    world.refresh();
    place_connection(world.figures, world.time, c);
    sum += c.stored;
  }
  if (!world.springs.empty()) world.refresh();
  for (const SpringData& s : world.springs) {
    const double x = norm(body_pose(world.figures, s.b) * s.p_B - body_pose(world.figures, s.a) * s.p_A) - s.rest;
    if (x > 0 || !s.spring.pull_only) sum += 0.5 * s.spring.stiffness * x * x;
  }
  return sum;
}

bool matches(const WorldState& world, const ShapeRef& ref, const WorldShape& shape) {
  const FigureData* f = shape.owner >= 0 ? &world.figure(shape.owner) : nullptr;
  if (ref.figure.empty() && !ref.shape.empty() && f) return false;  // a shape of the environment
  if (!ref.figure.empty() && (!f || f->options.name != ref.figure)) return false;
  if (!ref.link.empty() && (!f || f->model.link(shape.link).name != ref.link)) return false;
  return ref.shape.empty() || shape.name == ref.shape;
}

bool matches_real(const WorldState& world, const ShapeRef& ref, const Touch& touch) {
  const auto named = [&](int shape) { return matches(world, ref, world.contacts.shapes()[size_t(shape)]); };
  return named(touch.real) || std::any_of(touch.merged.shape, touch.merged.shape + touch.merged.count, named);
}

}  // namespace kansetsu
