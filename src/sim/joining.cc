#include <fmt/format.h>

#include <algorithm>

#include "kansetsu/base/error.h"
#include "sim/impl.h"
#include "sim/require.h"

/// Making, finding and cutting connections.
namespace kansetsu {

ConnectionId World::connect(BodyRef a, BodyRef b, const ConnectionOptions& options) {
  for (const BodyRef& body : {a, b}) impl_->require_body(body, "World::connect");
  if (a.is_world() && b.is_world()) throw Error("World::connect: one end must be a link of a figure");
  if (a == b) throw Error("World::connect: both ends are the same link");
  if (options.mask == 0 || options.mask > kWeldMask)
    throw Error(fmt::format("World::connect: the mask is {}, it must have one to six of the bits 0…5", options.mask));
  require_pose(options.X_AC, "World::connect", "X_AC");
  require_pose(options.X_BC, "World::connect", "X_BC");
  require_not_negative(options.break_force, "World::connect", "break_force");
  require_not_negative(options.break_torque, "World::connect", "break_torque");
  const std::string problem = connection_problem(options.mask, options.restitution, options.compliance);
  if (!problem.empty()) throw Error("World::connect: " + problem);
  if (options.motion) require_motion(*options.motion, "World::connect");
  size_t slot = 0;
  while (slot < impl_->connections.size() && (impl_->connections[slot].active || impl_->connections[slot].kept)) ++slot;
  const bool fresh = slot == impl_->connections.size();
  if (fresh) impl_->connections.emplace_back();
  ConnectionData& c = impl_->connections[slot];
  const int uses = c.uses + (fresh ? 0 : 1);
  c = ConnectionData{};
  c.uses = uses;
  c.a = a, c.b = b;
  c.options = options;
  c.X_AC = options.X_AC;
  c.X_BD = options.X_BC;
  impl_->refresh();
  impl_->changed();
  impl_->sleeping.wake(a), impl_->sleeping.wake(b);
  activate(impl_->figures, impl_->time, c);
  return connection_id(slot, c.uses);
}

void World::release(ConnectionId id) {
  if (id.value() < 0 || place_of(id) >= impl_->connections.size())
    throw Error(fmt::format("World::release: there is no connection {}", id.value()));
  ConnectionData* c = impl_->connection(id);
  if (!c || !c->active) return;
  impl_->sleeping.wake(c->a), impl_->sleeping.wake(c->b);
  c->active = false;
}
bool World::connected(ConnectionId id) const {
  const ConnectionData* c = impl_->connection(id);
  return c && c->active;
}
ConnectionData* World::Impl::connection(ConnectionId id) {
  if (id.value() < 0 || place_of(id) >= connections.size()) return nullptr;
  ConnectionData& c = connections[place_of(id)];
  return connection_id(place_of(id), c.uses) == id ? &c : nullptr;
}
ConnectionId World::connection(std::string_view name) const {
  std::string known;
  for (size_t i = 0; i < impl_->connections.size(); ++i) {
    if (impl_->connections[i].options.name == name) return connection_id(i, impl_->connections[i].uses);
    known += (known.empty() ? "" : ", ") + impl_->connections[i].options.name;
  }
  throw Error(fmt::format("World::connection: unknown connection '{}'; known: {}", name, known));
}

}  // namespace kansetsu
