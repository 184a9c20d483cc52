#include "dynamics/dynamics_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const DynamicsKernels<double> dynamics_double_packs;
const DynamicsKernels<double> dynamics_double_packs = make_table<NativePack<double>>(NativePack<double>::width);

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
