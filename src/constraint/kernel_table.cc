#include "constraint/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

KANSETSU_TABLE(MechanicsKernels, mechanics, mechanics_table)

}  // namespace kansetsu::kernel
