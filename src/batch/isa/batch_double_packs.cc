#include "batch/batch_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const BatchKernels<double> batch_double_packs;
const BatchKernels<double> batch_double_packs = make_batch_table<NativePack<double>>();

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
