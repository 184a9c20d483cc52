#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "constraint/column_steps.h"
#include "sim/impl.h"
#include "sim/lanes.h"

namespace kansetsu {

/// Which faces of which boxes stand on which planes.
struct StanceKey {
  struct Sole {
    PairKey pair{};
    int face = 0;
    friend bool operator==(const Sole&, const Sole&) = default;
  };
  std::array<Sole, kernel::kMostSoles> soles{};
  int count = 0;
  friend bool operator==(const StanceKey&, const StanceKey&) = default;
};

/// Whether a sole stood on all its corners, and held.
inline bool holds(const ContactMemory& m) {
  return m.known && m.mode == ContactMode::kSurface && m.slip == SlipMode::kStick && m.closed == 0b1111;
}

/// Tables for stepping equal worlds in lanes: of their figure, and of the stances that have occurred.
class LanePlan {
 public:
  explicit LanePlan(const World::Impl& world);
  LanePlan(const LanePlan&) = delete;
  LanePlan& operator=(const LanePlan&) = delete;

  /// Why lanes cannot step such worlds; empty: they can, and the tables exist.
  const std::string& obstacle() const { return obstacle_; }
  const kernel::LaneFigure& figure() const { return figure_; }

  /// Whether the tables belong to this world as it is now.
  bool fits(const World::Impl& world) const;
  /// Whether this world has nothing that lanes do not support: connections, callbacks, controllers of other kinds, …
  bool is_plain(const World::Impl& world) const;
  /// The stance of a plain world by the memories of its contacts; false: a contact is no sole at rest, or not for long enough.
  bool stance_of(const World::Impl& world, StanceKey& key) const;
  /// Its number, −1 if it has none yet.
  int find(const StanceKey& key) const;
  /// Makes one; −1 if there are too many, or a sole on which the tree cannot stand: that of a fixed figure.
  int add(const World::Impl& world, const StanceKey& key);
  void forget_stances() { stances_.clear(); }
  const kernel::LaneStance& stance(int number) const { return stances_[size_t(number)]->table; }
  const StanceKey& key(int number) const { return stances_[size_t(number)]->key; }

 private:
  struct Stance {
    StanceKey key;
    kernel::LaneStance table{};
    std::vector<kernel::LaneStep> steps;
    std::vector<int> others;
    std::unique_ptr<bool[]> turned;  ///< per column
    std::vector<int> path[kernel::kMostSoles];
    std::vector<kernel::LanePlane> planes;
    std::vector<kernel::LaneWatch> watches;
    std::vector<int> watch_begin;
    std::vector<kernel::LanePair> pairs;
  };
  std::string find_obstacle(const World::Impl& world) const;
  void find_joints();
  bool make_tree(int root, Stance& stance);
  void find_path(Stance& stance, int sole, int body) const;
  void make_figure(const World::Impl& world);
  void list_pairs(const World::Impl& world);
  void watch(const World::Impl& world, Stance& stance) const;

  int parameters_ = 0;  ///< of the world they are made of
  Model model_;         ///< whose tree the tables point into
  std::string obstacle_;
  size_t shape_count_ = 0;
  std::vector<ShapePair> pairs_;  ///< all that may ever touch
  kernel::LaneFigure figure_{};
  std::vector<int> heavy_, kept_, children_;
  std::vector<kernel::LaneInertia> inertias_;
  std::vector<ColumnStep> joints_;  ///< without a free base
  std::vector<kernel::LaneLimit> limits_;
  std::vector<kernel::LaneStretch> runs_, turns_;
  std::vector<std::unique_ptr<Stance>> stances_;
};

}  // namespace kansetsu
