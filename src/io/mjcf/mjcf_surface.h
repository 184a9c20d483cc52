#pragma once

#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kansetsu/scene/scene.h"

/// What geoms are made of in MuJoCo's terms, and how that and the surfaces of a scene tell the same.
namespace kansetsu::io::mjcf {

/// What a geom says of contacts.
struct SurfaceKey {
  double friction = 1;
  double spin = 0, rolling = 0;  ///< moments by the pressure [m]; 0 where condim does not ask for them
  bool frictionless = false;     ///< condim 1
  int priority = 0;
  double clearance = 0;
  auto operator<=>(const SurfaceKey&) const = default;

  int condim() const { return frictionless ? 1 : rolling > 0 ? 6 : spin > 0 ? 4 : 3; }
};

/// Of coefficients as MuJoCo has them: sliding, torsional [m], rolling [m].
ContactMaterial contact_material(double friction, double spin, double rolling, double clearance = 0);
/// The other way round: what a geom of that material says, by itself.
SurfaceKey surface_key(const ContactMaterial& material);
/// MuJoCo's rule for two geoms.
ContactMaterial pair_material(const SurfaceKey& a, const SurfaceKey& b);
std::string surface_name(const SurfaceKey& key);
/// Surfaces, and pairs of them where the scene's rules say something else than MuJoCo's.
void add_surfaces(const std::vector<SurfaceKey>& keys, SceneDescription& scene);

/// A scene's surfaces as geoms would have them.
class SurfaceKeys {
 public:
  /// @param used  names of surfaces that shapes have; empty: the default one
  SurfaceKeys(const SceneDescription& scene, std::vector<std::string> used);

  const SurfaceKey& of(const std::string& surface) const { return keys_.at(surface); }
  /// Pairs for which MuJoCo's rule says something else, e.g. "'rubber' and 'ice'".
  const std::vector<std::string>& lost_pairs() const { return lost_; }
  /// Surfaces whose friction differs between rest and sliding, or that rebound.
  const std::vector<std::string>& lost_numbers() const { return lost_numbers_; }

 private:
  std::map<std::string, SurfaceKey> keys_;
  std::vector<std::string> lost_, lost_numbers_;
};

}  // namespace kansetsu::io::mjcf
