#include "kansetsu/constraint/supported.h"

#include <Eigen/Dense>
#include <cmath>

#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

/// Directions of which forces are sums with coefficients that are not negative.
struct Ray {
  int support;
  Vec3<> p, f;  ///< in the world
};

void add_rays(const Support& s, int index, const Transform<>& X_WL, std::vector<Ray>& rays) {
  const Vec3<> n = (1 / norm(s.normal)) * s.normal;
  const Vec3<> aside = std::abs(n.x) < 0.8 ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0};
  Vec3<> x = cross(aside, n);
  x = (1 / norm(x)) * x;
  const Vec3<> y = cross(n, x);
  for (const Vec3<>& corner : s.corners) {
    const Vec3<> p = X_WL * corner;
    if (s.grips) {
      for (const Vec3<>& axis : {x, y, n}) {
        rays.push_back({index, p, axis});
        rays.push_back({index, p, -axis});
      }
      continue;
    }
    const double mu = s.friction / std::sqrt(2.0);  // a pyramid within the cone
    for (const double a : {-mu, mu}) {
      for (const double b : {-mu, mu}) rays.push_back({index, p, n + a * x + b * y});
    }
  }
}

/// min ½|A·c − w|² + ½·ε·|c|², c ≥ 0, by the active-set method of Lawson and Hanson.
Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& A, const Eigen::VectorXd& w, double epsilon,
                                          int& iterations) {
  const long n = A.cols();
  Eigen::VectorXd c = Eigen::VectorXd::Zero(n);
  std::vector<bool> passive(size_t(n), false);
  const Eigen::MatrixXd H = A.transpose() * A + epsilon * Eigen::MatrixXd::Identity(n, n);
  const Eigen::VectorXd g = A.transpose() * w;
  const double tolerance = 1e-12 * (1 + g.cwiseAbs().maxCoeff());
  for (iterations = 0; iterations < 10 * n; ++iterations) {
    const Eigen::VectorXd slope = g - H * c;
    long best = -1;
    for (long i = 0; i < n; ++i) {
      if (!passive[size_t(i)] && slope[i] > tolerance && (best < 0 || slope[i] > slope[best])) best = i;
    }
    if (best < 0) break;
    passive[size_t(best)] = true;
    for (;;) {
      std::vector<long> set;
      for (long i = 0; i < n; ++i) {
        if (passive[size_t(i)]) set.push_back(i);
      }
      const Eigen::MatrixXd block = H(set, set);
      const Eigen::VectorXd z = block.ldlt().solve(Eigen::VectorXd(g(set)));
      double share = 1;
      for (size_t k = 0; k < set.size(); ++k) {
        if (z[long(k)] <= 0) share = std::min(share, c[set[k]] / (c[set[k]] - z[long(k)]));
      }
      for (size_t k = 0; k < set.size(); ++k) c[set[k]] += share * (z[long(k)] - c[set[k]]);
      if (share >= 1) break;
      for (const long i : set) {
        if (c[i] <= tolerance) passive[size_t(i)] = false, c[i] = 0;
      }
    }
  }
  return c;
}

}  // namespace

SupportedMotion supported_inverse_dynamics(const Model& model, const State& state, const VectorRef& vdot,
                                           std::span<const Support> supports) {
  if (model.base() != Base::kFree)
    throw Error("supported_inverse_dynamics: '" + model.name() + "' has a fixed base; rnea gives its torques");
  const LinkPoses poses = fk(model, state.q);
  std::vector<Ray> rays;
  for (size_t i = 0; i < supports.size(); ++i) {
    const Support& s = supports[i];
    if (s.corners.empty() || !(norm(s.normal) > 0) || s.friction < 0) {
      throw Error("supported_inverse_dynamics: the support on '" + model.link(s.link).name +
                  "' has no corner, no normal or a negative friction");
    }
    add_rays(s, int(i), poses[s.link], rays);
  }
  SupportedMotion out;
  out.tau = rnea(model, state, vdot);
  // What the base lacks, as a wrench at its origin in world axes.
  const Transform<> X_WB = poses[LinkId(0)];
  const auto head = out.tau.head<6>();
  const Vec3<> t = X_WB.R * Vec3<>{head[0], head[1], head[2]}, f = X_WB.R * Vec3<>{head[3], head[4], head[5]};
  Eigen::VectorXd w(6);
  w << t.x, t.y, t.z, f.x, f.y, f.z;
  Eigen::MatrixXd A(6, long(rays.size()));
  for (size_t k = 0; k < rays.size(); ++k) {
    const Vec3<> m = cross(rays[k].p - X_WB.p, rays[k].f);
    A.col(long(k)) << m.x, m.y, m.z, rays[k].f.x, rays[k].f.y, rays[k].f.z;
  }
  // Of forces that fit equally well those with the least sum of squares: a small weight, and what it takes from the fit is asked for again
  // until nothing is missing (each time a share ε of what was missing is left).
  constexpr int kRefinements = 3;
  const double epsilon = rays.empty() ? 0 : 1e-6 * (A.transpose() * A).trace() / double(rays.size());
  Eigen::VectorXd c = Eigen::VectorXd::Zero(long(rays.size())), wanted = w;
  for (int n = 0; n <= kRefinements && !rays.empty(); ++n) {
    int iterations = 0;
    c = nonnegative_least_squares(A, wanted, epsilon, iterations);
    out.iterations += iterations;
    wanted += w - A * c;
  }

  ExternalForces external(model);
  out.wrenches.assign(supports.size(), Force<>{});
  out.pressure.assign(supports.size(), Vec3<>{});
  std::vector<double> load(supports.size(), 0);
  for (size_t k = 0; k < rays.size(); ++k) {
    const Ray& ray = rays[k];
    const size_t i = size_t(ray.support);
    const LinkId link = supports[i].link;
    const Vec3<> force = c[long(k)] * ray.f;
    const Force<> F{cross(ray.p - poses[link].p, force), force};
    out.wrenches[i] += F;
    external[link] += F;
    const double normal = dot(force, supports[i].normal) / norm(supports[i].normal);
    out.pressure[i] += normal * ray.p;
    load[i] += normal;
  }
  for (size_t i = 0; i < supports.size(); ++i) {
    out.pressure[i] = load[i] > 0 ? (1 / load[i]) * out.pressure[i] : Vec3<>{};
  }
  out.tau = rnea(model, state, vdot, &external);
  const auto left = out.tau.head<6>();
  out.residual = {{left[0], left[1], left[2]}, {left[3], left[4], left[5]}};
  out.feasible = left.norm() < 1e-6 * (1 + w.norm());
  out.tau.head<6>().setZero();
  return out;
}

}  // namespace kansetsu
