#include "kansetsu/sim/world_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/aligned_memory.h"
#include "base/thread_pool.h"
#include "kansetsu/base/error.h"
#include "sim/lane_worlds.h"

namespace kansetsu {

struct WorldBatch::Impl {
  Impl(const World& prototype, int count, const WorldBatchOptions& options);

  /// Where the present state of a world is.
  struct Place {
    int stance = -1;      ///< its lane has this stance; −1: it is not in a lane
    int steps = 0;        ///< made in its lane since its World was told
    double time = 0;      ///< of the lane
    bool changed = true;  ///< somebody may have changed the World
    bool waits = false;   ///< it stands in a way that is not known yet
  };

  World::Impl& data(int i) { return *worlds[size_t(i)].impl_; }
  void rehearse(int i);  ///< a step that is taken back, so that its World has all the memory it needs
  void tell(int i);      ///< its World of the steps made in its lane
  void look_at(int i);   ///< whether a World can go on in a lane
  void enter(int i, int stance);
  void step_block(int b, void* scratch, WorldBatchReport& count);
  void step_alone(int i, WorldBatchReport& count);
  void check(const char* function, int i) const {
    if (i < 0 || i >= int(worlds.size()))
      throw Error(fmt::format("{}: there is no world {}, the batch has {}", function, i, worlds.size()));
  }
  bool has_lanes() const { return lanes != nullptr; }

