#include <algorithm>
#include <cmath>

#include "kansetsu/motion/walk.h"

namespace kansetsu {
namespace {

/// Which step of a stair x is on: 0 before it.
double step_number(const Terrain& t, double x) {
  return std::clamp(std::floor((x - t.stair_start) / t.stair_run) + 1, 0.0, double(t.stair_count));
}

}  // namespace

double Terrain::height(double x) const {
  const double stair = stair_rise == 0 ? 0 : stair_rise * step_number(*this, x);
  return std::tan(slope) * x + stair;
}

Vec3<> Terrain::normal() const { return {-std::sin(slope), 0, std::cos(slope)}; }

double Terrain::even_height(double x) const {
  if (stair_rise == 0) return height(x);
  const double along = std::clamp((x - stair_start) / stair_run + 0.5, 0.0, double(stair_count));
  return std::tan(slope) * x + stair_rise * along;
}

double Terrain::even_grade(double x) const {
  if (stair_rise == 0) return std::tan(slope);
  const double along = (x - stair_start) / stair_run + 0.5;
  return std::tan(slope) + (along > 0 && along < stair_count ? stair_rise / stair_run : 0);
}

double Terrain::foothold(double x, double half_length) const {
  if (stair_rise == 0) return x;
  constexpr double kFromEdge = 0.02;  // [m]
  const double room = half_length + kFromEdge;
  const double edge = stair_start + std::round((x - stair_start) / stair_run) * stair_run;  // the nearest one
  const double last = stair_start + (stair_count - 1) * stair_run;
  if (edge < stair_start - 1e-9 || edge > last + 1e-9 || std::abs(x - edge) >= room) return x;
  return x < edge ? edge - room : edge + room;
}

}  // namespace kansetsu
