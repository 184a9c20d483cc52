#pragma once

#include "kansetsu/ik/method.h"

namespace kansetsu::ik {

/// The remaining rotation, in axes of the target, and its rows: −∂e = M·ω, ω in world axes.
struct RotationError {
  Vec3<> e;
  Mat3<> M;
};

/// e = G(x_d)·(x_d − x) with the parameters x of a method (tangents: of R·R_dᵀ): to first order the remaining rotation for all
/// methods, so that weights and tolerances mean the same. M = G(x_d)·G(x)⁻¹·Rᵀ. docs/theory/ik.md §2.
RotationError rotation_error(const RotationNumbers& numbers, const Mat3<>& target, const Mat3<>& R);

/// Least determinant of a rate matrix that is inverted: Euler angles are taken to be no nearer to gimbal lock than 1e-6 rad,
/// where their rates are a million times those of the rotation, and half the digits of a step are gone.
inline constexpr double kLeastRate = 1e-6;

}  // namespace kansetsu::ik
