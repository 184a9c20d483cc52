#include "kansetsu/model/figures.h"

#include <charconv>
#include <string>

#include "kansetsu/model/builder.h"

namespace kansetsu {
namespace {

constexpr int kMostLinks = 100'000;

/// A uniform rod along z from the origin of its link.
LinkDescription rod(std::string name, double length, double mass, double radius) {
  const double across = mass * (length * length / 12 + radius * radius / 4), along = mass * radius * radius / 2;
  const Pose middle{.p = {0, 0, length / 2}};
  const LinkShape shape{.origin = middle, .shape = Cylinder{radius > 0 ? radius : 0.02, std::abs(length)}};
  return {.name = std::move(name),
          .inertial = Inertial{mass, middle, Sym3<>::diagonal(across, across, along)},
          .visuals = {shape}};
}

/// The number behind a prefix: 8 of "chain8".
std::optional<int> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  int n = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (error != std::errc() || end != name.data() + name.size() || n < 1 || n > kMostLinks) return std::nullopt;
  return n;
}

}  // namespace

Model pendulum(int links) {
  ModelBuilder builder(links == 1 ? "pendulum" : "pendulum" + std::to_string(links));
  builder.link("ground");
  std::string parent = "ground";
  for (int i = 1; i <= links; ++i) {
    const std::string name = "rod" + std::to_string(i);
    // Infinitely thin, so that the textbook's formulas hold exactly.
    builder.link(rod(name, -1, 1, 0))
        .joint({.name = "hinge" + std::to_string(i),
                .type = JointType::kRevolute,
                .parent = parent,
                .child = name,
                .socket = {.p = {0, 0, i == 1 ? 0.0 : -1.0}},
                .axis = {0, 1, 0}});
    parent = name;
  }
  return builder.build();
}

Model chain(int links, Base base) {
  constexpr double kLength = 0.3, kMass = 1, kRadius = 0.03;
  constexpr Vec3<> kAxes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  ModelBuilder builder("chain" + std::to_string(links));
  builder.base(base);
  std::string parent;
  if (base == Base::kFixed) {
    parent = "ground";
    builder.link(parent);
  }
  for (int i = 1; i <= links; ++i) {
    const std::string name = "link" + std::to_string(i);
    builder.link(rod(name, kLength, kMass, kRadius));
    if (!parent.empty()) {
      builder.joint({.name = "joint" + std::to_string(i),
                     .type = JointType::kRevolute,
                     .parent = parent,
                     .child = name,
                     .socket = {.p = {0, 0, i == 1 ? 0.0 : kLength}},
                     .axis = kAxes[(i - 1) % 3]});
    }
    parent = name;
  }
  return builder.build();
}

std::optional<Model> find_figure(std::string_view name) {
  if (name == "human28") return human28();
  if (name == "human28_ball") return human28_ball();
  if (name == "pendulum") return pendulum();
  if (const auto n = number_after("pendulum", name)) return pendulum(*n);
  if (const auto n = number_after("chain", name)) return chain(*n);
  return std::nullopt;
}

std::vector<std::string> figure_names() { return {"human28", "human28_ball", "pendulum", "pendulum2", "chain8"}; }

}  // namespace kansetsu
