#include <doctest/doctest.h>

#include "constraint/island.h"
#include "contact_case.h"
#include "kansetsu/constraint/contact_solver.h"
#include "kansetsu/kinematics/centroidal.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

unsigned mask_of(const Json& rows) {
  unsigned mask = 0;
  for (const int row : rows) mask |= 1u << row;
  return mask;
}

void prepare(Mechanics& m, const Case& c, const Eigen::VectorXd& tau) {
  m.set_pose(c.state.q.data());
  m.set_motion(c.state.v.data());
  m.factorise(nullptr, tau.data());
}

}  // namespace

TEST_CASE("constraint forces of the reference cases: sticking contacts, standing human, free flight") {
  int seen = 0;
  const Json human = contact_vectors("human_model.json");
  const Json file = contact_vectors("constraint_force_cases.json");
  for (const Json& json : file.at("cases")) {
    const std::string name = json.at("name");
    CAPTURE(name);
    const Json contacts = json.contains("contacts")  ? json.at("contacts")
                          : json.contains("contact") ? Json::array({json.at("contact")})
                                                     : Json::array();
    if (json.contains("grips")) continue;
    if (json.contains("contact") && json.at("contact").at("mode") != "stick") continue;  // those that move: below
    ++seen;
    const Case c(json, json.contains("model") ? json.at("model") : human.at("model"));
    Mechanics m(c.model);
    prepare(m, c, c.torque(vector(json.at("tau"))));
    Island island;
    Mechanics* figures[] = {&m};
    int rows = 0;
    for (const Json& contact : contacts) {
      rows += contact.contains("rows") ? int(contact.at("rows").size()) : 6;
    }
    island.begin(figures, rows, 0);
    int row = 0;
    for (const Json& contact : contacts) {
      const LinkId link = c.model.link_id("b" + std::to_string(contact.at("body").get<int>()));
      const Mat3<> E =
          contact.contains("axes_world_columns") ? mat(contact.at("axes_world_columns")) : Mat3<>::identity();
      const unsigned mask = contact.contains("rows") ? mask_of(contact.at("rows")) : 0b111111;
      const Vec3<> p = contact.contains("point_world") ? vec(contact.at("point_world"))
                                                       : m.link_pose(link) * vec(contact.at("point_local"));
      island.add_frame(row, mask, {}, {.figure = &m, .body = m.body_of(link)}, E, p);
      row += std::popcount(mask);
    }
    island.assemble();
    island.hold_accelerations();
    island.complete(nullptr, 1);
    Eigen::VectorXd vdot = Eigen::VectorXd::Zero(c.model.nv());
    island.respond(0, vdot.data());
    CHECK(deviation(c.to_case(vdot, true), vector(json.at("qdd"))) < kTolerance);
    if (rows == 0) continue;
    const Eigen::VectorXd expected = vector(json.at("tau_C"));
    CHECK(deviation(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(island.force(), rows)), expected) < kTolerance);
    if (json.contains("rank_HC")) CHECK(island.rank() == json.at("rank_HC").get<int>());
  }
  CHECK(seen >= 6);
}

TEST_CASE("constraint forces of the reference cases: patches that slide and spin, by the law of 2000") {
  int seen = 0;
  const Json file = contact_vectors("constraint_force_cases.json");
  for (const Json& json : file.at("cases")) {
    if (!json.contains("contact") || json.at("contact").at("mode") == "stick") continue;
    const std::string name = json.at("name");
    CAPTURE(name);
    ++seen;
    const Case c(json, json.at("model"));
    Mechanics m(c.model);
    prepare(m, c, c.torque(vector(json.at("tau"))));
    const Json& contact = json.at("contact");
    const LinkId link = c.model.link_id("b" + std::to_string(contact.at("body").get<int>()));
    Island island;
    Mechanics* figures[] = {&m};
    island.begin(figures, 0, 6);
    island.add_frame(0, 0b111111, {}, {.figure = &m, .body = m.body_of(link)}, mat(contact.at("axes_world_columns")),
                     vec(contact.at("point_world")));
    island.assemble();
    island.hold_accelerations();
    // A patch so wide that the centre of pressure is inside. The cases give the slip as a direction, the moment as a share of f_z.
    const bool spins = contact.at("mode") == "spin";
    ContactPatch patch;
    patch.vertex_count = 4;
    patch.vertices[0] = {1, 1, 0}, patch.vertices[1] = {-1, 1, 0};
    patch.vertices[2] = {-1, -1, 0}, patch.vertices[3] = {1, -1, 0};
    patch.mu_static = patch.mu_dynamic = spins ? 0.3 : contact.at("mu_d").get<double>();
    patch.arm = spins ? contact.at("nz0_over_fz").get<double>() / patch.mu_dynamic : 0.1;
    const Eigen::VectorXd s = vector(contact.at("slide_dir"));
    const double u[8] = {spins ? 0 : s[0], spins ? 0 : s[1], 0, 0, 0, spins ? c.state.v[2] : 0};
    ContactOptions options;
    options.take_law_of_2000();
    options.end_of_step = false;
    ContactSolver solver(options);
    ContactResult result;
    ContactMemory memory[1];
    solver.solve_contact({.rows = 6,
                          .G = island.G(),
                          .stride = island.stride(),
                          .padded = island.padded(),
                          .a = island.reduced_a(),
                          .u = u,
                          .patches = {&patch, 1}},
                         memory, result);
    REQUIRE(result.status == ContactStatus::kOk);
    CHECK(result.patches[0].slip == (spins ? SlipMode::kSpin : SlipMode::kSlide));
    const Eigen::VectorXd wrench = Eigen::Map<const Eigen::VectorXd>(result.force.data(), 6);
    constexpr double kCentre = 1e-8;  // the centre of pressure in which friction acts is found to 1e-10 m
    CHECK(deviation(wrench, vector(json.at("wrench_on_link"))) < kCentre);
    island.complete(result.force.data(), 1);
    Eigen::VectorXd vdot = Eigen::VectorXd::Zero(c.model.nv());
    island.respond(0, vdot.data());
    CHECK(deviation(c.to_case(vdot, true), vector(json.at("qdd"))) < kCentre);
  }
  CHECK(seen == 3);
}

