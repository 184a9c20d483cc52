#pragma once

#include <nanobind/stl/tuple.h>

#include "bindings.h"

namespace kansetsu::python {

/// Part of bind_motion: figures that walk and track clips.
void bind_walking(nb::module_& module);

}  // namespace kansetsu::python
