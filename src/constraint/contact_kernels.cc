#include "base/isa_table.h"
#include "constraint/contact_law.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)              \
  namespace isa {                          \
  extern const NewtonKernels newton_table; \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

const NewtonKernels& newton_kernels() { KANSETSU_PICK(newton_table) }

}  // namespace kansetsu::kernel
