#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "kansetsu/base/error.h"
#include "sim/impl.h"
#include "sim/snapshot.h"

/// A world's state as a whole: its hash, saved and restored to the bit.
namespace kansetsu {

std::uint64_t World::hash() const {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  const auto add = [&](const double* x, long n) {
    for (long i = 0; i < n; ++i) {
      unsigned char bytes[sizeof(double)];
      std::memcpy(bytes, x + i, sizeof(double));
      for (const unsigned char b : bytes) hash = (hash ^ b) * 1099511628211ull;
    }
  };
  add(&impl_->time, 1);
  for (const auto& f : impl_->figures) {
    add(f->q.data(), f->q.size()), add(f->v.data(), f->v.size());
    add(f->actuators.activation.data(), f->actuators.activation.size());
  }
  return hash;
}

double Snapshot::time() const { return data_ ? data_->time : 0; }

Snapshot World::save() const {
  auto data = std::make_shared<Snapshot::Data>();
  data->time = impl_->time;
  for (const auto& f : impl_->figures) {
    data->q.push_back(f->q), data->v.push_back(f->v), data->vdot.push_back(f->vdot);
    data->torque.push_back(f->torque), data->effort.push_back(f->effort);
    data->rest_time.push_back(f->rest_time), data->nap.push_back(f->nap);
    data->bound_force.push_back(f->bound_force), data->products_due.push_back(f->products_due);
    data->control.push_back(f->actuators.control), data->activation.push_back(f->actuators.activation);
    data->external.push_back(f->has_external ? f->external : Eigen::VectorXd());
  }
  data->wrenches = impl_->wrenches;
  data->shapes = impl_->contacts.shapes().size(), data->springs = impl_->springs.size();
  data->connections = impl_->connections;
  data->contacts = impl_->contacts.carried();
  data->gravity = impl_->options.gravity;
  data->controllers = impl_->controllers;
  for (const SensorData& s : impl_->sensors.list) data->sensors.push_back(s.rng);
  data->event_states = impl_->events.list;
  data->events = impl_->reports.events;
  data->totals = impl_->reports.totals;
  data->status = impl_->status;
  data->failure = impl_->failure;
  data->next_step = impl_->smooth.next_step;
  Snapshot out;
  out.data_ = std::move(data);
  return out;
}

void World::restore(const Snapshot& snapshot) {
  impl_->changed();
  impl_->ledger.reset();
  if (!snapshot.data_) throw Error("World::restore: the snapshot is empty");
  const Snapshot::Data& data = *snapshot.data_;
  bool fits = data.q.size() == impl_->figures.size() && data.controllers.size() == impl_->controllers.size() &&
              data.sensors.size() == impl_->sensors.list.size() &&
              data.event_states.size() == impl_->events.list.size() && data.shapes == impl_->contacts.shapes().size() &&
              data.springs == impl_->springs.size();
  for (size_t i = 0; fits && i < data.q.size(); ++i) {
    fits = data.q[i].size() == impl_->figures[i]->q.size() &&
           data.control[i].size() == impl_->figures[i]->actuators.control.size();
  }
  if (!fits) {
    throw Error(fmt::format(
        "World::restore: the snapshot is of another world: {} figures, {} shapes, {} controllers and {} springs, "
        "here {}, {}, {} and {}",
        data.q.size(), data.shapes, data.controllers.size(), data.springs, impl_->figures.size(),
        impl_->contacts.shapes().size(), impl_->controllers.size(), impl_->springs.size()));
  }
  if (data.gravity != impl_->options.gravity) set_gravity(data.gravity);
  impl_->time = data.time;
  for (size_t i = 0; i < data.q.size(); ++i) {
    FigureData& f = *impl_->figures[i];
    f.q = data.q[i], f.v = data.v[i], f.vdot = data.vdot[i], f.torque = data.torque[i], f.effort = data.effort[i];
    f.bound_force = data.bound_force[i], f.products_due = data.products_due[i];
    f.actuators.control = data.control[i], f.actuators.activation = data.activation[i];
    f.rest_time = data.rest_time[i], f.nap = data.nap[i];
    f.has_external = data.external[i].size() > 0;
    if (f.has_external)
      f.external = data.external[i];
    else
      f.external.setZero();
    f.mechanics.set_pose(f.q.data());
    f.mechanics.set_motion(f.v.data());
  }
  impl_->sleeping.recount();
  impl_->wrenches = data.wrenches;
  impl_->connections = data.connections;
  impl_->contacts.restore(data.contacts);
  impl_->controllers = data.controllers;
  for (size_t i = 0; i < data.sensors.size(); ++i) impl_->sensors.list[i].rng = data.sensors[i];
  impl_->events.list = data.event_states;
  impl_->reports.events = data.events;
  impl_->reports.totals = data.totals;
  impl_->status = data.status;
  impl_->failure = data.failure;
  impl_->smooth.next_step = data.next_step;
}

}  // namespace kansetsu
