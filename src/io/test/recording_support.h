#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "kansetsu/io/recording.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

/// Recordings with something of everything, made from a seed.
namespace kansetsu::io {

inline Vec3<> random_vec3(std::mt19937_64& rng) {
  std::normal_distribution<double> normal;
  return {normal(rng), normal(rng), normal(rng)};
}

inline RecordedFrame random_frame(const RecordingHeader& header, double time, std::mt19937_64& rng) {
  std::normal_distribution<double> normal;
  RecordedFrame frame{.time = time};
  for (const RecordedFigure& figure : header.figures) {
    State state(figure.model);
    state.q = random_configuration(figure.model, rng);
    for (double& x : state.v) x = normal(rng);
    frame.states.push_back(std::move(state));
  }
  for (std::size_t i = 0; i < header.numbers.size(); ++i) frame.numbers.push_back(normal(rng));
  const int contacts = header.figures.empty() ? 0 : int(rng() % 4);
  for (int i = 0; i < contacts; ++i) {
    const int figure = int(rng() % header.figures.size());
    const int link = int(rng() % std::size_t(header.figures[std::size_t(figure)].model.link_count()));
    frame.contacts.push_back({{figure, link}, {}, random_vec3(rng), random_vec3(rng), random_vec3(rng)});
    if (i != 1) frame.contacts.back().moment = random_vec3(rng), frame.contacts.back().impulse = random_vec3(rng);
    frame.contacts.back().state = ContactState(i);
    if (i == 1) {
      frame.connections.push_back(
          {"grip", {figure, link}, {0, 0}, random_vec3(rng), {random_vec3(rng), random_vec3(rng)}});
      frame.events.push_back("grips, and \"holds\"");
    }
  }
  return frame;
}

inline Recording random_recording(std::uint64_t seed, int frames, double step = 0.125) {
  std::mt19937_64 rng(seed);
  Recording recording;
  recording.header.figures = {{"human", human28()},
                              {"tree", random_tree(seed, {.links = 8, .gears = 1})},
                              {"fixed", random_tree(seed + 1, {.links = 5, .base = Base::kFixed})}};
  recording.header.environment = {
      {.name = "floor", .origin = {.p = {0, 0, -0.05}, .rpy = {0.1, 0.2, 0.3}}, .shape = Box{{4, 4, 0.1}}},
      {.name = "bar", .shape = Capsule{0.02, 1.5}, .material = Material{.rgba = std::vector<double>{1, 0.5, 0.25, 1}}},
      {.shape = Sphere{0.3}},
      {.shape = Cylinder{0.1, 2}},
      {.name = "ground", .shape = Plane{}},
      {.shape = ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
      {.shape = HeightField{2, 3, 4, 5, {0, 0.1, 0.2, 0.3, 0.4, 0.5}}},
      {.shape = TriangleMesh{
           std::make_shared<TriangleMeshData>(TriangleMeshData{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}})}}};
  recording.header.numbers = {{"energy", "J"}, {"residual", ""}};
  recording.header.notes = {{"program", "test"}, {"seed", std::to_string(seed)}};
  for (int i = 0; i < frames; ++i) recording.frames.push_back(random_frame(recording.header, step * i, rng));
  return recording;
}

/// Whether two frames are the same to the bit.
inline bool same(const RecordedFrame& a, const RecordedFrame& b) {
  if (a.states.size() != b.states.size()) return false;
  for (std::size_t i = 0; i < a.states.size(); ++i) {
    if (a.states[i].q != b.states[i].q || a.states[i].v != b.states[i].v) return false;
  }
  return a.time == b.time && a.numbers == b.numbers && a.contacts == b.contacts && a.connections == b.connections &&
         a.events == b.events;
}

}  // namespace kansetsu::io
