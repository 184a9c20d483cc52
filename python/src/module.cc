#include "arrays.h"
#include "bindings.h"
#include "kansetsu/base/cpu.h"

namespace kansetsu::python {
namespace {

/// Sets __repr__ of every class without its own (kansetsu/_text.py).
void describe_classes(nb::handle module) {
  const nb::object plain = nb::borrow(reinterpret_cast<PyObject*>(&PyBaseObject_Type)).attr("__repr__");
  for (const auto& [name, thing] : nb::borrow<nb::dict>(module.attr("__dict__"))) {
    if (!PyType_Check(thing.ptr()) || !thing.attr("__repr__").is(plain)) continue;
    thing.attr("__repr__") =
        nb::cpp_function([](nb::handle self) { return nb::module_::import_("kansetsu._text").attr("describe")(self); },
                         nb::scope(thing), nb::name("__repr__"), nb::is_method(), nb::sig("def __repr__(self) -> str"));
  }
}

}  // namespace
}  // namespace kansetsu::python

NB_MODULE(_core, module) {
  using namespace kansetsu::python;
  module.doc() = "The compiled part of kansetsu; use the package kansetsu instead.";
  module.attr("version") = KANSETSU_VERSION;
  import_numpy();
  bind_errors(module);
  bind_shapes(module);
  bind_model(module);
  bind_builder(module);
  bind_editing(module);
  bind_load(module);
  bind_configuration(module);
  bind_kinematics(module);
  bind_dynamics(module);
  bind_derivatives(module);
  bind_constrained(module);
  bind_response(module);
  bind_world(module);
  bind_world_batch(module);
  bind_recording(module);
  bind_ik(module);
  bind_motion(module);
  bind_codegen(module);
  module.def(
      "instruction_set", [] { return kansetsu::to_string(kansetsu::instruction_set()); },
      "The instruction set that this process uses: baseline, avx2 or avx512.");
  describe_classes(module);
  describe_classes(module.attr("ik"));
  describe_classes(module.attr("motion"));
}
