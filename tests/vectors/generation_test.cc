#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <bit>

#include "constraint/island.h"
#include "contact_case.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/motion/generation.h"
#include "kansetsu/spatial/eigen.h"
#include "motion/levels.h"

using namespace kansetsu;
using namespace kansetsu::test;

/// The cases of motion_generation_cases.json, as matrices and through models; scenario 21.
namespace {

const Json& cases() {
  static const Json file = contact_vectors("motion_generation_cases.json");
  return file.at("cases");
}
Json model_of(const Json& c) {
  if (c.contains("model")) return c.at("model");
  return contact_vectors("human_model.json").at("model");
}

/// Point foot of the biped, or the two soles.
std::vector<HeldFrame> holds_of(const Json& json, const Case& c) {
  if (json.contains("contact")) {
    const LinkId link = c.model.link_id("b" + std::to_string(json.at("contact").at("body").get<int>()));
    const Transform<> X_WL = fk(c.model, c.state.q)[link];
    return {{.frame = {link, {Mat3<>::identity(), inverse(X_WL) * vec(json.at("contact").at("point_world"))}},
             .mask = kPointMask}};
  }
  const Json human = contact_vectors("human_model.json");
  std::vector<HeldFrame> holds;
  for (const char* foot : {"FootL", "FootR"}) {
    HeldFrame hold{.frame = {c.model.link_id("b" + std::to_string(human.at("link_ids").at(foot).get<int>())), {}}};
    Vec3<> middle{};
    for (const Json& corner : human.at("sole_local")) middle += 0.25 * vec(corner);
    for (const Json& corner : human.at("sole_local")) hold.corners.push_back(vec(corner) - middle);
    hold.frame.X_LF.p = middle;
    holds.push_back(hold);
  }
  return holds;
}

GenerationProblem problem_of(const Json& json, const Case& c) {
  GenerationProblem problem;
  problem.holds = holds_of(json, c);
  const Eigen::VectorXd wish = vector(json.at("rdd_desired")), weights = vector(json.at("weights"));
  // Tasks on the root: of its height, or of all of it ([v; ω] in the cases).
  const bool height = wish.size() == 1;
  const Motion<> A =
      height ? Motion<>{{}, {0, 0, wish[0]}} : Motion<>{{wish[3], wish[4], wish[5]}, {wish[0], wish[1], wish[2]}};
  problem.tasks = {{0, frame_rows(c.model, c.state, {LinkId(0), {}}, A, height ? kPointInPlaneMask : kWeldMask)}};
  problem.weights = {.acceleration = weights[0], .force = weights[c.model.nv()], .torque = weights[weights.size() - 1]};
  // The cases count accelerations of the base from zero in world axes, we from zero in its own.
  const Eigen::VectorXd drift = c.to_case(Eigen::VectorXd::Zero(c.model.nv()), true);
  problem.weights.wish = c.from_case(-drift);
  return problem;
}

/// v̇ of the figure with these torques and nothing but its holds, by the solver of simulations.
Eigen::VectorXd simulated(const Case& c, const std::vector<HeldFrame>& holds, const Eigen::VectorXd& tau) {
  Mechanics m(c.model);
  m.set_pose(c.state.q.data());
  m.set_motion(c.state.v.data());
  m.factorise(nullptr, tau.data());
  Mechanics* figures[] = {&m};
  Island island;
  int rows = 0;
  for (const HeldFrame& hold : holds) rows += std::popcount(unsigned(hold.mask));
  island.begin(figures, rows, 0);
  int row = 0;
  for (const HeldFrame& hold : holds) {
    const unsigned mask = unsigned(hold.mask >> 3 & 7) | unsigned(hold.mask & 7) << 3;  // [v; ω] there
    const Vec3<> p = m.link_pose(hold.frame.link) * hold.frame.X_LF.p;
    island.add_frame(row, mask, {}, {.figure = &m, .body = m.body_of(hold.frame.link)}, hold.axes, p);
    row += std::popcount(mask);
  }
  island.assemble();
  island.hold_accelerations();
  island.complete(nullptr, 1);
  Eigen::VectorXd vdot = Eigen::VectorXd::Zero(c.model.nv());
  island.respond(0, vdot.data());
  return vdot;
}

}  // namespace

