#include "constraint/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                    \
  namespace isa {                                \
  extern const MechanicsKernels mechanics_table; \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

const MechanicsKernels& mechanics() { KANSETSU_PICK(mechanics_table) }

}  // namespace kansetsu::kernel
