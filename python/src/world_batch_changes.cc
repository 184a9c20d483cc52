#include <cmath>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/ik/task.h"
#include "kansetsu/model/configuration.h"
#include "world_batch_handle.h"
#include "world_words.h"

/// Differences between the worlds of a batch: controls, controllers, masses, friction and connections.
namespace kansetsu::python {
namespace {

bool same(const RowMatrix& a, const RowMatrix& b) {
  return std::memcmp(a.data(), b.data(), size_t(a.size()) * sizeof(double)) == 0;
}
bool same_row(const RowMatrix& a, const RowMatrix& b, int k) {
  return a.cols() == 0 || std::memcmp(&a(k, 0), &b(k, 0), size_t(a.cols()) * sizeof(double)) == 0;
}

ControllerMirror& find_controller(BatchHandle& b, const std::string& name) {
  return *b.controllers[find_named("WorldBatch.controller", "controller", name, b.controllers,
                                   [](const auto& m) { return m->name; })];
}

template <RowMatrix ControllerMirror::* member>
Floats controller_rows(nb::handle self, const std::string& name) {
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

int connect_one(BatchHandle& b, int world, LinkOf a, LinkOf other, const std::string& mask, Like frame_a,
                Like frame_b) {
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

/// A row of `width` numbers for each of the selected worlds, or one row for all of them.
RowsArgument<double> read_varied(const Expected& expected, RowsArgument<double> rows, size_t worlds,
                                 std::ptrdiff_t width) {
  if (!rows.one() && rows.count != std::ptrdiff_t(worlds))
    raise_value(fmt::format("{}: {} has {} rows for {} worlds", expected.function, expected.name, rows.count, worlds));
  for (std::ptrdiff_t i = 0; i < (rows.one() ? 1 : rows.count); ++i) require_finite(expected, rows.row(i), width);
  return rows;
}

/// change(world) for each of these worlds; exceptions name the world.
template <class Change>
void change_worlds(BatchHandle& b, const char* function, const std::vector<int>& worlds, Change&& change) {
  const BatchHandle::Call call(b, function);
  b.push();
  for (size_t k = 0; k < worlds.size(); ++k) {
    try {
      change(b.batch.world(worlds[k]), std::ptrdiff_t(k));
    } catch (const Error& e) {
      raise_value(fmt::format("{}: world {}: {}", function, worlds[k], e.what()));
    }
  }
}

void set_inertias(BatchHandle& b, const std::string& figure, Like values, Like which) {
  const Expected expected{"BatchFigure.set_inertial_parameters", "values"};
  const FigureId id(b.figure(expected.function, figure));
  const std::ptrdiff_t links = b.batch.model(id).link_count();
  const std::vector<int> worlds = read_worlds(b, expected.function, which);
  const auto rows = read_varied(expected, read_blocks<double>(expected, values, links, 10), worlds.size(), 10 * links);
  change_worlds(b, expected.function, worlds, [&](World& world, std::ptrdiff_t k) {
    world.set_inertial_parameters(id, map(rows.row(k), 10 * links));
  });
}

Floats inertias(BatchHandle& b, const std::string& figure) {
  const FigureId id(b.figure("BatchFigure.inertial_parameters", figure));
  const BatchHandle::Call call(b, "BatchFigure.inertial_parameters");
  const std::ptrdiff_t links = b.batch.model(id).link_count();
  NewArray<double> out = new_array({b.batch.size(), links, 10});
  for (int k = 0; k < b.batch.size(); ++k)
    map(out.data + k * 10 * links, 10 * links) = inertial_parameters(std::as_const(b.batch).world(k).model(id));
  return out.object;
}

/// Friction, torsional and rolling friction, as one material per world.
void set_materials(BatchHandle& b, const std::string& figure, Like values, Like which) {
  constexpr int kNumbers = 5;
  const Expected expected{"BatchFigure.set_materials", "values"};
  const FigureId id(b.figure(expected.function, figure));
  const std::vector<int> worlds = read_worlds(b, expected.function, which);
  const auto rows = read_varied(expected, read_rows<double>(expected, values, kNumbers), worlds.size(), kNumbers);
  change_worlds(b, expected.function, worlds, [&](World& world, std::ptrdiff_t k) {
    const double* x = rows.row(k);
    world.set_material(id, {x[0], x[1], x[2], x[3], x[4]});
  });
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

void BatchHandle::require_finite_rows(const char* what, FigureId id, const RowMatrix& rows,
                                      std::string (*number_name)(const Model&, int)) const {
  if ((rows.array() * 0 == 0).all()) [[likely]]
    return;
  for (int k = 0; k < batch.size(); ++k) require_finite_row(what, id, rows, k, number_name);
}

void BatchHandle::require_finite_row(const char* what, FigureId id, const RowMatrix& rows, int k,
                                     std::string (*number_name)(const Model&, int)) const {
  for (Eigen::Index i = 0; i < rows.cols(); ++i) {
    if (std::isfinite(rows(k, i))) continue;
    const std::string of = number_name ? " (" + number_name(batch.model(id), int(i)) + ")" : "";
    raise_value(fmt::format("WorldBatch: {}[{}, {}]{} of '{}' is {}, expected a finite number", what, k, i, of,
                            names[size_t(id.value())], rows(k, i)));
  }
}

void BatchHandle::push() {
  try {
    for (int i = 0; i < int(mirrors.size()); ++i)
      push_states(FigureId(i)), push_torques(FigureId(i)), push_controls(FigureId(i));
    push_controllers();
  } catch (...) {
    pull(), pull_torques(), pull_controls(), pull_controllers();
    throw;
  }
}

void BatchHandle::push_states(FigureId id) {
  BatchMirror& m = mirrors[size_t(id.value())];
  if (same(m.q, m.q_known) && same(m.v, m.v_known)) return;
  // One by one: an unchanged world keeps its warm start, and a failed one its state.
  for (int k = 0; k < batch.size(); ++k) {
    if (same_row(m.q, m.q_known, k) && same_row(m.v, m.v_known, k)) continue;
    require_finite_row("q", id, m.q, k, position_name);
    require_finite_row("v", id, m.v, k, dof_name);
    if (const auto problem = configuration_problem(batch.model(id), m.q.row(k).transpose()))
      raise_value(fmt::format("WorldBatch: q of '{}' in world {}: {}", names[size_t(id.value())], k, *problem));
    State state;
    state.q = m.q.row(k).transpose(), state.v = m.v.row(k).transpose();
    batch.world(k).set_state(id, state);
  }
  m.q_known = m.q, m.v_known = m.v;
}

void BatchHandle::push_torques(FigureId id) {
  const BatchMirror& m = mirrors[size_t(id.value())];
  if (m.tau.cols() == 0) return;
  require_finite_rows("tau", id, m.tau, dof_name);
  batch.set_torques(id, m.tau);
}

void BatchHandle::pull_torques() {
  for (size_t i = 0; i < mirrors.size(); ++i) {
    for (int k = 0; k < batch.size(); ++k)
      mirrors[i].tau.row(k) = std::as_const(batch).world(k).torque(FigureId(int(i))).transpose();
  }
}

void BatchHandle::push_controls(FigureId id) {
  BatchMirror& m = mirrors[size_t(id.value())];
  if (same(m.control, m.control_known)) return;
  require_finite_rows("control", id, m.control);
  batch.set_controls(id, m.control);
  m.control_known = m.control;
}

void BatchHandle::pull_controls() {
  for (size_t i = 0; i < mirrors.size(); ++i) {
    BatchMirror& m = mirrors[i];
    for (int k = 0; m.control.cols() > 0 && k < batch.size(); ++k)
      m.control.row(k) = std::as_const(batch).world(k).control(FigureId(int(i))).transpose();
    m.control_known = m.control;
  }
}

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
    if (same(m->value, m->value_known) && same(m->kp, m->kp_known) && same(m->kd, m->kd_known)) continue;
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
      .def("controller_value", controller_rows<&ControllerMirror::value>, "controller"_a)
      .def("controller_kp", controller_rows<&ControllerMirror::kp>, "controller"_a)
      .def("controller_kd", controller_rows<&ControllerMirror::kd>, "controller"_a)
      .def("inertial_parameters", inertias, "figure"_a)
      .def("set_inertial_parameters", set_inertias, "figure"_a, "values"_a, "which"_a.none() = nb::none())
      .def("set_materials", set_materials, "figure"_a, "values"_a, "which"_a.none() = nb::none())
      .def("connect", connect_one, "world"_a, "a"_a.none(), "b"_a.none(), "mask"_a = "weld",
           "frame_a"_a.none() = nb::none(), "frame_b"_a.none() = nb::none())
      .def("release", release_one, "world"_a, "connection"_a);
}

}  // namespace kansetsu::python
