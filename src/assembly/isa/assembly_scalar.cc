#include "assembly/kernel_table.h"
#include "dynamics/group_kernel.h"
#include "kinematics/velocity_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {
namespace {

void motions_entry(const TreeView& tree, const double* q, const double* v, void* scratch, Transform<>* X_PB,
                   Motion<>* V, double* u) {
  Carver<double> carver(scratch);
  Posture<double> posture = carve_posture(tree, carver);
  load_posture(tree, q, posture);
  expand(tree, v, u);
  velocities(tree, posture, u, V);
  for (int i = 0; i < tree.body_count; ++i) X_PB[i] = pose_in_parent(tree.bodies[i], posture, i);
}

int invert_factor_entry(const double* A, double* C_inv) { return invert_factor(A, 0.0, C_inv); }
void solve_factor_entry(const double* C_inv, double* x) { solve_factor(C_inv, x); }
void body_front_entry(const double* C_inv, double* H, int ld, const PivotRows& P, const KeptRows& G) {
  body_front(C_inv, H, ld, P, G);
}
void add_child_entry(const KeptRows& child, int bonds, const int* place, const int* rows, const PivotRows& P,
                     const KeptRows& G) {
  add_child({child, bonds, place, rows}, P, G);
}
int close_entry(const PivotRows& P, int own, int* order, const double* free, const KeptRows& G) {
  const int dropped = order ? eliminate_by_rank(P, own, order, free) : eliminate(P);
  add_product(P, -1, G);
  return dropped;
}
int rake_entry(const PivotRows& P, const KeptRows& share) {
  const int dropped = eliminate(P);
  for (int i = 0; i < share.count * share.ld; ++i) share.a[i] = 0;
  add_product(P, 1, share);
  return dropped;
}
void substitute_entry(const PivotRows& P, const int* order, const double* z, int stride, const double* n_kept,
                      double* n) {
  substitute_rows(P, order, z, stride, n_kept, n);
}
void reduce_entry(const PivotRows& P, const int* order, double* r, double* r_kept) {
  reduce_right_side(P, order, r, r_kept);
}

}  // namespace

extern const AssemblyKernels assembly_table;
const AssemblyKernels assembly_table{motions_entry,    invert_factor_entry, solve_factor_entry,
                                     body_front_entry, add_child_entry,     close_entry,
                                     rake_entry,       substitute_entry,    reduce_entry};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
