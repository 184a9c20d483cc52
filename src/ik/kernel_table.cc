#include "ik/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::ik {

KANSETSU_TABLE(ArmKernels, arm_kernels, arm_table)
KANSETSU_TABLE(ArmKernels, arm_pack_kernels, arm_packs_table)

}  // namespace kansetsu::ik
