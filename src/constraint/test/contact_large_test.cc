#include <doctest/doctest.h>

#include <chrono>
#include <random>

#include "constraint/contact_thresholds.h"
#include "contact_support.h"
#include "no_alloc.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

using Block = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;

/// Boxes on top of each other, face on face.
struct Stack {
  static constexpr double kSize = 0.2;
  std::vector<Body> bodies;
  std::vector<Block> J, Y;
  std::vector<ContactPatch> patches;
  std::vector<SparsePatch> rows;
  std::vector<ContactMemory> memory;
  std::vector<double> v_now, v;
  std::vector<Eigen::Matrix<double, 6, 6>> M;
  std::vector<BodyMass> masses;
  ContactSolver solver;
  ContactResult result;

  explicit Stack(int count) {
    for (int i = 0; i < count; ++i) {
      bodies.push_back(Body::box(1, kSize, kSize, kSize));
      bodies.back().p = {0.01 * (i % 3), 0.008 * (i % 2), kSize * (i + 0.5)};
    }
    const size_t n = size_t(count);
    J.resize(2 * n), Y.resize(2 * n), patches.resize(n), rows.resize(n), memory.resize(n), v_now.resize(6 * n),
        v.resize(6 * n), M.resize(n), masses.resize(n);
  }
  /// Contact i is below body i. Its frame is that of the lower body's top.
  void collide(size_t i) {
    const Body& upper = bodies[i];
    const Matrix3 E = i == 0 ? Matrix3::Identity() : bodies[i - 1].R;
    const Vector3 top = i == 0 ? Vector3::Zero() : Vector3(bodies[i - 1].p + E * Vector3(0, 0, kSize / 2));
    const Vector3 o = upper.p - upper.R * Vector3(0, 0, kSize / 2);
    ContactPatch p = rectangle(kSize, kSize, 0.5, 0.5);
    p.row = int(6 * i);
    for (int k = 0; k < 4; ++k) {
      const Vector3 corner = upper.p + upper.R * Vector3(k == 0 || k == 3 ? 0.1 : -0.1, k < 2 ? 0.1 : -0.1, -0.1);
      const Vector3 in = E.transpose() * (corner - o);
      p.vertices[size_t(k)] = {in.x(), in.y(), (E.transpose() * (corner - top)).z()};
    }
    patches[i] = p;
    M[i] = upper.inverse_mass().inverse();
    masses[i] = {int(6 * i), 6, M[i].data()};
    J[2 * i] = patch_jacobian(upper, o, E);
    Y[2 * i] = J[2 * i] * upper.inverse_mass();
    rows[i].block_count = 1;
    rows[i].block[0] = {int(6 * i), 6, J[2 * i].data(), Y[2 * i].data()};
    if (i == 0) return;
    J[2 * i + 1] = -patch_jacobian(bodies[i - 1], o, E);
    Y[2 * i + 1] = J[2 * i + 1] * bodies[i - 1].inverse_mass();
    rows[i].block_count = 2;
    rows[i].block[1] = {int(6 * (i - 1)), 6, J[2 * i + 1].data(), Y[2 * i + 1].data()};
  }
  SparseContactProblem problem(double h) const {
    SparseContactProblem q;
    q.patches = patches, q.rows = rows, q.rows_total = int(6 * patches.size());
    q.v_now = v_now, q.bodies = masses;
    q.h = h, q.gravity = kG;
    return q;
  }
  void prepare(double h) {
    for (size_t i = 0; i < bodies.size(); ++i) {
      collide(i);
      const Eigen::Matrix<double, 6, 1> a = bodies[i].acceleration({0, 0, -kG}, Eigen::Matrix<double, 6, 1>::Zero());
      for (size_t c = 0; c < 6; ++c) {
        v_now[6 * i + c] = bodies[i].v[int(c)];
        v[6 * i + c] = bodies[i].v[int(c)] + h * a[int(c)];
      }
    }
  }
  void step(double h) {
    prepare(h);
    solver.solve_contact_large(problem(h), memory, v, result);
    for (size_t i = 0; i < bodies.size(); ++i) {
      for (size_t c = 0; c < 6; ++c) bodies[i].v[int(c)] = v[6 * i + c];
      bodies[i].advance(h);
    }
  }
};

}  // namespace

