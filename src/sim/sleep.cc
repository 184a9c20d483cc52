#include "sim/sleep.h"

#include <algorithm>

#include "sim/actuators.h"

namespace kansetsu {
namespace {

bool is_slow(const FigureData& f) { return f.v.size() == 0 || f.v.lpNorm<Eigen::Infinity>() < threshold::kStill; }

}  // namespace

void Sleeping::recount() {
  count_ = int(std::ranges::count_if(world_.figures, [](const auto& f) { return f->nap >= 0; }));
  settled_ = false;
  world_.contacts.rearranged();
}

void Sleeping::wake(int figure) {
  FigureData& f = world_.figure(figure);
  f.rest_time = 0;
  if (f.nap < 0) return;
  const int sleepers = f.nap;
  for (const std::unique_ptr<FigureData>& other : world_.figures) {
    if (other->nap != sleepers) continue;
    other->nap = -1, other->rest_time = 0;
    other->q0 = other->q_begin = other->q, other->v0 = other->v_begin = other->v;
    other->vdot_begin = other->vdot;
    --count_;
  }
  world_.contacts.rearranged();
  settled_ = false;
}
void Sleeping::wake(const BodyRef& body) {
  if (!body.is_world()) wake(body.figure.value());
}
void Sleeping::wake_all() {
  for (size_t i = 0; i < world_.figures.size(); ++i) wake(int(i));
}

void Sleeping::wake_touched() {
  if (count_ == 0) return;
  const std::vector<WorldShape>& shapes = world_.contacts.shapes();
  const auto sleeps = [&](int shape) {
    const int f = shapes[size_t(shape)].figure;
    return f >= 0 && world_.figure(f).nap >= 0;
  };
  for (bool again = true; again;) {
    again = false;
    for (const Touch& t : world_.contacts.touches()) {
      const bool parent = sleeps(t.parent), real = sleeps(t.real);
      const bool moved = parent != real && (parent || shapes[size_t(t.parent)].figure >= 0 || !t.parent_end->rests);
      if (!moved) continue;
      wake(shapes[size_t(parent ? t.parent : t.real)].figure);
      again = true;
    }
  }
}

/// Figures that something drives do not sleep: even at a standstill they may be about to tip over.
void Sleeping::find_driven() {
  for (const std::unique_ptr<FigureData>& f : world_.figures) f->driven = f->has_external || is_active(f->actuators);
  const auto drive = [&](const BodyRef& body) {
    if (!body.is_world()) world_.figure(body.figure.value()).driven = true;
  };
  for (const Controller& c : world_.controllers) {
    if (c.state.active) world_.figure(c.figure).driven = true;
  }
  for (const SpringData& s : world_.springs) drive(s.a), drive(s.b);
  for (const ConnectionData& c : world_.connections) {
    if (c.active && (c.options.motion || c.is_new || c.soft != 0)) drive(c.a), drive(c.b);
  }
}

bool Sleeping::is_still(const IslandWork& w, const Reports& reports) const {
  const bool weighs = world_.options.gravity != Vec3<>{};
  for (const FigureData& f : w.members) {
    if (f.driven || !is_slow(f) || !(f.torque.array() == 0).all()) return false;
    if (weighs && f.model.base() == Base::kFree && w.touches.empty() && w.connections.empty()) return false;
  }
  return std::ranges::all_of(w.touches, [&](int i) {
    const RowEnd& parent = *world_.contacts.touches()[size_t(i)].parent_end;
    return (parent.figure || parent.rests) &&
           reports.contacts[size_t(i)].gap > -threshold::kSleepDepth * world_.options.contact.slop;
  });
}

void Sleeping::settle(Islands& islands, const Reports& reports) {
  if (!world_.options.sleeping || world_.options.integrator != Integrator::kSemiImplicit) return;
  const bool all = count_ == int(world_.figures.size());
  find_driven();
  for (const IslandWork& w : islands) {
    const bool still = is_still(w, reports);
    double least = kInfinity;
    for (FigureData& f : w.members) {
      f.rest_time = still ? f.rest_time + world_.options.time_step : 0;
      least = std::min(least, f.rest_time);
    }
    if (least < threshold::kRestTime) continue;
    for (FigureData& f : w.members) {
      f.nap = w.figures[0];
      f.v.setZero(), f.vdot.setZero();
      f.products.setZero(), f.products_due.setZero(), f.products_next.setZero();
      f.work_done = 0;
      f.set_mechanics();
      ++count_;
    }
    world_.contacts.rearranged();
  }
  settled_ = all && count_ == int(world_.figures.size());
}

}  // namespace kansetsu
