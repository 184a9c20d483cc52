#pragma once

#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kansetsu/scene/scene.h"

/// Conversion between contact parameters of geoms and surfaces of a scene.
namespace kansetsu::io::mjcf {

/// The contact parameters of a geom.
struct SurfaceKey {
  double friction = 1;
  double spin = 0, rolling = 0;  ///< moments by the pressure [m]; 0 where condim does not ask for them
  bool frictionless = false;     ///< condim 1
  int priority = 0;
  double clearance = 0;
  auto operator<=>(const SurfaceKey&) const = default;

  int condim() const { return frictionless ? 1 : rolling > 0 ? 6 : spin > 0 ? 4 : 3; }
};

/// From MuJoCo's coefficients: sliding, torsional [m], rolling [m].
ContactMaterial contact_material(double friction, double spin, double rolling, double clearance = 0);
/// The contact parameters of a geom of that material.
SurfaceKey surface_key(const ContactMaterial& material);
/// MuJoCo's combination rule for two geoms.
ContactMaterial pair_material(const SurfaceKey& a, const SurfaceKey& b);
std::string surface_name(const SurfaceKey& key);
/// Adds surfaces, and pairs where the scene's rules differ from MuJoCo's.
void add_surfaces(const std::vector<SurfaceKey>& keys, SceneDescription& scene);

/// The surfaces of a scene as contact parameters of geoms.
class SurfaceKeys {
 public:
  /// @param used  names of the surfaces of shapes; an empty name is the default surface
  SurfaceKeys(const SceneDescription& scene, std::vector<std::string> used);

  const SurfaceKey& of(const std::string& surface) const { return keys_.at(surface); }
  /// Pairs that MuJoCo's rule cannot express, e.g. "'rubber' and 'ice'".
  const std::vector<std::string>& lost_pairs() const { return lost_; }
  /// Surfaces with different static and dynamic friction, or with restitution.
  const std::vector<std::string>& lost_numbers() const { return lost_numbers_; }

 private:
  std::map<std::string, SurfaceKey> keys_;
  std::vector<std::string> lost_, lost_numbers_;
};

}  // namespace kansetsu::io::mjcf
