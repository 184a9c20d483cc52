#include "motion/force_fit.h"

#include <Eigen/Dense>
#include <cmath>

namespace kansetsu {
namespace {

struct Dual {
  std::span<const ForceRay> rays;
  const FitRows& w;
  const FitRows& compliance;

  FitRows gradient(const FitRows& y) const {
    FitRows g = compliance.cwiseProduct(y) - w;
    for (const ForceRay& ray : rays) {
      if (const double s = ray.a.dot(y); s > 0) g += (s / ray.cost) * ray.a;
    }
    return g;
  }
  Eigen::Matrix<double, 7, 7> curvature(const FitRows& y) const {
    Eigen::Matrix<double, 7, 7> H = compliance.asDiagonal();
    for (const ForceRay& ray : rays) {
      if (ray.a.dot(y) > 0) H += (1 / ray.cost) * ray.a * ray.a.transpose();
    }
    return H;
  }
};

/// The step along d at which φ is least: its slope is piecewise linear and rises.
double line_search(const Dual& dual, const FitRows& y, const FitRows& d) {
  double low = 0, high = 1;
  // Within one piece the slope at the end of Newton's step is zero, up to rounding.
  if (dual.gradient(y + d).dot(d) <= 1e-9 * std::abs(dual.gradient(y).dot(d))) return 1;
  for (int k = 0; k < 40; ++k) {
    const double middle = 0.5 * (low + high);
    (dual.gradient(y + middle * d).dot(d) > 0 ? high : low) = middle;
    if (low > 0 && high - low < 1e-3 * high) break;
  }
  return high;
}

}  // namespace

FitRows ForceFit::solve(std::span<const ForceRay> rays, const FitRows& w, const FitRows& compliance) {
  const Dual dual{rays, w, compliance};
  constexpr int kMost = 100;  // 3 to 8 in practice
  c_.resize(rays.size()), pushes_.resize(rays.size());
  const auto mark = [&] {  // @return  whether other rays push than before
    bool changed = false;
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const std::uint8_t now = rays[i].a.dot(y_) > 0;
      changed = changed || now != pushes_[i];
      pushes_[i] = now;
    }
    return changed;
  };
  mark();
  for (iterations_ = 0; iterations_ < kMost; ++iterations_) {
    const FitRows d = -dual.curvature(y_).ldlt().solve(dual.gradient(y_));
    const double step = line_search(dual, y_, d);
    y_ += step * d;
    // A whole step within one piece of the function ends at its minimum.
    if (!mark() && step == 1) break;
  }
  FitRows left = w;
  for (std::size_t i = 0; i < rays.size(); ++i) {
    c_[i] = std::max(0.0, rays[i].a.dot(y_)) / rays[i].cost;
    left -= c_[i] * rays[i].a;
  }
  return left;
}

}  // namespace kansetsu
