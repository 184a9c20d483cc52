#include "constraint/contact_bodies_kernel.h"
#include "constraint/contact_rows_kernel.h"
#include "constraint/contact_tree_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const NewtonKernels newton_table;
const NewtonKernels newton_table = {newton_rows, newton_tree, newton_bodies, solve_sweeps, own_block, finite_matrix};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
