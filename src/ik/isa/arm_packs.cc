#include "ik/arm_kernel.h"

namespace kansetsu::ik::inline KANSETSU_ISA {

extern const ArmKernels arm_packs_table;
const ArmKernels arm_packs_table{NativePack<double>::width, arm_solve_entry<NativePack<float>, NativePack<double>>};

}  // namespace kansetsu::ik::inline KANSETSU_ISA
