#include "kansetsu/spatial/eigen_abi.h"

namespace kansetsu::detail {

template <int kAlignBytes>
const char LibraryWasBuiltWithAnotherEigenAlignmentThan<kAlignBytes>::symbol = 0;

template struct LibraryWasBuiltWithAnotherEigenAlignmentThan<EIGEN_DEFAULT_ALIGN_BYTES>;

}  // namespace kansetsu::detail
