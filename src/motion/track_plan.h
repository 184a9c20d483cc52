#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kansetsu/motion/biped.h"
#include "kansetsu/motion/contacts.h"
#include "motion/balance_plan.h"

namespace kansetsu {

inline constexpr double kLeastHeight = 0.3;  ///< [m] of a mass centre over its feet, for plans and control

/// A stretch of a clip in which something beside the soles carries.
struct OtherSupport {
  std::string name;           ///< "right palm", "seat", …
  double start = 0, end = 0;  ///< [s]
  LinkId link{0};
  Vec3<> point{};      ///< of the link
  bool grips = false;  ///< holds on to something
  bool on_floor() const { return !grips && name != "seat"; }
};

/// A clip as a figure on its feet can follow it, at even times: filtered, falling where nothing carries it, and with a path of the
/// centre of mass whose forces act where the feet are. docs/theory/walking.md §5.
struct TrackPlan {
  struct Foot {
    std::vector<std::uint8_t> heel, toe;  ///< down
    std::vector<double> until_down;       ///< [s] of a foot in the air, until it lands; 0 of one that is down
    std::vector<double> in_air;           ///< [s] since it left the ground
    bool down(int k) const { return heel[size_t(k)] || toe[size_t(k)]; }
  };
  /// The mass centre, and the angular momentum about it.
  struct Centre {
    Vec3<> p{}, v{}, a{};
    Vec3<> momentum{}, moment{};  ///< [N·m·s, N·m]
    Vec3<> turning{};             ///< [m/s²] the part of `a` that goes with the moment, where feet are down
  };
  Clip clip{};
  Eigen::MatrixXd v{}, vdot{};  ///< nv × frames
  double dt = 0;
  Foot left, right;
  std::vector<Centre> centre;
  std::vector<BalanceFrame> balance;
  std::vector<double> until_flight;   ///< [s] until the next flight that is one
  std::vector<double> until_landing;  ///< [s] until a foot lands
  std::vector<OtherSupport> others;
  const Foot& foot(bool is_left) const { return is_left ? left : right; }
  std::vector<std::uint8_t> other_down;  ///< whether one of them carries
  bool flies(int k) const { return !left.down(k) && !right.down(k) && !other_down[size_t(k)]; }
};

/// [m] height of the lowest corner of a sole.
double lowest_corner(const Sole& sole, const Transform<>& X_WS);

/// @param clip    evenly spaced
/// @param cutoff  [Hz] of the low pass; 0: none; negative: as the analysis of captures has it, higher where the clip flies
/// @param rate    [Hz] of the frames it was made from: of what is above a quarter of it, the clip knows nothing
TrackPlan plan_track(const Model& model, const Biped& biped, const Clip& clip, double cutoff, double rate);

}  // namespace kansetsu
