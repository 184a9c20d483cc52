#include "kinematics/kernel_table.h"

#include "kansetsu/base/cpu.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                                     \
  namespace isa {                                                 \
  extern const KinematicsKernels<double> kinematics_table;        \
  extern const KinematicsKernels<double> kinematics_double_packs; \
  extern const KinematicsKernels<float> kinematics_float_packs;   \
  }
KANSETSU_DECLARE(baseline)
#if defined(KANSETSU_HAVE_AVX2)
KANSETSU_DECLARE(avx2)
#endif
#if defined(KANSETSU_HAVE_AVX512)
KANSETSU_DECLARE(avx512)
#endif

#if defined(KANSETSU_HAVE_AVX512)
#define KANSETSU_CASE_AVX512(table) \
  case InstructionSet::kAvx512:     \
    return avx512::table;
#else
#define KANSETSU_CASE_AVX512(table)
#endif
#if defined(KANSETSU_HAVE_AVX2)
#define KANSETSU_CASE_AVX2(table) \
  case InstructionSet::kAvx2:     \
    return avx2::table;
#else
#define KANSETSU_CASE_AVX2(table)
#endif
#define KANSETSU_PICK(table)    \
  switch (instruction_set()) {  \
    KANSETSU_CASE_AVX512(table) \
    KANSETSU_CASE_AVX2(table)   \
    default:                    \
      return baseline::table;   \
  }

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
