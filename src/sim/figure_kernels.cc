#include "sim/figure_kernels.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

#define KANSETSU_DECLARE(isa)              \
  namespace isa {                          \
  extern const FigureKernels figure_table; \
  }
KANSETSU_FOR_EACH_ISA(KANSETSU_DECLARE)
#undef KANSETSU_DECLARE

const FigureKernels& figures() { KANSETSU_PICK(figure_table) }

}  // namespace kansetsu::kernel
