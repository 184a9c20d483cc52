#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cstring>

#include "dynamics/kernel_table.h"
#include "kansetsu/dynamics/derivatives.h"
#include "kinematics/kernel_table.h"
#include "model/scratch.h"
#include "random_models.h"

/// A pack kernel gives in each lane the very bits of the scalar kernel: every entry of both tables, every joint type. Where
/// the scalar kernel fills its registers from one state, sums are taken in another order and results agree to rounding.
using namespace kansetsu;
using namespace kansetsu::test;

namespace {

/// Numbers of `width` states side by side, on cache lines.
class Interleaved {
 public:
  Interleaved(int width, int count) : width_(width), data_(size_t(width) * size_t(count) + 16) {}
  double* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(data_.data());
    return data_.data() + (64 - at % 64) % 64 / sizeof(double);
  }
  void set(int lane, const Eigen::VectorXd& x) {
    for (long i = 0; i < x.size(); ++i) data()[i * width_ + lane] = x[i];
  }
  Eigen::VectorXd lane(int lane, long count) {
    Eigen::VectorXd out(count);
    for (long i = 0; i < count; ++i) out[i] = data()[i * width_ + lane];
    return out;
  }

 private:
  int width_;
  std::vector<double> data_;
};

bool same_bits(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), size_t(a.size()) * sizeof(double)) == 0;
}

/// For what single states compute in another order than packs (limbs side by side, registers of columns): the largest
/// difference relative to the largest number.
double difference(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() == 0 ? 0 : (a - b).lpNorm<Eigen::Infinity>() / std::max(b.lpNorm<Eigen::Infinity>(), 1e-3);
}

struct Lanes {
  Lanes(const Model& model, std::uint64_t seed)
      : tree(model.tree().view()),
        width(kernel::dynamics_packs<double>().width),
        q(width, tree.nq),
        v(width, tree.nv),
        a(width, tree.nv),
        fext(width, 6 * tree.body_count),
        scratch(width, int(scratch_size(model.tree()))),
        one_scratch(1, int(scratch_size(model.tree()))) {
    std::mt19937_64 rng(seed);
    for (int lane = 0; lane < width; ++lane) {
      const State s = random_state(model, rng);
      q.set(lane, s.q);
      v.set(lane, s.v);
      a.set(lane, random_vector(tree.nv, rng));
      fext.set(lane, random_vector(6 * tree.body_count, rng));
    }
  }

  /// Runs `pack` once and `scalar` per lane; both write `count` numbers to their last argument.
  template <class Pack, class Scalar>
  void compare(const std::string& what, long count, double tolerance, Pack&& pack, Scalar&& scalar) {
    CAPTURE(what);
    Interleaved all(width, int(count));
    pack(q.data(), v.data(), a.data(), fext.data(), static_cast<void*>(scratch.data()), all.data());
    for (int lane = 0; lane < width; ++lane) {
      Interleaved one(1, int(count)), q1(1, tree.nq), v1(1, tree.nv), a1(1, tree.nv), f1(1, 6 * tree.body_count);
      q1.set(0, q.lane(lane, tree.nq));
      v1.set(0, v.lane(lane, tree.nv));
      a1.set(0, a.lane(lane, tree.nv));
      f1.set(0, fext.lane(lane, 6 * tree.body_count));
      scalar(q1.data(), v1.data(), a1.data(), f1.data(), static_cast<void*>(one_scratch.data()), one.data());
      if (tolerance == 0)
        CHECK(same_bits(one.lane(0, count), all.lane(lane, count)));
      else
        CHECK(difference(one.lane(0, count), all.lane(lane, count)) < tolerance);
    }
  }

  TreeView tree;
  int width;
  Interleaved q, v, a, fext, scratch, one_scratch;
};

/// Rounding of M⁻¹: the largest condition number of all lanes times a few ulp.
double solve_tolerance(const Model& model, Lanes& lanes) {
  double condition = 1;
  for (int lane = 0; lane < lanes.width && model.nv() > 0; ++lane) {
    const Eigen::VectorXd e = crba(model, lanes.q.lane(lane, model.nq())).selfadjointView<Eigen::Lower>().eigenvalues();
    condition = std::max(condition, e.maxCoeff() / std::abs(e.minCoeff()));
  }
  return std::max(1e-12, 1e-14 * condition);
}

}  // namespace

