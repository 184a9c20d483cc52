#include "batch/kernel_table.h"

#include "kansetsu/base/cpu.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                             \
  namespace isa {                                         \
  extern const BatchKernels<double> batch_double_packs;   \
  extern const BatchKernels<float> batch_float_packs;     \
  extern const VariedKernels<double> varied_double_packs; \
  extern const VariedKernels<float> varied_float_packs;   \
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

template <>
const BatchKernels<double>& batch_packs<double>() {
  KANSETSU_PICK(batch_double_packs)
}
template <>
const BatchKernels<float>& batch_packs<float>() {
  KANSETSU_PICK(batch_float_packs)
}
template <>
const VariedKernels<double>& varied_packs<double>() {
  KANSETSU_PICK(varied_double_packs)
}
template <>
const VariedKernels<float>& varied_packs<float>() {
  KANSETSU_PICK(varied_float_packs)
}

}  // namespace kansetsu::kernel
