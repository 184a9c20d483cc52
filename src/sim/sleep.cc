#include <algorithm>

#include "sim/actuators.h"
#include "sim/impl.h"

/// Figures that have come to rest are computed no more until something happens to them. They fall asleep by islands, since what
/// touches rests together; they keep their contacts, the forces of those, and wake together. Whether they sleep follows from the
/// states and from what a snapshot holds alone, so that neither threads nor restoring change a bit.
namespace kansetsu {
namespace {

bool is_slow(const FigureData& f) { return f.v.size() == 0 || f.v.lpNorm<Eigen::Infinity>() < threshold::kStill; }

}  // namespace

void World::Impl::wake(int figure) {
  FigureData& f = *figures[size_t(figure)];
  f.rest_time = 0;
  if (f.nap < 0) return;
  const int sleepers = f.nap;
  for (const std::unique_ptr<FigureData>& other : figures) {
    if (other->nap != sleepers) continue;
    other->nap = -1, other->rest_time = 0;
    other->q0 = other->q_begin = other->q, other->v0 = other->v_begin = other->v;
    other->vdot_begin = other->vdot;
    --asleep_count;
  }
  contacts.rearranged();
  asleep_told = false;
}
void World::Impl::wake(const BodyRef& body) {
  if (!body.is_world()) wake(body.figure.value());
}
void World::Impl::wake_all() {
  for (size_t i = 0; i < figures.size(); ++i) wake(int(i));
}

/// Whoever is met by something that moves wakes, with all that sleep with it.
void World::Impl::wake_touched() {
  if (asleep_count == 0) return;
  const std::vector<WorldShape>& shapes = contacts.shapes();
  const auto sleeps = [&](int shape) {
    const int f = shapes[size_t(shape)].figure;
    return f >= 0 && figures[size_t(f)]->nap >= 0;
  };
  for (bool again = true; again;) {
    again = false;
    for (const Touch& t : contacts.touches()) {
      const bool parent = sleeps(t.parent), real = sleeps(t.real);
      const bool moved = parent != real && (parent || shapes[size_t(t.parent)].figure >= 0 || !t.parent_end->rests);
      if (!moved) continue;
      wake(shapes[size_t(parent ? t.parent : t.real)].figure);
      again = true;
    }
  }
}

/// Figures that somebody or something drives do not sleep: even where they stand still they may be about to tip over.
void World::Impl::find_driven() {
  for (const std::unique_ptr<FigureData>& f : figures) f->driven = f->has_external || kansetsu::act(f->actuators);
  const auto drive = [&](const BodyRef& body) {
    if (!body.is_world()) figures[size_t(body.figure.value())]->driven = true;
  };
  for (const Controller& c : controllers) {
    if (c.state.active) figures[size_t(c.figure)]->driven = true;
  }
  for (const SpringData& s : springs) drive(s.a), drive(s.b);
  for (const ConnectionData& c : connections) {
    if (c.active && (c.options.motion || c.is_new || c.soft != 0)) drive(c.a), drive(c.b);
  }
}

bool World::Impl::is_still(const IslandWork& w) const {
  const bool weighs = options.gravity != Vec3<>{};
  for (const int i : w.figures) {
    const FigureData& f = *figures[size_t(i)];
    if (f.driven || !is_slow(f) || !(f.torque.array() == 0).all()) return false;
    if (weighs && f.model.base() == Base::kFree && w.touches.empty() && w.connections.empty()) return false;
  }
  return std::ranges::all_of(w.touches, [&](int i) {
    const RowEnd& parent = *contacts.touches()[size_t(i)].parent_end;
    return (parent.figure || parent.rests) &&
           contact_reports[size_t(i)].gap > -threshold::kSleepDepth * options.contact.slop;
  });
}

/// At the end of a step: whoever has been at rest for long falls asleep.
void World::Impl::settle_down() {
  if (!options.sleeping || options.integrator != Integrator::kSemiImplicit) return;
  const bool all = asleep_count == int(figures.size());
  find_driven();
  for (int k = 0; k < island_count; ++k) {
    const IslandWork& w = *works[size_t(k)];
    const bool still = is_still(w);
    double least = kInfinity;
    for (const int i : w.figures) {
      FigureData& f = *figures[size_t(i)];
      f.rest_time = still ? f.rest_time + options.time_step : 0;
      least = std::min(least, f.rest_time);
    }
    if (least < threshold::kRestTime) continue;
    for (const int i : w.figures) {
      FigureData& f = *figures[size_t(i)];
      f.nap = w.figures[0];
      f.v.setZero(), f.vdot.setZero();
      f.products.setZero(), f.products_due.setZero(), f.products_next.setZero();
      f.work_done = 0;
      f.set_mechanics();
      ++asleep_count;
    }
    contacts.rearranged();
  }
  asleep_told = all && asleep_count == int(figures.size());
}

/// What contacts of sleepers carry is what they carried last.
void World::Impl::report_sleepers() {
  if (asleep_count == 0) return;
  const std::vector<WorldShape>& shapes = contacts.shapes();
  for (size_t i = 0; i < contact_reports.size(); ++i) {
    const Touch& t = contacts.touches()[i];
    const int figure = shapes[size_t(t.real)].figure;
    if (figure < 0 || figures[size_t(figure)]->nap < 0) continue;
    const std::array<double, 6>& w = t.memory.wrench;
    ContactReport& out = contact_reports[i];
    out.wrench = {t.E * Vec3<>{w[3], w[4], w[5]}, t.E * Vec3<>{w[0], w[1], w[2]}};
    out.mode = t.memory.mode, out.slip = t.memory.slip;
    out.pressure = t.origin + (w[2] > 0 ? t.E * Vec3<>{-w[4] / w[2], w[3] / w[2], 0} : Vec3<>{});
  }
}

/// A step in which everybody sleeps, and the reports say so already.
bool World::Impl::sleep_on() {
  if (!asleep_told || asleep_count != int(figures.size()) || contacts.has_motion()) return false;
  time += options.time_step;
  ++totals.steps;
  report.time = time;
  for (const ContactReport& c : contact_reports) {
    for (const ContactCallback& callback : contact_callbacks) callback(c);
  }
  run_events(false);
  read_sensors();
  return true;
}

bool World::asleep(FigureId id) const { return impl_->data(id, "World::asleep").nap >= 0; }
void World::wake(FigureId id) {
  impl_->data(id, "World::wake");
  impl_->wake(id.value());
}

}  // namespace kansetsu
