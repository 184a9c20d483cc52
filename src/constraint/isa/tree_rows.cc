#include "constraint/tree_rows_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const TreeRowsKernels tree_rows_table;
const TreeRowsKernels tree_rows_table = {tree_begin, tree_rates, tree_answer, tree_respond};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
