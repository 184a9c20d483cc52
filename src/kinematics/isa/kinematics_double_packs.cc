#include "kinematics/kinematics_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const KinematicsKernels<double> kinematics_double_packs;
const KinematicsKernels<double> kinematics_double_packs = make_table<NativePack<double>>(NativePack<double>::width);

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
