#include "assembly/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                  \
  namespace isa {                              \
  extern const AssemblyKernels assembly_table; \
  extern const SegmentKernels segments_table;  \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

const AssemblyKernels& assembly() { KANSETSU_PICK(assembly_table) }
const SegmentKernels& segments() { KANSETSU_PICK(segments_table) }

}  // namespace kansetsu::kernel
