#include "no_alloc.h"

#include <doctest/doctest.h>

#include "kansetsu/dynamics/derivatives.h"
#include "kansetsu/dynamics/response.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/kinematics/jacobian.h"
#include "random_models.h"

/// Every public function with a Workspace or an out argument, with malloc interposed.
using namespace kansetsu;
using namespace kansetsu::test;

TEST_CASE("hot functions never allocate") {
  const Model geared = random_tree(77, {.links = 20, .gears = 5});
  for (const Model& model : {human28(), human28_ball(), geared}) {
    CAPTURE(model.name());
    std::mt19937_64 rng(7);
    const State state = regular_state(model, rng);
    const int nv = model.nv();
    const Eigen::VectorXd x = random_vector(nv, rng);
    Eigen::VectorXd out(nv), q_out(model.nq());
    Eigen::MatrixXd matrix(nv, nv), Y(nv, 10 * model.link_count());
    Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, nv);
    ExternalForces forces(model);
    Workspace work(model);
    LinkPoses poses(model);
    LinkMotions motions(model);
    Jacobian jac(model);
    Centroidal cent(model);
    AbaResult result(model);
    SparseMassMatrix sparse(model);
    Reactions reaction(model);
    RneaDerivatives inverse(model);
    AbaDerivatives forward(model);
    Response response(model);
    std::vector<Motion<>> A(size_t(model.link_count()));
    const LinkId last(model.link_count() - 1);

    const auto quiet = [&](const char* what, auto&& call) {
      CAPTURE(what);
      CHECK(allocations_in(call) == 0);
    };
    quiet("fk", [&] { fk(model, state.q, work, poses); });
    quiet("link_motions", [&] { link_motions(model, state, x, work, motions); });
    quiet("jacobian", [&] { jacobian(model, state.q, last, {}, JacobianAxes::kLocal, work, J); });
    quiet("jacobian rate", [&] { jacobian(model, state, last, {}, JacobianAxes::kWorld, work, jac); });
    quiet("joint_axes", [&] { joint_axes(model, state.q, work, J); });
    quiet("energy", [&] { energy(model, state, work); });
    quiet("centroidal", [&] { centroidal(model, state, work, cent); });
    quiet("center_of_mass", [&] { center_of_mass(model, state.q, work); });
    quiet("rnea", [&] { rnea(model, state, x, work, out, &forces); });
    quiet("bias", [&] { bias(model, state, work, out); });
    quiet("gravity_torque", [&] { gravity_torque(model, state.q, work, out); });
    quiet("coriolis_matrix", [&] { coriolis_matrix(model, state, work, matrix); });
    quiet("crba", [&] { crba(model, state.q, work, matrix); });
    quiet("crba sparse", [&] { crba(model, state.q, work, sparse); });
    quiet("aba", [&] { aba(model, state, x, work, result, &forces); });
    quiet("solve_mass_matrix", [&] { solve_mass_matrix(model, state.q, x, work, result); });
    quiet("mass_matrix_inverse", [&] { mass_matrix_inverse(model, state.q, work, matrix); });
    quiet("reactions", [&] { reactions(model, state, x, work, reaction, &forces); });
    quiet("regressor", [&] { regressor(model, state, x, work, Y); });
    quiet("rnea_derivatives", [&] { rnea_derivatives(model, state, x, work, inverse, &forces); });
    quiet("aba_derivatives", [&] { aba_derivatives(model, state, x, work, forward, &forces); });
    quiet("Response::update", [&] { response.update(state.q); });
    quiet("Response::link_response", [&] { response.link_response(last, LinkId(0)); });
    quiet("Response::apply_wrench", [&] { response.apply_wrench(last, {}, out, A); });
    quiet("Response::apply_torque", [&] { response.apply_torque(x, out, A); });
    quiet("integrate", [&] { integrate(model, state.q, x, q_out); });
    quiet("difference", [&] { difference(model, state.q, state.q, out); });
  }
}
