#include <algorithm>
#include <optional>
#include <vector>

#include "io/mjcf/mjcf_reader.h"

namespace kansetsu::io::mjcf {
namespace {

constexpr int kShownGroups = 3;  ///< MuJoCo shows geoms of groups 0, 1 and 2 until a user asks for others

bool is_shown(const Geom& geom) { return geom.group < kShownGroups; }

}  // namespace

void hide_unshown_groups(Reader& reader) {
  const auto begin = reader.bodies.begin() + 1;  // after the world: a floor in view does not make a robot visible
  const bool any = std::any_of(begin, reader.bodies.end(),
                               [](const Body& b) { return std::any_of(b.geoms.begin(), b.geoms.end(), is_shown); });
  if (!any) return;
  for (Body& body : reader.bodies) {
    for (Geom& geom : body.geoms) {
      if (is_shown(geom)) continue;
      if (!geom.shape.material) geom.shape.material.emplace();
      std::optional<std::vector<double>>& rgba = geom.shape.material->rgba;
      if (!rgba || rgba->size() != 4) rgba = {0.5, 0.5, 0.5, 1};  // MuJoCo's default
      rgba->back() = 0;
    }
  }
}

}  // namespace kansetsu::io::mjcf
