#pragma once

#include <cmath>

#include "kansetsu/spatial/vec3.h"

/// The capture point ξ = c + ċ/ω of a pendulum of constant height: ξ̇ = ω·(ξ − z), z where the ground pushes. All formulas hold
/// for each horizontal coordinate by itself. docs/theory/walking.md §2.
namespace kansetsu {

/// One step: `single` seconds on one foot, then `shared` seconds in which the pressure moves evenly to the next.
struct StepTiming {
  double single = 0.4, shared = 0.1;
  double total() const { return single + shared; }
};

/// What is along the ground.
inline Vec3<> flat(const Vec3<>& p) { return {p.x, p.y, 0}; }

inline constexpr double kCaptureGain = 4;  ///< [1/s] at which the pressure corrects the capture point
inline constexpr double kMostTorque = 10;  ///< [weight · height of the centre of mass] beyond it control has failed

class CapturePoint {
 public:
  explicit CapturePoint(double omega) : omega_(omega) {}
  double omega() const { return omega_; }

  double growth(double time) const { return std::exp(omega_ * time); }
  /// (e^a − 1)/a with a = ω·time: how much of a stride counts when the pressure takes `time` for it.
  double stretch(double time) const {
    const double a = omega_ * time;
    return a < 1e-6 ? 1 + 0.5 * a : std::expm1(a) / a;
  }
  /// Where ξ must be ahead of the foot when a step on it begins, for a gait that repeats itself: strides that are all alike
  /// (forwards), or alternate (sideways: towards the other foot).
  double offset_ahead(const StepTiming& t, double stride) const {
    return stride * stretch(t.shared) / (growth(t.total()) - 1);
  }
  double offset_aside(const StepTiming& t, double stride) const {
    return stride * stretch(t.shared) / (growth(t.total()) + 1);
  }
  /// The foothold after which ξ will be `offset` from it, for ξ now with `left` seconds to stand on the foot at z.
  double foothold(const StepTiming& t, double xi, double z, double left, double offset) const {
    return z + (growth(left + t.shared) * (xi - z) - offset) / stretch(t.shared);
  }
  /// While the pressure moves from z to `next` in `left` seconds: where ξ must be now to end `offset` from it.
  double shared_reference(double z, double next, double left, double offset) const {
    return z + (offset + (next - z) * stretch(left)) / growth(left);
  }

 private:
  double omega_;
};

}  // namespace kansetsu
