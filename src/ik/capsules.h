#pragma once

#include <Eigen/Core>

#include "kansetsu/spatial/vec3.h"

namespace kansetsu::ik {

struct Segment {
  Vec3<> a, b;
};
struct ClosestPoints {
  Vec3<> first, second;
};
/// The points of two segments that are nearest to each other; of parallel ones, some such pair.
ClosestPoints closest_points(const Segment& first, const Segment& second);

/// Of a symmetric positive semidefinite matrix, by elimination: never negative.
double determinant(Eigen::Matrix<double, 6, 6> A);

}  // namespace kansetsu::ik
