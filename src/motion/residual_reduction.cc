#include "kansetsu/motion/residual_reduction.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/motion/retarget.h"
#include "kansetsu/spatial/eigen.h"
#include "motion/coordinate_rates.h"

namespace kansetsu {
namespace {

double mean_square(const std::vector<Force<>>& residual, bool force) {
  double sum = 0;
  for (const Force<>& F : residual) sum += force ? dot(F.f, F.f) : dot(F.t, F.t);
  return sum / double(std::max<std::size_t>(residual.size(), 1));
}

/// The shift d of least Σ (d̈ − wanted)² + λ·(already + d)², where d̈ are three-point differences: five diagonals, factored in place.
std::vector<double> smooth_shift(const std::vector<double>& wanted, const std::vector<double>& already, double step,
                                 double lambda) {
  const std::size_t n = wanted.size();
  std::vector<double> diagonal(n, lambda), next(n, 0), second(n, 0), x(n, 0);
  const double w = 1 / (step * step);
  for (std::size_t k = 0; k < n; ++k) x[k] = -lambda * already[k];
  for (std::size_t k = 1; k + 1 < n; ++k) {
    diagonal[k - 1] += w * w, diagonal[k] += 4 * w * w, diagonal[k + 1] += w * w;
    next[k - 1] -= 2 * w * w, next[k] -= 2 * w * w, second[k - 1] += w * w;
    x[k - 1] += w * wanted[k], x[k] -= 2 * w * wanted[k], x[k + 1] += w * wanted[k];
  }
  std::vector<double> l1(n, 0), l2(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    l1[k] = next[k] / diagonal[k], l2[k] = second[k] / diagonal[k];
    if (k + 1 < n) diagonal[k + 1] -= l1[k] * next[k], next[k + 1] -= l1[k] * second[k];
    if (k + 2 < n) diagonal[k + 2] -= l2[k] * second[k];
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (k + 1 < n) x[k + 1] -= l1[k] * x[k];
    if (k + 2 < n) x[k + 2] -= l2[k] * x[k];
  }
  for (std::size_t k = n; k-- > 0;) {
    x[k] /= diagonal[k];
    if (k + 1 < n) x[k] -= l1[k] * x[k + 1];
    if (k + 2 < n) x[k] -= l2[k] * x[k + 2];
  }
  return x;
}

class Reduction {
 public:
  Reduction(const MappedModel& model, const CoordinateMotion& motion, std::span<const MeasuredForce> forces,
            const ReductionOptions& options)
      : options_(options),
        given_(motion),
        forces_(forces.begin(), forces.end()),
        out_{.model = model, .motion = motion, .forces = forces_} {
    if (model.model().base() != Base::kFree)
      throw Error(fmt::format("'{}' has a fixed base and no residual", model.model().name()));
    if (forces.empty()) throw Error("residuals can be reduced under measured forces only");
    const CoordinateMap& map = model.map();
    for (std::size_t i = 0; i < 3; ++i) {
      const MapAxis& a = map.base_shifts[i];
      if (a.coordinate < 0 || a.function.kind != CoordinateFunction::Kind::kPolynomial ||
          a.function.coefficients.size() != 2)
        throw Error(fmt::format("the position of the root of '{}' does not follow from three coordinates",
                                model.model().name()));
      rows_[i] = a.coordinate;
      A_.col(long(i)) = to_eigen(map.base_socket.R * (a.function.derivative(0) * a.axis));
    }
    if (std::abs(A_.determinant()) < 1e-6) throw Error("the coordinates of the root's place do not span space");
    for (std::size_t k = 0; k < forces_.front().wrench.size(); ++k) {
      Vec3<> sum{};
      for (const MeasuredForce& f : forces_) sum += f.wrench[k].f;
      peak_ = std::max(peak_, norm(sum));
    }
    if (!(peak_ > 0)) throw Error("all measured forces are zero");
    out_.shift.assign(std::size_t(motion.frames()), {});
  }

  ReducedResiduals run() {
    update();
    out_.before = std::sqrt(mean_square(out_.dynamics.residual, true));
    out_.moment_before = std::sqrt(mean_square(out_.dynamics.residual, false));
    move_mass_centre();
    // Slower and slower shifts are allowed, until what is left is within its bound or the body has moved as far as it may.
    const double wanted = options_.residual * peak_;
    ReducedResiduals best = out_;
    for (double f = 2; f > 0.02; f /= 1.3) {
      const double lambda = std::pow(2 * M_PI * f, 4);
      for (int round = 0; round < 4; ++round) shift_body(lambda);
      if (out_.moved > options_.moved) break;
      best = out_;
      if (rms() <= wanted) break;
    }
    out_ = std::move(best);
    out_.after = rms();
    out_.moment_after = std::sqrt(mean_square(out_.dynamics.residual, false));
    out_.met = out_.after <= wanted;
    return std::move(out_);
  }

