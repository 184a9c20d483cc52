#include "assembly/kernel_table.h"
#include "dynamics/group_kernel.h"
#include "kinematics/velocity_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {
namespace {

void motions_entry(const TreeView& tree, int first, int last, const double* q, const double* v, void* scratch,
                   Transform<>* X_PB, Transform<>* X_EB, Motion<>* V, double* u) {
  TreeView part = tree;
  part.bodies += first;
  part.body_count = last - first;
  Carver<double> carver(scratch);
  Posture<double> posture = carve_posture(tree, carver);  // of all bodies; this stretch uses its own part
  posture.c += first;
  posture.s += first;
  posture.X_PB += first;
  load_posture(part, q, posture);
  for (int i = first; i < last; ++i) {
    const Body& b = tree.bodies[i];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      double sum = 0;
      for (int t = tree.rows[k].begin; t < tree.rows[k].end; ++t)
        sum = madd(tree.terms[t].ratio, v[tree.terms[t].column], sum);
      u[k] = sum;
    }
    const bool within = b.parent >= first;
    X_PB[i] = pose_in_parent(b, posture, i - first);
    if (X_EB) X_EB[i] = within ? X_EB[b.parent] * X_PB[i] : X_PB[i];
    const Motion<> V_P = within ? V[b.parent] : Motion<>{};
    with_joint(b, posture, i - first, [&](const auto& joint) {
      Motion<> V_B = joint.to_child(V_P);
      joint.add_rate(u + b.u, V_B);
      V[i] = V_B;
    });
  }
}

int invert_factor_entry(const double* A, double* C_inv) { return invert_factor(A, 0.0, C_inv); }
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

}  // namespace

extern const AssemblyKernels assembly_table;
const AssemblyKernels assembly_table{motions_entry,   invert_factor_entry, body_front,
                                     add_child_entry, close_entry,         rake_entry,
                                     substitute_rows, body_acceleration,   reduce_right_side};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
