#include "ik/arm_kernel.h"

namespace kansetsu::ik::inline KANSETSU_ISA {

extern const ArmKernels arm_table;
const ArmKernels arm_table{1, arm_solve_entry<float, double>};

}  // namespace kansetsu::ik::inline KANSETSU_ISA
