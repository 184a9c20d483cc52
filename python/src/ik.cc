#include <fmt/format.h>

#include <cmath>
#include <mutex>

#include "errors.h"
#include "inputs.h"
#include "kansetsu/ik/arm.h"
#include "kansetsu/ik/differential.h"
#include "kansetsu/ik/method.h"
#include "kansetsu/ik/solver.h"

/// kansetsu.ik: tasks, the general solver, its differential form, and the fast solver for arms.
namespace kansetsu::python {
namespace {

Vec3<> weights(const char* name, nb::handle value) {
  if (value.is_none()) return {1, 1, 1};
  double one = 0;
  if (nb::try_cast(value, one)) return {one, one, one};
  return read_vec3({"ik.Problem", name}, value);
}

struct ProblemHandle {
  nb::object model_object;
  ik::Problem problem;
  const Model& model() const { return nb::cast<const ModelHandle&>(model_object).model; }
  ik::FrameOn frame(const std::string& name, Like offset) const {
    return ik::frame_on(model(), name, read_pose({"ik.Problem", "offset"}, offset));
  }
};

struct Common {
  int level;
  double weight, tolerance;
  std::string name;
};

ProblemHandle& add(ProblemHandle& p, ik::AnyTask task, const Common& c) {
  if (!(c.weight >= 0) || !std::isfinite(c.weight) || !(c.tolerance > 0))
    raise_value(fmt::format(
        "ik.Problem: weight is {}, expected a finite number of 0 or more, and tolerance {}, expected more than 0",
        c.weight, c.tolerance));
  for (const auto& item : p.problem.items) {
    if (!c.name.empty() && item.options.name == c.name)
      raise_value(fmt::format("ik.Problem: there is a task '{}' already", c.name));
  }
  p.problem.add(std::move(task), {.level = c.level, .weight = c.weight, .tolerance = c.tolerance, .name = c.name});
  return p;
}

Eigen::VectorXd vector_of(const Expected& e, nb::handle value, int size) {
  const std::vector<double> x = read_numbers(e, value, size);
  return map(x.data(), size);
}

/// Changes the target of a task that has one.
void set_target(ik::Problem& problem, const Model& model, const std::string& name, nb::handle target) {
  const Expected e{"ik.set_target", "target"};
  auto& task = problem
                   .items[find_named("ik.set_target", "task", name, problem.items,
                                     [](const auto& item) { return item.options.name; })]
                   .task;
  std::visit(
      [&]<class Task>(Task& t) {
        if constexpr (std::is_same_v<Task, ik::PostureTask>)
          t.target = vector_of({"ik.set_target", "target", position_name, &model}, target, model.nq());
        else if constexpr (std::is_same_v<Task, ik::LookAtTask>)
          t.point = read_vec3(e, target);
        else if constexpr (std::is_same_v<Task, ik::AxisTask>)
          t.direction = read_vec3(e, target);
        else if constexpr (requires { t.target = read_pose(e, target); })
          t.target = read_pose(e, target);
        else if constexpr (requires { t.target = read_rotation(e, target); })
          t.target = read_rotation(e, target);
        else if constexpr (requires { t.target = read_vec3(e, target); })
          t.target = read_vec3(e, target);
        else
          raise_value(fmt::format("ik.set_target: task '{}' has no target", name));
      },
      task);
}

struct SolverHandle {
  SolverHandle(const ProblemHandle& p, const ik::Options& options)
      : model(p.model()), solver(p.model(), p.problem, options) {}
  Model model;
  ik::Solver solver;
  std::mutex mutex;

