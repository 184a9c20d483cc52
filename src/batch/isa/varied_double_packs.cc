#include "batch/varied_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const VariedKernels<double> varied_double_packs;
const VariedKernels<double> varied_double_packs = make_varied_table<NativePack<double>>();

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
