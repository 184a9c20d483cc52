#include "actuation/muscle.h"

#include <algorithm>

namespace kansetsu {
namespace {

constexpr double kLeast = 1e-15;  // what numbers are divided by

/// The numbers of a muscle by name; lengths in optimal ones.
struct Curve {
  double optimum;  ///< length at which the active force is largest [m]
  double first, lmin, lmax, vmax, fpmax, fvmax, force;
};
Curve curve(const Interval& range, const LawNumbers& n) {
  const double optimum = (range.upper - range.lower) / std::max(kLeast, n[1] - n[0]);
  return {std::max(kLeast, optimum), n[0], n[4], n[5], n[6], n[7], n[8], n[2]};
}

/// Two parabolas on either side of 1; zero beyond lmin and lmax.
void active_length(double l, const Curve& c, double& f, double& df) {
  f = df = 0;
  if (l < c.lmin || l > c.lmax) return;
  const double a = 0.5 * (c.lmin + 1), b = 0.5 * (1 + c.lmax);
  const auto foot = [&](double x, double width, double sign) { f = 0.5 * x * x, df = sign * x / width; };
  const auto head = [&](double x, double width, double sign) { f = 1 - 0.5 * x * x, df = -sign * x / width; };
  if (l <= a) {
    const double w = std::max(kLeast, a - c.lmin);
    foot((l - c.lmin) / w, w, 1);
  } else if (l <= 1) {
    const double w = std::max(kLeast, 1 - a);
    head((1 - l) / w, w, -1);
  } else if (l <= b) {
    const double w = std::max(kLeast, b - 1);
    head((l - 1) / w, w, 1);
  } else {
    const double w = std::max(kLeast, c.lmax - b);
    foot((c.lmax - l) / w, w, -1);
  }
}

void active_velocity(double v, const Curve& c, double& f, double& df) {
  const double y = c.fvmax - 1;
  if (v <= -1) {
    f = df = 0;
  } else if (v <= 0) {
    f = (v + 1) * (v + 1), df = 2 * (v + 1);
  } else if (v <= y) {
    f = c.fvmax - (y - v) * (y - v) / std::max(kLeast, y), df = 2 * (y - v) / std::max(kLeast, y);
  } else {
    f = c.fvmax, df = 0;
  }
}

}  // namespace

MuscleValue muscle_gain(double length, double velocity, const Interval& range, const LawNumbers& n) {
  const Curve c = curve(range, n);
  const double fastest = std::max(kLeast, c.optimum * c.vmax);
  double fl, dl, fv, dv;
  active_length(c.first + (length - range.lower) / c.optimum, c, fl, dl);
  active_velocity(velocity / fastest, c, fv, dv);
  return {-c.force * fl * fv, -c.force * dl * fv / c.optimum, -c.force * fl * dv / fastest};
}

MuscleValue muscle_bias(double length, const Interval& range, const LawNumbers& n) {
  const Curve c = curve(range, n);
  const double l = c.first + (length - range.lower) / c.optimum, b = 0.5 * (1 + c.lmax), w = std::max(kLeast, b - 1);
  if (l <= 1) return {};
  const double scale = -c.force * c.fpmax;
  if (l > b) return {scale * (0.5 + (l - b) / w), scale / (w * c.optimum), 0};
  const double x = (l - 1) / w;
  return {scale * 0.5 * x * x, scale * x / (w * c.optimum), 0};
}

double muscle_activation_rate(double control, double activation, const std::array<double, 3>& t) {
  const double u = std::clamp(control, 0.0, 1.0), x = std::clamp(activation, 0.0, 1.0), change = u - activation;
  const double rising = t[0] * (0.5 + 1.5 * x), falling = t[1] / (0.5 + 1.5 * x);
  double tau = change > 0 ? rising : falling;
  if (t[2] >= kLeast) {
    const double s = std::clamp(change / t[2] + 0.5, 0.0, 1.0);
    tau = falling + (rising - falling) * s * s * s * (s * (6 * s - 15) + 10);
  }
  return change / std::max(kLeast, tau);
}

}  // namespace kansetsu
