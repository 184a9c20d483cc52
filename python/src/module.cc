#include "arrays.h"
#include "bindings.h"
#include "kansetsu/base/cpu.h"

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
}
