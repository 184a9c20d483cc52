#include "batch/varied_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const VariedKernels<float> varied_float_packs;
const VariedKernels<float> varied_float_packs = make_varied_table<NativePack<float>>();

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
