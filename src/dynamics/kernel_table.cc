#include "dynamics/kernel_table.h"

#include "kansetsu/base/cpu.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                       \
  namespace isa {                                   \
  extern const DynamicsKernels dynamics_table;      \
  extern const DynamicsKernels dynamics_pack_table; \
  }
KANSETSU_DECLARE(baseline)
#if defined(KANSETSU_HAVE_AVX2)
KANSETSU_DECLARE(avx2)
#endif
#if defined(KANSETSU_HAVE_AVX512)
KANSETSU_DECLARE(avx512)
#endif

const DynamicsKernels& dynamics() {
  switch (instruction_set()) {
#if defined(KANSETSU_HAVE_AVX512)
    case InstructionSet::kAvx512:
      return avx512::dynamics_table;
#endif
#if defined(KANSETSU_HAVE_AVX2)
    case InstructionSet::kAvx2:
      return avx2::dynamics_table;
#endif
    default:
      return baseline::dynamics_table;
  }
}

const DynamicsKernels& dynamics_packs() {
  switch (instruction_set()) {
#if defined(KANSETSU_HAVE_AVX512)
    case InstructionSet::kAvx512:
      return avx512::dynamics_pack_table;
#endif
#if defined(KANSETSU_HAVE_AVX2)
    case InstructionSet::kAvx2:
      return avx2::dynamics_pack_table;
#endif
    default:
      return baseline::dynamics_pack_table;
  }
}

}  // namespace kansetsu::kernel
