#include <fmt/format.h>

#include "cli/info.h"
#include "cli/json_writer.h"
#include "cli/table.h"

namespace kansetsu::cli {
namespace {

std::string_view name_of(Integrator integrator) {
  switch (integrator) {
    case Integrator::kSemiImplicit:
      return "semi_implicit";
    case Integrator::kRk4:
      return "rk4";
    case Integrator::kAdaptive:
      return "adaptive";
  }
  return {};
}

/// The models of a validated scene can be built.
Model build(const FigureDescription& figure) { return value_or_throw(Model::build(figure.model)); }

struct Count {
  const char* name;
  std::size_t count;
};
std::vector<Count> counts_of(const SceneDescription& scene) {
  return {{"environment", scene.environment.size()}, {"surfaces", scene.surfaces.size()},
          {"connections", scene.connections.size()}, {"springs", scene.springs.size()},
          {"controllers", scene.controllers.size()}, {"sensors", scene.sensors.size()},
          {"events", scene.events.size()},           {"recordings", scene.recordings.size()},
          {"keyframes", scene.keyframes.size()}};
}

}  // namespace

std::string scene_text(const SceneDescription& scene) {
  const Vec3<>& g = scene.gravity;
  std::string text = fmt::format("scene {}\n  gravity ({:g}, {:g}, {:g}) m/s², time step {:g} s, {:g} s, {}\n",
                                 scene.name, g.x, g.y, g.z, scene.time_step, scene.duration, name_of(scene.integrator));
  for (const auto& [name, count] : counts_of(scene)) {
    if (count > 0) text += fmt::format("  {}: {}\n", name, count);
  }
  std::vector<std::vector<std::string>> rows{{"figure", "base", "links", "dofs", "mass [kg]", "loops", "couplings"}};
  for (const FigureDescription& figure : scene.figures) {
    const Model model = build(figure);
    rows.push_back({figure.name, model.base() == Base::kFree ? "free" : "fixed", std::to_string(model.link_count()),
                    std::to_string(model.nv()), fmt::format("{:.6g}", model.mass()),
                    std::to_string(figure.loops.size()), std::to_string(figure.couplings.size())});
  }
  return rows.size() > 1 ? text + "\n" + table(rows) : text;
}

std::string scene_json(const SceneDescription& scene) {
  JsonWriter json;
  json.begin_object().entry("name", scene.name).entry("file", scene.file).entry("gravity", scene.gravity);
  json.entry("time_step", scene.time_step).entry("duration", scene.duration);
  json.entry("integrator", name_of(scene.integrator));
  for (const auto& [name, count] : counts_of(scene)) json.entry(name, int(count));
  json.key("figures").begin_array();
  for (const FigureDescription& figure : scene.figures) {
    FigureDescription named = figure;
    named.model.name = figure.name;
    std::string text = info_json(build(named));
    while (text.ends_with('\n')) text.pop_back();
    json.line().raw(text);
  }
  return json.end_array().end_object().take() + "\n";
}

}  // namespace kansetsu::cli