TEST_CASE("equation (23) on the matrices of the reference cases: pseudo-inverse and levels") {
  for (const Json& json : cases()) {
    CAPTURE(json.at("name").get<std::string>());
    const Eigen::MatrixXd A = matrix(json.at("A")), H = matrix(json.at("H_C")), J = matrix(json.at("J_P"));
    const Eigen::VectorXd w = vector(json.at("weights"));
    const long nv = A.rows(), held = H.rows(), joints = nv - 6, n = nv + held + joints;
    Eigen::MatrixXd E = Eigen::MatrixXd::Zero(nv + held + J.rows(), n);
    E.topLeftCorner(nv, nv) = A;
    E.block(0, nv, nv, held) = -H.transpose();
    E.block(6, nv + held, joints, joints) = -Eigen::MatrixXd::Identity(joints, joints);
    E.block(nv, 0, held, nv) = H;
    E.bottomLeftCorner(J.rows(), nv) = J;
    Eigen::VectorXd r(E.rows()), expected(n);
    r << -vector(json.at("b")), -vector(json.at("Hdot_qd")),
        vector(json.at("rdd_desired")) - vector(json.at("Jdot_qd"));
    expected << vector(json.at("solution_qdd")), vector(json.at("solution_tau_C")), vector(json.at("solution_tau_J"));
    int rank = 0;
    const Eigen::VectorXd x = weighted_pseudo_inverse(E, r, w, rank);
    CHECK(rank == E.rows());
    CHECK(deviation(x, expected) < kTolerance);
    std::vector<LevelOutcome> outcomes;
    const std::vector<DenseLevel> levels{{E.topRows(nv + held), r.head(nv + held)},
                                         {E.bottomRows(J.rows()), r.tail(J.rows())},
                                         {Eigen::MatrixXd(w.cwiseSqrt().asDiagonal()), Eigen::VectorXd::Zero(n)}};
    CHECK(deviation(solve_levels(levels, int(n), outcomes), expected) < kTolerance);
    CHECK(std::abs(x.dot(w.asDiagonal() * x) / json.at("objective").get<double>() - 1) < kTolerance);
  }
}

TEST_CASE("scenario 21: generated motions of the reference cases, and what simulation makes of their torques") {
  for (const Json& json : cases()) {
    CAPTURE(json.at("name").get<std::string>());
    const Case c(json, model_of(json));
    GenerationProblem problem = problem_of(json, c);
    for (const GenerationMethod method : {GenerationMethod::kLevels, GenerationMethod::kPseudoInverse}) {
      problem.method = method;
      const Generated g = generate(c.model, c.state, problem);
      CHECK(g.status == GenerationStatus::kExact);
      CHECK(g.rank == c.model.nv() + int(json.at("H_C").size() + json.at("J_P").size()));
      CHECK(g.unknowns == int(json.at("weights").size()));
      CHECK(deviation(c.to_case(g.vdot, true), vector(json.at("solution_qdd"))) < kTolerance);
      CHECK(deviation(Eigen::VectorXd(c.to_case(g.tau, false).tail(c.model.nv() - 6)),
                      vector(json.at("solution_tau_J"))) < kTolerance);
      Eigen::VectorXd forces(json.at("H_C").size());
      for (size_t i = 0; i < g.holds.size(); ++i) {
        const Force<>& F = g.holds[i].wrench;
        forces.segment(long(3 * i * g.holds.size()), 3) = to_eigen(F.f);
        if (problem.holds[i].mask == kWeldMask) forces.segment(long(6 * i + 3), 3) = to_eigen(F.t);
      }
      CHECK(deviation(forces, vector(json.at("solution_tau_C"))) < kTolerance);
      // Two ways back: the holds find their forces themselves; or forces are given, and nothing is held.
      CHECK(deviation(simulated(c, problem.holds, g.tau), g.vdot) < 1e-8);
      ExternalForces external(c.model);
      Vec3<> sum{};
      for (size_t i = 0; i < g.holds.size(); ++i) {
        const ik::FrameOn& frame = problem.holds[i].frame;
        const Force<>& F = g.holds[i].wrench;
        const Mat3<> R = fk(c.model, c.state.q)[frame.link].R;
        external[frame.link] += Force<>{F.t + cross(R * frame.X_LF.p, F.f), F.f};
        sum += F.f;
      }
      CHECK(deviation(aba(c.model, c.state, g.tau, &external).vdot, g.vdot) <
            1e-8);  // rounding, times the condition of M
      const Centroidal momentum = centroidal(c.model, c.state);
      const Eigen::Vector3d rate = (momentum.A * g.vdot + momentum.A_dot * c.state.v).tail<3>();
      CHECK((to_eigen(sum) - (rate - momentum.mass * to_eigen(c.model.gravity()))).norm() < 1e-8 * sum.z);  // as above
    }
  }
}
