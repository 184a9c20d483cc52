#include "dynamics/dynamics_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const DynamicsKernels<double> dynamics_table;
const DynamicsKernels<double> dynamics_table = make_table<double>(1);

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