TEST_CASE("scenario 19: a bar in two hinged hands, 10 rows of rank 7: accelerations unique, forces of least norm") {
  const Json file = contact_vectors("constraint_force_cases.json");
  for (const Json& json : file.at("cases")) {
    if (!json.contains("grips")) continue;
    const Case c(json, json.at("model"));
    Mechanics m(c.model);
    prepare(m, c, c.torque(vector(json.at("tau"))));
    Island island;
    Mechanics* figures[] = {&m};
    const Eigen::MatrixXd H = matrix(json.at("H_C"));
    island.begin(figures, int(H.rows()), 0);
    for (long r = 0; r < H.rows(); ++r) {
      const Eigen::VectorXd row = c.torque(H.row(r));
      for (int k = 0; k < c.model.nv(); ++k) island.add_dof(int(r), m, k, row[k], c.state.v[k]);
      // Rows give d(H·v)/dt in the case's convention; ours lacks the turning axes of the free bar.
      island.a()[r] =
          vector(json.at("Hdot_qd"))[r] + H.row(r).dot(c.to_case(Eigen::VectorXd::Zero(c.model.nv()), true));
    }
    island.assemble();
    CHECK(island.rank() == json.at("rank").get<int>());
    CHECK(island.hold_accelerations() < kTolerance);
    island.complete(nullptr, 1);
    Eigen::VectorXd vdot = Eigen::VectorXd::Zero(c.model.nv());
    island.respond(0, vdot.data());
    CHECK(deviation(c.to_case(vdot, true), vector(json.at("qdd"))) < kTolerance);
    CHECK(deviation(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(island.force(), H.rows())),
                    vector(json.at("tau_C_min_norm"))) < kTolerance);
  }
}

TEST_CASE("impulses of the reference cases: velocities, momentum and energy") {
  int seen = 0;
  const Json file = contact_vectors("impulse_cases.json");
  for (const Json& json : file.at("cases")) {
    if (!json.contains("model")) continue;  // the cradle has bodies without a mechanism: the solver's test
    const std::string name = json.at("name");
    CAPTURE(name);
    ++seen;
    const Case c(json, json.at("model"));
    Mechanics m(c.model);
    prepare(m, c, Eigen::VectorXd::Zero(c.model.nv()));
    const Json& contact = json.at("contact");
    const unsigned mask = mask_of(contact.at("rows"));
    const int rows = std::popcount(mask);
    const LinkId link = c.model.link_id("b" + std::to_string(contact.at("body").get<int>()));
    Island island;
    Mechanics* figures[] = {&m};
    island.begin(figures, rows, 0);
    island.add_frame(0, mask, {}, {.figure = &m, .body = m.body_of(link)}, mat(contact.at("axes_world_columns")),
                     vec(contact.at("point_world")));
    const Eigen::VectorXd before = vector(json.at("vC_before")), e = vector(contact.at("e"));
    CHECK(deviation(Eigen::VectorXd(Eigen::Map<Eigen::VectorXd>(island.u(), rows)), before) < kTolerance);
    island.assemble();
    for (int r = 0; r < rows; ++r) island.target()[r] = -e[r] * island.u()[r];
    island.hold_velocities();
    island.complete(nullptr, 0);
    CHECK(deviation(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(island.force(), rows)),
                    vector(json.at("impulse_on_link"))) < kTolerance);
    State after = c.state;
    island.respond(0, after.v.data());
    CHECK(deviation(c.to_case(after.v - c.state.v, false), vector(json.at("dv"))) < kTolerance);
    const double dT = energy(c.model, after).kinetic - energy(c.model, c.state).kinetic;
    CHECK(std::abs(dT - json.at("dT").get<double>()) < kTolerance * (1 + std::abs(dT)));
    const Vec3<> dP = centroidal(c.model, after).h.f - centroidal(c.model, c.state).h.f;
    CHECK(deviation(dP, vec(json.at("dP"))) < kTolerance);
  }
  CHECK(seen == 9);
}
