#include "constraint/contact_active_set_kernel.h"
#include "constraint/contact_sweep_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

extern const ContactKernels contact_table;
const ContactKernels contact_table = {fast_path, active_set, complementarity};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
