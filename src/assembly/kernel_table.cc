#include "assembly/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

KANSETSU_TABLE(AssemblyKernels, assembly, assembly_table)
KANSETSU_TABLE(SegmentKernels, segments, segments_table)

}  // namespace kansetsu::kernel
