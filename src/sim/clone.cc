#include "sim/impl.h"

namespace kansetsu {
namespace {

std::unique_ptr<FigureData> clone_figure(const FigureData& f) {
  auto out = std::make_unique<FigureData>(f.model, f.options);
  out->q = f.q, out->v = f.v, out->vdot = f.vdot;
  out->torque = f.torque, out->external = f.external, out->has_external = f.has_external, out->effort = f.effort;
  out->own_material = f.own_material;
  out->q0 = f.q0, out->v0 = f.v0;
  out->actuators.control = f.actuators.control, out->actuators.activation = f.actuators.activation;
  out->rest_time = f.rest_time, out->nap = f.nap;
  out->bound_force = f.bound_force;
  out->products_due = f.products_due;
  out->medium_parts = f.medium_parts, out->medium_torque = f.medium_torque;
  out->broad_bodies = f.broad_bodies;
  out->broad_base = f.broad_base;
  out->mechanics.set_pose(f.q.data());
  out->mechanics.set_motion(f.v.data());
  return out;
}

}  // namespace

std::unique_ptr<World::Impl> World::Impl::clone() const {
  WorldOptions one = options;
  one.threads = 1;
  auto out = std::make_unique<Impl>(one);
  out->time = time;
  for (const std::unique_ptr<FigureData>& f : figures) out->figures.push_back(clone_figure(*f));
  out->sleeping.recount();
  out->contacts = contacts;
  out->contacts.own_touches();
  out->contacts.pool = nullptr;
  out->connections = connections;
  out->couplings = couplings;
  out->springs = springs;
  out->controllers = controllers;
  out->sensors.list = sensors.list;
  out->sensors.magnetic = sensors.magnetic;
  out->events.list = events.list;
  out->callbacks = callbacks;
  out->contact_callbacks = contact_callbacks;
  out->wrenches = wrenches;
  out->broad_bodies = broad_bodies;
  out->status = status;
  out->failure = failure;
  out->reports = reports;
  out->ledger = ledger;
  out->strict = strict;
  for (ConnectionReport& r : out->reports.connections) r.name = out->connections[place_of(r.id)].options.name;
  out->reports.step.contacts = out->reports.contacts;
  out->reports.step.connections = out->reports.connections;
  out->smooth.next_step = smooth.next_step;
  out->parameters = parameters;
  return out;
}

}  // namespace kansetsu
