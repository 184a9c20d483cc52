#include "base/isa_table.h"
#include "constraint/contact_work.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                \
  namespace isa {                            \
  extern const ContactKernels contact_table; \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

const ContactKernels& contact_kernels() { KANSETSU_PICK(contact_table) }

}  // namespace kansetsu::kernel
