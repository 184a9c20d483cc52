#include "arrays.h"
#include "errors.h"
#include "inputs.h"
#include "kansetsu/model/edit.h"
#include "model_handle.h"
#include "words.h"

/// Editing: each function returns a new model and does not change the old one.
namespace kansetsu::python {
void bind_editing(nb::module_& module) {
  module.def(
      "lock_joints",
      [](const ModelHandle& m, const std::vector<std::string>& joints, Like q) {
        const std::vector<double> at = read_numbers({"lock_joints", "q", position_name, &m.model}, q, m.model.nq());
        return handle_of(lock_joints(m.model, joints, map(at.data(), m.model.nq())));
      },
      nb::arg("model"), nb::arg("joints"), nb::arg("q"), "The model with these joints fixed at their positions in q.");
  module.def(
      "attach",
      [](const ModelHandle& m, const std::string& link, const ModelHandle& tool, Like pose, const std::string& prefix) {
        return handle_of(attach(m.model, link, tool.model, to_pose(read_pose({"attach", "pose"}, pose)), prefix));
      },
      nb::arg("model"), nb::arg("link"), nb::arg("tool"), nb::arg("pose").none() = nb::none(),
      nb::arg("prefix") = "tool/", "The model with another one fixed to a link; names of the tool get the prefix.");
  module.def(
      "scale", [](const ModelHandle& m, double length, double mass) { return handle_of(scale(m.model, length, mass)); },
      nb::arg("model"), nb::arg("length") = 1.0, nb::arg("mass") = 1.0,
      "The model with all lengths and masses scaled.");
  module.def(
      "extract_subtree",
      [](const ModelHandle& m, const std::string& link, const std::string& base) {
        return handle_of(extract_subtree(m.model, link, read_word("extract_subtree: base", base, kBases)));
      },
      nb::arg("model"), nb::arg("link"), nb::arg("base") = "free", "The subtree of a link as a separate model.");
  module.def(
      "with_gravity",
      [](const ModelHandle& m, Like gravity) {
        return handle_of(with_gravity(m.model, read_vec3({"with_gravity", "gravity"}, gravity)));
      },
      nb::arg("model"), nb::arg("gravity"), "The same model under another gravity [m/s^2].");
  module.def(
      "with_inertial_parameters",
      [](const ModelHandle& m, Like values) {
        const Expected expected{"with_inertial_parameters", "values", nullptr, &m.model};
        const auto p = read_blocks<double>(expected, values, m.model.link_count(), 10);
        if (!p.one()) raise_value("with_inertial_parameters: values of several models");
        return handle_of(with_inertial_parameters(m.model, map(p.data, 10 * m.model.link_count())));
      },
      nb::arg("model"), nb::arg("values"),
      "The same mechanism with other inertias, (links, 10) as inertial_parameters() has them. Links without inertia "
      "keep "
      "none.");
  module.def(
      "with_base",
      [](const ModelHandle& m, const std::string& base, Like pose) {
        return handle_of(with_base(m.model, read_word("with_base: base", base, kBases),
                                   to_pose(read_pose({"with_base", "pose"}, pose))));
      },
      nb::arg("model"), nb::arg("base"), nb::arg("pose").none() = nb::none(), "With a 'fixed' or 'free' base.");
  module.def(
      "merge_fixed_links", [](const ModelHandle& m) { return handle_of(merge_fixed_links(m.model)); }, nb::arg("model"),
      "Links joined by fixed joints become one link each; the others stay as frames.");
}

}  // namespace kansetsu::python
