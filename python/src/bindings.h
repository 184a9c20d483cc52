#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

/// The extension module kansetsu._core: one function for each part of the library, in its own file. Conveniences for Python users
/// (names, poses, pandas) are in python/kansetsu.
namespace nb = nanobind;

// The argument that names a device.
#define DEVICE nb::arg("device").none() = nb::none()
// The argument for an array that receives the result.
#define OUT nb::arg("out").none() = nb::none()

namespace kansetsu::python {

// Python types of arguments and results, for signatures and the stub. Arguments are checked where they are read, so that messages
// can state what was expected.
#define KANSETSU_PYTHON_ARGUMENT(Type, text)                   \
  struct Type : nb::handle {                                   \
    static constexpr auto Name = nb::detail::const_name(text); \
    using nb::handle::handle;                                  \
    Type(nb::handle h) : nb::handle(h) {}                      \
    static bool check_(nb::handle) { return true; }            \
  }
#define KANSETSU_PYTHON_RESULT(Type, text)                  \
  struct Type : nb::object {                                \
    NB_OBJECT_DEFAULT(Type, nb::object, text, Py_IS_RESULT) \
    Type(nb::object x) : nb::object(std::move(x)) {}        \
  }
#define Py_IS_RESULT(object) true

KANSETSU_PYTHON_ARGUMENT(Like, "numpy.typing.ArrayLike");  ///< anything that converts to an array of numbers
KANSETSU_PYTHON_ARGUMENT(Device, "str");
KANSETSU_PYTHON_ARGUMENT(Out, "numpy.typing.NDArray[numpy.float64]");  ///< receives the result
KANSETSU_PYTHON_ARGUMENT(Progress, "kansetsu._progress.Progress");     ///< reports the progress of a long call
KANSETSU_PYTHON_ARGUMENT(Folders, "str | os.PathLike[str] | collections.abc.Sequence[str | os.PathLike[str]]");
KANSETSU_PYTHON_ARGUMENT(Mask, "str | int");
KANSETSU_PYTHON_ARGUMENT(Directions, "dict[str, float]");
KANSETSU_PYTHON_ARGUMENT(NumberOrDirections, "float | dict[str, float]");
KANSETSU_PYTHON_ARGUMENT(BodyLike, "Body | Figure | str | tuple[str, str]");
KANSETSU_PYTHON_ARGUMENT(FigureLike, "Figure | str");
KANSETSU_PYTHON_ARGUMENT(LinkOf, "tuple[str, str]");  ///< figure and link
KANSETSU_PYTHON_ARGUMENT(Snapshots, "Snapshot | collections.abc.Sequence[Snapshot]");
KANSETSU_PYTHON_ARGUMENT(JointNumbers, "collections.abc.Mapping[typing.Any, collections.abc.Mapping[str, float]]");
KANSETSU_PYTHON_ARGUMENT(ClipLike, "Clip | Retargeted");

KANSETSU_PYTHON_RESULT(Floats, "numpy.typing.NDArray[numpy.float64]");
KANSETSU_PYTHON_RESULT(Bools, "numpy.typing.NDArray[numpy.bool_]");
KANSETSU_PYTHON_RESULT(Records, "numpy.typing.NDArray[numpy.void]");
KANSETSU_PYTHON_RESULT(Names, "kansetsu._names.Names");
KANSETSU_PYTHON_RESULT(NamedArray, "kansetsu._names.NamedArray");
KANSETSU_PYTHON_RESULT(View, "kansetsu._show.View");
KANSETSU_PYTHON_RESULT(AnyDict, "dict[str, typing.Any]");
KANSETSU_PYTHON_RESULT(Any, "typing.Any");

template <class... Types>
using Tuple = nb::typed<nb::tuple, Types...>;
template <class Value>
using DictOf = nb::typed<nb::dict, nb::str, Value>;

/// x.show(): the viewer in a notebook or in the browser.
template <class Class>
void bind_show(Class& c, const char* what) {
  c.def(
      "show",
      [](nb::handle self, const std::string& title, int height) -> View {
        return nb::object(nb::module_::import_("kansetsu._show")
                              .attr("show")(self, nb::arg("title") = title, nb::arg("height") = height));
      },
      nb::kw_only(), nb::arg("title") = "kansetsu", nb::arg("height") = 480, what);
}

/// The name of a file.
struct PathLike : std::filesystem::path {
  using path::path;
};

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

template <>
struct nanobind::detail::type_caster<kansetsu::python::PathLike> {
  NB_TYPE_CASTER(kansetsu::python::PathLike, const_name("str | os.PathLike[str]"))
  bool from_python(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::filesystem::path> path;
    if (!path.from_python(src, flags, cleanup)) return false;
    static_cast<std::filesystem::path&>(value) = std::move(path.value);
    return true;
  }
};
