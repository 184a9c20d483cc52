#include "batch/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                             \
  namespace isa {                                         \
  extern const BatchKernels<double> batch_double_packs;   \
  extern const BatchKernels<float> batch_float_packs;     \
  extern const VariedKernels<double> varied_double_packs; \
  extern const VariedKernels<float> varied_float_packs;   \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

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
