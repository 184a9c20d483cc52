#include <fmt/format.h>

#include <algorithm>

#include "errors.h"
#include "inputs.h"
#include "serve/page.h"
#include "world_handle.h"

/// Recordings: written during a simulation, read as arrays, shown as pages.
namespace kansetsu::python {
namespace {

/// The end of a `with world.record(…)`.
struct RecorderHandle {
  nb::object world;
  std::shared_ptr<OpenRecording> recording;

  void close() {
    if (!recording->open) raise_value("Recorder: it is closed");
    auto& all = nb::inst_ptr<WorldHandle>(world)->recordings;
    const WorldHandle::Call call(*nb::inst_ptr<WorldHandle>(world), "Recorder.close");
    all.erase(std::remove(all.begin(), all.end(), recording), all.end());
    recording->open = false;
    nb::gil_scoped_release release;
    recording->recorder.finish();
  }
};

RecorderHandle record(nb::handle self, const PathLike& path, double rate) {
  WorldHandle& w = *nb::inst_ptr<WorldHandle>(self);
  if (!(rate >= 0) || !std::isfinite(rate))
    raise_value(fmt::format("World.record: rate is {}, expected 0 or more", rate));
  const WorldHandle::Call call(w, "World.record");
  SceneDescription scene = w.scene;
  scene.recordings.clear();  // recordings of the scene are written by the command only
  auto recording = std::make_shared<OpenRecording>(cli::WorldRecorder(w.world, scene, {path.string()}, rate));
  recording->recorder.add(w.world);
  w.recordings.push_back(recording);
  return {nb::borrow(self), recording};
}

std::string page_of(const io::Recording& recording, const std::string& title) {
  if (serve::viewer_page().empty())
    raise_error("Error", "this kansetsu was built without the viewer (Node was missing)");
  nb::gil_scoped_release release;
  return serve::page_with_recording(io::to_mcap(recording, {.compression = io::Compression::kZstd, .foxglove_rate = 0}),
                                    title);
}

nb::bytes page_bytes(const io::Recording& recording, const std::string& title) {
  const std::string page = page_of(recording, title);
  return nb::bytes(page.data(), page.size());
}

nb::bytes world_page(WorldHandle& w, const std::string& title) {
  const WorldHandle::Call call(w, "World.page");
  io::Recording now;
  const std::vector<cli::NumberGroup> numbers = cli::usual_numbers(w.world, w.scene);
  now.header = cli::header_of(w.world, w.scene, numbers);
  std::size_t told = w.world.events().size();
  now.frames.push_back(cli::frame_of(w.world, numbers, told));
  return page_bytes(now, title);
}

size_t figure_of(const io::Recording& r, const std::string& name) {
  return find_named("Recording", "figure", name, r.header.figures, &io::RecordedFigure::name);
}

template <Eigen::VectorXd State::* member>
Floats states(const io::Recording& r, const std::string& name) {
  const size_t figure = figure_of(r, name);
  const Model& model = r.header.figures[figure].model;
  const int width = member == &State::q ? model.nq() : model.nv();
  NewArray<double> out = new_array({std::ptrdiff_t(r.frames.size()), width});
  for (size_t i = 0; i < r.frames.size(); ++i)
    map(out.data + std::ptrdiff_t(i) * width, width) = r.frames[i].states[figure].*member;
  return out.object;
}

Floats times(const io::Recording& r) {
  NewArray<double> out = new_array({std::ptrdiff_t(r.frames.size())});
  for (size_t i = 0; i < r.frames.size(); ++i) out.data[i] = r.frames[i].time;
  return out.object;
}

Floats numbers(const io::Recording& r) {
  const auto width = std::ptrdiff_t(r.header.numbers.size());
  NewArray<double> out = new_array({std::ptrdiff_t(r.frames.size()), width});
  for (size_t i = 0; i < r.frames.size(); ++i)
    std::copy(r.frames[i].numbers.begin(), r.frames[i].numbers.end(), out.data + std::ptrdiff_t(i) * width);
  return out.object;
}

std::vector<std::pair<double, std::string>> events(const io::Recording& r) {
  std::vector<std::pair<double, std::string>> out;
  for (const io::RecordedFrame& f : r.frames) {
    for (const std::string& e : f.events) out.emplace_back(f.time, e);
  }
  return out;
}

/// Forces on a of all contacts of all frames.
Records contact_forces(const io::Recording& r) {
  struct Row {
    double time;
    std::int32_t a[2], b[2];
    double point[3], normal[3], force[3];
  };
  std::vector<Row> rows;
  for (const io::RecordedFrame& f : r.frames) {
    for (const io::RecordedContact& c : f.contacts) {
      Row row{f.time, {c.a.figure, c.a.link}, {c.b.figure, c.b.link}, {}, {}, {}};
      put(c.point, row.point), put(c.normal, row.normal), put(c.force, row.force);
      rows.push_back(row);
    }
  }
  const nb::object dtype = nb::module_::import_("kansetsu._records").attr("RECORDED_CONTACT");
  return record_array(dtype, std::ptrdiff_t(rows.size()), sizeof(Row), rows.data());
}

}  // namespace

void bind_world_recording(nb::module_& module, nb::class_<WorldHandle>& c) {
  nb::class_<RecorderHandle>(module, "Recorder", nb::type_slots(slots_with_world<RecorderHandle>()),
                             "A recording that is being written; the end of the with block completes it.")
      .def("close", &RecorderHandle::close, "Completes the file.")
      .def("__enter__", [](nb::handle self) -> nb::typed<nb::object, RecorderHandle> { return nb::borrow(self); })
      .def(
          "__exit__",
          [](RecorderHandle& r, nb::handle, nb::handle, nb::handle) {
            if (r.recording->open) r.close();
          },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none(),
          nb::sig("def __exit__(self, type: object, value: object, traceback: object) -> None"));
  bind_show(c, "Shows the current state, inline in a notebook (height in pixels) or in the browser.");
  c.def("record", record, nb::arg("path"), nb::arg("rate") = 0.0,
        "with world.record('run.mcap'): every step is written, or `rate` frames per second: .mcap, .csv, .npz, .glb or "
        ".html, a page.")
      .def("page", world_page, nb::arg("title") = "kansetsu", "The current state as a self-contained HTML page.");
}

void bind_recording(nb::module_& module) {
  nb::class_<io::Recording>(module, "RecordingData", "A recording in memory; see kansetsu.Recording.")
      .def_prop_ro("figures",
                   [](const io::Recording& r) {
                     std::vector<std::string> names;
                     for (const io::RecordedFigure& f : r.header.figures) names.push_back(f.name);
                     return names;
                   })
      .def(
          "model",
          [](const io::Recording& r, const std::string& name) {
            return handle_of(r.header.figures[figure_of(r, name)].model);
          },
          nb::arg("figure"))
      .def_prop_ro("times", times)
      .def("q", states<&State::q>, nb::arg("figure"))
      .def("v", states<&State::v>, nb::arg("figure"))
      .def_prop_ro("number_names",
                   [](const io::Recording& r) {
                     std::vector<std::string> names;
                     for (const io::NumberChannel& n : r.header.numbers) names.push_back(n.name);
                     return names;
                   })
      .def_prop_ro("numbers", numbers)
      .def_prop_ro("events", events)
      .def_prop_ro("contacts", contact_forces)
      .def_prop_ro("notes",
                   [](const io::Recording& r) -> DictOf<std::string> {
                     nb::dict out;
                     for (const auto& [key, value] : r.header.notes) out[key.c_str()] = value;
                     return out;
                   })
      .def_ro("complete", &io::Recording::complete)
      .def("page", page_bytes, nb::arg("title"));
  module.def(
      "read_recording",
      [](const PathLike& path) {
        Loaded<io::Recording> loaded;
        {
          nb::gil_scoped_release release;
          loaded = io::read_recording(path);
        }
        return value_or_raise(std::move(loaded));
      },
      nb::arg("path"));
}

}  // namespace kansetsu::python
