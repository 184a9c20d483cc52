#include "constraint/contact_bodies_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const NewtonKernels newton_table;
const NewtonKernels newton_table = {newton_rows, newton_bodies, solve_sweeps, own_block};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
