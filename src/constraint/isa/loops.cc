#include "constraint/loop_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const LoopKernels loop_table;
const LoopKernels loop_table = {clear_front,        add_child_front, close_rows,
                                free_front_columns, reduce_front,    substitute_front};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
