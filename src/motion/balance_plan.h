#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

namespace kansetsu {

/// How a clip on two feet is kept up, frame by frame, known before it is followed. docs/theory/walking.md §5.
///
/// x = (e, ė, s₀, s₁) along one direction of the ground: how far the mass centre is from its plan, its rate, and how far the left and
/// the right foothold have been moved.
using BalanceState = Eigen::RowVector4d;

struct BalanceFrame {
  double stiffness = 0;                ///< λ [1/s²]: ë = λ·(e − Σ shareᵢ·sᵢ − u); none in flight
  std::array<double, 2> share{};       ///< of the load on each foot
  BalanceState pressure{};             ///< u = pressure·x moves the centre of pressure [m]
  std::array<BalanceState, 2> land{};  ///< land·x is how far the next foothold of each foot will have to be moved [m]
};

/// What is known of a frame of the clip.
struct BalanceMoment {
  double stiffness = 0;
  std::array<double, 2> share{};
  std::array<bool, 2> down{};
};

struct BalanceCosts {
  double rate = 3;      ///< ω [1/s]
  double sole = 0.04;   ///< [m] by which the pressure moves as easily …
  double reach = 0.15;  ///< [m] … as a foothold moves by this, seen from the mass centre
};

/// The linear feedback of least cost over the rest of the clip, for each of its frames:
///
///     min ∫ ω·u²/sole² dt + Σ over landings (s − e)²/reach² + (ξ − s̄)²/sole² at the end,   ξ = e + ė/ω
std::vector<BalanceFrame> plan_balance(const std::vector<BalanceMoment>& moments, double dt, const BalanceCosts& costs);

}  // namespace kansetsu
