#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

/// The extension module kansetsu._core: one function per part of the library, each in a file of its own. What Python users expect on
/// top (names, poses, pandas) is in python/kansetsu.
namespace nb = nanobind;

// Types in signatures, which become those of the stub: an array of numbers, and what can be made into one.
#define FLOATS "numpy.typing.NDArray[numpy.float64]"
#define LIKE "numpy.typing.ArrayLike"
// Of the argument by which a long call says how far it has come.
#define PROGRESS "kansetsu._progress.Progress"

// The argument that names a device, and its type.
#define DEVICE nb::arg("device").none() = nb::none()
#define OF_DEVICE "device: str | None = None"
// The argument for an array that takes the result.
#define OUT nb::arg("out").none() = nb::none()
#define OF_OUT "out: " FLOATS " | None = None"

namespace kansetsu::python {

void bind_errors(nb::module_& m);
void bind_model(nb::module_& m);
void bind_shapes(nb::module_& m);
void bind_builder(nb::module_& m);
void bind_editing(nb::module_& m);
void bind_load(nb::module_& m);
void bind_configuration(nb::module_& m);
void bind_kinematics(nb::module_& m);
void bind_dynamics(nb::module_& m);
void bind_derivatives(nb::module_& m);
void bind_constrained(nb::module_& m);
void bind_response(nb::module_& m);
void bind_world(nb::module_& m);
void bind_world_batch(nb::module_& m);
void bind_recording(nb::module_& m);
void bind_ik(nb::module_& m);
void bind_motion(nb::module_& m);
void bind_codegen(nb::module_& m);

}  // namespace kansetsu::python
