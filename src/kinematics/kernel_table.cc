#include "kinematics/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                                     \
  namespace isa {                                                 \
  extern const KinematicsKernels<double> kinematics_table;        \
  extern const KinematicsKernels<double> kinematics_double_packs; \
  extern const KinematicsKernels<float> kinematics_float_packs;   \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

const KinematicsKernels<double>& kinematics() { KANSETSU_PICK(kinematics_table) }
template <>
const KinematicsKernels<double>& kinematics_packs<double>() {
  KANSETSU_PICK(kinematics_double_packs)
}
template <>
const KinematicsKernels<float>& kinematics_packs<float>() {
  KANSETSU_PICK(kinematics_float_packs)
}

}  // namespace kansetsu::kernel
