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
  out->asleep_count = asleep_count;
  for (const std::unique_ptr<FigureData>& f : figures) out->figures.push_back(clone_figure(*f));
  out->contacts = contacts;
  out->contacts.own_touches();
  out->contacts.pool = nullptr;
  out->connections = connections;
  out->couplings = couplings;
  out->springs = springs;
  out->controllers = controllers;
  out->sensors = sensors;
  out->event_states = event_states;
  out->callbacks = callbacks;
  out->contact_callbacks = contact_callbacks;
  out->wrenches = wrenches;
  out->broad_bodies = broad_bodies;
  out->status = status;
  out->failure = failure;
  out->report = report;
  out->totals = totals;
  out->ledger = ledger;
  out->strict = strict;
  out->contact_reports = contact_reports;
  out->connection_reports = connection_reports;
  for (ConnectionReport& r : out->connection_reports) r.name = out->connections[place_of(r.id)].options.name;
  out->report.contacts = out->contact_reports;
  out->report.connections = out->connection_reports;
  out->events = events;
  out->next_step = next_step;
  out->parameters = parameters;
  out->magnetic = magnetic;
  return out;
}

}  // namespace kansetsu
