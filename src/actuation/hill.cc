#include "actuation/hill.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kansetsu {
namespace {

/// Fibres shorter than this share of their optimal length carry nothing: there, the angle to the tendon means little.
constexpr double kShortest = 0.05;

/// Three bells of De Groote et al. 2016, eq. S5: height, middle, width at length 0 and what it grows by.
constexpr double kBells[3][4] = {{0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465},
                                 {0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188},
                                 {0.1, 1.0, 0.35355339059327379, 0}};
/// Force over velocity of the same, eq. S6: d₁·asinh(d₂·v + d₃) + d₄.
constexpr double kVelocity[4] = {-0.3211346127989808, -8.149, -0.374, 0.8825327733249912};

/// Active force over length of Millard et al. 2013 with their usual numbers, but without the least force that their solver needs: from
/// 0.4 optimal lengths on, in steps of 0.05. Cubics between with the slopes of neighbours are within 0.01 of it.
constexpr double kMillardFirst = 0.4, kMillardStep = 0.05;
constexpr std::array kMillard{0.0000, 0.0000, 0.0985, 0.2740, 0.4511, 0.6262, 0.7670, 0.8260, 0.8707, 0.9138, 0.9568,
                              0.9951, 1.0000, 0.9964, 0.9574, 0.8924, 0.8237, 0.7540, 0.6840, 0.6139, 0.5437, 0.4735,
                              0.4033, 0.3332, 0.2630, 0.1930, 0.1232, 0.0543, 0.0010, 0.0000, 0.0000};

CurveValue millard_active(double l) {
  const double at = (l - kMillardFirst) / kMillardStep;
  static constexpr long kLast = long(kMillard.size()) - 1;
  if (!(at > 0) || at >= double(kLast)) return {};
  const long k = long(at);
  const auto y = [](long i) { return kMillard[std::size_t(std::clamp(i, 0L, kLast))]; };
  const double t = at - double(k), a = y(k), b = y(k + 1), da = 0.5 * (b - y(k - 1)), db = 0.5 * (y(k + 2) - a);
  const double c2 = 3 * (b - a) - 2 * da - db, c3 = 2 * (a - b) + da + db;
  const double value = a + t * (da + t * (c2 + t * c3));
  if (value < 0) return {};  // where the curve leaves zero
  return {value, (da + t * (2 * c2 + 3 * c3 * t)) / kMillardStep};
}

/// Fibres of constant thickness on a tendon that does not stretch.
struct Fibres {
  double along = 0;      ///< length along the tendon [m]
  double length = 0;     ///< in optimal ones
  double cosine = 1;     ///< of the angle to the tendon
  double turn_rate = 0;  ///< d cosine / d(length of muscle and tendon) [1/m]
};
Fibres fibres_at(double length, const HillMuscle& m) {
  const double along = length - m.tendon_length, thickness = m.fibre_length * std::sin(m.pennation);
  if (!(along > kShortest * m.fibre_length)) return {};
  const double fibre = std::hypot(along, thickness), sine = thickness / fibre;
  return {along, fibre / m.fibre_length, along / fibre, sine * sine / fibre};
}

}  // namespace

CurveValue active_over_length(double l, const HillMuscle& m) {
  if (m.curves == HillCurves::kThelen) {
    const double value = std::exp(-(l - 1) * (l - 1) / m.width);
    return {value, -2 * (l - 1) / m.width * value};
  }
  if (m.curves == HillCurves::kMillard) return millard_active(l);
  CurveValue out;
  for (const auto& [height, middle, width, growth] : kBells) {
    const double w = width + growth * l, x = (l - middle) / w, bell = height * std::exp(-0.5 * x * x);
    out.value += bell;
    out.slope += -x * (1 - growth * x) / w * bell;
  }
  return out;
}

CurveValue active_over_velocity(double v, const HillMuscle& m) {
  if (v <= -1) return {};
  if (m.curves == HillCurves::kDeGroote) {
    const double x = kVelocity[1] * v + kVelocity[2], value = kVelocity[0] * std::asinh(x) + kVelocity[3];
    if (value <= 0) return {};
    return {value, kVelocity[0] * kVelocity[1] / std::sqrt(x * x + 1)};
  }
  if (v <= 0) {
    const double below = 1 - v / m.curvature;
    return {(1 + v) / below, (1 + 1 / m.curvature) / (below * below)};
  }
  const double k = 2 + 2 / m.curvature, gain = m.lengthening - 1, below = gain + k * v;
  return {(gain + k * v * m.lengthening) / below, k * gain * gain / (below * below)};
}

CurveValue passive_over_length(double l, const HillMuscle& m) {
  if (l <= 1) return {};
  const double rate = m.passive_shape / m.passive_strain, whole = std::expm1(m.passive_shape);
  const double over = l - 1 - m.passive_strain;
  if (over > 0) {  // straight on: nothing is known beyond
    const double slope = rate * (whole + 1) / whole;
    return {1 + slope * over, slope};
  }
  return {std::expm1(rate * (l - 1)) / whole, rate * std::exp(rate * (l - 1)) / whole};
}

MuscleValue hill_gain(double length, double velocity, const HillMuscle& m) {
  const Fibres f = fibres_at(length, m);
  if (f.along <= 0) return {};
  const double fastest = m.fibre_length * m.fastest;
  const CurveValue fl = active_over_length(f.length, m), fv = active_over_velocity(velocity * f.cosine / fastest, m);
  const double by_length = fl.slope * f.cosine / m.fibre_length * fv.value * f.cosine +
                           fl.value * fv.slope * velocity * f.turn_rate / fastest * f.cosine +
                           fl.value * fv.value * f.turn_rate;
  return {-m.force * fl.value * fv.value * f.cosine, -m.force * by_length,
          -m.force * fl.value * fv.slope * f.cosine * f.cosine / fastest};
}

MuscleValue hill_bias(double length, const HillMuscle& m) {
  const Fibres f = fibres_at(length, m);
  if (f.along <= 0) return {};
  const CurveValue p = passive_over_length(f.length, m);
  return {-m.force * p.value * f.cosine,
          -m.force * (p.slope * f.cosine / m.fibre_length * f.cosine + p.value * f.turn_rate), 0};
}

}  // namespace kansetsu
