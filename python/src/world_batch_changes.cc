#include "kansetsu/ik/task.h"
#include "world_batch_handle.h"
#include "world_words.h"

/// What differs between the worlds of a batch: controllers and connections.
namespace kansetsu::python {
namespace {

bool same_row(const RowMatrix& a, const RowMatrix& b, int k) {
  return a.cols() == 0 || std::memcmp(&a(k, 0), &b(k, 0), size_t(a.cols()) * sizeof(double)) == 0;
}

ControllerMirror& find_controller(BatchHandle& b, const std::string& name) {
  std::string known;
  for (const auto& m : b.controllers) {
    if (m->name == name) return *m;
    known += (known.empty() ? "" : ", ") + m->name;
  }
  raise_value(fmt::format("WorldBatch.controller: there is no controller '{}'; known: {}", name,
                          known.empty() ? "none" : known));
}

template <RowMatrix ControllerMirror::* member>
nb::object controller_rows(nb::handle self, const std::string& name) {
  auto& b = *nb::inst_ptr<BatchHandle>(self);
  RowMatrix& x = find_controller(b, name).*member;
  return view_array(x.data(), {x.rows(), x.cols()}, self);
}

struct BatchBody {
  BodyRef body = kWorldBody;
  Transform<> X_LF{};
};
BatchBody read_end(const BatchHandle& b, nb::handle value) {
  std::pair<std::string, std::string> both;
  if (value.is_none()) return {};
  if (!nb::try_cast(value, both))
    raise_type("WorldBatch.connect: a body is ('figure', 'link or frame'), or None for the world");
  const FigureId id(b.figure("WorldBatch.connect", both.first));
  const ik::FrameOn on = ik::frame_on(b.batch.model(id), both.second);
  return {{id, on.link}, on.X_LF};
}

int connect_one(BatchHandle& b, int world, nb::handle a, nb::handle other, const std::string& mask, nb::handle frame_a,
                nb::handle frame_b) {
  require_world(b, world);
  const BatchBody on_a = read_end(b, a), on_b = read_end(b, other);
  ConnectionOptions options;
  options.mask = read_word("WorldBatch.connect: mask", mask, kMasks);
  options.X_AC = on_a.X_LF * read_pose({"WorldBatch.connect", "frame_a"}, frame_a);
  options.X_BC = on_b.X_LF * read_pose({"WorldBatch.connect", "frame_b"}, frame_b);
  const BatchHandle::Call call(b, "WorldBatch.connect");
  b.push();
  return b.batch.world(world).connect(on_a.body, on_b.body, options).value();
}

void release_one(BatchHandle& b, int world, int connection) {
  require_world(b, world);
  const BatchHandle::Call call(b, "WorldBatch.release");
  b.push();
  World& w = b.batch.world(world);
  if (!w.connected(ConnectionId(connection)))
    raise_value(fmt::format("WorldBatch.release: world {} has no connection {}", world, connection));
  w.release(ConnectionId(connection));
}

}  // namespace

void BatchHandle::pull_controllers() {
  for (const auto& m : controllers) {
    for (int k = 0; k < batch.size(); ++k) {
      const ControllerDescription c = std::as_const(batch).world(k).controller(m->name);
      for (std::ptrdiff_t j = 0; j < m->value.cols(); ++j) {
        const JointControl& joint = c.joints[size_t(j)];
        m->value(k, j) = joint.value, m->kp(k, j) = joint.kp, m->kd(k, j) = joint.kd;
      }
    }
    m->value_known = m->value, m->kp_known = m->kp, m->kd_known = m->kd;
  }
}

void BatchHandle::push_controllers() {
  for (const auto& m : controllers) {
    const auto same = [](const RowMatrix& a, const RowMatrix& b) {
      return std::memcmp(a.data(), b.data(), size_t(a.size()) * sizeof(double)) == 0;
    };
    if (same(m->value, m->value_known) && same(m->kp, m->kp_known) && same(m->kd, m->kd_known)) continue;
    try {
      for (int k = 0; k < batch.size(); ++k) {
        if (same_row(m->value, m->value_known, k) && same_row(m->kp, m->kp_known, k) && same_row(m->kd, m->kd_known, k))
          continue;
        World& w = batch.world(k);
        ControllerDescription c = w.controller(m->name);
        for (std::ptrdiff_t j = 0; j < m->value.cols(); ++j) {
          JointControl& joint = c.joints[size_t(j)];
          joint.value = m->value(k, j), joint.kp = m->kp(k, j), joint.kd = m->kd(k, j);
        }
        w.set_controller(c);
      }
    } catch (...) {
      pull_controllers();  // what cannot be is forgotten
      throw;
    }
    m->value_known = m->value, m->kp_known = m->kp, m->kd_known = m->kd;
  }
}

void bind_world_batch_changes(nb::class_<BatchHandle>& c) {
  using namespace nb::literals;
  c.def_prop_ro("controllers",
                [](const BatchHandle& b) {
                  std::vector<std::string> names;
                  for (const auto& m : b.controllers) names.push_back(m->name);
                  return names;
                })
      .def(
          "controller_joints", [](BatchHandle& b, const std::string& name) { return find_controller(b, name).joints; },
          "controller"_a)
      .def("controller_value", controller_rows<&ControllerMirror::value>, "controller"_a,
           nb::sig("def controller_value(self, controller: str) -> " FLOATS))
      .def("controller_kp", controller_rows<&ControllerMirror::kp>, "controller"_a,
           nb::sig("def controller_kp(self, controller: str) -> " FLOATS))
      .def("controller_kd", controller_rows<&ControllerMirror::kd>, "controller"_a,
           nb::sig("def controller_kd(self, controller: str) -> " FLOATS))
      .def("connect", connect_one, "world"_a, "a"_a.none(), "b"_a.none(), "mask"_a = "weld",
           "frame_a"_a.none() = nb::none(), "frame_b"_a.none() = nb::none(),
           nb::sig("def connect(self, world: int, a: tuple[str, str] | None, b: tuple[str, str] | None, mask: str = "
                   "'weld', frame_a: " LIKE " | None = None, frame_b: " LIKE " | None = None) -> int"))
      .def("release", release_one, "world"_a, "connection"_a);
}

}  // namespace kansetsu::python
