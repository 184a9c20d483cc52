#include "kinematics/kernel_table.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                           \
  namespace isa {                                       \
  extern const KinematicsKernels kinematics_table;      \
  extern const KinematicsKernels kinematics_pack_table; \
  }
KANSETSU_DECLARE(baseline)
#if defined(KANSETSU_HAVE_AVX2)
KANSETSU_DECLARE(avx2)
#endif
#if defined(KANSETSU_HAVE_AVX512)
KANSETSU_DECLARE(avx512)
#endif

const KinematicsKernels& kinematics() {
  switch (instruction_set()) {
#if defined(KANSETSU_HAVE_AVX512)
    case InstructionSet::kAvx512:
      return avx512::kinematics_table;
#endif
#if defined(KANSETSU_HAVE_AVX2)
    case InstructionSet::kAvx2:
      return avx2::kinematics_table;
#endif
    default:
      return baseline::kinematics_table;
  }
}

const KinematicsKernels& kinematics_packs() {
  switch (instruction_set()) {
#if defined(KANSETSU_HAVE_AVX512)
    case InstructionSet::kAvx512:
      return avx512::kinematics_pack_table;
#endif
#if defined(KANSETSU_HAVE_AVX2)
    case InstructionSet::kAvx2:
      return avx2::kinematics_pack_table;
#endif
    default:
      return baseline::kinematics_pack_table;
  }
}

}  // namespace kansetsu::kernel