TEST_CASE("lanes of packs have the bits of the scalar kernels, or nearly where those take a shorter way") {
  for (const auto& [seed, model] : invariant_models(12)) {
    CAPTURE(seed);
    CAPTURE(model.name());
    Lanes lanes(model, seed);
    const TreeView tree = lanes.tree;
    const int nb = tree.body_count, nv = tree.nv;
    const auto compare = [&](const char* what, long count, double tolerance, auto&& call) {
      const auto with = [&](const auto& kinematics, const auto& dynamics) {
        return [&](const double* q, const double* v, const double* a, const double* f, void* scratch, double* out) {
          call(kinematics, dynamics, q, v, a, f, scratch, out);
        };
      };
      lanes.compare(what, count, tolerance, with(kernel::kinematics_packs<double>(), kernel::dynamics_packs<double>()),
                    with(kernel::kinematics(), kernel::dynamics()));
    };
    const auto both = [&](const char* what, long count, auto&& call) { compare(what, count, 0.0, call); };
    const auto nearly = [&](const char* what, long count, auto&& call) { compare(what, count, 1e-12, call); };
    using Q = const double*;
    both("poses", 12 * nb, [&](auto& k, auto&, Q q, Q, Q, Q, void* s, double* out) { k.poses(tree, q, s, out); });
    both("motions", 24 * nb, [&](auto& k, auto&, Q q, Q v, Q a, Q, void* s, double* out) {
      k.motions(tree, q, v, a, s, out, out + 12 * nb * k.width, out + 18 * nb * k.width);
    });
    for (kernel::Axes axes : {kernel::Axes::kWorld, kernel::Axes::kLocal, kernel::Axes::kLocalWorldAligned}) {
      both("jacobian", 12 * nv, [&](auto& k, auto&, Q q, Q v, Q, Q, void* s, double* out) {
        k.jacobian(tree, q, v, nb - 1, Transform<>{}, axes, s, out, out + 6 * nv * k.width);
      });
    }
    nearly("subspaces", 6 * nv,
           [&](auto& k, auto&, Q q, Q, Q, Q, void* s, double* out) { k.subspaces(tree, q, s, out); });
    both("energy", 2, [&](auto& k, auto&, Q q, Q v, Q, Q, void* s, double* out) { k.energy(tree, q, v, s, out); });
    both("centroidal", 13 + 12 * nv, [&](auto& k, auto&, Q q, Q v, Q, Q, void* s, double* out) {
      k.centroidal(tree, q, v, s, out, out + 13 * k.width, out + (13 + 6 * nv) * k.width);
    });
    both("rnea", nv,
         [&](auto&, auto& d, Q q, Q v, Q a, Q f, void* s, double* out) { d.rnea(tree, q, v, a, f, s, out, nullptr); });
    nearly("crba", nv * nv, [&](auto&, auto& d, Q q, Q, Q, Q, void* s, double* out) { d.crba(tree, q, s, out); });
    nearly("aba", 2 * nv, [&](auto&, auto& d, Q q, Q v, Q a, Q f, void* s, double* out) {
      d.aba(tree, q, v, a, f, s, out, out + nv * d.width);
    });
    nearly("solve", 2 * nv, [&](auto&, auto& d, Q q, Q, Q a, Q, void* s, double* out) {
      d.solve(tree, q, a, s, out, out + nv * d.width);
    });
    both("inverse", nv * nv + nv, [&](auto&, auto& d, Q q, Q, Q, Q, void* s, double* out) {
      d.factorise(tree, q, s, out + nv * nv * d.width);
      d.inverse(tree, s, out);
    });
    both("respond", 2 * (6 * nb + nv) + nv, [&](auto&, auto& d, Q q, Q, Q a, Q f, void* s, double* out) {
      d.factorise(tree, q, s, out);
      double* wrench = out + nv * d.width;
      double* torque = wrench + (6 * nb + nv) * d.width;
      d.respond_wrench(tree, s, nb - 1, f, -1, wrench, wrench + 6 * nb * d.width);
      d.respond_torque(tree, s, a, torque, torque + 6 * nb * d.width);
    });
    nearly("rnea_derivatives", 3 * nv * nv, [&](auto&, auto& d, Q q, Q v, Q a, Q, void* s, double* out) {
      d.rnea_derivatives(tree, q, v, a, nullptr, s, out, out + nv * nv * d.width, out + 2 * nv * nv * d.width);
    });
    nearly("apply_inverse", 3 * nv * nv, [&](auto&, auto& d, Q q, Q v, Q a, Q, void* s, double* out) {
      double *dv = out + nv * nv * d.width, *M = dv + nv * nv * d.width;
      d.rnea_derivatives(tree, q, v, a, nullptr, s, out, dv, M);
      d.apply_inverse(tree, M, s, out, dv);
    });
    const double solved = solve_tolerance(model, lanes);
    compare("mass_matrix_inverse", nv * nv, solved,
            [&](auto&, auto& d, Q q, Q, Q, Q, void* s, double* out) { d.mass_matrix_inverse(tree, q, s, out); });
    for (const int first : {0, nv * nv, 2 * nv * nv}) {  // each of the three relative to its own largest entry
      compare("aba_derivatives", nv * nv, solved, [&](auto&, auto& d, Q q, Q v, Q a, Q, void* s, double* out) {
        std::vector<double> all(size_t(4 * nv * nv * d.width + 8));
        double* at = all.data() + (64 - reinterpret_cast<std::uintptr_t>(all.data()) % 64) % 64 / sizeof(double);
        d.aba_derivatives(tree, q, v, a, nullptr, s, at, at + nv * nv * d.width, at + 2 * nv * nv * d.width);
        std::copy_n(at + first * d.width, nv * nv * d.width, out);
      });
    }
    both("coriolis", nv * nv,
         [&](auto&, auto& d, Q q, Q v, Q, Q, void* s, double* out) { d.coriolis(tree, q, v, s, out); });
    const auto& links = model.tree().links;
    const int nl = int(links.size());
    both("regressor", 10 * nl * nv, [&](auto&, auto& d, Q q, Q v, Q a, Q, void* s, double* out) {
      d.regressor(tree, links.data(), nl, q, v, a, s, out);
    });
    std::vector<int> parents{-1};
    for (int l = 1; l < nl; ++l) parents.push_back(model.parent_link(JointId(l - 1)).value());
    both("reactions", 6 * nl, [&](auto&, auto& d, Q q, Q v, Q a, Q, void* s, double* out) {
      d.reactions(tree, links.data(), parents.data(), nl, q, v, a, nullptr, s, out);
    });
  }
}