  Eigen::VectorXd start(Like q) const {
    return vector_of({"ik.Solver.solve", "q", position_name, &model}, q, model.nq());
  }
  ik::Report solve(Like q) {
    const Eigen::VectorXd from = start(q);
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    return solver.solve(from);
  }
  std::vector<ik::Report> solve_all(Like q, int starts, double apart) {
    if (starts < 1) raise_value(fmt::format("ik.Solver.solve_all: starts is {}, expected 1 or more", starts));
    const Eigen::VectorXd from = start(q);
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    return solver.solve_all(from, starts, apart);
  }
};

struct DifferentialHandle {
  DifferentialHandle(const ProblemHandle& p, const ik::StepOptions& options)
      : model(p.model()), differential(p.model(), p.problem, options) {}
  Model model;
  ik::Differential differential;
  std::mutex mutex;
};

Floats differential_step(DifferentialHandle& d, Like q, double dt) {
  if (!(dt > 0)) raise_value(fmt::format("ik.Differential.step: dt is {}, expected more than 0", dt));
  const Eigen::VectorXd at = vector_of({"ik.Differential.step", "q", position_name, &d.model}, q, d.model.nq());
  NewArray<double> v = new_array({d.model.nv()});
  const std::lock_guard lock(d.mutex);
  const ik::StepReport report = d.differential.step(at, dt, map(v.data, d.model.nv()));
  if (report.status == ik::StepReport::Status::kInfeasible)
    raise_error("Error", "ik.Differential.step: limits and clearances contradict each other here");
  return v.object;
}

struct ArmHandle {
  ArmHandle(const ModelHandle& m, const std::string& frame, Like offset, bool limits, double position, double rotation,
            int starts, int threads)
      : model(m.model),
        solver(m.model, ik::frame_on(m.model, frame, read_pose({"ik.ArmSolver", "offset"}, offset)),
               {.limits = limits, .position = position, .rotation = rotation, .starts = starts, .threads = threads}) {}
  Model model;
  ik::ArmSolver solver;
  std::mutex mutex;
};

/// (4, 4) and (nq,), or (N, 4, 4) and (nq,) or (N, nq). @return q, solved
Tuple<Floats, Any> solve_arm(ArmHandle& a, Like target, Like q) {
  const nb::object numpy = nb::module_::import_("numpy");
  const RowsArgument<double> X = read_blocks<double>({"ik.ArmSolver.solve", "target"}, target, 4, 4);
  const RowsArgument<double> start =
      read_rows<double>({"ik.ArmSolver.solve", "q", position_name, &a.model}, q, a.model.nq());
  const std::ptrdiff_t count = X.one() ? 1 : X.count;
  if (!start.one() && start.count != count)
    raise_value(fmt::format("ik.ArmSolver.solve: {} targets and {} starts", count, start.count));
  std::vector<double> targets(size_t(12 * count));
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const double* x = X.row(i);
    read_matrix({.function = "ik.ArmSolver.solve", .name = "target", .row = X.one() ? -1 : i}, x);
    double* t = targets.data() + 12 * i;
    for (int r = 0; r < 3; ++r) std::copy(x + 4 * r, x + 4 * r + 3, t + 3 * r), t[9 + r] = x[4 * r + 3];
  }
  const int nq = a.model.nq();
  NewArray<double> out = X.one() ? new_array({nq}) : new_array({count, nq});
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    require_finite({"ik.ArmSolver.solve", "q", position_name, &a.model}, start.row(i), nq);
    std::copy(start.row(i), start.row(i) + nq, out.data + i * nq);
  }
  std::vector<ik::ArmReport> reports{size_t(count)};
  {
    nb::gil_scoped_release release;
    const std::lock_guard lock(a.mutex);
    a.solver.solve(count, targets.data(), out.data, reports.data());
  }
  std::vector<std::uint8_t> solved;
  for (const ik::ArmReport& r : reports) solved.push_back(r.solved);
  if (X.one()) return nb::make_tuple(out.object, bool(solved[0]));
  return nb::make_tuple(out.object, to_bool_array(solved));
}

Tuple<Floats, bool, std::string> py_follow(const ModelHandle& m, const std::string& frame, Like path, Like start,
                                           double largest_change) {
  const RowsArgument<double> X = read_blocks<double>({"ik.follow", "path"}, path, 4, 4);
  std::vector<Transform<>> poses;
  for (std::ptrdiff_t i = 0; i < (X.one() ? 1 : X.count); ++i)
    poses.push_back(read_matrix({.function = "ik.follow", .name = "path", .row = X.one() ? -1 : i}, X.row(i)));
  const Eigen::VectorXd q = vector_of({"ik.follow", "q", position_name, &m.model}, start, m.model.nq());
  ik::PathReport report;
  {
    nb::gil_scoped_release release;
    report = ik::follow(m.model, ik::frame_on(m.model, frame), poses, q, {}, {.largest_change = largest_change});
  }
  NewArray<double> out = new_array({std::ptrdiff_t(report.q.size()), m.model.nq()});
  for (size_t i = 0; i < report.q.size(); ++i)
    map(out.data + std::ptrdiff_t(i) * m.model.nq(), m.model.nq()) = report.q[i];
  return nb::make_tuple(out.object, report.complete, report.reason);
}

