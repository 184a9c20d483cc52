#include "support.h"

/// Strides, padding and threads leave every state's result as it is, and everything else alone.
using namespace kansetsu;
using namespace kansetsu::batch;
using namespace kansetsu::batch::test;

namespace {

template <class Real>
std::vector<Real> results(const Function<Real>& f, Batch<Real>& batch, const States<Real>& states) {
  const long size = f.size(batch.model());
  std::vector<Real> out(size_t(states.count * size), Real(NAN));
  f.many(batch, states, {out.data(), size});
  return out;
}

/// The same rows `gap` numbers apart, backwards if the gap is negative; numbers in between are −1.
template <class Real>
struct Spread {
  Spread(const std::vector<Real>& rows, long count, long gap)
      : size(long(rows.size()) / count), stride(size + std::abs(gap)), data(size_t(count * stride), Real(-1)) {
    const long step = gap < 0 ? -stride : stride;
    first = data.data() + (gap < 0 ? (count - 1) * stride : 0);
    for (long i = 0; i < count; ++i) std::copy_n(rows.begin() + i * size, size, first + i * step);
    view = {first, step};
  }
  bool gaps_untouched() const {
    for (size_t k = 0; k < data.size(); ++k) {
      if (long(k) % stride >= size && data[k] != Real(-1)) return false;
    }
    return true;
  }
  long size, stride;
  std::vector<Real> data;
  Real* first;
  Rows<Real> view;
};

}  // namespace

TEST_CASE_TEMPLATE("batch: the same bits on any number of threads", Real, double, float) {
  const Model model = random_tree(3, {.links = 9, .gears = 2});
  const States<Real> states(model, 1000, 5);
  Batch<Real> one(model, {.threads = 1});
  CHECK(one.threads() == 1);
  for (int threads : {2, 5}) {
    Batch<Real> several(model, {.threads = threads});
    CHECK(several.threads() == threads);
    for (const Function<Real>& f : functions<Real>()) {
      CAPTURE(f.name);
      CHECK(results(f, one, states) == results(f, several, states));
    }
  }
}

TEST_CASE_TEMPLATE("batch: the same bits wherever a state stands", Real, double, float) {
  const Model model = human28();
  const States<Real> states(model, 70, 8);
  States<Real> turned = states;  // the last state first
  for (auto [rows, size] : {std::pair(&turned.q, model.nq()),
                            {&turned.v, model.nv()},
                            {&turned.a, model.nv()},
                            {&turned.wrenches, 6 * model.link_count()}}) {
    std::rotate(rows->begin(), rows->end() - size, rows->end());
  }
  Batch<Real> batch(model, {.threads = 1});
  for (const Function<Real>& f : functions<Real>()) {
    CAPTURE(f.name);
    std::vector<Real> expected = results(f, batch, states);
    std::rotate(expected.begin(), expected.end() - f.size(model), expected.end());
    CHECK(results(f, batch, turned) == expected);
  }
}

TEST_CASE_TEMPLATE("batch: rows may lie apart, and what is between them is not touched", Real, double, float) {
  const Model model = human28();
  const long count = 37;
  const States<Real> states(model, count, 9);
  Batch<Real> batch(model, {.threads = 1});
  std::vector<Real> expected(size_t(count * model.nv()));
  batch.aba(count, states.q.data(), states.v.data(), states.a.data(), expected.data());
  std::vector<Real> poses(size_t(count) * size_t(12 * model.link_count()));
  batch.fk(count, states.q.data(), poses.data());
  for (long gap : {1, 7, 64, -3}) {
    CAPTURE(gap);
    const Spread<Real> q(states.q, count, gap), v(states.v, count, 3), tau(states.a, count, -gap);
    Spread<Real> vdot(std::vector<Real>(expected.size()), count, gap), X(std::vector<Real>(poses.size()), count, gap);
    batch.aba(count, q.view, v.view, tau.view, vdot.view);
    batch.fk(count, q.view, X.view);
    CHECK(vdot.data == Spread<Real>(expected, count, gap).data);
    CHECK(X.data == Spread<Real>(poses, count, gap).data);
    CHECK(vdot.gaps_untouched());
  }
}

