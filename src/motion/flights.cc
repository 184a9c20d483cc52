#include "motion/flights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "kansetsu/kinematics/centroidal.h"

namespace kansetsu {
namespace {

constexpr double kFree = 0.02;  ///< [m] rms from a free fall that is still one
constexpr double kConstraint =
    1e6;  ///< of a flight against smoothness: falls are met to 10⁻⁶ of what filters leave of them

/// A symmetric positive definite matrix with three diagonals beside its own: row k holds (k, k), (k + 1, k), …
class BandMatrix {
 public:
  explicit BandMatrix(std::size_t n) : rows_(n, {0, 0, 0, 0}) {}
  void add(std::size_t i, std::size_t j, double x) { rows_[std::min(i, j)][i > j ? i - j : j - i] += x; }

  /// LDLᵀ in place; the matrix is gone then.
  void factor() {
    for (std::size_t k = 0; k < rows_.size(); ++k)
      for (std::size_t i = 1; i <= 3 && k + i < rows_.size(); ++i) {
        const double l = rows_[k][i] / rows_[k][0];
        for (std::size_t j = i; j <= 3 && k + j < rows_.size(); ++j) rows_[k + i][j - i] -= l * rows_[k][j];
      }
    for (auto& row : rows_)
      for (std::size_t i = 1; i <= 3; ++i) row[i] /= row[0];
  }
  void solve(std::vector<Vec3<>>& x) const {
    const std::size_t n = rows_.size();
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 1; i <= 3 && k + i < n; ++i) x[k + i] -= rows_[k][i] * x[k];
    for (std::size_t k = n; k-- > 0;) {
      x[k] = (1 / rows_[k][0]) * x[k];
      for (std::size_t i = 1; i <= 3 && k + i < n; ++i) x[k] -= rows_[k][i] * x[k + i];
    }
  }

 private:
  std::vector<std::array<double, 4>> rows_;
};

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

/// By how much the mass centres f of a filtered clip move to be smooth, near those captured, and to fall where they fly.
std::vector<Vec3<>> moves(const std::vector<Vec3<>>& r, const std::vector<Vec3<>>& f,
                          const std::vector<std::uint8_t>& flies, double cutoff, double dt, const Vec3<>& g) {
  const std::size_t n = r.size();
  const double lambda = std::pow(2 * std::sin(M_PI * cutoff * dt), -6);
  BandMatrix A(n);
  std::vector<Vec3<>> x(n);
  for (std::size_t k = 0; k < n; ++k) A.add(k, k, 1), x[k] = r[k] - f[k];
  // Adds weight·|Σ d_i·(f + x)_(k+i) − wanted|².
  const auto add = [&](std::size_t k, std::span<const double> d, double weight, const Vec3<>& wanted) {
    Vec3<> missing = wanted;
    for (std::size_t i = 0; i < d.size(); ++i) missing -= d[i] * f[k + i];
    for (std::size_t i = 0; i < d.size(); ++i) {
      x[k + i] += (weight * d[i]) * missing;
      for (std::size_t j = 0; j <= i; ++j) A.add(k + i, k + j, weight * d[i] * d[j]);
    }
  };
  constexpr std::array<double, 4> kThird{-1, 3, -3, 1};
  constexpr std::array<double, 3> kSecond{1, -2, 1};
  for (std::size_t k = 0; k + 3 < n; ++k) add(k, kThird, lambda, {});
  for (std::size_t k = 1; k + 1 < n; ++k)
    if (flies[k]) add(k - 1, kSecond, kConstraint * lambda, (dt * dt) * g);
  A.factor();
  A.solve(x);
  return x;
}

}  // namespace

void fall_in_flight(const Model& model, const Clip& captured, double cutoff, const std::vector<std::uint8_t>& carried,
                    Clip& filtered) {
  const std::size_t n = carried.size();
  if (std::all_of(carried.begin(), carried.end(), [](std::uint8_t c) { return c != 0; })) return;
  const double dt = captured.duration() / double(n - 1);
  const Vec3<> g = model.gravity();
  const std::vector<Vec3<>> r = mass_centres(model, captured), f = mass_centres(model, filtered);
  std::vector<std::uint8_t> flies(n, 0);
  bool any = false;
  for (std::size_t k = 0; k < n;) {
    std::size_t end = k;
    while (end < n && carried[end] == carried[k]) ++end;
    // Two frames have no acceleration of their own.
    if (!carried[k] && end - k >= 3 && off_free_fall(r, k, end - 1, dt, g) < kFree) {
      std::fill(flies.begin() + long(k), flies.begin() + long(end), 1);
      any = true;
    }
    k = end;
  }
  if (!any) return;
  const std::vector<Vec3<>> x = moves(r, f, flies, cutoff, dt, g);
  const int base = model.base_coordinates().q;
  for (std::size_t k = 0; k < n; ++k)
    filtered.q.col(long(k)).segment<3>(base) += Eigen::Vector3d(x[k].x, x[k].y, x[k].z);
}

}  // namespace kansetsu
