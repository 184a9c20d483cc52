#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data_dir.h"
#include "kansetsu/actuation/actuation.h"
#include "kansetsu/io/measured.h"
#include "kansetsu/io/osim.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/motion/muscle_forces.h"

/// Muscles of OpenSim models: paths, curves, and what they carry.
using namespace kansetsu;
using nlohmann::json;

namespace {

struct Muscular {
  io::OsimModel osim;
  MappedModel mapped;
  Actuation actuation;

  explicit Muscular(io::OsimModel o)
      : osim(std::move(o)),
        mapped(value_or_throw(Model::build(osim.model)), osim.map),
        actuation(mapped.model(), osim.actuation, EffortLimits::kIgnored) {}

  void place(const Eigen::VectorXd& x, const Eigen::VectorXd& xd) {
    State state(mapped.model());
    state.q = mapped.configuration(x), state.v = mapped.jacobian(x) * xd;
    actuation.place(state);
  }
  /// Moment arms of a muscle about the file's coordinates: −∂l/∂x.
  Eigen::VectorXd arms(int tendon, const Eigen::VectorXd& x) const {
    Eigen::VectorXd row = Eigen::VectorXd::Zero(mapped.model().nv());
    const MomentRow moment = actuation.tendon_moment(tendon);
    for (std::size_t k = 0; k < moment.columns.size(); ++k) row[moment.columns[k]] = moment.values[k];
    return -mapped.jacobian(x).transpose() * row;
  }
};

Muscular loaded(Loaded<io::OsimModel> file) {
  if (!file) throw std::runtime_error(to_string(file.diagnostics));
  return Muscular(*std::move(file.value));
}

/// Two bodies and an elbow; muscles in front of and behind it.
std::string arm(const std::string& muscles) {
  constexpr const char* kWraps = R"(
    <WrapCylinder name="pulley"><translation>0 -0.3 0</translation><quadrant>all</quadrant><radius>0.03</radius><length>0.2</length></WrapCylinder>
    <WrapCylinder name="front"><xyz_body_rotation>0 0 0.2</xyz_body_rotation><translation>0 -0.3 0</translation><quadrant>+x</quadrant><radius>0.03</radius><length>0.2</length></WrapCylinder>
    <WrapCylinder name="tilted"><xyz_body_rotation>0.3 -0.2 0.1</xyz_body_rotation><translation>0.01 -0.3 0.02</translation><quadrant>all</quadrant><radius>0.03</radius><length>0.3</length></WrapCylinder>
    <WrapCylinder name="stub"><translation>0 -0.3 0.2</translation><quadrant>all</quadrant><radius>0.03</radius><length>0.05</length></WrapCylinder>
    <WrapSphere name="ball"><translation>0 -0.3 0.01</translation><quadrant>all</quadrant><radius>0.035</radius></WrapSphere>
    <WrapEllipsoid name="egg"><translation>0 -0.3 0.01</translation><dimensions>0.03 0.04 0.05</dimensions></WrapEllipsoid>)";
  return fmt::format(R"(<OpenSimDocument Version="40000"><Model name="arm"><BodySet><objects>
    <Body name="upper"><mass>1</mass><inertia>0.1 0.1 0.1 0 0 0</inertia><WrapObjectSet><objects>{}</objects></WrapObjectSet></Body>
    <Body name="lower"><mass>1</mass><mass_center>0 -0.1 0</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia></Body></objects></BodySet>
    <JointSet><objects><WeldJoint name="shoulder"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/upper</socket_child_frame></WeldJoint>
    <PinJoint name="elbow"><socket_parent_frame>at</socket_parent_frame><socket_child_frame>/bodyset/lower</socket_child_frame><coordinates><Coordinate name="bend"/></coordinates>
    <frames><PhysicalOffsetFrame name="at"><socket_parent>/bodyset/upper</socket_parent><translation>0 -0.3 0</translation></PhysicalOffsetFrame></frames></PinJoint></objects></JointSet>
    <ForceSet><objects>{}</objects></ForceSet></Model></OpenSimDocument>)",
                     kWraps, muscles);
}

