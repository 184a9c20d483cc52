#pragma once

#include "arrays.h"
#include "errors.h"
#include "model_handle.h"

/// Calls for a CUDA device. kansetsu/_device.py handles them; the computations are in kansetsu._cuda, a separate wheel.
namespace kansetsu::python {

/// Whether a device is named, or q is a tensor on one.
inline bool goes_to_device(nb::handle device, nb::handle q) { return !device.is_none() || is_on_device(q); }

/// Calls the function of that name there with q and its other arguments.
template <class... Arguments>
nb::object call_device(const char* function, const ModelHandle& m, nb::handle device, const Arguments&... arguments) {
  return nb::module_::import_("kansetsu._device").attr("call")(function, nb::find(m), device, arguments...);
}

/// Raises if an argument is given that devices do not support.
inline void require_none(const char* function, const char* name, nb::handle value) {
  if (!value.is_none()) raise_value(std::string(function) + ": " + name + " is not offered on a device");
}

}  // namespace kansetsu::python
