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
    int steps = 0;        ///< made in its lane since its World was written
    double time = 0;      ///< of the lane
    bool changed = true;  ///< the World may have been changed from outside
    bool waits = false;   ///< there are no tables for its stance yet
  };

  World::Impl& data(int i) { return *worlds[size_t(i)].impl_; }
  void reserve_memory(int i);  ///< makes one step and takes it back, so that its World has all the memory it needs
  void store(int i);           ///< writes the steps made in its lane to its World
  void find_lane(int i);       ///< whether a World can go on in a lane
  void enter(int i, int stance);
  void step_block(int b, void* scratch, WorldBatchReport& count);
  void step_alone(int i, WorldBatchReport& count);

  /// Steps that are to be made, and what happens before and after some of them.
  struct Run {
    int count = 1;
    FigureId figure{0};
    int substeps = 1;
    const RolloutArrays* arrays = nullptr;
  };
  int width() const { return has_lanes() ? lanes->width() : 1; }
  int jobs() const { return (int(worlds.size()) + width() - 1) / width(); }
  void make(const Run& run);
  bool prepare(const Run& run, int job, int step);
  void go_on(const Run& run, int job, int worker);
  void put_states(const Run& run, int i, int step) const;
  void set_torque(int i, FigureId figure, const double* tau);
  void set_control(int i, FigureId figure, const double* u);
  std::vector<int> steps_done;  ///< steps of each job in this run
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
  places.resize(size_t(count)), steps_done.reserve(size_t(count));
  if (!options.lanes)
    obstacle = "the options say so";
  else if (prototype.figure_count() != 1)
    obstacle = fmt::format("the world has {} figures, not one", prototype.figure_count());
  else if (prototype.impl_->strict)
    obstacle = "the world is strict: it is checked after every step";
  if (!obstacle.empty()) return;
  plan = std::make_unique<LanePlan>(*prototype.impl_);
  obstacle = plan->obstacle();
  if (!obstacle.empty()) return;
  lanes = std::make_unique<LaneWorlds>(*plan, count);
  const long numbers = long(kernel::lanes().scratch(plan->figure()) / sizeof(double)) + 8;
  for (int w = 0; w < threads; ++w) scratch.push_back(Eigen::VectorXd::Zero(numbers));
  for (int i = 0; i < count; ++i) {
    data(i).options.standing_steps = false;  // a standing figure is in a lane
    reserve_memory(i);
  }
}

void WorldBatch::Impl::reserve_memory(int i) {
  World::Impl& world = data(i);
  if (!plan->is_plain(world)) return;
  const Snapshot before = worlds[size_t(i)].save();
  const StepReport said = world.reports.step;
  const std::vector<ContactReport> contacts = world.reports.contacts;
  worlds[size_t(i)].step();
  worlds[size_t(i)].restore(before);
  world.reports.step = said;
  world.reports.contacts.assign(contacts.begin(), contacts.end());
  world.reports.step.contacts = world.reports.contacts;
}

