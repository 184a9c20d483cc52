#pragma once

#include <algorithm>
#include <iterator>

#include "errors.h"
#include "kansetsu/scene/scene.h"

/// Keywords of worlds.
namespace kansetsu::python {

inline constexpr Word<Integrator> kIntegrators[] = {
    {"semi_implicit", Integrator::kSemiImplicit}, {"rk4", Integrator::kRk4}, {"adaptive", Integrator::kAdaptive}};
inline constexpr Word<SelfCollision> kSelfCollisions[] = {
    {"none", SelfCollision::kNone}, {"not_neighbours", SelfCollision::kNotNeighbours}, {"all", SelfCollision::kAll}};
inline constexpr Word<ConstraintMask> kMasks[] = {{"weld", kWeldMask},
                                                  {"point", kPointMask},
                                                  {"hinge", kHingeMask},
                                                  {"slider", kSliderMask},
                                                  {"cylindrical", kCylindricalMask},
                                                  {"universal", kUniversalMask},
                                                  {"point_in_plane", kPointInPlaneMask},
                                                  {"orientation", kOrientationMask}};
inline constexpr Word<ContactLaw> kContactLaws[] = {{"engine", ContactLaw::kEngine},
                                                    {"nakamura_yamane", ContactLaw::kNakamuraYamane}};
inline constexpr Word<ControlKind> kControlKinds[] = {
    {"torque", ControlKind::kTorque}, {"pd", ControlKind::kPd}, {"motion", ControlKind::kMotion}};

/// One of the keywords, or bits. @param what  e.g. "World.connect: mask"
inline ConstraintMask read_mask(const char* what, nb::handle mask) {
  std::string word;
  if (nb::try_cast(mask, word)) return read_word(what, word, kMasks);
  int bits = 0;
  if (!nb::try_cast(mask, bits) || bits < 1 || bits > kWeldMask)
    raise_value(std::string(what) + " is neither a word nor bits 1 to 63 of [turn x y z, shift x y z]");
  return ConstraintMask(bits);
}

/// Whether one number may be given for all six directions; not if rotations and translations have different units.
enum class OneForAll { kYes, kNo };
/// Numbers by direction, {"z": 0.5}; the others are `otherwise`.
inline PerDirection read_directions(const char* what, nb::handle value, OneForAll one, double otherwise) {
  PerDirection out = otherwise;
  double all = 0;
  if (value.is_none()) return out;
  if (one == OneForAll::kYes && nb::try_cast(value, all)) return all;
  nb::dict each;
  if (!nb::try_cast(value, each))
    raise_type(std::string(what) + " is no dict of directions, like {'z': 1e4, 'rx': 20.0}");
  for (const auto& [key, number] : each) {
    std::string name;
    const auto* found = nb::try_cast(key, name)
                            ? std::find(std::begin(kDirectionNames), std::end(kDirectionNames), name)
                            : std::end(kDirectionNames);
    if (found == std::end(kDirectionNames))
      raise_value(std::string(what) + ": a direction is not known; known: rx, ry, rz, x, y, z");
    if (!nb::try_cast(number, all)) raise_type(std::string(what) + ": " + name + " is no number");
    out[int(found - kDirectionNames)] = all;
  }
  return out;
}

}  // namespace kansetsu::python
