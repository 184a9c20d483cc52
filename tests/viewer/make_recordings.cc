/// make_recordings FOLDER [NAME…]: example recordings, made with inverse and forward dynamics: squat, flight, rope, crowd, long.
/// The same files every time.

#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/eigen.h"

namespace kansetsu {
namespace {

using io::RecordedFrame;
using io::Recorder;
using io::RecordingHeader;

constexpr double kTau = 2 * std::numbers::pi;

std::unique_ptr<Recorder> open(const std::filesystem::path& file, RecordingHeader header) {
  return value_or_throw(io::make_recorder(file, std::move(header)));
}

void finish(Recorder& recorder) {
  const auto problems = recorder.finish();
  if (has_errors(problems)) throw_diagnostics(problems);
}

LinkShape floor_tile() {
  return {.name = "floor",
          .origin = {.p = {0, 0, -0.02}},
          .shape = Box{{1.2, 1.2, 0.04}},
          .material = Material{.rgba = std::vector<double>{0.55, 0.58, 0.62, 1}}};
}

// ------------------------------------------------------------------------------------------------------------------ squat

/// Knees bend and the soles stay where they are: thigh and shank are equally long. The arms swing forward against it.
Eigen::VectorXd squat_posture(const Model& model, double phase, double x = 0, double y = 0) {
  Eigen::VectorXd q = neutral(model);
  const double bend = 0.55 * (1 - std::cos(phase));
  const auto set = [&](const char* joint, double angle) {
    for (const char* side : {"L", "R"}) {
      std::string name = joint;
      name.insert(name.find('_'), side);
      q[model.coordinates(model.joint_id(name)).q] = angle;
    }
  };
  set("hip_y", -bend);
  set("knee_y", 2 * bend);
  set("ankle_y", -bend);
  set("shoulder_y", -1.1 * bend);
  set("elbow_y", -0.4 * bend - 0.1);
  q[model.coordinates(model.joint_id("waist_y")).q] = 0.45 * bend;
  // Soles 0.08 m below the ankles, ankles 0.8 m below the hips when the legs are straight; they stay below the hips.
  q[0] = x;
  q[1] = y;
  q[2] = 0.08 + 0.8 * std::cos(bend);
  return q;
}

/// State and acceleration of a motion q(t), by central differences on the configuration space.
struct Motion3 {
  State state;
  Eigen::VectorXd vdot;
};
Motion3 differentiate(const Model& model, const std::function<Eigen::VectorXd(double)>& q, double t) {
  constexpr double kStep = 1e-4;
  Motion3 m{State(model), {}};
  m.state.q = q(t);
  const Eigen::VectorXd ahead = difference(model, m.state.q, q(t + kStep)),
                        behind = difference(model, m.state.q, q(t - kStep));
  m.state.v = (ahead - behind) / (2 * kStep);
  m.vdot = (ahead + behind) / (kStep * kStep);
  return m;
}

/// The forces at the corners of both soles that carry the motion: of all that do, those with the least sum of squares.
std::vector<io::RecordedContact> sole_forces(const Model& model, const Motion3& motion, int figure) {
  const Eigen::VectorXd tau = rnea(model, motion.state, motion.vdot);
  const auto poses = io::recorded_poses(model, motion.state.q);
  const Force<> needed =
      poses[0] * Force<>{{tau[0], tau[1], tau[2]}, {tau[3], tau[4], tau[5]}};  // about the world's origin
  std::vector<io::RecordedContact> contacts;
  for (const char* foot : {"FootL", "FootR"}) {
    const int link = model.link_id(foot).value();
    for (const double x : {-0.05, 0.14}) {
      for (const double y : {-0.06, 0.06}) {
        contacts.push_back({{figure, link}, {}, poses[std::size_t(link)] * Vec3<>{x, y, -0.08}, {0, 0, 1}, {}});
      }
    }
  }
  Eigen::MatrixXd map(6, 3 * Eigen::Index(contacts.size()));
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    map.block<3, 3>(0, 3 * Eigen::Index(i)) = to_eigen(skew(contacts[i].point));
    map.block<3, 3>(3, 3 * Eigen::Index(i)).setIdentity();
  }
  const Eigen::VectorXd forces = map.completeOrthogonalDecomposition().solve(to_eigen(needed));
  for (std::size_t i = 0; i < contacts.size(); ++i) contacts[i].force = to_vec3(forces.segment<3>(3 * Eigen::Index(i)));
  return contacts;
}

void write_squat(const std::filesystem::path& file, double seconds, double rate) {
  const Model model = human28();
  const auto recorder = open(file, {.figures = {{"human", model}},
                                    .environment = {floor_tile()},
                                    .numbers = {{"kinetic energy", "J"}, {"com height", "m"}, {"ground force", "N"}},
                                    .notes = {{"title", "A squat"}}});
  constexpr double kPeriod = 2;
  const auto q = [&](double t) { return squat_posture(model, kTau * t / kPeriod); };
  for (int i = 0; i <= int(seconds * rate + 0.5); ++i) {
    const double t = i / rate;
    const Motion3 motion = differentiate(model, q, t);
    RecordedFrame frame{.time = t, .states = {motion.state}, .contacts = sole_forces(model, motion, 0)};
    double force = 0;
    for (const auto& c : frame.contacts) force += c.force.z;
    frame.numbers = {energy(model, motion.state).kinetic, center_of_mass(model, motion.state.q).z, force};
    if (std::abs(std::fmod(t, kPeriod) - kPeriod / 2) < 0.4 / rate) frame.events.push_back("lowest");
    recorder->add(frame);
  }
  finish(*recorder);
}

// ----------------------------------------------------------------------------------------------------------------- flight

/// A somersault: thrown up turning, the figure tucks by weak springs in its joints and stretches again. Nothing else acts.
void write_flight(const std::filesystem::path& file) {
  const Model model = human28();
  const auto recorder = open(file, {.figures = {{"human", model}},
                                    .numbers = {{"kinetic energy", "J"}, {"angular momentum y", "N·m·s"}},
                                    .notes = {{"title", "A somersault"}}});
  State state(model);
  state.q[2] = 1.2;
  state.v[1] = 4.2;  // [rad/s] about y
  state.v[3] = 1.2;
  state.v[5] = 5.2;
  constexpr double kStep = 1e-3, kEnd = 1.1;
  for (int i = 0; i * kStep <= kEnd; ++i) {
    const double t = i * kStep, tuck = t > 0.12 && t < 0.72 ? 1 : 0;
    if (i % 10 == 0) {
      const Centroidal c = centroidal(model, state);
      RecordedFrame frame{.time = t, .states = {state}, .numbers = {energy(model, state).kinetic, c.h.t.y}};
      if (i == 120) frame.events.push_back("tucks");
      if (i == 720) frame.events.push_back("stretches");
      recorder->add(frame);
    }
    const Eigen::VectorXd wanted = squat_posture(model, std::numbers::pi);
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(model.nv());
    for (int k = 6; k < model.nv(); ++k) {
      const double goal = tuck * wanted[k + 1] * 1.3;
      tau[k] = 90 * (goal - state.q[k + 1]) - 9 * state.v[k];
    }
    const AbaResult result = aba(model, state, tau);
    state.v += kStep * result.vdot;
    state.q = integrate(model, state.q, kStep * state.v);
    normalise(model, state.q);
  }
  finish(*recorder);
}

// ------------------------------------------------------------------------------------------------------- rope, crowd, long

void write_rope(const std::filesystem::path& file) {
  constexpr int kLinks = 16;
  ModelDescription description = chain(kLinks).description();
  description.base_pose.p = {0, 0, 5};
  const Model model = value_or_throw(Model::build(std::move(description)));
  RecordingHeader header{
      .figures = {{"rope", model}}, .numbers = {{"energy", "J"}}, .notes = {{"title", "A rope of rods"}}};
  const auto recorder = open(file, std::move(header));
  State state(model);
  state.q[0] = 1.2;  // tilted, then bent: it swings in space
  state.q[1] = 0.7;
  constexpr double kStep = 5e-4;
  for (int i = 0; i * kStep <= 3; ++i) {
    if (i % 40 == 0) {
      const Energy e = energy(model, state);
      recorder->add({.time = i * kStep, .states = {state}, .numbers = {e.kinetic + e.potential}});
    }
    const Eigen::VectorXd tau = -0.6 * state.v;
    const AbaResult result = aba(model, state, tau);
    state.v += kStep * result.vdot;
    state.q = integrate(model, state.q, kStep * state.v);
  }
  finish(*recorder);
}

void write_crowd(const std::filesystem::path& file) {
  const Model model = human28();
  RecordingHeader header;
  for (int i = 0; i < 100; ++i) header.figures.push_back({"human" + std::to_string(i), model});
  const auto recorder = open(file, header);
  for (int k = 0; k <= 60; ++k) {
    RecordedFrame frame{.time = k / 30.0};
    for (int i = 0; i < 100; ++i) {
      State state(model);
      state.q = squat_posture(model, kTau * frame.time / 2 + 0.3 * i, (i % 10) * 1.2 - 5.4, (i / 10) * 1.2 - 5.4);
      frame.states.push_back(std::move(state));
    }
    recorder->add(frame);
  }
  finish(*recorder);
}

const std::map<std::string, void (*)(const std::filesystem::path&)> kRecordings{
    {"squat.mcap", [](const auto& file) { write_squat(file, 4, 60); }},
    {"squat.csv", [](const auto& file) { write_squat(file, 4, 60); }},
    {"squat.npz", [](const auto& file) { write_squat(file, 4, 60); }},
    {"squat.glb", [](const auto& file) { write_squat(file, 4, 60); }},
    {"flight.mcap", write_flight},
    {"rope.mcap", write_rope},
    {"crowd.mcap", write_crowd},
    {"long.mcap", [](const auto& file) { write_squat(file, 600, 60); }},
};

}  // namespace
}  // namespace kansetsu

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: make_recordings FOLDER [NAME…]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  for (const auto& [name, write] : kansetsu::kRecordings) {
    bool wanted = argc == 2;
    for (int i = 2; i < argc; ++i) wanted = wanted || name == argv[i];
    if (wanted) write(folder / name);
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