/// From (x, −0.05, z) on the upper arm to (x, −0.15, 0) on the lower.
std::string muscle(const std::string& name, double x, double z, const std::string& round,
                   const std::string& kind = "Thelen2003Muscle", const std::string& more = "") {
  const std::string wrap = round.empty()
                               ? ""
                               : fmt::format(
                                     "<PathWrapSet><objects><PathWrap><wrap_object>{}</wrap_object><range>-1 -1</range>"
                                     "</PathWrap></objects></PathWrapSet>",
                                     round);
  return fmt::format(R"(<{0} name="{1}"><GeometryPath><PathPointSet><objects>
    <PathPoint name="a"><socket_parent_frame>/bodyset/upper</socket_parent_frame><location>{2} -0.05 {3}</location></PathPoint>{6}
    <PathPoint name="b"><socket_parent_frame>/bodyset/lower</socket_parent_frame><location>{4} -0.15 0</location></PathPoint></objects></PathPointSet>{5}</GeometryPath>
    <max_isometric_force>500</max_isometric_force><optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.28</tendon_slack_length></{0}>)",
                     kind, name, x, z, name == "tilted" ? -0.015 : x, wrap, more);
}

std::string told(const Loaded<io::OsimModel>& file) { return to_string(file.diagnostics); }

}  // namespace

TEST_CASE("muscles go round cylinders and spheres as in OpenSim, and their moment arms are slopes of their lengths") {
  Muscular m =
      loaded(io::parse_osim(arm(muscle("straight", 0.02, 0, "") + muscle("round", -0.02, 0.03, "pulley") +
                                muscle("front", -0.05, 0.02, "front") + muscle("tilted", -0.02, 0.05, "tilted") +
                                muscle("past", -0.02, 0, "stub") + muscle("ball", -0.02, 0.02, "ball"))));
  const auto length = [&](const char* name, double bend) {
    m.place(Eigen::VectorXd::Constant(1, bend), Eigen::VectorXd::Zero(1));
    return m.actuation.tendon_length(m.actuation.find_tendon(name));
  };
  // OpenSim 4.6; it does not say where helices begin to more than six digits. At other angles its lengths of helices jump.
  const std::tuple<const char*, double, double> reference[] = {
      {"straight", -0.6, 0.395062251}, {"round", -0.6, 0.372700447}, {"tilted", -0.6, 0.376705849},
      {"past", -0.6, 0.371491081},     {"ball", -0.6, 0.372029062},  {"tilted", 0, 0.403206591},
      {"ball", 0, 0.401677834},        {"past", 0.3, 0.401763974},   {"tilted", 0.3, 0.408419473},
      {"ball", 0.3, 0.405960720},      {"front", 0.9, 0.406504335},  {"round", 0.9, 0.381256725},
      {"ball", 1.5, 0.327732544},      {"front", 1.5, 0.367765419}};
  for (const auto& [name, bend, expected] : reference) {
    CAPTURE(name);
    CAPTURE(bend);
    CHECK(std::abs(length(name, bend) - expected) < 1e-6);
  }
  constexpr double kStep = 1e-6;
  for (const double bend : {-0.6, 0.1, 0.3, 0.9, 1.5})
    for (const char* name : {"straight", "round", "front", "tilted", "past", "ball"}) {
      CAPTURE(name);
      CAPTURE(bend);
      const double slope = (length(name, bend + kStep) - length(name, bend - kStep)) / (2 * kStep);
      length(name, bend);
      const Eigen::VectorXd arms = m.arms(m.actuation.find_tendon(name), Eigen::VectorXd::Constant(1, bend));
      CHECK(std::abs(arms[0] + slope) < 1e-7);  // of differences: rounding over the step
    }
}

