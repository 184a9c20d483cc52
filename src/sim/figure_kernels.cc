#include "sim/figure_kernels.h"

#include "base/isa_table.h"

namespace kansetsu::kernel {

KANSETSU_TABLE(FigureKernels, figures, figure_table)

}  // namespace kansetsu::kernel