TEST_CASE("batch: the inverse of a large mass matrix is that of one state, wherever its rows lie") {
  const Model model = human28();
  const long count = 11, n = model.nv();
  const States<double> states(model, count, 12);
  Batch<double> batch(model, {.threads = 1});
  const std::vector<double> empty(size_t(count * n * n));
  Spread<double> M_inv(empty, count, 5), dq(empty, count, -2), dv(empty, count, 1), dtau(empty, count, 3);
  batch.mass_matrix_inverse(count, states.q.data(), M_inv.view);
  batch.aba_derivatives(count, states.q.data(), states.v.data(), states.a.data(), dq.view, dv.view, dtau.view);
  const auto row = [&](const Spread<double>& rows,
                       long i) {  // a column is written as a row: symmetric but for rounding
    return Eigen::Map<const Eigen::MatrixXd>(rows.first + i * rows.view.stride, n, n);
  };
  Workspace work(model);
  Eigen::MatrixXd expected(n, n);
  for (long i = 0; i < count; ++i) {
    mass_matrix_inverse(model, Eigen::Map<const Eigen::VectorXd>(&states.q[size_t(i * model.nq())], model.nq()), work,
                        expected);
    CHECK(row(M_inv, i) == expected);
    // Two ways to the same matrix; the condition of M is near 1e5.
    CHECK((row(dtau, i) - expected).cwiseAbs().maxCoeff() < 1e-11 * expected.cwiseAbs().maxCoeff());
  }
  for (const Spread<double>* rows : {&M_inv, &dq, &dv, &dtau}) CHECK(rows->gaps_untouched());
}

TEST_CASE_TEMPLATE("batch: an input of stride 0 is one row for all states", Real, double, float) {
  const Model model = human28();
  const long count = 21;
  const States<Real> states(model, count, 10);
  std::vector<Real> same;
  for (long i = 0; i < count; ++i) same.insert(same.end(), states.a.begin(), states.a.begin() + model.nv());
  Batch<Real> batch(model, {.threads = 1});
  std::vector<Real> expected(same.size()), found(same.size());
  batch.rnea(count, states.q.data(), states.v.data(), same.data(), expected.data());
  batch.rnea(count, states.q.data(), states.v.data(), {states.a.data(), 0}, found.data());
  CHECK(found == expected);
}

TEST_CASE_TEMPLATE("batch: results may overwrite their inputs", Real, double, float) {
  const Model model = human28_ball();
  States<Real> states(model, 333, 11);
  Batch<Real> batch(model, {.threads = 2});
  std::vector<Real> q(states.q.size()), v(states.v.size()), vdot(states.a.size());
  batch.aba(states.count, states.q.data(), states.v.data(), states.a.data(), vdot.data());
  batch.step(states.count, states.q.data(), states.v.data(), vdot.data(), Real(0.01), q.data(), v.data());
  batch.aba(states.count, states.q.data(), states.v.data(), states.a.data(), states.a.data());
  CHECK(states.a == vdot);
  batch.step(states.count, states.q.data(), states.v.data(), states.a.data(), Real(0.01), states.q.data(),
             states.v.data());
  CHECK(states.q == q);
  CHECK(states.v == v);
}

TEST_CASE_TEMPLATE("batch: no states, and a model without coordinates", Real, double, float) {
  Batch<Real> batch(human28(), {.threads = 1});
  const Real* none = nullptr;
  Real* nothing = nullptr;
  CHECK_NOTHROW(batch.aba(0, none, none, none, nothing));
  const Model rigid = random_tree(1, {.links = 1, .base = Base::kFixed});
  REQUIRE(rigid.nv() == 0);
  Batch<Real> fixed(rigid);
  std::vector<Real> X(12 * 3, Real(NAN));
  fixed.fk(3, none, X.data());
  fixed.aba(3, none, none, none, nothing);
  for (long i = 0; i < 3; ++i) CHECK(close(numbers(fk(rigid, Eigen::VectorXd(0))), X.data() + 12 * i));
}
