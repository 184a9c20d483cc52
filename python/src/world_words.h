#pragma once

#include "errors.h"
#include "kansetsu/model/scene.h"

/// Words for choices in worlds.
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
inline constexpr Word<ControlKind> kControlKinds[] = {
    {"torque", ControlKind::kTorque}, {"pd", ControlKind::kPd}, {"motion", ControlKind::kMotion}};

/// One of the words, or bits. @param what  e.g. "World.connect: mask"
inline ConstraintMask read_mask(const char* what, nb::handle mask) {
  std::string word;
  if (nb::try_cast(mask, word)) return read_word(what, word, kMasks);
  int bits = 0;
  if (!nb::try_cast(mask, bits) || bits < 1 || bits > kWeldMask)
    raise_value(std::string(what) + " is neither a word nor bits 1 to 63 of [turn x y z, shift x y z]");
  return ConstraintMask(bits);
}

#define BODY "Body | Figure | str | tuple[str, str] | None"
#define FIGURE "Figure | str"

}  // namespace kansetsu::python
