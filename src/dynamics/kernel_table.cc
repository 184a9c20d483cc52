#include "dynamics/kernel_table.h"

#include "kansetsu/base/cpu.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                                 \
  namespace isa {                                             \
  extern const DynamicsKernels<double> dynamics_table;        \
  extern const DynamicsKernels<double> dynamics_double_packs; \
  extern const DynamicsKernels<float> dynamics_float_packs;   \
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

const DynamicsKernels<double>& dynamics() { KANSETSU_PICK(dynamics_table) }
template <>
const DynamicsKernels<double>& dynamics_packs<double>() {
  KANSETSU_PICK(dynamics_double_packs)
}
template <>
const DynamicsKernels<float>& dynamics_packs<float>() {
  KANSETSU_PICK(dynamics_float_packs)
}

}  // namespace kansetsu::kernel