TEST_CASE("[data] lengths, moment arms and active forces of muscles are OpenSim's") {
  const std::pair<const char*, const char*> files[] = {
      {"gait2392", "grf/opensim_walk_gait2392/subject01.osim"},
      {"gait10dof18musc", "grf/opensim_walk_gait10dof18musc/gait10dof18musc_subject01.osim"}};
  std::ifstream file(KANSETSU_TEST_VECTORS "/osim/muscles.json");
  const json reference = json::parse(file);
  for (const auto& [key, path] : files) {
    CAPTURE(key);
    Muscular m = loaded(io::read_osim(test::data_dir() / path));
    const bool thelen = std::string(key) == "gait2392";
    CHECK(m.actuation.actuator_count() == (thelen ? 54 : 18));
    for (const json& frame : reference[key]) {
      Eigen::VectorXd x = m.mapped.map().neutral();
      for (const auto& [name, value] : frame["coordinates"].items()) x[m.mapped.map().find(name).value()] = value;
      m.place(x, Eigen::VectorXd::Constant(x.size(), 0.3));
      for (const auto& [name, numbers] : frame["muscles"].items()) {
        CAPTURE(name);
        const int tendon = m.actuation.find_tendon(name), i = m.actuation.find_actuator(name);
        REQUIRE(i >= 0);
        CHECK(std::abs(m.actuation.tendon_length(tendon) - numbers[0].get<double>()) < 1e-6);  // OpenSim's constraints
        CHECK(std::abs(m.actuation.tendon_velocity(tendon) - numbers[1].get<double>()) < 1e-6);
        const double active = m.actuation.force(i, 0, 0).force - m.actuation.force(i, 1, 1).force;
        // Thelen's curves are the same; of Millard's, tables and another velocity curve stand for splines.
        const double allowed = (thelen ? 1e-5 : 0.05) * m.actuation.actuator(i).hill.force;
        CHECK(std::abs(active - numbers[2].get<double>()) < allowed);
        const Eigen::VectorXd arms = m.arms(tendon, x);
        for (const auto& [coordinate, value] : numbers[3].items())
          CHECK(std::abs(arms[m.mapped.map().find(coordinate).value()] - value.get<double>()) < 1e-6);
      }
    }
  }
}

TEST_CASE("[data] the Jacobian of a file's coordinates is the derivative of the configuration") {
  const Muscular m = loaded(io::read_osim(test::data_dir() / "grf/opensim_walk_gait2392/subject01.osim"));
  constexpr unsigned kSeed = 23;
  CAPTURE(kSeed);
  std::srand(kSeed);  // Eigen's
  constexpr double kStep = 1e-6;
  for (int i = 0; i < 5; ++i) {
    const Eigen::VectorXd x = 0.7 * Eigen::VectorXd::Random(m.mapped.size());
    const Eigen::MatrixXd J = m.mapped.jacobian(x);
    for (long c = 0; c < x.size(); ++c) {
      CAPTURE(m.mapped.map().coordinates[std::size_t(c)].name);
      const Eigen::VectorXd step = kStep * Eigen::VectorXd::Unit(x.size(), c);
      const Eigen::VectorXd slope =
          difference(m.mapped.model(), m.mapped.configuration(x - step), m.mapped.configuration(x + step)) /
          (2 * kStep);
      CHECK((J.col(c) - slope).cwiseAbs().maxCoeff() < 1e-7);  // of differences: rounding over the step
    }
  }
}

