#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kansetsu/sim/world.h"

/// Many worlds of one kind, each with its own state and torques, stepped together: rollouts for learning and planning.
///
///     WorldBatch batch(world, 64, {.threads = 4});  // 64 copies of a world as it is now
///     batch.set_torques(FigureId(0), tau);          // 64 × nv, a row per world
///     batch.step();
///     batch.world(7).report();                      // any one of them, as a World
///
/// Each world does what a World of its own would do, and has one. As long as it makes the common step (one figure that stands on
/// the soles of one or two boxes on planes, or flies; all soles hold; no limit, connection, event or other shape is near) it
/// is stepped side by side with others, a world per SIMD lane, and agrees with a World to rounding errors: 1e-12 of the largest
/// velocity in a step. Every other step is made by its World, to the bit. Which way a world goes depends on that world alone, so
/// that neither the number of threads nor the neighbours change a bit. A world with masses or materials of its own (World::
/// set_inertial_parameters(), set_material()) goes by itself. docs/guide/world.md, docs/theory/contact.md.
namespace kansetsu {

struct WorldBatchOptions {
  int threads = 1;
  bool lanes = true;  ///< off: every step is made by a World
};

/// What the last step did, and all since the start.
struct WorldBatchReport {
  int lanes = 0, alone = 0;  ///< worlds that were stepped side by side, and one by one
  int stopped = 0;           ///< worlds that do not run any more: their status() says why
  std::uint64_t total_lanes = 0, total_alone = 0;
};

/// What rollouts read and write, step by step: numbers of world i begin `i·stride` after those of world 0.
struct RolloutArrays {
  enum class Drive { kTorques, kControls };  ///< nv torques, or the controls of the actuators
  Drive drive = Drive::kTorques;
  const double* controls = nullptr;
  std::ptrdiff_t controls_stride = 0;
  double* q = nullptr;  ///< after each step; null: not wanted
  std::ptrdiff_t q_stride = 0;
  double* v = nullptr;
  std::ptrdiff_t v_stride = 0;
};

class WorldBatch {
 public:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// `count` copies of the prototype, its callbacks included: with several threads they are called from all of them, and must
  /// not throw.
  WorldBatch(const World& prototype, int count, const WorldBatchOptions& options = {});
  WorldBatch(WorldBatch&&) noexcept;
  WorldBatch& operator=(WorldBatch&&) noexcept;
  ~WorldBatch();

  int size() const;
  double time_step() const;
  const Model& model(FigureId figure) const;

  /// World i as it is now, to look at. Good until the next step; not from several threads at once. After a step in a lane poses
  /// and velocities of its bodies are those of the present state, after one of its World those at the beginning of that step.
  const World& world(int i) const;
  /// The same, to do anything with: set its state, connect, restore a snapshot, step it alone.
  World& world(int i);

  // All worlds at once, a row per world. Wrong sizes throw Error. set_torques() and states() never allocate.
  void set_torques(FigureId figure, const Eigen::Ref<const Matrix>& tau);
  void set_controls(FigureId figure, const Eigen::Ref<const Matrix>& u);  ///< of the actuators
  void set_states(FigureId figure, const Eigen::Ref<const Matrix>& q, const Eigen::Ref<const Matrix>& v);
  void states(FigureId figure, Eigen::Ref<Matrix> q, Eigen::Ref<Matrix> v) const;

  /// Time steps of all worlds. Worlds take their steps one world (or one register full of them) after the other, which keeps them in the
  /// processor's cache: ten of step(1) give the same bits as step(10) and take longer.
  void step(int count = 1);
  /// `steps` times: sets what drives the figure, makes `substeps` time steps, and writes down where it is.
  void rollout(FigureId figure, int steps, int substeps, const RolloutArrays& arrays);
  const WorldBatchReport& report() const;
  /// Why no world of this kind can be stepped side by side with others; empty: they can.
  const std::string& obstacle() const;

  /// Snapshots of all worlds; restore() throws Error unless there are as many, of such worlds.
  std::vector<Snapshot> save() const;
  void restore(std::span<const Snapshot> snapshots);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kansetsu
