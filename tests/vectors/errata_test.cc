#include <doctest/doctest.h>

#include <Eigen/Dense>

#include "dyn_case.h"
#include "kansetsu/dynamics/response.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/spatial/inertia.h"

/// Where the sources are wrong (docs/theory/sources.md, errata): each case evaluates the printed form on a reference vector, shows that
/// it misses, and that ours does not. Errata of frames, swing and twist are in src/spatial/test.
using namespace kansetsu;
using namespace kansetsu::test;

namespace {

constexpr double kTolerance = 1e-9;  // of the vectors: they agree to 6e-11 at worst
constexpr double kMiss = 1e-3;       // far beyond any rounding

DynCase vector_case(const char* name) { return DynCase(dynamics_vectors() / (std::string(name) + ".json")); }

Eigen::VectorXd stacked(const Force<>& F) {
  return (Eigen::VectorXd(6) << F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z).finished();
}
Eigen::VectorXd stacked(const Vec3<>& a, const Vec3<>& b) { return stacked(Force<>{a, b}); }

/// The one body of tree_single_free_body: inertia about its origin, velocity, spatial acceleration, wrench on it.
struct OneBody {
  DynCase c = vector_case("tree_single_free_body");
  double m = c.body(0).at("mass");
  Vec3<> com = vec(c.body(0).at("com"));
  Sym3<> J = to_sym3(mat(c.body(0).at("inertia_com")));
  Inertia<> M = make_inertia(m, com, J);
  Motion<> V{vec(c.expected(0).at("omega")), vec(c.expected(0).at("v"))};
  Vec3<> a = vec(c.expected(0).at("a"));
  Motion<> s{vec(c.expected(0).at("alpha")), vec(c.expected(0).at("a_spatial"))};
  Vec3<> g = transpose_times(mat(c.expected(0).at("R")), vec(c.json.at("gravity")));
  Force<> applied{vec(c.body(0).at("fext").at("n")), vec(c.body(0).at("fext").at("f"))};
  Force<> weight{cross(m * com, g), m* g};
  Eigen::VectorXd total = stacked(applied + weight);
};

/// Accelerations of the joints of a case for torques tau.
Eigen::VectorXd forward(const DynCase& c, const Eigen::VectorXd& tau) {
  return aba(c.model, c.state, tau, &c.external).vdot;
}
Eigen::VectorXd expected_rates(const DynCase& c) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(c.model.nv());
  if (c.model.base() == Base::kFree) {
    out.head<6>() = stacked(vec(c.expected(0).at("alpha")), vec(c.expected(0).at("a_spatial")));
  }
  for (int i = 1; i < c.body_count(); ++i) {
    const CoordinateRange r = c.model.coordinates(c.joint(i));
    if (r.nv > 0) out.segment(r.v, r.nv) = vector(c.expected(i).at("qdd"));
  }
  return out;
}

}  // namespace

TEST_CASE("000 (18), (19): a block-diagonal inertia holds only at the centre of mass") {
  const OneBody b;
  const Eigen::VectorXd printed = stacked(b.J * b.s.w + cross(b.V.w, b.J * b.V.w), b.m * b.a);
  CHECK(deviation(printed, b.total) > kMiss);
  CHECK(deviation(stacked(b.M * b.s + cross(b.V, b.M * b.V)), b.total) < kTolerance);
}

TEST_CASE("000 (19): gravity belongs to the external force") {
  const DynCase c = vector_case("tree_com_frames");
  const Model weightless = with_gravity(c.model, {});
  CHECK(deviation(aba(weightless, c.state, c.tau, &c.external).vdot, expected_rates(c)) > kMiss);
  CHECK(deviation(forward(c, c.tau), expected_rates(c)) < kTolerance);
}

TEST_CASE("000 §2.4 step 2: a fixed root does not fall") {
  const DynCase c = vector_case("tree_fixed_mixed_2");
  REQUIRE(c.model.base() == Base::kFixed);
  const Model floating = with_base(c.model, Base::kFree);
  State state(floating);
  state.q.tail(c.model.nq()) = c.state.q;
  state.v.tail(c.model.nv()) = c.state.v;
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(floating.nv());
  tau.tail(c.model.nv()) = c.tau;
  CHECK(deviation(Eigen::VectorXd(aba(floating, state, tau).vdot.tail(c.model.nv())), expected_rates(c)) > kMiss);
  CHECK(deviation(forward(c, c.tau), expected_rates(c)) < kTolerance);
}

