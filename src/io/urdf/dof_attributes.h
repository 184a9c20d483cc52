#pragma once

#include "kansetsu/model/description.h"

/// The data of a joint coordinate under the names they have in files.
namespace kansetsu::io {

struct DofAttribute {
  const char* name;
  double DofDescription::* member;
  bool is_limit;  ///< may be infinite
};

inline constexpr DofAttribute kDofAttributes[] = {
    {"lower", &DofDescription::lower, true},
    {"upper", &DofDescription::upper, true},
    {"velocity", &DofDescription::velocity, true},
    {"effort", &DofDescription::effort, true},
    {"rotor_inertia", &DofDescription::rotor_inertia, false},
    {"damping", &DofDescription::damping, false},
    {"friction", &DofDescription::friction, false},
    {"stiffness", &DofDescription::stiffness, false},
    {"rest", &DofDescription::rest, false},
};

}  // namespace kansetsu::io