void WorldBatch::Impl::store(int i) {
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

void WorldBatch::Impl::find_lane(int i) {
  Place& place = places[size_t(i)];
  place.stance = -1;
  place.waits = false;
  if (place.changed && !plan->is_plain(data(i))) {
    data(i).options.standing_steps = !plan->fits(data(i));  // a world with other masses uses its own tables
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
  if (has_lanes()) find_lane(i);
}

void WorldBatch::Impl::step_block(int b, void* memory, WorldBatchReport& count) {
  const int first = b * lanes->width(), end = std::min(first + lanes->width(), int(worlds.size()));
  std::uint32_t left = 0, done = 0;
  for (int i = first; i < end; ++i) left |= std::uint32_t(places[size_t(i)].stance >= 0) << (i - first);
  const kernel::LaneBlock block = lanes->block(b);
  while (left != 0) {  // mostly all worlds of a block have the same stance
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
    store(i);
    step_alone(i, count);
  }
}

void WorldBatch::Impl::set_torque(int i, FigureId figure, const double* tau) {
  if (places[size_t(i)].stance >= 0 && figure.value() == 0) return lanes->set_torque(i, tau);
  FigureData& f = data(i).data(figure, "WorldBatch::set_torques");
  f.torque = Eigen::Map<const Eigen::VectorXd>(tau, f.torque.size());
}

void WorldBatch::Impl::set_control(int i, FigureId figure, const double* u) {
  const Eigen::VectorXd& control = data(i).data(figure, "WorldBatch::set_controls").actuators.control;
  const Eigen::Map<const Eigen::VectorXd> wanted(u, control.size());
  if (control == wanted) return;
  store(i);
  places[size_t(i)].stance = -1, places[size_t(i)].changed = true;
  worlds[size_t(i)].set_control(figure, wanted);
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
  impl_->store(i);
  return impl_->worlds[size_t(i)];
}
World& WorldBatch::world(int i) {
  impl_->check("WorldBatch::world", i);
  impl_->store(i);
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
    impl_->set_torque(i, figure, row);
  }
}

void WorldBatch::set_controls(FigureId figure, const Eigen::Ref<const Matrix>& u) {
  check_size("WorldBatch::set_controls", "rows", u.rows(), size());
  if (size() == 0) return;
  check_size("WorldBatch::set_controls", "columns", u.cols(), impl_->worlds[0].control(figure).size());
  for (int i = 0; i < size(); ++i) impl_->set_control(i, figure, u.data() + i * u.outerStride());
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

/// Sets the inputs of the worlds of a job. False if one has a stance for which there are no tables yet.
bool WorldBatch::Impl::prepare(const Run& run, int job, int step) {
  bool ready = true;
  for (int i = job * width(); i < std::min((job + 1) * width(), int(worlds.size())); ++i) {
    if (const RolloutArrays* a = run.arrays; a && a->controls && step % run.substeps == 0) {
      const FigureData& f = *data(i).figures[size_t(run.figure.value())];
      const bool torques = a->drive == RolloutArrays::Drive::kTorques;
      const long numbers = torques ? f.torque.size() : f.actuators.control.size();
      const double* u = a->controls + i * a->controls_stride + step / run.substeps * numbers;
      torques ? set_torque(i, run.figure, u) : set_control(i, run.figure, u);
    }
    if (!has_lanes()) continue;
    if (places[size_t(i)].changed && places[size_t(i)].stance < 0) find_lane(i);
    ready = ready && !places[size_t(i)].waits;
  }
  return ready;
}

void WorldBatch::Impl::put_states(const Run& run, int i, int step) const {
  const RolloutArrays& a = *run.arrays;
  const FigureData& f = *worlds[size_t(i)].impl_->figures[size_t(run.figure.value())];
  const bool in_lane = places[size_t(i)].stance >= 0;
  if (a.q) {
    double* to = a.q + i * a.q_stride + step * f.q.size();
    for (int k = 0; k < f.q.size(); ++k) to[k] = in_lane ? lanes->q(i, k) : f.q[k];
  }
  if (a.v) {
    double* to = a.v + i * a.v_stride + step * f.v.size();
    for (int k = 0; k < f.v.size(); ++k) to[k] = in_lane ? lanes->v(i, k) : f.v[k];
  }
}

void WorldBatch::Impl::go_on(const Run& run, int job, int worker) {
  for (int& step = steps_done[size_t(job)]; step < run.count && prepare(run, job, step); ++step) {
    WorldBatchReport now;
    if (has_lanes())
      step_block(job, aligned(scratch[size_t(worker)].data()), now);
    else
      step_alone(job, now);
    WorldBatchReport& count = counts[size_t(worker)];
    count.total_lanes += std::uint64_t(now.lanes), count.total_alone += std::uint64_t(now.alone);
    if (step + 1 == run.count) count.lanes += now.lanes, count.alone += now.alone, count.stopped += now.stopped;
    if (!run.arrays || (step + 1) % run.substeps != 0) continue;
    for (int i = job * width(); i < std::min((job + 1) * width(), int(worlds.size())); ++i)
      put_states(run, i, step / run.substeps);
  }
}

void WorldBatch::Impl::make(const Run& run) {
  for (WorldBatchReport& c : counts) c = {};
  steps_done.assign(size_t(jobs()), 0);
  const auto is_left = [&](int steps) { return steps < run.count; };
  while (std::any_of(steps_done.begin(), steps_done.end(), is_left)) {
    for (int i = 0; has_lanes() && i < int(worlds.size()); ++i) {  // one thread makes the tables for new stances
      Place& place = places[size_t(i)];
      if (!place.waits) continue;
      StanceKey key;
      place.waits = false;
      const int stance = plan->stance_of(data(i), key) ? plan->add(data(i), key) : -1;
      if (stance >= 0) enter(i, stance);
    }
    std::atomic<int> next = 0;
    auto work = [&](int worker) {
      for (int job = next++; job < jobs(); job = next++) go_on(run, job, worker);
    };
    if (pool)
      pool->run(std::min(pool->workers(), std::max(jobs(), 1)), work);
    else
      work(0);
  }
  report.lanes = report.alone = report.stopped = 0;
  for (const WorldBatchReport& c : counts) {
    report.lanes += c.lanes, report.alone += c.alone, report.stopped += c.stopped;
    report.total_lanes += c.total_lanes, report.total_alone += c.total_alone;
  }
}

void WorldBatch::step(int count) {
  if (count < 0) throw Error(fmt::format("WorldBatch::step: {} steps", count));
  impl_->make({.count = count});
}

void WorldBatch::rollout(FigureId figure, int steps, int substeps, const RolloutArrays& arrays) {
  if (steps < 0 || substeps < 1) throw Error(fmt::format("WorldBatch::rollout: {} steps of {}", steps, substeps));
  if (size() == 0) return;
  (void)model(figure);  // throws where there is no such figure
  impl_->make({.count = steps * substeps, .figure = figure, .substeps = substeps, .arrays = &arrays});
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