TEST_CASE("000 §2.4 step 4: the stored velocity integrates with the spatial acceleration, not the classical one") {
  const OneBody b;
  const Eigen::VectorXd vdot = forward(b.c, b.c.tau);
  CHECK(deviation(stacked(b.s.w, b.a), vdot) > kMiss);
  CHECK(deviation(stacked(b.s.w, b.s.v), vdot) < kTolerance);
}

TEST_CASE("000 §2.6: the torque of a serial gear is τ₁ + γ·τ₂, and joint 1 carries body 2 as well") {
  const DynCase c = vector_case("gear_serial_min_floating");
  Eigen::VectorXd first_only = c.tau;
  const double gamma = c.json.at("couplings")[0].at("ratios")[1];
  first_only[6] -= gamma * vector(c.body(2).at("tau"))[0];
  CHECK(deviation(forward(c, first_only), expected_rates(c)) > kMiss);
  CHECK(deviation(forward(c, c.tau), expected_rates(c)) < kTolerance);

  Workspace work(c.model);
  Reactions r(c.model);
  reactions(c.model, c.state, forward(c, c.tau), work, r, &c.external);
  const LinkPoses poses = fk(c.model, c.state.q);
  const Force<>&F1 = r.wrench[size_t(c.link(1).value())], &F2 = r.wrench[size_t(c.link(2).value())];
  const Force<> without = F1 - inverse(poses[c.link(1)]) * poses[c.link(2)] * F2;  // F'₁ of the seed
  const Json& w = c.expected(1).at("joint_wrench");
  CHECK(deviation(stacked(without), stacked(vec(w.at("n")), vec(w.at("f")))) > kMiss);
  CHECK(deviation(stacked(F1), stacked(vec(w.at("n")), vec(w.at("f")))) < kTolerance);
}

TEST_CASE("000 (36): the bias of a child is Ĉ, not Ĉ·q̈") {
  const DynCase c = vector_case("gear_parallel_min_floating");
  Response response(c.model);
  response.update(c.state.q);
  const Response::Group g = response.groups().front();
  const double ydd = vector(c.expected(1).at("qdd"))[0];
  const auto s = [&](int i) { return stacked(vec(c.expected(i).at("alpha")), vec(c.expected(i).at("a_spatial"))); };
  // the spatial bias V × S·q̇ of body 1
  const Json& e = c.expected(1);
  const Motion<> V{vec(e.at("omega")), vec(e.at("v"))};
  const Eigen::VectorXd J = g.J[0].col(0);
  const double qd = vector(c.body(1).at("qd"))[0];
  const Motion<> rate{{qd * J[0], qd * J[1], qd * J[2]}, {qd * J[3], qd * J[4], qd * J[5]}};
  const Motion<> bias = cross(V, rate);
  const Eigen::VectorXd C = stacked(bias.w, bias.v);
  CHECK(deviation(Eigen::VectorXd(g.X[0] * s(0) + C * ydd + J * ydd), s(1)) > kMiss);
  CHECK(deviation(Eigen::VectorXd(g.X[0] * s(0) + C + J * ydd), s(1)) < kTolerance);
}

TEST_CASE("000 (38), (40): the common torque counts once, not once per member") {
  const DynCase c = vector_case("gear_parallel_min_fixed");
  CHECK(deviation(forward(c, 2 * c.tau), expected_rates(c)) > kMiss);
  CHECK(deviation(forward(c, c.tau), expected_rates(c)) < kTolerance);
}

TEST_CASE("000 §2.7: gear ratios belong into the Jacobians") {
  const DynCase c = vector_case("gear_parallel_rack_fixed");
  ModelDescription d = c.model.description();
  for (Coupling& coupling : d.couplings) coupling.terms[0].ratio = 1;
  const Model unit = ModelBuilder(d).build();
  CHECK(deviation(aba(unit, c.state, c.tau, &c.external).vdot, expected_rates(c)) > kMiss);
  CHECK(deviation(forward(c, c.tau), expected_rates(c)) < kTolerance);
}

