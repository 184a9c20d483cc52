#include "motion/flights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "kansetsu/kinematics/centroidal.h"
#include "motion/band_matrix.h"

namespace kansetsu {
namespace {

constexpr double kFree = 0.02;  ///< [m] rms from a free fall that is still one
constexpr double kConstraint =
    1e6;  ///< of a flight against smoothness: falls are met to 10⁻⁶ of what filters leave of them
/// How far a mass centre may be off for a while: masses are those of tables, markers lie on skin. It changes with the posture, so
/// no faster than people stride and jump. Noise from frame to frame is a tenth of it [m, Hz].
constexpr double kSlowError = 0.02, kSlowFrequency = 3, kNoise = 0.002;
/// The mass centre is read within 5 mm [m]. An acceleration is known from flights if that leaves it within this share of gravity:
/// kOtherRate is then two deviations from one.
constexpr double kReading = 0.005, kKnown = 0.35;

std::vector<Vec3<>> mass_centres(const Model& model, const Clip& clip) {
  Workspace work(model);
  std::vector<Vec3<>> out;
  for (int k = 0; k < clip.frames(); ++k) out.push_back(center_of_mass(model, clip.q.col(k), work));
  return out;
}

/// Root mean square distance of frames a … b from the nearest free fall: their parabola is known, their start and velocity are not.
double off_free_fall(const std::vector<Vec3<>>& p, std::size_t a, std::size_t b, double dt, const Vec3<>& g) {
  const double n = double(b - a + 1), middle = 0.5 * double(b - a);
  Vec3<> mean{}, slope{};
  double squares = 0, sum = 0;
  const auto bare = [&](std::size_t k) {
    const double t = (double(k - a) - middle) * dt;
    return p[k] - 0.5 * t * t * g;
  };
  for (std::size_t k = a; k <= b; ++k) {
    const double t = (double(k - a) - middle) * dt;
    mean += (1 / n) * bare(k), slope += t * bare(k), squares += t * t;
  }
  if (squares > 0) slope = (1 / squares) * slope;
  for (std::size_t k = a; k <= b; ++k) {
    const Vec3<> e = bare(k) - mean - ((double(k - a) - middle) * dt) * slope;
    sum += dot(e, e);
  }
  return std::sqrt(sum / n);
}

/// What halves a frequency when it weighs third differences.
double smoothness(double frequency, double dt) { return std::pow(2 * std::sin(M_PI * frequency * dt), -6); }

/// By how much the mass centres f of a filtered clip move to be smooth, near those captured but for a slow error, and to fall where
/// they fly. Unknowns: how much frame k moves (2k), and its error (2k + 1).
std::vector<Vec3<>> moves(const std::vector<Vec3<>>& r, const std::vector<Vec3<>>& f,
                          const std::vector<std::uint8_t>& flies, double cutoff, double dt, const Vec3<>& g) {
  const std::size_t n = r.size();
  BandMatrix<6> A(2 * n);
  std::vector<Vec3<>> x(2 * n);
  // Adds weight·|Σ d_i·x_(k+i·step) − wanted|².
  const auto add = [&](std::size_t k, std::size_t step, std::span<const double> d, double weight,
                       const Vec3<>& wanted) {
    for (std::size_t i = 0; i < d.size(); ++i) {
      x[k + i * step] += (weight * d[i]) * wanted;
      for (std::size_t j = 0; j <= i; ++j) A.add(k + i * step, k + j * step, weight * d[i] * d[j]);
    }
  };
  // The same of f moved by x.
  const auto add_path = [&](std::size_t k, std::span<const double> d, double weight, Vec3<> wanted) {
    for (std::size_t i = 0; i < d.size(); ++i) wanted -= d[i] * f[k + i];
    add(2 * k, 2, d, weight, wanted);
  };
  constexpr std::array<double, 4> kThird{-1, 3, -3, 1};
  constexpr std::array<double, 3> kSecond{1, -2, 1};
  constexpr std::array<double, 2> kBoth{1, 1};
  constexpr std::array<double, 1> kOne{1};
  constexpr double kErrors = (kNoise / kSlowError) * (kNoise / kSlowError);
  const double smooth = smoothness(cutoff, dt), slow = kErrors * smoothness(kSlowFrequency, dt);
  for (std::size_t k = 0; k < n; ++k) add(2 * k, 1, kBoth, 1, r[k] - f[k]), add(2 * k + 1, 1, kOne, kErrors, {});
  for (std::size_t k = 0; k + 3 < n; ++k) add_path(k, kThird, smooth, {}), add(2 * k + 1, 2, kThird, slow, {});
  for (std::size_t k = 1; k + 1 < n; ++k)
    if (flies[k]) add_path(k - 1, kSecond, kConstraint * smooth, (dt * dt) * g);
  A.factor();
  A.solve(x);
  std::vector<Vec3<>> out(n);
  for (std::size_t k = 0; k < n; ++k) out[k] = x[2 * k];
  return out;
}

/// First and last frame of each stretch of three frames or more in which nothing carries: two have no acceleration of their own.
std::vector<std::pair<std::size_t, std::size_t>> flights_of(const std::vector<std::uint8_t>& carried) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t k = 0; k < carried.size();) {
    std::size_t end = k;
    while (end < carried.size() && carried[end] == carried[k]) ++end;
    if (!carried[k] && end - k >= 3) out.emplace_back(k, end - 1);
    k = end;
  }
  return out;
}

