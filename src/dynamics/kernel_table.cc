#include "dynamics/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

KANSETSU_TABLE(DynamicsKernels<double>, dynamics, dynamics_table)
KANSETSU_PACK_TABLE(DynamicsKernels<double>, dynamics_packs<double>, dynamics_double_packs)
KANSETSU_PACK_TABLE(DynamicsKernels<float>, dynamics_packs<float>, dynamics_float_packs)

}  // namespace kansetsu::kernel
