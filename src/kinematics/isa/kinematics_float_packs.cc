#include "kinematics/kinematics_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const KinematicsKernels<float> kinematics_float_packs;
const KinematicsKernels<float> kinematics_float_packs = make_table<NativePack<float>>(NativePack<float>::width);

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
