#pragma once

#include "arrays.h"
#include "errors.h"
#include "model_handle.h"

/// Calls that go to a CUDA device. kansetsu/_device.py takes them; what is computed there is in kansetsu._cuda, a wheel of its own.
namespace kansetsu::python {

/// Whether a device is named, or q is a tensor on one.
inline bool goes_to_device(nb::handle device, nb::handle q) { return !device.is_none() || is_on_device(q); }

/// The function of that name there: q, then what it takes beside it.
template <class... Arguments>
nb::object call_device(const char* function, const ModelHandle& m, nb::handle device, const Arguments&... arguments) {
  return nb::module_::import_("kansetsu._device").attr("call")(function, nb::find(m), device, arguments...);
}

/// Raises where an argument is given that devices do not know.
inline void require_none(const char* function, const char* name, nb::handle value) {
  if (!value.is_none()) raise_value(std::string(function) + ": " + name + " is not offered on a device");
}

}  // namespace kansetsu::python
