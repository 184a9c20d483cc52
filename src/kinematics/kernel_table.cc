#include "kinematics/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

KANSETSU_TABLE(KinematicsKernels<double>, kinematics, kinematics_table)
KANSETSU_PACK_TABLE(KinematicsKernels<double>, kinematics_packs<double>, kinematics_double_packs)
KANSETSU_PACK_TABLE(KinematicsKernels<float>, kinematics_packs<float>, kinematics_float_packs)

}  // namespace kansetsu::kernel