 private:
  double rms() const { return std::sqrt(mean_square(out_.dynamics.residual, true)); }
  double step() const { return (given_.times.back() - given_.times.front()) / (given_.frames() - 1); }

  /// Everything that follows from the shift and the model.
  void update() {
    out_.motion = given_;
    const Eigen::Matrix3d inverse = A_.inverse();
    double sum = 0;
    for (long k = 0; k < given_.frames(); ++k) {
      const Vec3<>& d = out_.shift[std::size_t(k)];
      const Eigen::Vector3d x = inverse * to_eigen(d);
      for (std::size_t i = 0; i < 3; ++i) out_.motion.x(rows_[i], k) += x[long(i)];
      sum += dot(d, d);
      for (std::size_t f = 0; f < forces_.size(); ++f) {
        const Force<>& F = forces_[f].wrench[std::size_t(k)];
        out_.forces[f].wrench[std::size_t(k)] = {F.t - cross(d, F.f), F.f};
      }
    }
    out_.moved = std::sqrt(sum / given_.frames());
    differentiate(out_.motion, 1 / step());
    out_.dynamics = measured_dynamics(out_.model, out_.motion, out_.forces);
  }

  void shift_body(double lambda) {
    const double mass = out_.model.model().mass();
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<double> wanted, already;
      for (std::size_t k = 0; k < out_.shift.size(); ++k) {
        wanted.push_back(-to_eigen(out_.dynamics.residual[k].f)[axis] / mass);
        already.push_back(to_eigen(out_.shift[k])[axis]);
      }
      const std::vector<double> d = smooth_shift(wanted, already, step(), lambda);
      for (std::size_t k = 0; k < d.size(); ++k)
        (axis == 0 ? out_.shift[k].x : axis == 1 ? out_.shift[k].y : out_.shift[k].z) += d[k];
    }
    update();
  }

  static MappedModel with_mass_centre(const MappedModel& model, LinkId link, const Vec3<>& shift) {
    ModelDescription d = model.model().description();
    for (LinkDescription& l : d.links)
      if (l.name == model.model().link(link).name) l.inertial->origin.p += shift;
    return {value_or_throw(Model::build(std::move(d))), model.map()};
  }

  /// The trunk's mass centre that leaves the least residual moment, which is linear in it.
  void move_mass_centre() {
    const auto marks = find_landmarks(out_.model.model());
    const auto chest = marks.find(Landmark::kChest);
    if (chest == marks.end()) return;
    const LinkId link = out_.model.model().link_id(chest->second.link);
    if (!out_.model.model().link(link).inertial) return;
    const MappedModel given = out_.model;
    const long n = long(out_.dynamics.residual.size());
    Eigen::MatrixXd J(3 * n, 3);
    Eigen::VectorXd r(3 * n);
    for (long k = 0; k < n; ++k) r.segment<3>(3 * k) = to_eigen(out_.dynamics.residual[std::size_t(k)].t);
    constexpr double h = 0.01;
    for (int i = 0; i < 3; ++i) {
      const Vec3<> d{i == 0 ? h : 0, i == 1 ? h : 0, i == 2 ? h : 0};
      const MeasuredDynamics moved = measured_dynamics(with_mass_centre(given, link, d), out_.motion, out_.forces);
      for (long k = 0; k < n; ++k)
        J.block<3, 1>(3 * k, i) = (to_eigen(moved.residual[std::size_t(k)].t) - r.segment<3>(3 * k)) / h;
    }
    const Eigen::Vector3d d =
        (-J.colPivHouseholderQr().solve(r)).cwiseMax(-options_.mass_centre).cwiseMin(options_.mass_centre);
    out_.mass_centre = {d[0], d[1], d[2]};
    out_.model = with_mass_centre(given, link, out_.mass_centre);
    update();
  }

  ReductionOptions options_;
  CoordinateMotion given_;
  std::vector<MeasuredForce> forces_;
  ReducedResiduals out_;
  std::array<int, 3> rows_{};
  Eigen::Matrix3d A_ = Eigen::Matrix3d::Identity();
  double peak_ = 0;
};

}  // namespace

ReducedResiduals reduce_residuals(const MappedModel& model, const CoordinateMotion& motion,
                                  std::span<const MeasuredForce> forces, const ReductionOptions& options) {
  return Reduction(model, motion, forces, options).run();
}

}  // namespace kansetsu
