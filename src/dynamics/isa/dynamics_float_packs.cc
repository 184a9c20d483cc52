#include "dynamics/dynamics_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const DynamicsKernels<float> dynamics_float_packs;
const DynamicsKernels<float> dynamics_float_packs = make_table<NativePack<float>>(NativePack<float>::width);

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
