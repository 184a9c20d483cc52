#include "io/mjcf/mjcf_surface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/number.h"
#include "io/scene_xml.h"
#include "io/text.h"

namespace kansetsu::io::mjcf {
namespace {

constexpr double kSameNumber = 1e-12;  // relative: rounding of one multiplication and one division

bool same(double a, double b) { return std::abs(a - b) <= kSameNumber * std::max(std::abs(a), std::abs(b)); }

/// Ignores what MuJoCo does not have: restitution, and a separate dynamic friction.
bool same(const ContactMaterial& a, const ContactMaterial& b) {
  return same(a.mu_s, b.mu_s) && (a.mu_s == 0 || same(a.spin_radius, b.spin_radius)) &&
         same(a.rolling_radius, b.rolling_radius) && same(a.clearance, b.clearance);
}

ContactMaterial own_material(const SurfaceKey& key) {
  return contact_material(key.friction, key.spin, key.rolling, key.clearance);
}

}  // namespace

/// MuJoCo's torsional coefficient is moment over normal force; ours is μ times two thirds of the radius.
ContactMaterial contact_material(double friction, double spin, double rolling, double clearance) {
  return {.mu_s = friction,
          .mu_d = friction,
          .spin_radius = friction > 0 ? 1.5 * spin / friction : 0,
          .rolling_radius = rolling,
          .clearance = clearance};
}

SurfaceKey surface_key(const ContactMaterial& m) {
  return {.friction = m.mu_s,
          .spin = m.spin_radius * m.mu_s / 1.5,
          .rolling = m.rolling_radius,
          .frictionless = m.mu_s == 0,
          .clearance = m.clearance};
}

std::string surface_name(const SurfaceKey& key) {
  std::string name = key.frictionless ? fmt::format("smooth_{}", format_number(key.friction))
                                      : fmt::format("friction_{}", format_number(key.friction));
  if (key.spin > 0) name += fmt::format("_spin_{}", format_number(key.spin));
  if (key.rolling > 0) name += fmt::format("_rolling_{}", format_number(key.rolling));
  if (key.clearance > 0) name += fmt::format("_clearance_{}", format_number(key.clearance));
  if (key.priority != 0) name += fmt::format("_priority_{}", key.priority);
  return name;
}

/// The parameters of the higher priority; for equal priorities the maximum.
ContactMaterial pair_material(const SurfaceKey& a, const SurfaceKey& b) {
  if (a.priority != b.priority) {
    const SurfaceKey& chosen = a.priority > b.priority ? a : b;
    return contact_material(chosen.frictionless ? 0 : chosen.friction, chosen.spin, chosen.rolling,
                            a.clearance + b.clearance);
  }
  return contact_material(a.frictionless && b.frictionless ? 0 : std::max(a.friction, b.friction),
                          std::max(a.spin, b.spin), std::max(a.rolling, b.rolling), a.clearance + b.clearance);
}

void add_surfaces(const std::vector<SurfaceKey>& keys, SceneDescription& scene) {
  scene.default_surface = {.mu_s = 1, .mu_d = 1};
  constexpr CombineRule kLarger = CombineRule::kMaximum;
  scene.surface_rules = {kLarger, kLarger, kLarger, kLarger};
  for (const SurfaceKey& key : keys) scene.surfaces.push_back({surface_name(key), own_material(key)});
  for (auto a = keys.begin(); a != keys.end(); ++a) {
    for (auto b = a; b != keys.end(); ++b) {
      const ContactMaterial pair = pair_material(*a, *b);
      if (pair == combine(own_material(*a), own_material(*b), scene.surface_rules)) continue;
      scene.surface_pairs.push_back({surface_name(*a), surface_name(*b), pair});
    }
  }
}

/// A surface gets a higher priority than another if their pair has its parameters and differs from the rule for equal priorities.
/// The order has at most as many levels as there are surfaces.
SurfaceKeys::SurfaceKeys(const SceneDescription& scene, std::vector<std::string> used) {
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const std::string& name : used) {
    const ContactMaterial& m = surface_material(scene, name);
    SurfaceKey key = surface_key(m);
    key.frictionless = surface_pair(scene, name, name).mu_s == 0;
    if (key.frictionless) key.spin = key.rolling = 0;
    keys_.emplace(name, key);
    if (m.mu_d != m.mu_s || m.restitution != 0) lost_numbers_.push_back(quote(name));
  }
  std::vector<std::pair<std::string, std::string>> above;
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t j = 0; j < used.size(); ++j) {
      const SurfaceKey &a = keys_.at(used[i]), &b = keys_.at(used[j]);
      const ContactMaterial pair = surface_pair(scene, used[i], used[j]);
      if (i == j || same(pair, pair_material(a, b))) continue;
      SurfaceKey higher = a;
      higher.priority = b.priority + 1;
      if (same(pair, pair_material(higher, b))) above.emplace_back(used[i], used[j]);
    }
  }
  for (std::size_t round = 0; round < used.size(); ++round) {
    for (const auto& [a, b] : above) keys_.at(a).priority = std::max(keys_.at(a).priority, keys_.at(b).priority + 1);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t j = i; j < used.size(); ++j) {
      if (!same(surface_pair(scene, used[i], used[j]), pair_material(keys_.at(used[i]), keys_.at(used[j]))))
        lost_.push_back(fmt::format("{} and {}", quote(used[i]), quote(used[j])));
    }
  }
}

}  // namespace kansetsu::io::mjcf
