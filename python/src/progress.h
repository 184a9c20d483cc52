#pragma once

#include "bindings.h"

namespace kansetsu::python {

/// Checks for Ctrl-C and reports progress from inside a long call, with the GIL (kansetsu/_progress.py).
class Teller {
 public:
  /// progress: the argument in Python, True, False or a function of (done, total).
  explicit Teller(nb::handle progress) {
    if (!progress.is(Py_False)) told_ = nb::module_::import_("kansetsu._progress").attr("teller")(progress);
  }
  /// Throws what Ctrl-C or the function raises.
  void look(double done, double total) const {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (told_.is_valid() && !told_.is_none()) told_(done, total);
  }

 private:
  nb::object told_;
};

}  // namespace kansetsu::python
