/// kansetsu check MODEL…: everything there is to say about models, in the manner of a compiler or as JSON.

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/output.h"

namespace kansetsu::cli {
namespace {

struct Options {
  std::vector<std::string> models;
  std::optional<Base> base;
  bool json = false, strict = false;
};

struct Report {
  std::string name;
  Loaded<Model> model;
  bool ok = false;
};

Report examine(const std::string& name, const Options& options) {
  Report report{name, load_model({.name = name, .base = options.base})};
  report.ok = report.model && !(options.strict && !report.model.diagnostics.empty());
  return report;
}

std::string count_of(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string summary(const Report& report) {
  const std::vector<Diagnostic>& all = report.model.diagnostics;
  const auto errors =
      static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](auto& d) { return d.is_error(); }));
  std::string text = fmt::format("{}: {}", report.name, report.ok ? "ok" : "failed");
  if (report.model) {
    const Model& m = *report.model.value;
    text +=
        fmt::format(", {}, {}", count_of(std::size_t(m.link_count()), "link"), count_of(std::size_t(m.nv()), "dof"));
  }
  if (errors > 0) text += ", " + count_of(errors, "error");
  if (errors < all.size()) text += ", " + count_of(all.size() - errors, "warning");
  return text + "\n";
}

void write(JsonWriter& json, const Diagnostic& d) {
  json.line().begin_object();
  json.entry("severity", d.is_error() ? "error" : "warning").entry("code", d.code);
  json.entry("file", d.file).entry("line", d.line).entry("path", d.path);
  json.entry("message", d.message).entry("hint", d.hint).end_object();
}

Exit check(const Options& options) {
  bool ok = true;
  JsonWriter findings;
  Output out;
  for (const std::string& name : options.models) {
    const Report report = examine(name, options);
    ok = ok && report.ok;
    if (options.json) {
      for (const Diagnostic& d : report.model.diagnostics) write(findings, d);
    } else {
      fmt::print(stderr, "{}", to_string(report.model.diagnostics));
      out.write(summary(report));
    }
  }
  if (options.json) out.write(fmt::format("{{\"ok\": {}, \"diagnostics\": [{}]}}\n", ok, findings.take()));
  out.commit();
  return ok ? kOk : kBadFile;
}

}  // namespace

Runner declare_check(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->models, kModelHelp)->required()->type_name("");
  app.add_flag("--json", options->json, "print {\"ok\", \"diagnostics\"} on standard output");
  app.add_flag("--strict", options->strict, "fail on warnings, too");
  add_base_option(app, options->base);
  return [options] { return check(*options); };
}

}  // namespace kansetsu::cli
