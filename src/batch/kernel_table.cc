#include "batch/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

KANSETSU_PACK_TABLE(BatchKernels<double>, batch_packs<double>, batch_double_packs)
KANSETSU_PACK_TABLE(BatchKernels<float>, batch_packs<float>, batch_float_packs)
KANSETSU_PACK_TABLE(VariedKernels<double>, varied_packs<double>, varied_double_packs)
KANSETSU_PACK_TABLE(VariedKernels<float>, varied_packs<float>, varied_float_packs)

}  // namespace kansetsu::kernel
