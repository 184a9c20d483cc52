#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "errors.h"
#include "inputs.h"
#include "kansetsu/sim/world_batch.h"
#include "progress.h"
#include "world_handle.h"

namespace kansetsu::python {

inline constexpr int kMostWorlds = 1 << 20;

/// Arrays of one figure in all worlds, and their values at the last exchange with the worlds.
struct BatchMirror {
  RowMatrix q, v, tau, control, q_known, v_known, control_known;
};

/// A controller in all worlds: targets and gains of its joints, (n, joints).
struct ControllerMirror {
  std::string name;
  std::vector<std::string> joints;  ///< of each column
  RowMatrix value, kp, kd, value_known, kp_known, kd_known;
};

class BatchHandle {
 public:
  /// Exclusive use of the batch during a call, as WorldHandle::Call; values written by Python have been passed on.
  BatchHandle(WorldHandle& prototype, int count, int threads, bool lanes)
      : batch((check(prototype, count, threads), prototype.world), count, {.threads = threads, .lanes = lanes}) {
    for (int i = 0; i < prototype.world.figure_count(); ++i) {
      names.push_back(prototype.world.name(FigureId(i)));
      models.push_back(prototype.model(FigureId(i)));
      const Model& model = batch.model(FigureId(i));
      BatchMirror& m = mirrors.emplace_back();
      m.q.setZero(count, model.nq()), m.v.setZero(count, model.nv()), m.tau.setZero(count, model.nv());
      m.control.setZero(count, prototype.world.control(FigureId(i)).size());
      for (int k = 0; k < count; ++k) m.tau.row(k) = prototype.world.torque(FigureId(i)).transpose();
    }
    for (const std::string& name : prototype.world.controller_names()) {
      const ControllerDescription c = prototype.world.controller(name);
      auto& m = *controllers.emplace_back(std::make_unique<ControllerMirror>());
      m.name = name;
      for (const JointControl& j : c.joints) {
        m.joints.push_back(j.dof.joint);
        if (j.dof.index > 0) m.joints.back() += fmt::format("[{}]", j.dof.index);
      }
      for (RowMatrix* x : {&m.value, &m.kp, &m.kd}) x->setZero(count, std::ptrdiff_t(c.joints.size()));
    }
    pull();
    pull_controls();
    pull_controllers();
  }
  ~BatchHandle() {
    if (forks_ != fork_count()) (void)new WorldBatch(std::move(batch));
  }
  BatchHandle(const BatchHandle&) = delete;
  BatchHandle& operator=(const BatchHandle&) = delete;

  WorldBatch batch;
  std::vector<std::string> names;
  std::vector<nb::object> models;
  std::vector<BatchMirror> mirrors;
  std::vector<std::unique_ptr<ControllerMirror>> controllers;

  int figure(const char* function, const std::string& name) const {
    return int(find_named(function, "figure", name, names));
  }

  /// Passes values written by Python to the worlds. If one is refused, all are discarded, and the arrays show the worlds again.
  void push();
  void push_states(FigureId id);
  /// Always: setting them costs less than comparing.
  void push_torques(FigureId id);
  /// Controls of actuators, if they have changed.
  void push_controls(FigureId id);
  void pull_torques();
  void pull_controls();
  void push_controllers();
  void pull_controllers();
  void pull() {
    for (size_t i = 0; i < mirrors.size(); ++i) {
      BatchMirror& m = mirrors[i];
      batch.states(FigureId(int(i)), m.q, m.v);
      m.q_known = m.q, m.v_known = m.v;
    }
  }

  /// Raises unless all numbers of a figure are finite: "tau[world, number] (joint) of 'robot' is nan".
  void require_finite_rows(const char* what, FigureId id, const RowMatrix& rows,
                           std::string (*number_name)(const Model&, int) = nullptr) const;
  void require_finite_row(const char* what, FigureId id, const RowMatrix& rows, int k,
                          std::string (*number_name)(const Model&, int) = nullptr) const;

  class Call {
   public:
    Call(BatchHandle& b, const char* function) : b_(b) {
      if (b.forks_ != fork_count())
        raise_error("BusyError",
                    fmt::format("{}: this process was forked from the one that made the worlds; make them anew here",
                                function));
      if (b.busy_.exchange(true, std::memory_order_acquire))
        raise_error("BusyError", fmt::format("{}: the worlds are at work in another thread", function));
    }
    ~Call() { b_.busy_.store(false, std::memory_order_release); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    BatchHandle& b_;
  };

  /// Updates the arrays from the worlds, also when a call ends early.
  struct PullAtEnd {
    explicit PullAtEnd(BatchHandle& b) : worlds(b) {}
    ~PullAtEnd() { worlds.pull(); }
    PullAtEnd(const PullAtEnd&) = delete;
    PullAtEnd& operator=(const PullAtEnd&) = delete;
    BatchHandle& worlds;
  };

  /// Steps between two checks for Ctrl-C: a few thousand steps of single worlds, which take some hundredths of a second.
  int steps_at_once(std::int64_t left) const {
    constexpr std::int64_t kWorldSteps = 4096;
    return int(std::min(left, std::max<std::int64_t>(1, kWorldSteps / batch.size())));
  }
  void step(std::int64_t count, Progress progress) {
    if (count < 0) raise_value(fmt::format("WorldBatch.step: count is {}, expected 0 or more", count));
    const Teller teller(progress);
    const Call call(*this, "WorldBatch.step");
    push();
    const PullAtEnd pull_at_end(*this);
    for (std::int64_t done = 0; done < count;) {
      const int now = steps_at_once(count - done);
      {
        nb::gil_scoped_release release;
        batch.step(now);
      }
      done += now;
      if (count > 1) teller.look(double(done), double(count));
    }
  }

 private:
  static void check(const WorldHandle& prototype, int count, int threads) {
    if (count < 1 || count > kMostWorlds)
      raise_value(fmt::format("WorldBatch: n is {}, expected 1 to {}", count, kMostWorlds));
    if (threads < 1 || threads > 256) raise_value(fmt::format("WorldBatch: threads is {}, expected 1 to 256", threads));
    if (prototype.has_callbacks())
      raise_value(
          "WorldBatch: the world has Python callbacks (on_step), which many worlds at once cannot call; write the "
          "arrays between steps");
  }
  std::atomic<bool> busy_ = false;
  unsigned forks_ = fork_count();
};

void require_world(const BatchHandle& b, int i);
/// The worlds selected by a mask or a list of numbers; None: all.
std::vector<int> read_worlds(const BatchHandle& b, const char* function, nb::handle which);

void bind_world_batch_changes(nb::class_<BatchHandle>& c);

}  // namespace kansetsu::python