/// The acceleration of all flights together, over gravity's: parabolas by least squares. 1 where they do not tell.
double fall_of(const std::vector<Vec3<>>& r, const std::vector<std::pair<std::size_t, std::size_t>>& flights, double dt,
               const Vec3<>& g) {
  double product = 0, squares = 0;
  for (const auto& [a, b] : flights) {
    const double n = double(b - a + 1), middle = 0.5 * double(b - a);
    // ½t² without its mean is across lines already: times lie evenly about the middle.
    const double mean = dt * dt * (n * n - 1) / 24;
    for (std::size_t k = a; k <= b; ++k) {
      const double t = (double(k - a) - middle) * dt, bow = 0.5 * t * t - mean;
      product += bow * dot(r[k], g) / norm(g), squares += bow * bow;
    }
  }
  const double least = kReading / (kKnown * norm(g));
  return squares > least * least ? product / squares / norm(g) : 1;
}

}  // namespace

double fall_of_flights(const Model& model, const Clip& captured, const std::vector<std::uint8_t>& carried) {
  const std::vector<std::pair<std::size_t, std::size_t>> flights = flights_of(carried);
  if (flights.empty() || !(norm(model.gravity()) > 0)) return 1;
  return fall_of(mass_centres(model, captured), flights, captured.duration() / double(carried.size() - 1),
                 model.gravity());
}

void fall_in_flight(const Model& model, const Clip& captured, double cutoff, const std::vector<std::uint8_t>& carried,
                    Clip& filtered) {
  const std::vector<std::pair<std::size_t, std::size_t>> flights = flights_of(carried);
  if (flights.empty()) return;
  const std::size_t n = carried.size();
  const double dt = captured.duration() / double(n - 1);
  const Vec3<> g = model.gravity();
  const std::vector<Vec3<>> r = mass_centres(model, captured), f = mass_centres(model, filtered);
  std::vector<std::uint8_t> flies(n, 0);
  bool any = false;
  for (const auto& [a, b] : flights)
    if (off_free_fall(r, a, b, dt, g) < kFree) {
      std::fill(flies.begin() + long(a), flies.begin() + long(b) + 1, 1);
      any = true;
    }
  if (!any) return;
  const std::vector<Vec3<>> x = moves(r, f, flies, cutoff, dt, g);
  const int base = model.base_coordinates().q;
  for (std::size_t k = 0; k < n; ++k)
    filtered.q.col(long(k)).segment<3>(base) += Eigen::Vector3d(x[k].x, x[k].y, x[k].z);
}

}  // namespace kansetsu