/// Binds a kind of task: the arguments of `make`, then those of all tasks.
template <class... Arguments, class... Extra>
void bind_task(nb::class_<ProblemHandle>& c, const char* kind, ik::AnyTask (*make)(const ProblemHandle&, Arguments...),
               const Extra&... extra) {
  using namespace nb::literals;
  c.def(
      kind,
      [make](ProblemHandle& p, Arguments... arguments, int level, double weight, double tolerance,
             const std::string& name) -> ProblemHandle& {
        return add(p, make(p, arguments...), {level, weight, tolerance, name});
      },
      extra..., "level"_a = 0, "weight"_a = 1.0, "tolerance"_a = 1e-8, "name"_a = "", nb::rv_policy::reference);
}

void bind_problem(nb::module_& module) {
  using namespace nb::literals;
  using Handle = const ProblemHandle&;
  using Name = const std::string&;
  nb::class_<ProblemHandle> c(module, "Problem",
                              "A problem of inverse kinematics. Tasks of a level never disturb those of higher levels; "
                              "within a level they are weighted. Frames are named links or frames of the model.");
  c.def(
      "__init__",
      [](ProblemHandle* p, ModelObject model) {
        if (!nb::isinstance<ModelHandle>(model)) raise_type("ik.Problem: model is not a kansetsu.Model");
        new (p) ProblemHandle{std::move(model), {}};
      },
      "model"_a);
  bind_task(
      c, "pose",
      +[](Handle p, Name frame, Like target, Like axes, Like turns, Like offset) -> ik::AnyTask {
        return ik::PoseTask{p.frame(frame, offset), read_pose({"ik.Problem.pose", "target"}, target),
                            weights("turns", turns), weights("axes", axes)};
      },
      "The frame has a pose. axes: weights of x, y, z in the world; turns: of rotations about the target's axes; 0 is "
      "free.",
      "frame"_a, "target"_a, nb::kw_only(), "axes"_a.none() = nb::none(), "turns"_a.none() = nb::none(),
      "offset"_a.none() = nb::none());
  bind_task(
      c, "position",
      +[](Handle p, Name frame, Like target, Like axes, Like offset) -> ik::AnyTask {
        return ik::PositionTask{p.frame(frame, offset), read_vec3({"ik.Problem.position", "target"}, target),
                                weights("axes", axes)};
      },
      "The frame's origin is at a point of the world. axes: weights of x, y, z; 0 is free.", "frame"_a, "target"_a,
      nb::kw_only(), "axes"_a.none() = nb::none(), "offset"_a.none() = nb::none());
  bind_task(
      c, "orientation",
      +[](Handle p, Name frame, Like target, Like turns, Like offset) -> ik::AnyTask {
        return ik::OrientationTask{p.frame(frame, offset), read_rotation({"ik.Problem.orientation", "target"}, target),
                                   weights("turns", turns)};
      },
      "target: a 3x3 matrix or a quaternion x y z w.", "frame"_a, "target"_a, nb::kw_only(),
      "turns"_a.none() = nb::none(), "offset"_a.none() = nb::none());
  bind_task(
      c, "axis",
      +[](Handle p, Name frame, Like axis, Like direction, Like offset) -> ik::AnyTask {
        return ik::AxisTask{p.frame(frame, offset), read_vec3({"ik.Problem.axis", "axis"}, axis),
                            read_vec3({"ik.Problem.axis", "direction"}, direction)};
      },
      "An axis of the frame points in a direction of the world; rotation about it is free.", "frame"_a, "axis"_a,
      "direction"_a, nb::kw_only(), "offset"_a.none() = nb::none());
  bind_task(
      c, "look_at",
      +[](Handle p, Name frame, Like axis, Like point, Like offset) -> ik::AnyTask {
        return ik::LookAtTask{p.frame(frame, offset), read_vec3({"ik.Problem.look_at", "axis"}, axis),
                              read_vec3({"ik.Problem.look_at", "point"}, point)};
      },
      "An axis of the frame points to a point of the world.", "frame"_a, "axis"_a, "point"_a, nb::kw_only(),
      "offset"_a.none() = nb::none());
  bind_task(
      c, "com",
      +[](Handle, Like target, Like axes) -> ik::AnyTask {
        return ik::ComTask{read_vec3({"ik.Problem.com", "target"}, target), weights("axes", axes)};
      },
      "The centre of mass.", "target"_a, nb::kw_only(), "axes"_a.none() = nb::none());
  bind_task(
      c, "relative_pose",
      +[](Handle p, Name frame, Name base, Like target, Like axes, Like turns) -> ik::AnyTask {
        return ik::RelativePoseTask{p.frame(frame, nb::none()), p.frame(base, nb::none()),
                                    read_pose({"ik.Problem.relative_pose", "target"}, target), weights("turns", turns),
                                    weights("axes", axes)};
      },
      "The pose of a frame relative to another frame, which may move.", "frame"_a, "base"_a, "target"_a, nb::kw_only(),
      "axes"_a.none() = nb::none(), "turns"_a.none() = nb::none());
  bind_task(
      c, "posture",
      +[](Handle p, Like target, Like dof_weights) -> ik::AnyTask {
        const Model& m = p.model();
        ik::PostureTask task{.target = vector_of({"ik.Problem.posture", "target", position_name, &m}, target, m.nq())};
        if (!dof_weights.is_none())
          task.weight = vector_of({"ik.Problem.posture", "weights", dof_name, &m}, dof_weights, m.nv());
        return task;
      },
      "All joints.", "target"_a, nb::kw_only(), "weights"_a.none() = nb::none());
  bind_task(
      c, "stay",
      +[](Handle p, Name frame, bool orientation, Like offset) -> ik::AnyTask {
        return ik::StayTask{p.frame(frame, offset), orientation, std::nullopt};
      },
      "The frame keeps its initial pose, like a foot on the ground.", "frame"_a, nb::kw_only(), "orientation"_a = true,
      "offset"_a.none() = nb::none());
  c.def(
      "self_clearance",
      [](ProblemHandle& p, double least) -> ProblemHandle& {
        for (ik::Clearance& clearance : ik::self_clearances(p.model(), least))
          p.problem.clearances.push_back(std::move(clearance));
        return p;
      },
      "least"_a = 0.0, nb::rv_policy::reference,
      "Keeps links that may collide at least this far apart [m]; takes priority over all tasks.");
}

}  // namespace

