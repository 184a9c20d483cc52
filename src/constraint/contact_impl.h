#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "constraint/body_plan.h"
#include "constraint/contact_law.h"
#include "constraint/contact_work.h"
#include "kansetsu/constraint/contact_solver.h"

namespace kansetsu {
namespace contact {

/// Everything of a time step that does not depend on the patch.
struct ContactStep {
  const ContactOptions& options;
  double h, gravity;
  bool end_of_step;
};

}  // namespace contact

/// Memory of a ContactSolver and the way from the public problem to the kernels' form.
struct ContactSolver::Impl {
  void reserve(int patches, int rows, int bounded, int dense);  ///< dense: rows of a matrix
  /// Points the work at this memory; clears counters.
  void start(const ContactProblem& problem);

  kernel::ContactWork work;
  std::vector<kernel::PatchWork> patches;
  std::vector<kernel::BoundWork> bounds;
  double* u = nullptr;  ///< impacts: velocities while impulses are applied one after the other
  std::vector<double> numbers;
  std::vector<kernel::SweepRows> sweep_rows;
  std::vector<kernel::SweepJoint> sweep_joints;
  /// Velocities of the figures that rows of a heap touch, a whole number of packs each; those of the problem lie side by side.
  struct HeapFigure {
    int offset, size, place;
  };
  std::vector<HeapFigure> heap_figures;
  std::vector<BodyMass> heap_bodies;
  std::vector<int> heap_place;  ///< by offset in the problem; −1: no figure begins there
  int heap_velocities = 0;
  std::vector<double> block_numbers, sweep_numbers;
  double* block_next = nullptr;
  void place_figures(const SparseContactProblem& problem);
  void take_blocks(const SparsePatch& from, int count, kernel::SweepRows& to);
  void read_velocities(std::span<const double> from, double* to) const;
  void write_velocities(const double* from, std::span<double> to) const;
  kernel::SweepWork begin_sweeps(const SparseContactProblem& problem);
  void place_unknowns(kernel::SweepWork& work, int unknowns);
  kernel::SweepWork sweeps;
  /// Newton steps on from what sweeps have found.
  void refine_sweeps(const SparseContactProblem& problem, double tolerance, long most_products);
  BodyPlanner planner;
  std::vector<kernel::BoundLaw> row_laws;  ///< bounded rows, then those of connections
  std::vector<double> row_numbers;
  double *sweep_free = nullptr, *sweep_now = nullptr, *sweep_memory = nullptr;

  /// Newton's method on what the patches and bounds of the work hold, as velocities and impulses. Writes impulses of the rows to
  /// work.f, velocities to work.w, states and residuals to the patches.
  /// @param memory   forces to begin with, per patch; may be empty
  /// @param far      proximal steps come first (LawWork::far)
  /// @param softness  > 0: of laws that yield by so much (LawWork::softness)
  /// @return kNewton, kProximal, or kUnsolved where the law does not hold to the tolerance
  ContactTier solve_newton(double h, double tolerance, std::span<const ContactMemory> memory, bool far = false,
                           double softness = 0);
  ContactTier attempt(const ContactProblem& problem, std::span<const ContactMemory> memory,
                      const contact::ContactStep& step);
  int systems_left = std::numeric_limits<int>::max();  ///< that may be solved with patience
  std::vector<kernel::PatchLaw> laws;
  std::vector<kernel::BoundLaw> bound_laws;
  std::vector<double> law_numbers;
  std::vector<int> law_integers;
  void reserve_laws(int patches, int rows, int bounded, int dense);  ///< dense: rows of a matrix
  /// Own block of G of the rows from `row` on, and the step from line to line.
  std::pair<const double*, int> own_block(int row) const;
};

namespace contact {

/// A patch for a time step: touching vertices, targets as velocities, friction.
/// u, a: velocities and accelerations of its rows; a may be null, then nothing is anticipated by it.
void prepare_patch(const ContactStep& step, const ContactPatch& patch, const ContactMemory& memory, const double* u,
                   const double* a, kernel::PatchWork& out);
void prepare_bound(const ContactStep& step, const BoundedRow& row, kernel::BoundWork& out);
void remember(const kernel::PatchWork& patch, const double* force, ContactMemory& memory);
/// Vertices of a patch with their friction points, and the impulses to begin with: h times the forces of the memory, which may be null.
void set_vertices(const kernel::PatchWork& patch, const ContactMemory* memory, double h, kernel::PatchLaw& law,
                  double* x);
/// Own response of the vertices by the patch's own block of G; `least`: what answers less cannot be moved.
void set_scales(const double* own, int stride, double least, kernel::PatchLaw& law);
/// States of a patch as [NY00] names them, read off the solution. @param near  velocity [m/s] that still counts as none
void read_states(const kernel::PatchLaw& law, const double* x, const double* w, double near, kernel::PatchWork& patch);
/// How far what is past by `depth` is to be moved by positions alone, when it moves by `already` in the step.
double way_out(const ContactOptions& options, double depth, double h, double already);
/// State, counters and centre of pressure; force: the patch's rows.
void report_patch(const kernel::PatchWork& patch, const double* force, ContactTier tier, PatchReport& out);

/// Checks sizes, throws Error with the values.
void check(const char* function, const ContactProblem& problem, std::size_t memory_size);
/// Normal velocity of a vertex from the velocities of its patch's rows.
double vertex_velocity(const ContactPatch& patch, const double* u, const ContactVertex& vertex);
/// Collects the touching vertices of a patch in order: geometry part of PatchWork. `touches[i]` says which.
void collect(const ContactPatch& patch, const bool* touches, kernel::PatchWork& out);
/// Copies forces, states and counters of the work to the result.
void report(const ContactProblem& problem, const kernel::ContactWork& work, ContactTier tier, ContactResult& out);
/// Prepares the result for a problem: sizes, zeros.
void clear(const ContactProblem& problem, ContactResult& out);
bool finite(const ContactProblem& problem, bool with_acceleration);

}  // namespace contact
}  // namespace kansetsu
