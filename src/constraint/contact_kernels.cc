#include "base/isa_table.h"
#include "constraint/contact_law.h"

namespace kansetsu::kernel {

KANSETSU_TABLE(NewtonKernels, newton_kernels, newton_table)

}  // namespace kansetsu::kernel
