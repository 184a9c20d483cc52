#include "kansetsu/model/figures.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/human.h"

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
          .visuals = {shape},
          .collisions = {shape}};
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

Model long_tree(int links) {
  constexpr std::size_t kReach = 16;
  std::mt19937_64 rng(2);
  ModelDescription d = chain(links).description();
  d.name = "tree" + std::to_string(links);
  for (std::size_t j = 0; j < d.joints.size(); ++j) {
    const std::size_t child = j + 1, back = 1 + rng() % std::min(child, kReach);
    d.joints[j].parent = d.links[child - back].name;
  }
  return value_or_throw(Model::build(std::move(d)));
}

Model rope(int links, const RopeOptions& o) {
  if (links < 2 || !(o.length > 0) || !(o.chord > 0) || !(o.chord < o.length) || !(o.mass > 0)) {
    throw Error("rope: " + std::to_string(links) + " links, length " + std::to_string(o.length) + " m, chord " +
                std::to_string(o.chord) + " m, mass " + std::to_string(o.mass) + " kg make no arc");
  }
  // A polygon of equal sides, each turned by `bend` from the last: its chord is piece·sin(links·bend/2)/sin(bend/2).
  const double piece = o.length / links;
  double low = 0, high = 2 * std::numbers::pi / links;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    const double chord = piece * std::sin(0.5 * links * middle) / std::sin(0.5 * middle);
    (chord > o.chord ? low : high) = middle;
  }
  const double bend = 0.5 * (low + high);
  // Links lie along −z of their frames; the first one's frame is that of the arc, and its rod is turned in it.
  const double first = 0.5 * (links - 1) * bend - 0.5 * std::numbers::pi;
  const Vec3<> along{0, std::sin(first), -std::cos(first)};
  const double radius = std::min(0.01, 0.02 * o.length);
  ModelBuilder builder("rope" + std::to_string(links));
  builder.base(Base::kFree);
  for (int i = 1; i <= links; ++i) {
    const Pose middle{.p = i == 1 ? 0.5 * piece * along : Vec3<>{0, 0, -0.5 * piece},
                      .rpy = {i == 1 ? first : 0, 0, 0}};
    LinkDescription link = rod("link" + std::to_string(i), -piece, o.mass / links, 0.1 * radius);
    link.inertial->origin = middle;
    link.visuals = link.collisions = {{.origin = middle, .shape = Capsule{radius, piece}}};
    builder.link(std::move(link));
    if (i == 1) continue;
    const Pose socket{.p = i == 2 ? piece * along : Vec3<>{0, 0, -piece}, .rpy = {i == 2 ? first - bend : -bend, 0, 0}};
    builder.joint({.name = "joint" + std::to_string(i),
                   .type = JointType::kRevolute,
                   .parent = "link" + std::to_string(i - 1),
                   .child = "link" + std::to_string(i),
                   .socket = socket,
                   .axis = i % 2 == 0 ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0},
                   .dofs = {{.damping = o.damping}}});
  }
  builder.frame({"end", "link" + std::to_string(links), {.p = {0, 0, -piece}}});
  return builder.build();
}

std::optional<Model> find_figure(std::string_view name) {
  if (name == "human28") return human28();
  if (name == "human28_ball") return human28_ball();
  if (const auto options = parse_human(name)) return human(*options);
  if (name == "pendulum") return pendulum();
  if (const auto n = number_after("pendulum", name)) return pendulum(*n);
  if (const auto n = number_after("chain", name)) return chain(*n);
  if (const auto n = number_after("tree", name)) return long_tree(*n);
  if (const auto n = number_after("rope", name); n && *n >= 2) return rope(*n);
  return std::nullopt;
}

std::vector<std::string> figure_names() {
  return {"human28", "human28_ball", "human", "pendulum", "pendulum2", "chain8", "tree100", "rope100"};
}

}  // namespace kansetsu
