#include "kinematics/kinematics_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const KinematicsKernels<double> kinematics_table;
const KinematicsKernels<double> kinematics_table = make_table<double>(1);

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
