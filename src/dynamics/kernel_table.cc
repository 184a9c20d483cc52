#include "dynamics/kernel_table.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)                                 \
  namespace isa {                                             \
  extern const DynamicsKernels<double> dynamics_table;        \
  extern const DynamicsKernels<double> dynamics_double_packs; \
  extern const DynamicsKernels<float> dynamics_float_packs;   \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

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
