/// kansetsu check MODEL…: all diagnostics of models and clips, in the format of compilers or as JSON.

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/capture.h"
#include "cli/input.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/recording.h"
#include "cli/terminal.h"
#include "kansetsu/io/subject.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::cli {
namespace {

struct CheckArguments {
  std::vector<std::string> models;
  std::optional<Base> base;
  bool json = false, strict = false, allow_partial = false;
};

struct Report {
  std::string name;
  std::vector<Diagnostic> diagnostics;
  std::string contents;  ///< ", 3 links, 2 dofs"; empty if nothing was read
  bool ok = false;
  bool partial = false;  ///< a partial model, without --allow-partial
};

std::string count_of(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Report examine(const std::string& name, const CheckArguments& options) {
  Report report{name, {}, {}, false};
  const ModelSource source{.name = name, .base = options.base};
  if (name == "-") {
    // Files named in standard input are relative to the current folder.
    Loaded<SceneDescription> scene =
        load_scene({.name = "standard input", .text = read_input("-"), .base = options.base});
    report.name = "standard input";
    if (scene) report.contents = ", " + count_of(scene.value->figures.size(), "figure");
    report.ok = bool(scene);
    report.diagnostics = std::move(scene.diagnostics);
  } else if (io::names_capture(name)) {
    Loaded<Capture> clip = load_capture({.file = name});
    if (clip) {
      report.contents = fmt::format(", {}, {}", count_of(clip.value->bones.size(), "bone"),
                                    count_of(std::size_t(clip.value->frames()), "frame"));
    }
    report.ok = bool(clip);
    report.diagnostics = std::move(clip.diagnostics);
  } else if (io::names_measurement(name)) {
    Loaded<Measurement> measured = io::read_measurement(name);
    if (measured) {
      report.contents = fmt::format(", {}, {}, {}", count_of(measured.value->markers.names.size(), "marker"),
                                    count_of(measured.value->plates.size(), "plate"),
                                    count_of(std::size_t(measured.value->markers.frames()), "frame"));
    }
    report.ok = bool(measured);
    report.diagnostics = std::move(measured.diagnostics);
  } else if (io::names_table(name)) {
    Loaded<TimeTable> table = io::read_table(name);
    if (table) {
      report.contents = fmt::format(", {}, {}", count_of(table.value->columns.size(), "column"),
                                    count_of(std::size_t(table.value->rows()), "row"));
    }
    report.ok = bool(table);
    report.diagnostics = std::move(table.diagnostics);
  } else if (io::names_subject(name)) {
    Loaded<io::Subject> subject = io::read_b3d(name);
    if (subject) report.contents = ", " + count_of(subject.value->trials.size(), "trial");
    report.ok = bool(subject);
    report.diagnostics = std::move(subject.diagnostics);
  } else if (names_recording(name)) {
    Loaded<io::Recording> recording = io::read_recording(name);
    if (recording) {
      report.contents = fmt::format(", {}, {}", count_of(recording.value->header.figures.size(), "figure"),
                                    count_of(recording.value->frames.size(), "frame"));
    }
    report.ok = bool(recording);
    report.diagnostics = std::move(recording.diagnostics);
  } else if (names_scene({.name = name})) {
    Loaded<SceneDescription> scene = load_scene(source);
    if (scene) report.contents = ", " + count_of(scene.value->figures.size(), "figure");
    report.ok = bool(scene);
    report.diagnostics = std::move(scene.diagnostics);
    if (scene) {
      for (Diagnostic& d : World::build(*scene.value).diagnostics) {
        if (!d.is_error()) continue;
        report.diagnostics.push_back(std::move(d));
        report.ok = false;
      }
    }
  } else {
    Loaded<Model> model = load_model(source);
    if (model) {
      report.contents = fmt::format(", {}, {}", count_of(std::size_t(model.value->link_count()), "link"),
                                    count_of(std::size_t(model.value->nv()), "dof"));
    }
    report.ok = bool(model);
    report.diagnostics = std::move(model.diagnostics);
  }
  if (options.strict && !report.diagnostics.empty()) report.ok = false;
  report.partial = report.ok && !options.allow_partial && is_partial(report.diagnostics);
  return report;
}

std::string summary(const Report& report) {
  const std::vector<Diagnostic>& all = report.diagnostics;
  const auto errors =
      static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](auto& d) { return d.is_error(); }));
  std::string text = fmt::format("{}: {}{}", report.name,
                                 !report.ok       ? "failed"
                                 : report.partial ? "partial"
                                                  : "ok",
                                 report.contents);
  if (errors > 0) text += ", " + count_of(errors, "error");
  if (errors < all.size()) text += ", " + count_of(all.size() - errors, "warning");
  if (report.partial) text += fmt::format("\n{}: {}", report.name, partial_summary(all));
  return text + "\n";
}

void write(JsonWriter& json, const Diagnostic& d) {
  json.line().begin_object();
  json.entry("severity", d.is_error() ? "error" : "warning").entry("code", d.code);
  json.entry("file", d.file).entry("line", d.line).entry("path", d.path);
  json.entry("message", d.message).entry("hint", d.hint).entry("partial", d.partial).end_object();
}

Exit check(const CheckArguments& options) {
  bool ok = true, partial = false;
  JsonWriter findings;
  Output out;
  for (const std::string& name : options.models) {
    const Report report = examine(name, options);
    ok = ok && report.ok;
    partial = partial || report.partial;
    if (options.json) {
      for (const Diagnostic& d : report.diagnostics) write(findings, d);
    } else {
      fmt::print(stderr, "{}", coloured(to_string(report.diagnostics)));
      out.write(summary(report));
    }
  }
  if (options.json)
    out.write(fmt::format("{{\"ok\": {}, \"partial\": {}, \"diagnostics\": [{}]}}\n", ok && !partial, partial,
                          findings.take()));
  out.commit();
  return !ok ? kBadFile : partial ? kPartial : kOk;
}

}  // namespace

Runner declare_check(Arguments& args) {
  auto options = std::make_shared<CheckArguments>();
  args.add("MODEL", options->models,
           std::string(kModelHelp) +
               "; a clip (.bvh, .amc, .npz of AMASS), a measurement (.c3d, .trc, .mot, .sto, .b3d), a recording "
               "(.mcap), or - "
               "for a model "
               "from "
               "standard input")
      .required();
  args.add_flag("--json", options->json, "print {\"ok\", \"partial\", \"diagnostics\"} on standard output");
  args.add_flag("--strict", options->strict, "treat warnings as errors");
  args.add_flag("--allow-partial", options->allow_partial, "exit with 0 for partial models");
  add_base_option(args, options->base);
  add_path_option(args);
  return [options] { return check(*options); };
}

}  // namespace kansetsu::cli
