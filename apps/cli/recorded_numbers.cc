#include "cli/recorded_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace kansetsu::cli {
namespace {

void append_axes(const Vec3<>& v, std::vector<double>& out) { out.insert(out.end(), {v.x, v.y, v.z}); }

void add_axis_channels(const std::string& name, const char* unit, std::vector<io::NumberChannel>& out) {
  for (const char* axis : {"x", "y", "z"}) out.push_back({fmt::format("{} {}", name, axis), unit});
}

/// Everything that has been added to and removed from the mechanical energy so far.
double explained_energy(const WorldTotals& t) {
  return t.work_torque + t.work_contact + t.work_connection + t.impact_energy;
}

/// The energy and its balance since the start.
NumberGroup energy_numbers(const World& world) {
  const double start = world.kinetic_energy() + world.potential_energy() - explained_energy(world.totals());
  return {{{"kinetic energy", "J"},
           {"potential energy", "J"},
           {"work of torques", "J"},
           {"work of contacts", "J"},
           {"work of connections", "J"},
           {"energy of impacts", "J"},
           {"unexplained energy", "J"}},
          [start](const World& w, std::vector<double>& out) {
            const double kinetic = w.kinetic_energy(), potential = w.potential_energy();
            const WorldTotals& t = w.totals();
            out.insert(out.end(), {kinetic, potential, t.work_torque, t.work_contact, t.work_connection,
                                   t.impact_energy, kinetic + potential - start - explained_energy(t)});
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

/// Which velocity coordinates are angles.
std::vector<bool> angular_dofs(const Model& model) {
  std::vector<bool> angular(std::size_t(model.nv()), true);
  const auto shift = [&](int v) { angular[std::size_t(v)] = false; };
  if (model.base() == Base::kFree) {
    for (int k = 3; k < 6; ++k) shift(k);
  }
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange range = model.coordinates(JointId(j));
    if (range.nv == 0) continue;  // determined by other joints
    for (const Primitive& p : info(model.joint(JointId(j)).type).chain) {
      if (p.kind == PrimitiveKind::kSlide) shift(range.v + p.coordinate);
      for (int k = 3; p.kind == PrimitiveKind::kFree && k < 6; ++k) shift(range.v + p.coordinate + k);
    }
  }
  return angular;
}

/// One channel per velocity coordinate of every figure, in joint states rather than by a topic each.
std::vector<io::NumberChannel> dof_channels(const World& world, const char* what, const char* angle,
                                            const char* length) {
  std::vector<io::NumberChannel> channels;
  for (int i = 0; i < world.figure_count(); ++i) {
    const Model& model = world.model(FigureId(i));
    const std::vector<bool> angular = angular_dofs(model);
    for (std::size_t k = 0; k < angular.size(); ++k) {
      channels.push_back({fmt::format("{}/{}/{}", world.name(FigureId(i)), what, model.dof_names()[k]),
                          angular[k] ? angle : length, false});
    }
  }
  return channels;
}

NumberGroup acceleration_numbers(const World& world) {
  return {dof_channels(world, "vdot", "rad/s²", "m/s²"), [](const World& w, std::vector<double>& out) {
            for (int i = 0; i < w.figure_count(); ++i) {
              const Eigen::VectorXd& vdot = w.vdot(FigureId(i));
              out.insert(out.end(), vdot.data(), vdot.data() + vdot.size());
            }
          }};
}

/// Power τ·v of every coordinate and of all joints of a figure, springs and motors included. A free base has no motor.
NumberGroup power_numbers(const World& world) {
  NumberGroup group{dof_channels(world, "power", "W", "W"), {}};
  for (int i = 0; i < world.figure_count(); ++i) {
    group.channels.push_back({fmt::format("{}/joint power", world.name(FigureId(i))), "W"});
  }
  group.append = [](const World& w, std::vector<double>& out) {
    for (int i = 0; i < w.figure_count(); ++i) {
      const Eigen::VectorXd power = w.effort(FigureId(i)).cwiseProduct(w.v(FigureId(i)));
      out.insert(out.end(), power.data(), power.data() + power.size());
    }
    for (int i = 0; i < w.figure_count(); ++i) out.push_back(w.effort(FigureId(i)).dot(w.v(FigureId(i))));
  };
  return group;
}

NumberGroup effort_numbers(const World& world) {
  NumberGroup group;
  group.channels = dof_channels(world, "tau", "N m", "N");
  group.append = [](const World& w, std::vector<double>& out) {
    for (int i = 0; i < w.figure_count(); ++i) {
      const Eigen::VectorXd& tau = w.effort(FigureId(i));
      out.insert(out.end(), tau.data(), tau.data() + tau.size());
    }
  };
  return group;
}

/// Control, activation, length, force and power of every actuator.
NumberGroup actuator_numbers(const World& world) {
  NumberGroup group;
  for (int i = 0; i < world.figure_count(); ++i) {
    for (const ActuatorReport& a : world.actuators(FigureId(i))) {
      for (const char* what : {"control", "activation", "length", "force"})
        group.channels.push_back({fmt::format("{}/{}/{}", world.name(FigureId(i)), a.name, what), ""});
      group.channels.push_back({fmt::format("{}/{}/power", world.name(FigureId(i)), a.name), "W"});
    }
  }
  group.append = [](const World& w, std::vector<double>& out) {
    for (int i = 0; i < w.figure_count(); ++i) {
      const Eigen::VectorXd &u = w.control(FigureId(i)), &x = w.activation(FigureId(i));
      for (long k = 0; k < u.size(); ++k) {
        const ActuatorReport& a = w.actuators(FigureId(i))[size_t(k)];
        out.insert(out.end(), {u[k], x[k], a.length, a.force, a.power});
      }
    }
  };
  return group;
}

/// Length and velocity of every tendon; the forces of its actuators are recorded with these, and its spring and damper follow.
NumberGroup tendon_numbers(const World& world, const SceneDescription& scene) {
  struct Tendons {
    FigureId figure;
    Actuation actuation;
  };
  auto all = std::make_shared<std::vector<Tendons>>();
  NumberGroup group;
  for (const FigureDescription& figure : scene.figures) {
    if (figure.actuation.tendons.empty()) continue;
    const FigureId id = world.figure(figure.name);
    for (const TendonDescription& t : figure.actuation.tendons) {
      const bool sum = t.path.empty();  // of joint coordinates, in their units
      group.channels.push_back({fmt::format("{}/{}/length", figure.name, t.name), sum ? "" : "m"});
      group.channels.push_back({fmt::format("{}/{}/velocity", figure.name, t.name), sum ? "" : "m/s"});
    }
    all->push_back({id, Actuation(world.model(id), figure.actuation)});
  }
  group.append = [all](const World& w, std::vector<double>& out) {
    for (Tendons& t : *all) {
      State state(w.model(t.figure));
      state.q = w.q(t.figure), state.v = w.v(t.figure);
      t.actuation.place(state);
      for (int k = 0; k < t.actuation.tendon_count(); ++k)
        out.insert(out.end(), {t.actuation.tendon_length(k), t.actuation.tendon_velocity(k)});
    }
  };
  return group;
}

/// Force and moment of every named connection of the scene, loops included; zero while it is not active.
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

std::vector<NumberGroup> usual_numbers(const World& world, const SceneDescription& scene) {
  return {energy_numbers(world), contact_numbers(),           connection_numbers(scene),
          power_numbers(world),  acceleration_numbers(world), effort_numbers(world),
          sensor_numbers(world), actuator_numbers(world),     tendon_numbers(world, scene)};
}

std::vector<NumberGroup> chosen_numbers(const World& world, const SceneDescription& scene,
                                        const std::vector<Recorded>& what) {
  const auto wanted = [&](Recorded r) { return std::find(what.begin(), what.end(), r) != what.end(); };
  std::vector<NumberGroup> out;
  if (wanted(Recorded::kEfforts)) out.push_back(effort_numbers(world));
  if (wanted(Recorded::kEnergy)) out.push_back(energy_numbers(world));
  if (wanted(Recorded::kMomentum)) out.push_back(momentum_numbers());
  if (wanted(Recorded::kContacts)) out.push_back(contact_numbers());
  if (wanted(Recorded::kConnections)) out.push_back(connection_numbers(scene));
  if (wanted(Recorded::kSensors)) out.push_back(sensor_numbers(world));
  if (wanted(Recorded::kActuators)) {
    out.push_back(actuator_numbers(world));
    out.push_back(tendon_numbers(world, scene));
  }
  return out;
}

}  // namespace kansetsu::cli
