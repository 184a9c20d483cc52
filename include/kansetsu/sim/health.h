#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kansetsu/model/description.h"

/// How far the numbers of a world may be trusted. docs/guide/world.md, "Health".
namespace kansetsu {

/// Numbers beyond these limits are reported. Tests on either side: tests/scenarios/health_test.cc.
struct HealthLimits {
  /// [m]. More than rounding and tolerances explain: shapes that began inside each other, or a step that is too long.
  double penetration = 1e-3;
  double
      gap = 1e-3,
      angle =
          1e-3;  ///< [m], [rad] of connections in the last step; one that closes over several steps counts as open until then
  double residual = kInfinity;  ///< of contacts; those above the solver's own tolerance are unsolved anyway
  double unsolved_share = 0;    ///< of contacts, from the start
  /// Of the energy that has moved, unexplained by works and impacts. A step of a tenth of the fastest period loses a hundredth.
  double energy_share = 0.01;
};

/// A number beyond its limit.
struct HealthFinding {
  std::string what{};   ///< penetration, gap, angle, residual, unsolved contacts, energy
  std::string where{};  ///< the bodies or the connection, where the last step shows it; else empty
  double value = 0, limit = 0;
  std::string unit{};

  std::string text() const;  ///< one line with names and values
};

/// From the start of the world, or from when somebody last changed it: figures, states, springs, gravity, a snapshot.
struct WorldHealth {
  double since = 0, time = 0;  ///< [s]
  double energy = 0;           ///< kinetic and potential [J]
  double energy_drift = 0;     ///< what works and impacts since then do not explain; positive: gained [J]
  double energy_moved = 0;     ///< what went to and fro: the most kinetic energy seen, works and impacts [J]
  double penetration = 0;      ///< deepest, from the start [m]
  double gap = 0, angle = 0;   ///< of connections, in the last step [m], [rad]
  double residual = 0;         ///< worst, from the start
  std::uint64_t contacts = 0;  ///< solved or not, from the start
  std::uint64_t unsolved = 0;  ///< of them: ContactTier::kUnsolved
  std::vector<HealthFinding> findings{};

  bool ok() const { return findings.empty(); }
  double unsolved_share() const { return contacts == 0 ? 0 : double(unsolved) / double(contacts); }
};

}  // namespace kansetsu
