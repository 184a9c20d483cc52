#pragma once

#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kansetsu/batch/batch.h"
#include "kansetsu/dynamics/derivatives.h"
#include "random_models.h"

/// Every function of a batch beside the function for one state: tests run over the list.
namespace kansetsu::batch::test {

using namespace kansetsu::test;

/// Of the largest number of a result. The kernels are the same, so that most results have the same bits; what is promised
/// is this. Single precision: measured in single_precision_test.cc, here just enough to see that it is the same thing.
template <class Real>
inline constexpr double kTolerance = sizeof(Real) == 8 ? 1e-12 : 2e-3;

template <class Real>
bool close(const Eigen::VectorXd& expected, const Real* actual, double tolerance = kTolerance<Real>) {
  const double largest = expected.size() > 0 ? expected.cwiseAbs().maxCoeff() : 0;
  for (long k = 0; k < expected.size(); ++k) {
    const bool near = std::abs(double(actual[k]) - expected[k]) <= tolerance * largest;
    if (!near) {
      MESSAGE("entry " << k << ": expected " << expected[k] << ", found " << actual[k]);
      return false;
    }
  }
  return true;
}

/// How far the mass matrix is from singular: the smallest pivot of its Cholesky factor with unit diagonal. Near gimbal lock
/// of human28's hinge triples it vanishes, and single precision cannot but give up.
inline double smallest_pivot(const Model& model, const Eigen::VectorXd& q) {
  if (model.nv() == 0) return 1;
  const Eigen::MatrixXd M = crba(model, q);
  const Eigen::VectorXd scale = M.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::LLT<Eigen::MatrixXd> factor(scale.asDiagonal() * M * scale.asDiagonal());
  return factor.matrixLLT().diagonal().cwiseAbs2().minCoeff();
}

/// In single precision the best of a few, unless one is good already.
template <class Real>
State draw_state(const Model& model, std::mt19937_64& rng) {
  State best = regular_state(model, rng);
  if (sizeof(Real) == 8) return best;
  double pivot = smallest_pivot(model, best.q);
  for (int tries = 0; tries < 30 && pivot < 0.05; ++tries) {
    State other = regular_state(model, rng);
    const double p = smallest_pivot(model, other.q);
    if (p <= pivot) continue;
    pivot = p;
    best = other;
  }
  return best;
}

/// Random states, one row each, the way a batch takes them, and the very same numbers in double.
template <class Real>
struct States {
  States(const Model& model, long n, std::uint64_t seed) : count(n) {
    std::mt19937_64 rng(seed);
    for (long i = 0; i < n; ++i) {
      const State s = draw_state<Real>(model, rng);
      append(q, s.q);
      append(v, s.v);
      append(a, random_vector(model.nv(), rng));
      append(wrenches, random_vector(6 * model.link_count(), rng));
    }
  }
  static void append(std::vector<Real>& to, const Eigen::VectorXd& x) {
    for (double number : x) to.push_back(Real(number));
  }
  Eigen::VectorXd row(const std::vector<Real>& of, long i) const {
    const long n = long(of.size()) / count;
    return Eigen::Map<const Eigen::VectorX<Real>>(of.data() + i * n, n).template cast<double>();
  }
  State state(const Model& model, long i) const {
    State s(model);
    s.q = row(q, i);
    s.v = row(v, i);
    return s;
  }
  ExternalForces external(const Model& model, long i) const {
    ExternalForces out(model);
    const Eigen::VectorXd w = row(wrenches, i);
    for (int l = 0; l < model.link_count(); ++l) {
      const double* f = w.data() + 6 * l;
      out[LinkId(l)] = {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
    }
    return out;
  }

  long count;
  std::vector<Real> q, v, a, wrenches;
};

/// One function: numbers per state, all states, one state (row-major).
template <class Real>
struct Function {
  std::string name;
  std::function<long(const Model&)> size;
  std::function<void(Batch<Real>&, const States<Real>&, Rows<Real> out)> many;
  std::function<Eigen::VectorXd(const Model&, const States<Real>&, long i)> one;
};

inline Eigen::VectorXd row_major(const Eigen::MatrixXd& M) { return M.transpose().reshaped(); }

inline Eigen::VectorXd numbers(const LinkPoses& poses) {
  std::vector<double> out;
  for (const Transform<>& X : poses.X_WL) {
    for (const Vec3<>& row : {X.R.x, X.R.y, X.R.z, X.p}) out.insert(out.end(), {row.x, row.y, row.z});
  }
  return Eigen::Map<Eigen::VectorXd>(out.data(), long(out.size()));
}

inline LinkId last_link(const Model& model) { return LinkId(model.link_count() - 1); }
inline const Transform<> kFrame{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}, {0.1, -0.2, 0.3}};

inline Eigen::VectorXd joined(const std::vector<Eigen::VectorXd>& parts) {
  std::vector<double> out;
  for (const Eigen::VectorXd& x : parts) out.insert(out.end(), x.begin(), x.end());
  return Eigen::Map<Eigen::VectorXd>(out.data(), long(out.size()));
}

/// Rows for the result number i of several in a row.
template <class Real>
Rows<Real> part(Rows<Real> out, long i, long size) {
  return {out.data + i * size, out.stride};
}

template <class Real>
std::vector<Function<Real>> functions() {
  using B = Batch<Real>;
  using S = States<Real>;
  using R = Rows<Real>;
  const auto nv = [](const Model& m) { return long(m.nv()); };
  const auto square = [](const Model& m) { return long(m.nv()) * m.nv(); };
  const auto columns = [](const Model& m) { return 6L * m.nv(); };
  std::vector<Function<Real>> list{
      {"fk", [](const Model& m) { return 12L * m.link_count(); },
       [](B& b, const S& s, R out) { b.fk(s.count, s.q.data(), out); },
       [](const Model& m, const S& s, long i) { return numbers(fk(m, s.row(s.q, i))); }},
      {"joint_axes", columns, [](B& b, const S& s, R out) { b.joint_axes(s.count, s.q.data(), out); },
       [](const Model& m, const S& s, long i) {
         Eigen::Matrix<double, 6, Eigen::Dynamic> out(6, m.nv());
         Workspace work(m);
         joint_axes(m, s.row(s.q, i), work, out);
         return row_major(out);
       }},
      {"rnea", nv, [](B& b, const S& s, R out) { b.rnea(s.count, s.q.data(), s.v.data(), s.a.data(), out); },
       [](const Model& m, const S& s, long i) { return rnea(m, s.state(m, i), s.row(s.a, i)); }},
      {"rnea with wrenches", nv,
       [](B& b, const S& s, R out) {
         b.rnea(s.count, s.q.data(), s.v.data(), s.a.data(), out, {.wrenches = s.wrenches.data()});
       },
       [](const Model& m, const S& s, long i) {
         const ExternalForces external = s.external(m, i);
         return rnea(m, s.state(m, i), s.row(s.a, i), &external);
       }},
      {"bias", nv, [](B& b, const S& s, R out) { b.bias(s.count, s.q.data(), s.v.data(), out); },
       [](const Model& m, const S& s, long i) { return rnea(m, s.state(m, i), Eigen::VectorXd::Zero(m.nv())); }},
      {"crba", square, [](B& b, const S& s, R out) { b.crba(s.count, s.q.data(), out); },
       [](const Model& m, const S& s, long i) { return row_major(crba(m, s.row(s.q, i))); }},
      {"aba", nv, [](B& b, const S& s, R out) { b.aba(s.count, s.q.data(), s.v.data(), s.a.data(), out); },
       [](const Model& m, const S& s, long i) { return aba(m, s.state(m, i), s.row(s.a, i)).vdot; }},
      {"aba with wrenches", nv,
       [](B& b, const S& s, R out) {
         b.aba(s.count, s.q.data(), s.v.data(), s.a.data(), out, {.wrenches = s.wrenches.data()});
       },
       [](const Model& m, const S& s, long i) {
         const ExternalForces external = s.external(m, i);
         return aba(m, s.state(m, i), s.row(s.a, i), &external).vdot;
       }},
      {"mass_matrix_inverse", square, [](B& b, const S& s, R out) { b.mass_matrix_inverse(s.count, s.q.data(), out); },
       [](const Model& m, const S& s, long i) {
         Eigen::MatrixXd out(m.nv(), m.nv());
         Workspace work(m);
         mass_matrix_inverse(m, s.row(s.q, i), work, out);
         return row_major(out);
       }},
      {"rnea_derivatives", [](const Model& m) { return 3L * m.nv() * m.nv(); },
       [](B& b, const S& s, R out) {
         const long n = long(b.model().nv()) * b.model().nv();
         b.rnea_derivatives(s.count, s.q.data(), s.v.data(), s.a.data(), part(out, 0, n), part(out, 1, n),
                            part(out, 2, n));
       },
       [](const Model& m, const S& s, long i) {
         RneaDerivatives d(m);
         Workspace work(m);
         rnea_derivatives(m, s.state(m, i), s.row(s.a, i), work, d);
         return joined({row_major(d.dq), row_major(d.dv), row_major(d.da)});
       }},
      {"aba_derivatives", [](const Model& m) { return (3L * m.nv() + 1) * m.nv(); },
       [](B& b, const S& s, R out) {
         const long n = long(b.model().nv()) * b.model().nv();
         b.aba_derivatives(s.count, s.q.data(), s.v.data(), s.a.data(), part(out, 0, n), part(out, 1, n),
                           part(out, 2, n), part(out, 3, n));
       },
       [](const Model& m, const S& s, long i) {
         AbaDerivatives d(m);
         Workspace work(m);
         aba_derivatives(m, s.state(m, i), s.row(s.a, i), work, d);
         return joined({row_major(d.dq), row_major(d.dv), row_major(d.dtau), d.forward.vdot});
       }},
      {"integrate", [](const Model& m) { return long(m.nq()); },
       [](B& b, const S& s, R out) { b.integrate(s.count, s.q.data(), s.v.data(), Real(0.25), out); },
       [](const Model& m, const S& s, long i) { return integrate(m, s.row(s.q, i), 0.25 * s.row(s.v, i)); }},
      {"step", [](const Model& m) { return long(m.nq()) + m.nv(); },
       [](B& b, const S& s, R out) {
         b.step(s.count, s.q.data(), s.v.data(), s.a.data(), Real(0.25), out, part(out, 1, b.model().nq()));
       },
       [](const Model& m, const S& s, long i) {
         const Eigen::VectorXd v = s.row(s.v, i) + 0.25 * s.row(s.a, i);
         return joined({integrate(m, s.row(s.q, i), 0.25 * v), v});
       }}};
  for (JacobianAxes axes : {JacobianAxes::kLocalWorldAligned, JacobianAxes::kLocal, JacobianAxes::kWorld}) {
    list.push_back(
        {"jacobian", columns,
         [axes](B& b, const S& s, R out) { b.jacobian(s.count, s.q.data(), last_link(b.model()), kFrame, axes, out); },
         [axes](const Model& m, const S& s, long i) {
           return row_major(jacobian(m, s.row(s.q, i), last_link(m), kFrame, axes));
         }});
  }
  return list;
}

}  // namespace kansetsu::batch::test