void bind_ik(nb::module_& parent) {
  using namespace nb::literals;
  nb::module_ module = parent.def_submodule("ik", "Inverse kinematics; use kansetsu.ik.");
  bind_problem(module);
  nb::class_<ik::TaskReport>(module, "TaskReport", "Result of a task.")
      .def_ro("name", &ik::TaskReport::name, "As it was given.")
      .def_ro("error", &ik::TaskReport::error, "[m, rad]")
      .def_ro("met", &ik::TaskReport::met, "Whether the error is within the tolerance.");
  nb::class_<ik::Report>(module, "Report", "Result of a solver.")
      .def_prop_ro(
          "q", [](const ik::Report& r) { return to_array(std::span(r.q.data(), size_t(r.q.size()))); },
          "The best posture found.")
      .def_prop_ro(
          "solved", [](const ik::Report& r) { return r.solved(); }, "Whether all tasks are met.")
      .def_prop_ro(
          "status", [](const ik::Report& r) { return ik::to_string(r.status); }, "Why the solver stopped.")
      .def_ro("iterations", &ik::Report::iterations, "Over all starts.")
      .def_ro("distance", &ik::Report::distance, "Length of the error of the first level [m, rad].")
      .def_ro("manipulability", &ik::Report::manipulability, "Of the first task's frame; 0 if it has none.")
      .def_ro("active_limits", &ik::Report::active_limits, "Coordinates of v that are at a limit.")
      .def_ro("tasks", &ik::Report::tasks, "The result of each task.")
      .def("__repr__", [](const ik::Report& r) {
        return fmt::format("<ik.Report: {}, distance {:.3g}>", ik::to_string(r.status), r.distance);
      });
  nb::class_<SolverHandle>(module, "Solver",
                           "Solver of one problem, with its memory; targets may be changed between calls.")
      .def(
          "__init__",
          [](SolverHandle* s, const ProblemHandle& p, bool limits, int iterations, int starts,
             const std::string& method, const std::string& euler_order) {
            if (iterations < 1 || starts < 1) raise_value("ik.Solver: iterations and starts must be 1 or more");
            const auto how = ik::find_method(method);
            if (!how) raise_value("ik.Solver: method is 'tangent', 'log-quaternion' or 'euler', not '" + method + "'");
            const auto order = find_euler_order(euler_order);
            if (!order)
              raise_value("ik.Solver: euler_order is one of the twelve, such as 'ZYX', not '" + euler_order + "'");
            new (s) SolverHandle(
                p,
                {.method = *how, .euler_order = *order, .limits = limits, .iterations = iterations, .starts = starts});
          },
          "problem"_a, nb::kw_only(), "limits"_a = true, "iterations"_a = 100, "starts"_a = 1, "method"_a = "tangent",
          "euler_order"_a = "ZYX", "method: the rotation parameters.")
      .def("solve", &SolverHandle::solve, "q"_a, "From a configuration.")
      .def("solve_all", &SolverHandle::solve_all, "q"_a, "starts"_a, "apart"_a = 0.1,
           "Different solutions, nearest to the start first.")
      .def(
          "set_target",
          [](SolverHandle& s, const std::string& name, Like target) {
            const std::lock_guard lock(s.mutex);
            set_target(s.solver.problem(), s.model, name, target);
          },
          "name"_a, "target"_a, "Changes the target of a task.");
  nb::class_<DifferentialHandle>(
      module, "Differential", "Differential inverse kinematics: the velocity that meets the tasks best, within limits.")
      .def(
          "__init__",
          [](DifferentialHandle* d, const ProblemHandle& p, double gain, double damping, bool position_limits,
             bool velocity_limits) {
            new (d) DifferentialHandle(p, {.gain = gain,
                                           .damping = damping,
                                           .position_limits = position_limits,
                                           .velocity_limits = velocity_limits});
          },
          "problem"_a, nb::kw_only(), "gain"_a = 1.0, "damping"_a = 1e-6, "position_limits"_a = true,
          "velocity_limits"_a = true)
      .def("step", differential_step, "q"_a, "dt"_a, "v, to be kept for dt.")
      .def(
          "set_target",
          [](DifferentialHandle& d, const std::string& name, Like target) {
            const std::lock_guard lock(d.mutex);
            set_target(d.differential.problem(), d.model, name, target);
          },
          "name"_a, "target"_a, "Changes the target of a task.");
  nb::class_<ArmHandle>(
      module, "ArmSolver",
      "The pose of one frame on a serial arm of up to 8 joints: microseconds, for one target or for millions.")
      .def(nb::init<const ModelHandle&, const std::string&, Like, bool, double, double, int, int>(), "model"_a,
           "frame"_a, nb::kw_only(), "offset"_a.none() = nb::none(), "limits"_a = true, "position"_a = 1e-9,
           "rotation"_a = 1e-9, "starts"_a = 100, "threads"_a = 1)
      .def("solve", solve_arm, "target"_a, "q"_a,
           "(q, solved) for a 4x4 target and a start; for (N, 4, 4) targets (N, nq) and (N,) bools.");
  module.def(
      "follow", py_follow, "model"_a, "frame"_a, "path"_a, "q"_a, nb::kw_only(), "largest_change"_a = 0.2,
      "Follows poses (N, 4, 4) with a frame, without jumps: configurations, whether all were reached, and why not.");
}

}  // namespace kansetsu::python
