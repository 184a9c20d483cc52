#include "batch/batch_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const BatchKernels<float> batch_float_packs;
const BatchKernels<float> batch_float_packs = make_batch_table<NativePack<float>>();

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
