#pragma once

#include <vector>

#include "constraint/contact_work.h"
#include "kansetsu/constraint/contact_solver.h"

namespace kansetsu {

/// Memory of a ContactSolver and the way from the public problem to the kernels' form.
struct ContactSolver::Impl {
  void reserve(int patches, int rows, int bounded);
  /// Points the work at this memory; clears counters.
  void start(const ContactProblem& problem, const ContactOptions& chosen);

  kernel::ContactWork work;
  std::vector<kernel::PatchWork> patches, saved;
  std::vector<kernel::BoundWork> bounds, saved_bounds;
  double *c = nullptr, *c_end = nullptr;  ///< the problem's constant; at the end of the step
  double* u = nullptr;                    ///< impacts: velocities while impulses are applied one after the other
  std::vector<double> numbers;
  std::vector<kernel::ContactWork::Block> blocks;
  std::vector<int> integers;
  std::vector<unsigned long long> hashes;
  std::vector<kernel::LargeRow> large;
};

namespace contact {

/// Everything of a time step that does not depend on the patch.
struct ContactStep {
  const ContactOptions& options;
  double h, gravity;
  bool end_of_step;
};
/// A patch for a time step: touching vertices, targets as accelerations above the end-of-step constant, first hypotheses.
/// u, a: velocities and accelerations of its rows; a may be null, then nothing is anticipated by it.
void prepare_patch(const ContactStep& step, const ContactPatch& patch, const ContactMemory& memory, const double* u,
                   const double* a, kernel::PatchWork& out);
void prepare_bound(const ContactStep& step, const BoundedRow& row, kernel::BoundWork& out);
void remember(const kernel::PatchWork& patch, const double* force, ContactMemory& memory);
/// State, counters and centre of pressure; force: the patch's rows.
void report_patch(const kernel::PatchWork& patch, const double* force, ContactTier tier, PatchReport& out);

/// Checks sizes, throws Error with the values.
void check(const char* function, const ContactProblem& problem, std::size_t memory_size);
/// Normal velocity of a vertex from the velocities of its patch's rows.
double vertex_velocity(const ContactPatch& patch, const double* u, const ContactVertex& vertex);
/// Collects the touching vertices of a patch in order: geometry part of PatchWork. `touches[i]` says which.
void collect(const ContactPatch& patch, const bool* touches, kernel::PatchWork& out);
/// Plane through the targets of the touching vertices, least squares.
void fit_targets(kernel::PatchWork& patch);
/// Copies forces, states and counters of the work to the result.
void report(const ContactProblem& problem, const kernel::ContactWork& work, ContactTier tier, ContactResult& out);
/// Prepares the result for a problem: sizes, zeros.
void clear(const ContactProblem& problem, ContactResult& out);
bool finite(const ContactProblem& problem, bool with_acceleration);

}  // namespace contact
}  // namespace kansetsu
