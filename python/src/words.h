#pragma once

#include "errors.h"
#include "kansetsu/model/description.h"

namespace kansetsu::python {

inline constexpr Word<Base> kBases[] = {{"fixed", Base::kFixed}, {"free", Base::kFree}};

}  // namespace kansetsu::python