TEST_CASE(
    "[data] static optimization of a walk: muscles and reserves give the moments, joints bear more than without") {
  const std::filesystem::path folder = test::data_dir() / "grf/opensim_walk_gait2392";
  Muscular m = loaded(io::read_osim(folder / "subject01.osim"));
  const CoordinateMotion motion =
      coordinate_motion(m.mapped, io::read_table(folder / "subject01_walk1_ik.mot").value.value(), 6);
  const io::ExternalLoads loads = io::read_external_loads(folder / "subject01_walk1_grf.xml").value.value();
  const std::vector<MeasuredForce> forces = sample_loads(
      m.mapped.model(), clip_of(m.mapped, motion), io::read_table(loads.data).value.value(), loads.loads, m.osim.axes);
  const MeasuredDynamics dynamics = measured_dynamics(m.mapped, motion, forces);
  const MuscleForces shared = share_among_muscles(m.mapped, m.osim.actuation, motion, dynamics, forces);
  CHECK(shared.unsolved == 0);
  CHECK(shared.activations.minCoeff() >= 0.01);  // min_control of the file
  CHECK(shared.activations.maxCoeff() <= 1);
  for (const int k : {20, 100, 180}) {
    m.place(motion.x.col(k), motion.xd.col(k));
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(m.mapped.size());
    for (std::size_t i = 0; i < shared.muscles.size(); ++i)
      sum += shared.forces(long(i), k) * m.arms(m.actuation.find_tendon(shared.muscles[i]), motion.x.col(k));
    for (std::size_t c = 0; c < shared.coordinates.size(); ++c)
      CHECK(sum[shared.coordinates[c]] + shared.reserves(long(c), k) ==
            doctest::Approx(dynamics.moments(shared.coordinates[c], k)).epsilon(1e-6));
  }
  ActuationDescription weak = m.osim.actuation;  // with next to no muscles, a joint bears the net force alone
  for (ActuatorDescription& a : weak.actuators) a.hill.force = 1e-9;
  const MuscleForces without = share_among_muscles(m.mapped, weak, motion, dynamics, forces);
  const double weight = m.mapped.model().mass() * 9.80665;
  for (std::size_t j = 0; j < shared.joints.size(); ++j) {
    if (shared.joints[j].link != "tibia_r") continue;
    double with = 0, net = 0;
    for (int k = 0; k < motion.frames(); ++k) {
      with = std::max(with, norm(shared.joints[j].wrench[std::size_t(k)].f));
      net = std::max(net, norm(without.joints[j].wrench[std::size_t(k)].f));
    }
    CHECK(
        net >
        0.8 *
            weight);  // knees of instrumented people bear 2 to 3 weights in a walk, this model more; the ground gives 1.2
    CHECK(net < 1.4 * weight);
    CHECK(with > 2 * weight);
    CHECK(with < 6 * weight);
  }
}

TEST_CASE("what is wrong with muscles is told, and what is not used") {
  const auto says = [](const std::string& muscles, const char* what) {
    const Loaded<io::OsimModel> file = io::parse_osim(arm(muscles));
    CAPTURE(told(file));
    CHECK(told(file).find(what) != std::string::npos);
    return bool(file);
  };
  const std::string point =
      R"(<ConditionalPathPoint name="c"><socket_parent_frame>/bodyset/{0}</socket_parent_frame><location>0 0 0</location>
    <socket_coordinate>/jointset/elbow/{1}</socket_coordinate><range>-1 1</range></ConditionalPathPoint>)";
  CHECK(says(muscle("m", 0, 0, "egg"), "paths do not wrap around 'egg'"));
  CHECK(says(muscle("m", 0, 0, "", "CoordinateActuator"), "<CoordinateActuator> is not used"));
  CHECK(says(muscle("m", 0, 0, "", "Schutte1993Muscle_Deprecated"), "curves of <Schutte1993Muscle_Deprecated>"));
  CHECK_FALSE(says(muscle("m", 0, 0, "", "Thelen2003Muscle", fmt::format(fmt::runtime(point), "nobody", "bend")),
                   "there is no body 'nobody'"));
  CHECK_FALSE(says(muscle("m", 0, 0, "", "Thelen2003Muscle", fmt::format(fmt::runtime(point), "upper", "twist")),
                   "there is no coordinate 'twist'"));
  CHECK_FALSE(says(muscle("m", 0, 0, "") + muscle("m", 0, 0, ""), "a muscle has no name, or that of another"));
  std::string heavy = muscle("m", 0, 0, "");
  heavy.replace(heavy.find("500"), 3, "-5 ");
  CHECK_FALSE(says(heavy, "force of the muscle is -5"));
}
