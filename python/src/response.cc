#include "kansetsu/dynamics/response.h"

#include <mutex>

#include "inputs.h"

/// kansetsu.Response: accelerations of links per wrench, without the mass matrix.
namespace kansetsu::python {
namespace {

/// With the model's names. One caller at a time: queries share scratch memory.
class ResponseHandle {
 public:
  explicit ResponseHandle(const ModelHandle& m) : model_(m.model), response_(m.model) {}

  void update(Like q) {
    const auto Q = read_rows<double>({"Response.update", "q", position_name, &model_}, q, model_.nq());
    if (!Q.one()) raise_value("Response.update: q has rows, expected one configuration");
    require_finite({"Response.update", "q", position_name, &model_}, Q.data, model_.nq());
    require_turns({"Response.update", "q"}, model_, Q.data);
    const std::lock_guard lock(mutex_);
    if (response_.update(map(Q.data, model_.nq())) == Status::kSingular)
      raise_error("SingularError", "Response.update: nothing resists some coordinate of this model");
    updated_ = true;
  }
  Floats link_response(const std::string& j, const std::string& i, bool world) {
    const LinkId to = model_.link_id(j), from = model_.link_id(i);
    const std::lock_guard lock(mutex_);
    require_updated();
    return to_array(world ? response_.link_response_world(to, from) : response_.link_response(to, from));
  }
  Floats apply_wrench(const std::string& link, Like wrench) {
    const std::vector<double> w = read_numbers({"Response.apply_wrench", "wrench"}, wrench, 6);
    const LinkId id = model_.link_id(link);
    const std::lock_guard lock(mutex_);
    require_updated();
    Eigen::VectorXd vdot(model_.nv());
    std::vector<Motion<>> A(size_t(model_.link_count()));
    response_.apply_wrench(id, {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}}, vdot, A);
    return to_array(std::span(vdot.data(), size_t(vdot.size())));
  }

 private:
  void require_updated() const {
    if (!updated_) raise_value("Response: no posture yet; call update(q) first");
  }
  Model model_;
  Response response_;
  std::mutex mutex_;
  bool updated_ = false;
};

}  // namespace

void bind_response(nb::module_& module) {
  nb::class_<ResponseHandle>(module, "Response",
                             "Response operators: the inertia between any two links, gears included.")
      .def(nb::init<const ModelHandle&>(), nb::arg("model"))
      .def("update", &ResponseHandle::update, nb::arg("q"), "Takes a posture.")
      .def("link_response", &ResponseHandle::link_response, nb::arg("link"), nb::arg("wrench_on"), nb::kw_only(),
           nb::arg("world") = true,
           "6 x 6: change of the acceleration [omega', a] of one link per wrench [torque, force] on another, at the "
           "links' origins in world "
           "axes; with world=False in the links' own axes.")
      .def("apply_wrench", &ResponseHandle::apply_wrench, nb::arg("link"), nb::arg("wrench"),
           "Change of vdot for a wrench [torque, force] on a link, in the link's axes.");
}

}  // namespace kansetsu::python
