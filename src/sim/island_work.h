#pragma once

#include <functional>
#include <vector>

#include "constraint/island.h"
#include "kansetsu/constraint/contact_solver.h"
#include "sim/figure.h"

namespace kansetsu {

/// What a bounded row of an island measures: a coordinate of a figure (its terms times sign; −1: an upper limit), the swing or
/// twist of a ball joint, the length of a tendon, or the rolling of a contact.
struct BoundedOrigin {
  int figure = 0, drive = -1;
  double sign = 1;
  int ball = -1;  ///< its place in FigureData::balls, and the row on its rates
  Vec3<> rate_row{};
  int tendon = -1;
  int memory = -1;  ///< its place in FigureData::bound_force; −1: it is not kept
  int touch = -1;   ///< the contact whose rolling it resists, about `axis` of the world
  Vec3<> axis{};
};

/// Rows of one figure in a block of a large island, yet to be written: those of a contact, a connection, or a bounded row.
struct RowJob {
  int figure = 0, rows = 0;
  double *J = nullptr, *Y = nullptr;
  enum Kind { kContact, kConnection, kBounded } kind = kContact;
  int index = 0;  ///< among the touches or connections of the world, or the bounded rows of the island
  double sign = 1;
  int body = 0;
};

/// What a large island adds to an island: velocities of all figures one after the other, rows of J and of M⁻¹·Jᵀ by figure.
struct LargeIslandWork {
  std::vector<int> offsets;
  std::vector<double> v_now, v_next, way, rows_memory;
  std::vector<SparsePatch> contacts, bounded, bilateral;
  std::vector<BilateralBlock> blocks;
  std::vector<BodyMass> masses;
  std::vector<RowJob> jobs;
  std::vector<int> job_order, job_begin;  ///< jobs by figure of the island
};

/// What a part of a step did to an island.
struct IslandAccount {
  double inconsistency = 0, residual = 0;
  int rank_deficiency = 0;
  bool impact = false;
  double impact_energy = 0;         ///< of the relative motion [J]
  Island::Work impact_given{0, 0};  ///< work of prescribed motions in impacts: of connections, of surfaces [J]
  Island::Work work{0, 0};          ///< [J]
  double driven_work = 0;         ///< of bilateral rows with a prescribed velocity, at most part of work.bilateral [J]
  double surface_work = 0;        ///< of moving surfaces, part of work.others [J]
  double connection_springs = 0;  ///< work of the springs of connections: they store less by it [J]
};

/// Figures that act on each other in this step, and the memory for solving them. Memory is kept from step to step.
struct IslandWork {
  // Who belongs to it: indices, and the figures themselves.
  std::vector<int> figures, connections, touches;
  std::vector<std::reference_wrapper<FigureData>> members;
  std::vector<Mechanics*> mechanics;

  // Its rows, and the problem that they pose.
  Island island;
  int row_count = 0;  ///< of all kinds; 0: nothing touches or holds it
  std::vector<BoundedRow> bounded;
  std::vector<BoundedOrigin> bounded_origin;
  std::vector<ContactPatch> patches;
  std::vector<ContactMemory> memories;
  std::vector<double> driven;  ///< mean velocity that bilateral rows are to have [m/s, rad/s]
  /// Gaps of bilateral rows that are large at the beginning of a step: what the step leaves of them. 0: small, closed in one
  /// step. Empty: not known.
  std::vector<double> leave;
  double rebound_share = 1;  ///< of all restitutions of connections in an impact: what the energy allows
  ContactSolver solver;
  ContactResult result;
  bool is_large = false;  ///< solved by blocks of bodies
  LargeIslandWork large;

  // What came of it.
  IslandAccount account;
  bool settled = true;  ///< velocity products are those of the velocities that came out
  bool kept = false;    ///< it has its momentum, and no position has been corrected since
  double kinetic = -1;  ///< at the end of the part, before positions are corrected [J]; below 0: not known
  double power = 0;     ///< of the bilateral forces at the last stage of a smooth step [W]

  bool holds(int figure) const;
  double kinetic_energy() const;
  double mass() const;
  ContactProblem contact_problem(double h, double gravity) const;
};

}  // namespace kansetsu
