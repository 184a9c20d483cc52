#include "ik/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::ik {

#define KANSETSU_DECLARE(isa)              \
  namespace isa {                          \
  extern const ArmKernels arm_table;       \
  extern const ArmKernels arm_packs_table; \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

const ArmKernels& arm_kernels() { KANSETSU_PICK(arm_table) }
const ArmKernels& arm_pack_kernels() { KANSETSU_PICK(arm_packs_table) }

}  // namespace kansetsu::ik