TEST_CASE("sixteen stacked boxes stand for ten seconds at h = 2 ms with less than 0.1 mm of drift") {
  Stack stack(16);
  std::vector<Vector3> start;
  for (const Body& b : stack.bodies) start.push_back(b.p);
  int sweeps = 0, not_converged = 0;
  double worst = 0;
  for (int n = 0; n < 5000; ++n) {
    stack.step(2e-3);
    sweeps += stack.result.sweeps;
    not_converged += stack.result.status != ContactStatus::kOk;
    if (n > 1000) worst = std::max(worst, stack.result.residual);
  }
  double drift = 0;
  for (size_t i = 0; i < start.size(); ++i) drift = std::max(drift, (stack.bodies[i].p - start[i]).norm());
  MESSAGE("drift ", drift, " m, ", sweeps / 5000.0, " sweeps a step, not converged ", not_converged, ", residual ",
          worst);
  CHECK(not_converged == 0);
  CHECK(worst < 1e-6);  // 5e-8, below the tolerance of the solver
  CHECK(drift < 1e-4);
  // Newton's third law down to the floor.
  CHECK(stack.result.force[2] == doctest::Approx(16 * kG).epsilon(1e-4));
}

TEST_CASE("blocks on bodies and the dense matrix give the same forces") {
  Stack stack(3);
  for (size_t i = 0; i < 3; ++i)
    stack.bodies[i].v << 0.3 - 0.1 * double(i), 0, 0, 0, 0, 0;  // no spin: it would leave a choice
  const double h = 1e-3;
  stack.solver.options.sweep_tolerance = 1e-11;
  stack.prepare(h);
  Matrix J = Matrix::Zero(18, 18), M = Matrix::Zero(18, 18);
  Vector v(18), a(18);
  for (size_t i = 0; i < 3; ++i) {
    const int at = int(6 * i);
    J.block<6, 6>(at, at) = stack.J[2 * i];
    if (i > 0) J.block<6, 6>(at, at - 6) = stack.J[2 * i + 1];
    M.block<6, 6>(at, at) = stack.bodies[i].inverse_mass();
    v.segment<6>(at) = stack.bodies[i].v;
    a.segment<6>(at) = stack.bodies[i].acceleration({0, 0, -kG}, Eigen::Matrix<double, 6, 1>::Zero());
  }
  Case k;
  k.G = J * M * J.transpose();
  k.a = J * a, k.u = J * v, k.h = h;
  k.patches = stack.patches;
  ContactSolver dense;
  const ContactResult expected = k.contact(dense);
  CHECK(expected.status == ContactStatus::kOk);
  const std::size_t first =
      allocations_in([&] { stack.solver.solve_contact_large(stack.problem(h), stack.memory, stack.v, stack.result); });
  CHECK((first > 0 || !NoAllocScope::counts()));
  CHECK(stack.result.status == ContactStatus::kOk);
  for (size_t i = 0; i < 18; ++i)
    CHECK(std::abs(stack.result.force[i] - expected.force[i]) < 1e-4);  // four legs share loads as they like
  const Vector after = v + h * (a + M * J.transpose() * Eigen::Map<const Vector>(expected.force.data(), 18));
  CHECK((Eigen::Map<const Vector>(stack.v.data(), 18) - after).cwiseAbs().maxCoeff() < 1e-6);  // so does friction
  stack.prepare(h);
  const std::size_t again =
      allocations_in([&] { stack.solver.solve_contact_large(stack.problem(h), stack.memory, stack.v, stack.result); });
  CHECK(again == 0);
}

TEST_CASE("a heap takes as many systems as max_products_large allows, and kFewestSystems at least") {
  MESSAGE("seed 7");
  std::mt19937_64 rng(7);
  std::normal_distribution<double> normal;
  Stack stack(24);
  for (Body& b : stack.bodies)
    b.v << normal(rng), normal(rng), normal(rng), normal(rng), normal(rng), -std::abs(normal(rng));
  const auto systems = [&](long products) {
    stack.solver.options.sweep_tolerance = 1e-9;
    stack.solver.options.max_products_large = products;
    stack.memory.assign(stack.bodies.size(), {});
    stack.prepare(2e-3);
    stack.solver.solve_contact_large(stack.problem(2e-3), stack.memory, stack.v, stack.result);
    return stack.result.solves;
  };
  const int enough = systems(ContactOptions{}.max_products_large);
  CHECK(stack.result.status == ContactStatus::kOk);
  CHECK(enough > kernel::threshold::kFewestSystems + kernel::threshold::kNewtonSteps);
  const int fewest = systems(1);
  CHECK(stack.result.status == ContactStatus::kNotConverged);
  CHECK(fewest >= kernel::threshold::kFewestSystems);
  CHECK(fewest <= kernel::threshold::kFewestSystems + kernel::threshold::kNewtonSteps);  // the last Newton run ends
}
