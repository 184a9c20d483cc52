#include "words.h"
#include "world_batch_handle.h"

/// kansetsu.WorldBatch: many worlds of one kind, states and torques as arrays with a row per world.
namespace kansetsu::python {
namespace {

template <RowMatrix BatchMirror::* member>
Floats rows(nb::handle self, const std::string& figure) {
  auto& b = *nb::inst_ptr<BatchHandle>(self);
  RowMatrix& x = b.mirrors[size_t(b.figure("WorldBatch", figure))].*member;
  return view_array(x.data(), {x.rows(), x.cols()}, self);
}

}  // namespace

void require_world(const BatchHandle& b, int i) {
  if (i < 0 || i >= b.batch.size())
    raise_value(fmt::format("WorldBatch: there is no world {}; there are {}", i, b.batch.size()));
}

std::vector<int> read_worlds(const BatchHandle& b, const char* function, Like which) {
  std::vector<int> out;
  const int n = b.batch.size();
  if (which.is_none()) {
    for (int i = 0; i < n; ++i) out.push_back(i);
    return out;
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("asarray")(which);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const auto shape = nb::cast<std::vector<std::ptrdiff_t>>(array.attr("shape"));
  if (kind == "b" && (shape.size() != 1 || shape[0] != n))
    raise_value(fmt::format("{}: the mask has shape {}, expected ({},), one for each world", function,
                            nb::repr(array.attr("shape")).c_str(), n));
  if (kind != "b" && kind != "i" && kind != "u" && nb::cast<std::ptrdiff_t>(array.attr("size")) > 0)
    raise_type(fmt::format("{}: worlds are selected by a mask of bools or by indices", function));
  const nb::object numbers = kind == "b" ? nb::object(numpy.attr("flatnonzero")(array)) : array;
  for (const nb::handle x : nb::list(numbers.attr("ravel")().attr("tolist")())) {
    const int i = nb::cast<int>(x);
    if (i < 0 || i >= n) raise_value(fmt::format("{}: there is no world {}; there are {}", function, i, n));
    out.push_back(i);
  }
  return out;
}

namespace {

void reset_some(BatchHandle& b, Snapshots snapshots, Like which) {
  const BatchHandle::Call call(b, "WorldBatch.reset");
  const std::vector<int> worlds = read_worlds(b, "WorldBatch.reset", which);
  std::vector<Snapshot> several;
  if (!nb::isinstance<Snapshot>(snapshots)) {
    if (!nb::try_cast(snapshots, several))
      raise_type("WorldBatch.reset: expected a Snapshot, or a list of one for each world that is reset");
    if (several.size() != worlds.size())
      raise_value(fmt::format("WorldBatch.reset: {} snapshots for {} worlds", several.size(), worlds.size()));
  }
  b.push();
  for (size_t k = 0; k < worlds.size(); ++k) {
    World& w = b.batch.world(worlds[k]);
    w.restore(several.empty() ? nb::cast<const Snapshot&>(snapshots) : several[k]);
    for (size_t i = 0; i < b.mirrors.size(); ++i)
      b.mirrors[i].tau.row(worlds[k]) = w.torque(FigureId(int(i))).transpose();
  }
  b.pull();
  b.pull_controls();
  b.pull_controllers();
}

std::vector<Snapshot> save_all(BatchHandle& b) {
  const BatchHandle::Call call(b, "WorldBatch.save");
  b.push();
  return b.batch.save();
}

Tuple<Floats, Floats> rollout(BatchHandle& b, const std::string& figure, Like controls, int substeps,
                              const std::string& drive, Progress progress) {
  const auto id = FigureId(b.figure("WorldBatch.rollout", figure));
  if (substeps < 1) raise_value(fmt::format("WorldBatch.rollout: substeps is {}, expected 1 or more", substeps));
  constexpr Word<RowMatrix BatchMirror::*> kDrives[] = {{"tau", &BatchMirror::tau}, {"control", &BatchMirror::control}};
  BatchMirror& m = b.mirrors[size_t(id.value())];
  RowMatrix& driven = m.*read_word("WorldBatch.rollout: drive", drive, kDrives);
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(controls);
  const auto shape = nb::cast<std::vector<std::ptrdiff_t>>(array.attr("shape"));
  const std::ptrdiff_t n = b.batch.size(), nq = m.q.cols(), nv = m.v.cols(), nu = driven.cols();
  if (shape.size() != 3 || shape[0] != n || shape[2] != nu)
    raise_value(
        fmt::format("WorldBatch.rollout: controls have shape {}, expected ({}, T, {}): worlds, steps, {} of '{}'",
                    nb::repr(array.attr("shape")).c_str(), n, nu, &driven == &m.tau ? "torques" : "actuators", figure));
  const std::ptrdiff_t steps = shape[1];
  const RowsArgument<double> U =
      read_blocks<double>({"WorldBatch.rollout", "controls"}, array, steps, nu);  // side by side
  require_finite({"WorldBatch.rollout", "controls"}, U.data, n * steps * nu);
  const Teller teller(progress);
  const BatchHandle::Call call(b, "WorldBatch.rollout");
  b.push();
  NewArray<double> Q = new_array({n, steps, nq}), V = new_array({n, steps, nv});
  using Drive = RolloutArrays::Drive;
  const Drive kind = &driven == &m.tau ? Drive::kTorques : Drive::kControls;
  const auto finish = [&](std::ptrdiff_t t) {  // keep the last forces
    for (std::ptrdiff_t i = 0; t > 0 && i < n; ++i)
      driven.row(i) = Eigen::Map<const Eigen::RowVectorXd>(U.row(i) + (t - 1) * nu, nu);
    m.control_known = m.control;
    b.pull();
  };
  for (std::ptrdiff_t t = 0; t < steps;) {
    const int count = int(std::min(steps - t, std::max<std::ptrdiff_t>(1, b.steps_at_once(steps) / substeps)));
    {
      nb::gil_scoped_release release;
      b.batch.rollout(id, count, substeps,
                      {kind, U.data + t * nu, steps * nu, Q.data + t * nq, steps * nq, V.data + t * nv, steps * nv});
    }
    t += count;
    try {
      teller.look(double(t), double(steps));
    } catch (...) {
      finish(t);
      throw;
    }
  }
  finish(steps);
  return nb::make_tuple(Q.object, V.object);
}

Floats all_sensors(BatchHandle& b, const std::string& name) {
  const BatchHandle::Call call(b, "WorldBatch.sensor");
  b.push();
  const auto width = std::ptrdiff_t(std::as_const(b.batch).world(0).sensor(name).size());
  NewArray<double> out = new_array({b.batch.size(), width});
  for (int i = 0; i < b.batch.size(); ++i) {
    const std::vector<double>& x = std::as_const(b.batch).world(i).sensor(name);
    std::memcpy(out.data + i * width, x.data(), x.size() * sizeof(double));
  }
  return out.object;
}

template <class F>
Floats per_world(BatchHandle& b, const char* function, F&& value) {
  const BatchHandle::Call call(b, function);
  NewArray<double> out = new_array({b.batch.size()});
  for (int i = 0; i < b.batch.size(); ++i) out.data[i] = value(std::as_const(b.batch).world(i));
  return out.object;
}

}  // namespace

void bind_world_batch(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<BatchHandle> c(module, "WorldBatchCore", "Many worlds of one kind; see kansetsu.WorldBatch.");
  c.def(
       "__init__",
       [](BatchHandle* at, WorldHandle& world, int count, int threads, bool lanes) {
         const WorldHandle::Call call(world, "WorldBatch");
         new (at) BatchHandle(world, count, threads, lanes);
       },
       "world"_a, "n"_a, "threads"_a, "lanes"_a)
      .def_prop_ro("n", [](const BatchHandle& b) { return b.batch.size(); })
      .def_prop_ro("time_step", [](const BatchHandle& b) { return b.batch.time_step(); })
      .def_prop_ro("figures", [](const BatchHandle& b) { return b.names; })
      .def(
          "model",
          [](const BatchHandle& b, const std::string& f) -> ModelObject {
            return b.models[size_t(b.figure("WorldBatch.model", f))];
          },
          "figure"_a)
      .def("q", rows<&BatchMirror::q>, "figure"_a)
      .def("v", rows<&BatchMirror::v>, "figure"_a)
      .def("tau", rows<&BatchMirror::tau>, "figure"_a)
      .def("control", rows<&BatchMirror::control>, "figure"_a)
      .def(
          "actuators",
          [](const BatchHandle& b, const std::string& f) {
            return actuator_names(b.batch.world(0), FigureId(b.figure("WorldBatch.actuators", f)));
          },
          "figure"_a)
      .def("step", &BatchHandle::step, "count"_a = 1, "progress"_a = false)
      .def("save", save_all)
      .def("reset", reset_some, "snapshots"_a, "which"_a.none() = nb::none())
      .def("rollout", rollout, "figure"_a, "controls"_a, "substeps"_a = 1, "drive"_a = "tau", "progress"_a = false)
      .def("sensor", all_sensors, "name"_a)
      .def_prop_ro(
          "time",
          [](BatchHandle& b) { return per_world(b, "WorldBatch.time", [](const World& w) { return w.time(); }); })
      .def_prop_ro("running",
                   [](BatchHandle& b) {
                     return per_world(b, "WorldBatch.running",
                                      [](const World& w) { return double(w.status() == WorldStatus::kRunning); });
                   })
      .def(
          "failure",
          [](BatchHandle& b, int i) {
            require_world(b, i);
            const BatchHandle::Call call(b, "WorldBatch.failure");
            return std::as_const(b.batch).world(i).failure();
          },
          "world"_a)
      .def(
          "contacts",
          [](BatchHandle& b, int i) {
            require_world(b, i);
            const BatchHandle::Call call(b, "WorldBatch.contacts");
            return contact_array(std::as_const(b.batch).world(i).report().contacts);
          },
          "world"_a)
      .def("contact_counts",
           [](BatchHandle& b) {
             return per_world(b, "WorldBatch.contact_counts",
                              [](const World& w) { return double(w.report().contacts.size()); });
           })
      .def(
          "hash",
          [](BatchHandle& b, int i) {
            require_world(b, i);
            const BatchHandle::Call call(b, "WorldBatch.hash");
            b.push();
            return std::as_const(b.batch).world(i).hash();
          },
          "world"_a)
      .def_prop_ro("obstacle", [](const BatchHandle& b) { return b.batch.obstacle(); })
      .def_prop_ro("report", [](const BatchHandle& b) -> DictOf<int> {
        const WorldBatchReport& r = b.batch.report();
        nb::dict out;
        out["lanes"] = r.lanes, out["alone"] = r.alone, out["stopped"] = r.stopped;
        out["total_lanes"] = r.total_lanes, out["total_alone"] = r.total_alone;
        return out;
      });
  bind_world_batch_changes(c);
}

}  // namespace kansetsu::python
