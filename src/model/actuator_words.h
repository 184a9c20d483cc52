#pragma once

#include "base/schema.h"
#include "kansetsu/model/actuator.h"

/// The words by which files name the values of enumerations, in their order.
namespace kansetsu {

template <>
inline constexpr std::array<std::string_view, 6> kWords<Transmission>{"joint", "joint_in_parent", "tendon",
                                                                      "site",  "slider_crank",    "body"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<GainLaw>{"fixed", "affine", "muscle", "hill"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<BiasLaw>{"none", "affine", "muscle", "hill"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<ActivationLaw>{"none", "integrator", "filter", "muscle"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<HillCurves>{"thelen", "millard", "de_groote"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<CoordinateFunction::Kind>{"polynomial", "spline", "segments",
                                                                                  "sine"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<TendonPartKind>{"point", "pulley", "sphere", "cylinder"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<TendonSide>{"point", "half"};

}  // namespace kansetsu
