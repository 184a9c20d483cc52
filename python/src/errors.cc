#include "errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "cli/command.h"

namespace kansetsu::python {
namespace {

nb::object error_class(const char* name) { return nb::module_::import_("kansetsu._errors").attr(name); }

void set_error(const char* name, const char* text) {
  const nb::object type = error_class(name);
  PyErr_SetString(type.ptr(), text);
}

}  // namespace

void raise_error(const char* name, const std::string& text) {
  set_error(name, text.c_str());
  throw nb::python_error();
}

std::vector<Diagnostic> in_python_words(std::vector<Diagnostic> diagnostics) {
  constexpr std::pair<std::string_view, std::string_view> kOptions[] = {{"--package-path ", "package_path="},
                                                                        {"--allow-path ", "allow_path="}};
  for (Diagnostic& d : diagnostics) {
    for (const auto& [option, argument] : kOptions) {
      if (const size_t at = d.hint.find(option); at != std::string::npos) d.hint.replace(at, option.size(), argument);
    }
  }
  return diagnostics;
}

/// All errors, and the number of warnings, which may be many.
void raise_diagnostics(const std::vector<Diagnostic>& found) {
  const std::vector<Diagnostic> diagnostics = in_python_words(found);
  std::vector<Diagnostic> errors;
  std::ranges::copy_if(diagnostics, std::back_inserter(errors), [](const Diagnostic& d) { return d.is_error(); });
  std::string text = to_string(errors);
  while (text.ends_with('\n')) text.pop_back();
  if (const std::size_t warnings = diagnostics.size() - errors.size(); warnings > 0)
    text += fmt::format("\n  and {} warning{} in error.diagnostics", warnings, warnings == 1 ? "" : "s");
  const nb::object type = error_class("LoadError");
  const nb::object error = type(text, nb::cast(diagnostics));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

void warn(const std::vector<Diagnostic>& found) {
  if (found.empty()) return;
  const std::vector<Diagnostic> diagnostics = in_python_words(found);
  std::string text = to_string(diagnostics.front());
  while (text.ends_with('\n')) text.pop_back();
  if (diagnostics.size() > 1)
    text += "\n  and " + std::to_string(diagnostics.size() - 1) + " more; ks.check() lists them";
  const bool partial = is_partial(diagnostics);
  if (partial) text = partial_summary(diagnostics) + "\n" + text;
  const nb::object category = error_class(partial ? "PartialModelWarning" : "FileWarning");
  if (PyErr_WarnEx(category.ptr(), text.c_str(), 1) < 0) throw nb::python_error();
}

void raise_type(const std::string& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw nb::python_error();
}

void raise_value(const std::string& text) { raise_error("Error", text); }

void bind_errors(nb::module_& module) {
  nb::class_<Diagnostic>(module, "Diagnostic", "A problem of a file or a description.")
      .def_prop_ro(
          "severity", [](const Diagnostic& d) { return d.is_error() ? "error" : "warning"; }, "'error' or 'warning'.")
      .def_ro("code", &Diagnostic::code, "Stable, e.g. URDF012; listed in docs/formats.")
      .def_ro("file", &Diagnostic::file, "Empty if the input was not a file.")
      .def_ro("line", &Diagnostic::line, "From 1; 0 if unknown.")
      .def_ro("path", &Diagnostic::path, "Where in the document.")
      .def_ro("message", &Diagnostic::message, "What is wrong, with the value.")
      .def_ro("hint", &Diagnostic::hint, "What to do about it.")
      .def_ro("partial", &Diagnostic::partial, "Whether an unsupported part that affects motion is omitted.")
      .def("__str__", [](const Diagnostic& d) { return to_string(d); })
      .def("__repr__", [](const Diagnostic& d) {
        return "<" + std::string(d.is_error() ? "error" : "warning") + " " + d.code + ": " + d.message + ">";
      });
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& error) {
      set_error("Error", error.what());
    } catch (const cli::Failure& failure) {
      set_error("Error", failure.what());
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError, "an argument, or something in it, has another type than expected");
    }
  });
}

}  // namespace kansetsu::python
