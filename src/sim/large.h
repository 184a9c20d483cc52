#pragma once

#include "sim/reports.h"
#include "sim/rows.h"

namespace kansetsu {

/// Solves islands of many contacts: heaps of bodies. No matrix over all rows; the solver goes over the patches, each with its rows
/// on the velocities of the one or two figures that it touches.
class LargeIslandSolver {
 public:
  LargeIslandSolver(WorldState& world, const RowBuilder& rows, Reports& reports)
      : world_(world), rows_(rows), reports_(reports) {}

  /// Whether an island with so many rows is solved so.
  bool takes(const IslandWork& w, const RowCount& rows) const;
  /// Accelerations and shifts of all figures.
  /// @param others  rows that are not bilateral
  void solve(IslandWork& w, int others, double h);

 private:
  void predict(IslandWork& w, double h);
  void reserve_rows(IslandWork& w);
  void add_block(IslandWork& w, SparsePatch& patch, RowJob job);
  int list_connections(IslandWork& w, double h);
  int list_bounded(IslandWork& w, int row);
  void list_contacts(IslandWork& w, int row);
  void write_blocks(IslandWork& w);
  void write_block(const IslandWork& w, const RowJob& job);
  void find_masses(IslandWork& w);
  void take_result(IslandWork& w, double h);
  int figure_of(int shape) const { return world_.contacts.shapes()[size_t(shape)].figure; }

  WorldState& world_;
  const RowBuilder& rows_;
  Reports& reports_;
};

}  // namespace kansetsu
