#include "cli/recorded_numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace kansetsu::cli {
namespace {

void append_axes(const Vec3<>& v, std::vector<double>& out) { out.insert(out.end(), {v.x, v.y, v.z}); }

void add_axis_channels(const std::string& name, const char* unit, std::vector<io::NumberChannel>& out) {
  for (const char* axis : {"x", "y", "z"}) out.push_back({fmt::format("{} {}", name, axis), unit});
}

NumberGroup energy_numbers() {
  return {{{"kinetic energy", "J"}, {"potential energy", "J"}}, [](const World& w, std::vector<double>& out) {
            out.insert(out.end(), {w.kinetic_energy(), w.potential_energy()});
          }};
}

NumberGroup momentum_numbers() {
  NumberGroup group;
  add_axis_channels("momentum", "N s", group.channels);
  add_axis_channels("angular momentum", "N m s", group.channels);
  group.append = [](const World& w, std::vector<double>& out) {
    append_axes(w.momentum(), out);
    append_axes(w.angular_momentum(), out);
  };
  return group;
}

NumberGroup contact_numbers() {
  return {{{"contacts", ""}, {"penetration", "m"}, {"residual", ""}}, [](const World& w, std::vector<double>& out) {
            const StepReport& r = w.report();
            const auto touches = [](const ContactReport& c) { return c.mode != ContactMode::kOpen; };
            const auto count = std::count_if(r.contacts.begin(), r.contacts.end(), touches);
            out.insert(out.end(), {double(count), r.penetration, r.residual});
          }};
}

NumberGroup gap_numbers() {
  return {{{"gap", "m"}}, [](const World& w, std::vector<double>& out) { out.push_back(w.report().loop_gap); }};
}

NumberGroup sensor_numbers(const World& world) {
  NumberGroup group;
  for (const std::string& sensor : world.sensor_names()) {
    for (size_t k = 0; k < world.sensor(sensor).size(); ++k)
      group.channels.push_back({fmt::format("{}[{}]", sensor, k), ""});
  }
  group.append = [names = world.sensor_names()](const World& w, std::vector<double>& out) {
    for (const std::string& name : names) {
      const std::vector<double>& value = w.sensor(name);
      out.insert(out.end(), value.begin(), value.end());
    }
  };
  return group;
}

NumberGroup effort_numbers(const World& world) {
  NumberGroup group;
  for (int i = 0; i < world.figure_count(); ++i) {
    for (const std::string& dof : world.model(FigureId(i)).dof_names())
      group.channels.push_back({fmt::format("{}/tau/{}", world.name(FigureId(i)), dof), ""});
  }
  group.append = [](const World& w, std::vector<double>& out) {
    for (int i = 0; i < w.figure_count(); ++i) {
      const Eigen::VectorXd& tau = w.effort(FigureId(i));
      out.insert(out.end(), tau.data(), tau.data() + tau.size());
    }
  };
  return group;
}

/// Force and moment of every connection that the scene names, those of closed loops included; zero while it holds nothing.
NumberGroup connection_numbers(const SceneDescription& scene) {
  std::vector<std::string> names;
  for (const FigureDescription& f : scene.figures) {
    for (const LoopClosure& loop : f.loops) names.push_back(f.name + "/" + loop.name);
  }
  for (const ConnectionDescription& c : scene.connections) names.push_back(c.name);
  NumberGroup group = gap_numbers();
  for (const std::string& name : names) {
    add_axis_channels(name + "/force", "N", group.channels);
    add_axis_channels(name + "/moment", "N m", group.channels);
  }
  group.append = [names, gap = group.append](const World& w, std::vector<double>& out) {
    gap(w, out);
    const auto& reports = w.report().connections;
    for (const std::string& name : names) {
      const auto found =
          std::find_if(reports.begin(), reports.end(), [&](const ConnectionReport& c) { return c.name == name; });
      const Force<> F = found == reports.end() ? Force<>{} : found->wrench;
      append_axes(F.f, out);
      append_axes(F.t, out);
    }
  };
  return group;
}

}  // namespace

std::vector<NumberGroup> usual_numbers(const World& world) {
  return {energy_numbers(), contact_numbers(), gap_numbers(), sensor_numbers(world)};
}

std::vector<NumberGroup> chosen_numbers(const World& world, const SceneDescription& scene,
                                        const std::vector<Recorded>& what) {
  const auto wanted = [&](Recorded r) { return std::find(what.begin(), what.end(), r) != what.end(); };
  std::vector<NumberGroup> out;
  if (wanted(Recorded::kEfforts)) out.push_back(effort_numbers(world));
  if (wanted(Recorded::kEnergy)) out.push_back(energy_numbers());
  if (wanted(Recorded::kMomentum)) out.push_back(momentum_numbers());
  if (wanted(Recorded::kContacts)) out.push_back(contact_numbers());
  if (wanted(Recorded::kConnections)) out.push_back(connection_numbers(scene));
  if (wanted(Recorded::kSensors)) out.push_back(sensor_numbers(world));
  return out;
}

}  // namespace kansetsu::cli