  std::vector<World> worlds;
  std::string obstacle;
  std::unique_ptr<LanePlan> plan;
  std::unique_ptr<LaneWorlds> lanes;  ///< none: every step is made by a World
  std::vector<Place> places;
  std::vector<Eigen::VectorXd> scratch;  ///< per worker
  std::unique_ptr<ThreadPool> pool;      ///< none: one thread
  std::vector<WorldBatchReport> counts;  ///< per worker
  WorldBatchReport report;
};

WorldBatch::Impl::Impl(const World& prototype, int count, const WorldBatchOptions& options) {
  if (count < 0) throw Error(fmt::format("WorldBatch: {} worlds", count));
  worlds.reserve(size_t(count));
  for (int i = 0; i < count; ++i) {
    worlds.emplace_back(prototype.impl_->options);
    worlds.back().impl_ = prototype.impl_->clone();
  }
  const int threads = std::max(1, options.threads);
  if (threads > 1) pool = std::make_unique<ThreadPool>(threads);
  counts.resize(size_t(threads));
  places.resize(size_t(count));
  if (!options.lanes)
    obstacle = "the options say so";
  else if (prototype.figure_count() != 1)
    obstacle = fmt::format("the world has {} figures, not one", prototype.figure_count());
  else if (prototype.impl_->strict)
    obstacle = "the world is strict: it is looked at after every step";
  if (!obstacle.empty()) return;
  plan = std::make_unique<LanePlan>(*prototype.impl_);
  obstacle = plan->obstacle();
  if (!obstacle.empty()) return;
  lanes = std::make_unique<LaneWorlds>(*plan, count);
  const long numbers = long(kernel::lanes().scratch(plan->figure()) / sizeof(double)) + 8;
  for (int w = 0; w < threads; ++w) scratch.push_back(Eigen::VectorXd::Zero(numbers));
  for (int i = 0; i < count; ++i) {
    data(i).options.standing_steps = false;  // what stands is in a lane
    rehearse(i);
  }
}

void WorldBatch::Impl::rehearse(int i) {
  World::Impl& world = data(i);
  if (!plan->is_plain(world)) return;
  const Snapshot before = worlds[size_t(i)].save();
  const StepReport said = world.report;
  const std::vector<ContactReport> contacts = world.contact_reports;
  worlds[size_t(i)].step();
  worlds[size_t(i)].restore(before);
  world.report = said;
  world.contact_reports.assign(contacts.begin(), contacts.end());
  world.report.contacts = world.contact_reports;
}

void WorldBatch::Impl::tell(int i) {
  Place& place = places[size_t(i)];
  if (place.stance < 0) return;
  FigureData& f = *data(i).figures[0];
  for (int k = 0; k < f.torque.size(); ++k) f.torque[k] = lanes->torque(i, k);
  if (place.steps > 0) lanes->store(data(i), place.stance, i, place.steps, place.time);
  place.steps = 0;
}

void WorldBatch::Impl::enter(int i, int stance) {
  Place& place = places[size_t(i)];
  place.stance = stance;
  place.time = data(i).time;
  lanes->load(data(i), stance, i);
}

void WorldBatch::Impl::look_at(int i) {
  Place& place = places[size_t(i)];
  place.stance = -1;
  place.waits = false;
  if (place.changed && !plan->is_plain(data(i))) {
    data(i).options.standing_steps = !plan->fits(data(i));  // of masses of its own it has tables of its own
    return;
  }
  place.changed = false;
  StanceKey key;
  if (data(i).status != WorldStatus::kRunning || !plan->stance_of(data(i), key)) return;
  const int stance = plan->find(key);
  if (stance >= 0)
    enter(i, stance);
  else
    place.waits = true;
}

void WorldBatch::Impl::step_alone(int i, WorldBatchReport& count) {
  World& world = worlds[size_t(i)];
  const bool runs = world.status() == WorldStatus::kRunning;
  world.step();
  runs ? ++count.alone : ++count.stopped;
  if (has_lanes()) look_at(i);
}

void WorldBatch::Impl::step_block(int b, void* memory, WorldBatchReport& count) {
  const int first = b * lanes->width(), end = std::min(first + lanes->width(), int(worlds.size()));
  std::uint32_t left = 0, done = 0;
  for (int i = first; i < end; ++i) left |= std::uint32_t(places[size_t(i)].stance >= 0) << (i - first);
  const kernel::LaneBlock block = lanes->block(b);
  while (left != 0) {  // mostly all worlds of a block stand alike
    const int stance = places[size_t(first + __builtin_ctz(left))].stance;
    std::uint32_t wanted = 0;
    for (int i = first; i < end; ++i) wanted |= std::uint32_t(places[size_t(i)].stance == stance) << (i - first);
    done |= kernel::lanes().step(plan->figure(), plan->stance(stance), wanted, memory, block);
    left &= ~wanted;
  }
  for (int i = first; i < end; ++i) {
    Place& place = places[size_t(i)];
    if ((done >> (i - first) & 1) != 0) {
      ++place.steps;
      place.time += plan->figure().h;
      ++count.lanes;
      continue;
    }
    tell(i);
    step_alone(i, count);
  }
}

WorldBatch::WorldBatch(const World& prototype, int count, const WorldBatchOptions& options)
    : impl_(std::make_unique<Impl>(prototype, count, options)) {}
WorldBatch::WorldBatch(WorldBatch&&) noexcept = default;
WorldBatch& WorldBatch::operator=(WorldBatch&&) noexcept = default;
WorldBatch::~WorldBatch() = default;

int WorldBatch::size() const { return int(impl_->worlds.size()); }
double WorldBatch::time_step() const {
  impl_->check("WorldBatch::time_step", 0);
  return impl_->worlds[0].time_step();
}
const Model& WorldBatch::model(FigureId figure) const {
  impl_->check("WorldBatch::model", 0);
  return impl_->worlds[0].model(figure);
}
const World& WorldBatch::world(int i) const {
  impl_->check("WorldBatch::world", i);
  impl_->tell(i);
  return impl_->worlds[size_t(i)];
}
World& WorldBatch::world(int i) {
  impl_->check("WorldBatch::world", i);
  impl_->tell(i);
  Impl::Place& place = impl_->places[size_t(i)];
  place.stance = -1;
  place.changed = true;
  return impl_->worlds[size_t(i)];
}

void WorldBatch::set_torques(FigureId figure, const Eigen::Ref<const Matrix>& tau) {
  check_size("WorldBatch::set_torques", "rows", tau.rows(), size());
  if (size() == 0) return;
  check_size("WorldBatch::set_torques", "columns", tau.cols(), model(figure).nv());
  const int width = impl_->has_lanes() ? impl_->lanes->width() : 1;
  const auto in_lane = [](const Impl::Place& place) { return place.stance >= 0; };
  for (int i = 0; i < size(); ++i) {
    const double* row = tau.data() + i * tau.outerStride();
    if (width > 1 && i % width == 0 && i + width <= size() && figure.value() == 0 &&
        std::all_of(&impl_->places[size_t(i)], &impl_->places[size_t(i)] + width, in_lane)) {
      impl_->lanes->set_torques(i / width, row, tau.outerStride());
      i += width - 1;
      continue;
    }
    if (impl_->places[size_t(i)].stance >= 0 && figure.value() == 0) {
      impl_->lanes->set_torque(i, row);
      continue;
    }
    FigureData& f = impl_->data(i).data(figure, "WorldBatch::set_torques");
    check_size("WorldBatch::set_torques", "columns", tau.cols(), f.model.nv());
    f.torque = Eigen::Map<const Eigen::VectorXd>(row, tau.cols());
  }
}

void WorldBatch::set_controls(FigureId figure, const Eigen::Ref<const Matrix>& u) {
  check_size("WorldBatch::set_controls", "rows", u.rows(), size());
  for (int i = 0; i < size(); ++i) {
    const FigureData& f = impl_->data(i).data(figure, "WorldBatch::set_controls");
    check_size("WorldBatch::set_controls", "columns", u.cols(), f.actuators.control.size());
    if (f.actuators.control.transpose() == u.row(i)) continue;
    world(i).set_control(figure, u.row(i).transpose());
  }
}

void WorldBatch::set_states(FigureId figure, const Eigen::Ref<const Matrix>& q, const Eigen::Ref<const Matrix>& v) {
  check_size("WorldBatch::set_states", "rows of q", q.rows(), size());
  check_size("WorldBatch::set_states", "rows of v", v.rows(), size());
  State state;
  for (int i = 0; i < size(); ++i) {
    state.q = q.row(i), state.v = v.row(i);
    world(i).set_state(figure, state);
  }
}

void WorldBatch::states(FigureId figure, Eigen::Ref<Matrix> q, Eigen::Ref<Matrix> v) const {
  check_size("WorldBatch::states", "rows of q", q.rows(), size());
  check_size("WorldBatch::states", "rows of v", v.rows(), size());
  for (int i = 0; i < size(); ++i) {
    const FigureData& f = impl_->data(i).data(figure, "WorldBatch::states");
    check_size("WorldBatch::states", "columns of q", q.cols(), f.model.nq());
    check_size("WorldBatch::states", "columns of v", v.cols(), f.model.nv());
    if (impl_->places[size_t(i)].stance < 0) {
      q.row(i) = f.q, v.row(i) = f.v;
      continue;
    }
    for (int k = 0; k < q.cols(); ++k) q(i, k) = impl_->lanes->q(i, k);
    for (int k = 0; k < v.cols(); ++k) v(i, k) = impl_->lanes->v(i, k);
  }
}

void WorldBatch::step() {
  Impl& m = *impl_;
  const int jobs = m.has_lanes() ? m.lanes->blocks() : size();
  for (int i = 0; m.has_lanes() && i < size(); ++i) {
    if (m.places[size_t(i)].changed && m.places[size_t(i)].stance < 0) m.look_at(i);
    Impl::Place& place = m.places[size_t(i)];
    if (!place.waits) continue;
    StanceKey key;
    place.waits = false;
    const int stance = m.plan->stance_of(m.data(i), key) ? m.plan->add(m.data(i), key) : -1;
    if (stance >= 0) m.enter(i, stance);
  }
  for (WorldBatchReport& c : m.counts) c = {};
  std::atomic<int> next = 0;
  auto work = [&](int worker) {
    for (int k = next++; k < jobs; k = next++) {
      if (!m.has_lanes()) {
        m.step_alone(k, m.counts[size_t(worker)]);
        continue;
      }
      m.step_block(k, aligned(m.scratch[size_t(worker)].data()), m.counts[size_t(worker)]);
    }
  };
  if (m.pool)
    m.pool->run(std::min(m.pool->workers(), std::max(jobs, 1)), work);
  else
    work(0);
  m.report.lanes = m.report.alone = m.report.stopped = 0;
  for (const WorldBatchReport& c : m.counts)
    m.report.lanes += c.lanes, m.report.alone += c.alone, m.report.stopped += c.stopped;
  m.report.total_lanes += std::uint64_t(m.report.lanes);
  m.report.total_alone += std::uint64_t(m.report.alone);
}

const WorldBatchReport& WorldBatch::report() const { return impl_->report; }
const std::string& WorldBatch::obstacle() const { return impl_->obstacle; }

std::vector<Snapshot> WorldBatch::save() const {
  std::vector<Snapshot> out;
  for (int i = 0; i < size(); ++i) out.push_back(world(i).save());
  return out;
}
void WorldBatch::restore(std::span<const Snapshot> snapshots) {
  check_size("WorldBatch::restore", "snapshots", long(snapshots.size()), size());
  for (int i = 0; i < size(); ++i) world(i).restore(snapshots[size_t(i)]);
}

}  // namespace kansetsu
