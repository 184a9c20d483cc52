#include <fmt/format.h>

#include "errors.h"
#include "inputs.h"
#include "kansetsu/codegen/compile_model.h"
#include "kansetsu/io/capture.h"
#include "kansetsu/io/clip.h"
#include "kansetsu/motion/analysis.h"
#include "kansetsu/motion/clip.h"
#include "kansetsu/motion/parametric.h"
#include "kansetsu/motion/retarget.h"
#include "motion_handle.h"

/// kansetsu.motion: clips, captures and their analysis; models as C++ source.
namespace kansetsu::python {
namespace {

Clip make_clip(const ModelHandle& m, Like times, Like q, const std::string& name) {
  Clip clip;
  clip.name = name;
  clip.times = read_numbers({"motion.Clip", "times"}, times);
  const RowsArgument<double> rows = read_rows<double>({"motion.Clip", "q", position_name, &m.model}, q, m.model.nq());
  const std::ptrdiff_t count = rows.one() ? 1 : rows.count;
  clip.q.resize(m.model.nq(), count);
  for (std::ptrdiff_t i = 0; i < count; ++i) clip.q.col(i) = map(rows.row(i), m.model.nq());
  if (const auto problem = clip_problem(m.model, clip)) raise_value("motion.Clip: " + *problem);
  return clip;
}

Floats rows_of(const std::vector<std::optional<Vec3<>>>& points) {
  NewArray<double> out = new_array({std::ptrdiff_t(points.size()), 3});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < points.size(); ++i) put(points[i].value_or(Vec3<>{nan, nan, nan}), out.data + 3 * i);
  return out.object;
}

Capture read_capture(const PathLike& file, const std::optional<PathLike>& skeleton, const std::optional<double>& unit) {
  io::CaptureOptions options;
  options.unit = unit;
  if (skeleton) options.skeleton = *skeleton;
  Loaded<Capture> loaded;
  {
    nb::gil_scoped_release release;
    loaded = io::read_capture(file, options);
  }
  return value_or_raise(std::move(loaded));
}

Floats bone_positions(const Capture& c) {
  const auto bones = std::ptrdiff_t(c.bones.size());
  NewArray<double> out = new_array({c.frames(), bones, 3});
  std::vector<Transform<>> poses;
  for (int i = 0; i < c.frames(); ++i) {
    bone_poses(c, i, poses);
    for (std::ptrdiff_t k = 0; k < bones; ++k) put(poses[size_t(k)].p, out.data + 3 * (i * bones + k));
  }
  return out.object;
}

Retargeted py_retarget(const ModelHandle& m, const Capture& capture, const std::optional<double>& scale,
                       const std::optional<double>& floor, bool pin_feet, bool limits, bool move_to_origin) {
  RetargetOptions options;
  options.scale = scale, options.floor = floor, options.pin_feet = pin_feet, options.limits = limits,
  options.move_to_origin = move_to_origin;
  Loaded<Retargeted> loaded;
  {
    nb::gil_scoped_release release;
    loaded = retarget(m.model, capture, options);
  }
  return value_or_raise(std::move(loaded));
}

Analysis py_analyze(const ModelHandle& m, ClipLike motion, double cutoff, double friction, bool others) {
  if (!(cutoff >= 0) || !std::isfinite(cutoff))
    raise_value(fmt::format("motion.analyze: cutoff is {}, expected 0 or more", cutoff));
  const bool is_retargeted = nb::isinstance<Retargeted>(motion);
  if (!is_retargeted && !nb::isinstance<Clip>(motion))
    raise_type("motion.analyze: motion is neither a Clip nor a Retargeted");
  const Clip& clip = is_retargeted ? nb::cast<const Retargeted&>(motion).clip : nb::cast<const Clip&>(motion);
  Contacts contacts;
  if (is_retargeted) {
    const Retargeted& r = nb::cast<const Retargeted&>(motion);
    contacts = {r.feet, r.others};
  }
  const SupportOptions support{.friction = friction, .others = others};
  nb::gil_scoped_release release;
  std::vector<SupportHistory> supports;
  if (m.model.base() == Base::kFree)
    supports = is_retargeted ? find_supports(m.model, contacts, support) : find_supports(m.model, clip, support);
  return analyze(m.model, clip, supports, {.cutoff = cutoff});
}

DictOf<double> summary_of(const Analysis& a) {
  const AnalysisSummary& s = a.summary;
  nb::dict out;
  out["weight"] = s.weight, out["mean_vertical"] = s.mean_vertical, out["residual_force"] = s.residual_force;
  out["residual_moment"] = s.residual_moment, out["worst_force"] = s.worst_force, out["worst_moment"] = s.worst_moment;
  out["positive_work"] = s.positive_work, out["negative_work"] = s.negative_work,
  out["largest_friction"] = s.largest_friction;
  return out;
}

void bind_clip(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Clip>(module, "Clip", "A motion of a figure: configurations and their times.")
      .def(
          "__init__",
          [](Clip* c, const ModelHandle& m, Like times, Like q, const std::string& name) {
            new (c) Clip(make_clip(m, times, q, name));
          },
          "model"_a, "times"_a, "q"_a, "name"_a = "")
      .def_ro("name", &Clip::name, "Of the motion.")
      .def_prop_ro(
          "times", [](const Clip& c) { return to_array(std::span<const double>(c.times)); }, "(frames,) [s]")
      .def_prop_ro(
          "q", [](const Clip& c) { return to_rows(c.q); }, "(frames, nq)")
      .def_prop_ro("duration", &Clip::duration, "[s]")
      .def("__len__", &Clip::frames)
      .def("__repr__", [](const Clip& c) {
        return fmt::format("<Clip '{}': {} frames, {:.3g} s>", c.name, c.frames(), c.duration());
      });
  module.def(
      "read_clip",
      [](const ModelHandle& m, const PathLike& file) { return value_or_raise(io::read_clip(m.model, file)); },
      "model"_a, "file"_a, "The motion of a figure from a recording: .mcap, .csv, .npz.");
  module.def(
      "sample",
      [](const ModelHandle& m, const Clip& c, double time) {
        const Eigen::VectorXd q = sample(m.model, c, time);
        return to_array(std::span(q.data(), size_t(q.size())));
      },
      "model"_a, "clip"_a, "time"_a, "The configuration at a time.");
  module.def(
      "resample", [](const ModelHandle& m, const Clip& c, double rate) { return resample(m.model, c, rate); },
      "model"_a, "clip"_a, "rate"_a, "At even times [Hz].");
  module.def(
      "cut", [](const ModelHandle& m, const Clip& c, double from, double to) { return cut(m.model, c, from, to); },
      "model"_a, "clip"_a, "start"_a, "stop"_a, "The part of a clip between two times [s].");
  module.def(
      "low_pass", [](const ModelHandle& m, const Clip& c, double cutoff) { return low_pass(m.model, c, cutoff); },
      "model"_a, "clip"_a, "cutoff"_a, "Zero-phase filter [Hz].");
  module.def(
      "mirror", [](const ModelHandle& m, const Clip& c) { return mirror(m.model, c); }, "model"_a, "clip"_a,
      "Left and right exchanged.");
  module.def(
      "blend",
      [](const ModelHandle& m, const Clip& a, const Clip& b, double time) {
        return blend(m.model, a, b, {.time = time});
      },
      "model"_a, "first"_a, "second"_a, "time"_a = 0.3, "One after the other.");
  module.def(
      "derivatives",
      [](const ModelHandle& m, const Clip& c) -> Tuple<Floats, Floats> {
        const ClipDerivatives d = derivatives(m.model, c);
        return nb::make_tuple(to_rows(d.v), to_rows(d.vdot));
      },
      "model"_a, "clip"_a, "(v, vdot), each (frames, nv).");
  module.def(
      "squat",
      [](const ModelHandle& m, double depth, double period, int count) {
        return squat(m.model, {.depth = depth, .period = period, .count = count});
      },
      "model"_a, "depth"_a = 0.3, "period"_a = 2.0, "count"_a = 2, "A squat on both feet, by depth [m], count times.");
  module.def(
      "reach",
      [](const ModelHandle& m, Like target, const std::string& hand, double period) {
        return reach(m.model,
                     {.hand = hand, .target = read_vec3({"motion.reach", "target"}, target), .period = period});
      },
      "model"_a, "target"_a, "hand"_a = "gripR", "period"_a = 2.0,
      "A hand moves to a point of the world and back, along a straight line.");
  module.def(
      "bar_swing", [](const ModelHandle& m, double duration) { return bar_swing(m.model, {.duration = duration}); },
      "model"_a, "duration"_a = 4.0, "A swing on a bar with both hands, driven by gravity and the hips.");
}

void bind_capture(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Capture>(module, "Capture", "Captured motion: a skeleton of bones and how it moved.")
      .def_ro("name", &Capture::name, "Of the motion.")
      .def_prop_ro(
          "bones",
          [](const Capture& c) {
            std::vector<std::string> names;
            for (const Bone& b : c.bones) names.push_back(b.name);
            return names;
          },
          "Names, parents before children.")
      .def_ro("frame_time", &Capture::frame_time, "[s]")
      .def_ro("unit", &Capture::unit, "Of its lengths [m].")
      .def_prop_ro("duration", &Capture::duration, "[s]")
      .def("__len__", &Capture::frames)
      .def_prop_ro("positions", bone_positions, "Joint centres in the world: (frames, bones, 3) [m].");
  module.def("read_capture", read_capture, "file"_a, nb::kw_only(), "skeleton"_a = nb::none(), "unit"_a = nb::none(),
             "A .bvh file, or an .amc with the .asf beside it.");
  nb::class_<FootContacts>(module, "FootContacts", "When a foot is on the floor.")
      .def_ro("name", &FootContacts::name, "Of the foot.")
      .def_prop_ro(
          "heel_down", [](const FootContacts& f) { return to_bool_array(f.heel_down); },
          "(frames,): whether the heel is on the floor.")
      .def_prop_ro(
          "toe_down", [](const FootContacts& f) { return to_bool_array(f.toe_down); },
          "(frames,): whether the toe is.");
  nb::class_<Retargeted>(module, "Retargeted", "Result of retargeting a capture to a figure.")
      .def_ro("clip", &Retargeted::clip, "The motion of the figure.")
      .def_ro("feet", &Retargeted::feet, "When each foot is on the floor.")
      .def_ro("table", &Retargeted::table, "Name of the landmark table used.")
      .def_ro("scale", &Retargeted::scale, "Figure/capture.")
      .def_ro("floor", &Retargeted::floor, "[m]")
      .def_ro("skate", &Retargeted::skate, "Largest displacement of a heel or toe while it is in contact [m].")
      .def_prop_ro(
          "residuals",
          [](const Retargeted& r) -> DictOf<double> {
            nb::dict out;
            for (const JointResidual& j : r.residuals)
              out[nb::str(to_string(j.landmark).data(), to_string(j.landmark).size())] = j.rms;
            return out;
          },
          "Per landmark: root mean square distance from its target [m].");
  module.def("retarget", py_retarget, "model"_a, "capture"_a, nb::kw_only(), "scale"_a = nb::none(),
             "floor"_a = nb::none(), "pin_feet"_a = true, "limits"_a = true, "move_to_origin"_a = true,
             "Retargets captured motion to a figure: feet in contact do not slide, and the floor is z = 0.");
}

void bind_analysis(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<SupportForces>(module, "SupportForces", "Forces of one support, frame by frame.")
      .def_ro("name", &SupportForces::name, "Of the support.")
      .def_prop_ro(
          "down", [](const SupportForces& s) { return to_bool_array(s.down); }, "(frames,): whether it is loaded.")
      .def_prop_ro(
          "wrench", [](const SupportForces& s) { return to_array(s.wrench); },
          "(frames, 6): [torque, force] on its link at the link's origin, world axes.")
      .def_prop_ro(
          "pressure", [](const SupportForces& s) { return rows_of(s.pressure); },
          "(frames, 3): centre of pressure; nan while unloaded.");
  nb::class_<Analysis>(module, "Analysis", "Result of the analysis of a motion: torques, powers, ground forces.")
      .def_ro("clip", &Analysis::clip, "As analysed: filtered.")
      .def_prop_ro(
          "v", [](const Analysis& a) { return to_rows(a.v); }, "(frames, nv), as all below.")
      .def_prop_ro(
          "vdot", [](const Analysis& a) { return to_rows(a.vdot); }, "Accelerations.")
      .def_prop_ro(
          "tau", [](const Analysis& a) { return to_rows(a.tau); }, "Torques of the joints; zero at a free base.")
      .def_prop_ro(
          "power", [](const Analysis& a) { return to_rows(a.power); }, "Of each coordinate [W].")
      .def_ro("supports", &Analysis::supports, "Forces of each foot or hand.")
      .def_prop_ro(
          "residual", [](const Analysis& a) { return to_array(a.residual); },
          "(frames, 6): residual wrench at the base, which the supports cannot provide.")
      .def_prop_ro(
          "com", [](const Analysis& a) { return to_array(a.com); }, "(frames, 3): centre of mass [m].")
      .def_prop_ro(
          "zmp", [](const Analysis& a) { return rows_of(a.zmp); }, "nan in flight.")
      .def_prop_ro(
          "phases",
          [](const Analysis& a) {
            std::vector<std::tuple<std::string, double, double>> out;
            for (const Phase& p : a.phases) out.emplace_back(to_string(p.kind), p.start, p.end);
            return out;
          },
          "(kind, start, end)")
      .def_prop_ro("summary", summary_of, "The main numbers by name.");
  module.def("analyze", py_analyze, "model"_a, "motion"_a, nb::kw_only(), "cutoff"_a = 0.0, "friction"_a = 0.8,
             "others"_a = true,
             "Joint torques and ground forces of a motion. cutoff: of a zero-phase low-pass filter [Hz]; 0: none.");
}

}  // namespace

void bind_motion(nb::module_& parent) {
  nb::module_ module = parent.def_submodule("motion", "Motions; use kansetsu.motion.");
  bind_clip(module);
  bind_capture(module);
  bind_analysis(module);
  bind_walking(module);
}

void bind_codegen(nb::module_& module) {
  nb::class_<CompiledModel>(module, "CompiledModel", "A model's dynamics as C++ source.")
      .def_ro("name", &CompiledModel::name, "Of the namespace and the file NAME.h.")
      .def_ro("text", &CompiledModel::text, "The source.")
      .def_ro("rnea_operations", &CompiledModel::rnea_operations, "Floating-point operations of a call.")
      .def_ro("crba_operations", &CompiledModel::crba_operations, "Floating-point operations of a call.")
      .def_ro("aba_operations", &CompiledModel::aba_operations, "Floating-point operations of a call.");
  module.def(
      "compile_model",
      [](const ModelHandle& m, const std::string& name) {
        nb::gil_scoped_release release;
        return compile_model(m.model, name);
      },
      nb::arg("model"), nb::arg("name") = "",
      "Inverse dynamics, mass matrix and forward dynamics of a model as one C++ header without dependencies.");
}

}  // namespace kansetsu::python
