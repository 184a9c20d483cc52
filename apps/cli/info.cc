/// kansetsu info MODEL: the contents of a model, scene, clip or recording, as text or as JSON.

#include "cli/info.h"
#include "cli/arguments.h"
#include "cli/capture.h"
#include "cli/load_model.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/recording.h"
#include "cli/subject.h"
#include "kansetsu/base/printable.h"

namespace kansetsu::cli {

Runner declare_info(Arguments& args) {
  struct InfoArguments {
    ModelSource model;
    bool json = false;
  };
  auto options = std::make_shared<InfoArguments>();
  args.add("MODEL", options->model.name,
           std::string(kModelHelp) +
               "; a clip (.bvh, .amc, .npz of AMASS), measurement (.c3d, .trc, .mot, .sto, .b3d) or recording (.mcap)")
      .required();
  args.add_flag("--json", options->json, "print as JSON; missing limits are null");
  add_base_option(args, options->model.base);
  add_path_option(args);
  return [options] {
    if (io::names_capture(options->model.name)) {
      const Capture capture = capture_or_fail({.file = options->model.name});
      print(options->json ? capture_json(capture) : printable(capture_text(capture)));
      return kOk;
    }
    if (io::names_measurement(options->model.name)) {
      const Measurement measured = measurement_or_fail(options->model.name);
      print(options->json ? measurement_json(measured) : printable(measurement_text(measured)));
      return kOk;
    }
    if (io::names_table(options->model.name)) {
      const TimeTable table = table_or_fail(options->model.name);
      print(options->json ? table_json(table) : printable(table_text(table)));
      return kOk;
    }
    if (io::names_subject(options->model.name)) {
      const io::Subject subject = subject_or_fail(options->model.name);
      print(options->json ? subject_json(subject) : printable(subject_text(subject)));
      return kOk;
    }
    if (names_recording(options->model.name)) {
      const io::Recording recording = recording_or_fail(options->model.name);
      print(options->json ? recording_json(recording) : printable(recording_text(recording)));
      return kOk;
    }
    if (names_scene(options->model)) {
      const SceneDescription scene = scene_or_fail(options->model);
      print(options->json ? scene_json(scene) : printable(scene_text(scene)));
      return kOk;
    }
    const Model model = model_or_fail(options->model);
    print(options->json ? info_json(model) : printable(info_text(model)));
    return kOk;
  };
}

}  // namespace kansetsu::cli