TEST_CASE("000 §2.8: S has no factor δẐ; the nearest common ancestor; Θ₀ of a fixed root is zero") {
  const DynCase c = vector_case("response_tree_fixed");
  Response response(c.model);
  response.update(c.state.q);
  const Json& expected = c.json.at("response");
  for (const Response::Group& g : response.groups()) {
    const int body = std::stoi(c.model.link(g.members[0]).name.substr(1));
    for (const Json& pair : expected.at("pairs")) {
      if (pair.at("j") != body || pair.at("i") != body) continue;
      const Matrix6 Lambda = matrix(pair.at("Lambda"));
      const Matrix6 Theta_p = -response.link_response(g.parent, g.parent);
      const Matrix6 through = g.T[0] * Theta_p * g.T[0].transpose();
      CHECK(deviation(Matrix6(-through), Lambda) > kMiss);  // any further ancestor: the S of the shared part is lost
      CHECK(deviation(Matrix6(g.S[0] - through), Lambda) < kTolerance);
      const Eigen::Matrix<double, 6, 1> dZ = Eigen::Matrix<double, 6, 1>::Constant(0.5);
      CHECK(deviation(Eigen::VectorXd((g.S[0] * dZ).cwiseProduct(dZ)), Eigen::VectorXd(g.S[0] * dZ)) > kMiss);
    }
  }
  const Model floating = with_base(c.model, Base::kFree);
  Response free(floating);
  State state(floating);
  state.q.tail(c.model.nq()) = c.state.q;
  free.update(state.q);
  CHECK(deviation(Matrix6(free.base_theta()), matrix(expected.at("Theta_root"))) > kMiss);  // −P̂₀⁻¹
  CHECK(deviation(response.base_theta(), matrix(expected.at("Theta_root"))) < kTolerance);
}

TEST_CASE("000 §2.8, last line: geared siblings answer each other through S_ab") {
  const DynCase c = vector_case("gear_parallel_min_floating");
  Response response(c.model);
  response.update(c.state.q);
  const Response::Group g = response.groups().front();
  const Matrix6 Theta_p = -response.link_response(g.parent, g.parent);
  for (const Json& pair : c.json.at("response").at("pairs")) {
    if (pair.at("j") != 1 || pair.at("i") != 2) continue;
    const Matrix6 plain = -g.T[0] * Theta_p * g.T[1].transpose();
    CHECK(deviation(plain, Matrix6(matrix(pair.at("Lambda")))) > kMiss);
    CHECK(deviation(Matrix6(plain + g.S[1]), Matrix6(matrix(pair.at("Lambda")))) < kTolerance);
  }
}

TEST_CASE("002: the gyroscopic term is v ×* (I v), does not vanish in motion, and a₀ = −g") {
  const OneBody b;
  const Force<> momentum = b.M * b.V;
  const Motion<> wrong = cross(b.V, Motion<>{momentum.t, momentum.f});  // the motion product, as printed
  const Force<> inertial = b.M * b.s;
  CHECK(deviation(stacked(inertial + Force<>{wrong.w, wrong.v}), b.total) > kMiss);
  CHECK(deviation(stacked(inertial), b.total) > kMiss);  // "I a + v ×* I v = I a"
  CHECK(deviation(stacked(inertial + cross(b.V, momentum)), b.total) < kTolerance);
  const DynCase c = vector_case("tree_com_frames");  // a₀ = 0 instead of −g
  const Eigen::VectorXd vdot = expected_rates(c);
  CHECK(deviation(rnea(with_gravity(c.model, {}), c.state, vdot, &c.external), c.tau) > kMiss);
  CHECK(deviation(rnea(c.model, c.state, vdot, &c.external), c.tau) < kTolerance);
}

TEST_CASE("002: I_O has the inertia about the centre of mass as its middle factor") {
  const OneBody b;
  const Sym3<> about_O = make_inertia(b.m, b.com, b.J).I;
  Inertia<> wrong = b.M;
  wrong.I = about_O + b.m * parallel_axis(b.com, b.com);  // the shift applied to I_O itself
  CHECK(deviation(stacked(wrong * b.s + cross(b.V, wrong * b.V)), b.total) > kMiss);
  CHECK(deviation(stacked(b.M * b.s + cross(b.V, b.M * b.V)), b.total) < kTolerance);
}
