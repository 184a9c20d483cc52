#include <doctest/doctest.h>

#include "human_support.h"
#include "no_alloc.h"

using namespace kansetsu;
using namespace kansetsu::test;

TEST_CASE("scenario 13: the standing human carries its weight") {
  for (const double bend : {0.0, 0.2}) {
    CAPTURE(bend);
    const StandingHuman human(bend);
    Case k = human.load(Vector::Zero(human.model.nv()));
    ContactSolver solver;
    const ContactResult r = k.contact(solver);
    CHECK(r.tier == ContactTier::kNewton);
    CHECK(r.solves <= 3);  // from nothing: touch, states, forces
    CHECK(redundancy(k.problem(), r) == 0);
    CHECK(std::abs(r.force[2] + r.force[8] - 676.65885) < 1e-8);
    CHECK(std::abs(r.force[2] - 338.329425) < 1e-8);
    const Vector vdot =
        human.M_inverse * (human.hold - human.c + human.J.transpose() * Eigen::Map<const Vector>(r.force.data(), 12));
    CHECK(vdot.cwiseAbs().maxCoeff() < 1e-9);
    for (const PatchReport& p : r.patches) {
      CHECK(p.mode == ContactMode::kSurface);
      CHECK(p.pressure_x > -0.05);
      CHECK(p.pressure_x < 0.14);
      CHECK(std::abs(p.pressure_y) < 0.06);
    }
  }
}

TEST_CASE("scenarios 28 and 29: two feet under random joint torques, every load accepted") {
  const StandingHuman human;
  for (const double sigma : {5.0, 25.0}) {
    CAPTURE(sigma);
    std::mt19937_64 random(3);
    int tiers[kContactTiers] = {}, most_solves = 0, most_sweeps = 0;
    double worst = 0;
    for (int n = 0; n < 200; ++n) {
      CAPTURE(n);
      Case k = human.load(human.noise(random, sigma));
      ContactSolver solver;
      const ContactResult r = k.contact(solver);
      ++tiers[int(r.tier)];
      worst = std::max(worst, r.residual);
      most_solves = std::max(most_solves, r.solves), most_sweeps = std::max(most_sweeps, r.sweeps);
      REQUIRE(r.status == ContactStatus::kOk);
      // The definition of scenario 29 by hand, on velocities after the step and impulses.
      const Vector u = k.h * k.outcome(r);
      for (int i = 0; i < 2; ++i) {
        const PatchReport& p = r.patches[size_t(i)];
        const double fz = k.h * p.wrench[2];
        REQUIRE(fz >= 0);
        for (int v = 0; v < 4; ++v) {
          const ContactVertex& x = k.patches[size_t(i)].vertices[size_t(v)];
          REQUIRE(u[6 * i + 2] + u[6 * i + 3] * x.y - u[6 * i + 4] * x.x > -1e-8);
        }
        REQUIRE(std::hypot(p.wrench[0], p.wrench[1]) <= 0.8 * p.wrench[2] + 1e-8);
        double power = 0;  // of all contact forces of the patch: what slips is braked, what is pushed does not move
        for (int c = 0; c < 6; ++c) power += k.h * p.wrench[size_t(c)] * u[6 * i + c];
        REQUIRE(power < 1e-9);
        if (p.slip == SlipMode::kStick) REQUIRE(std::abs(power) < 1e-9);
      }
    }
    MESSAGE("sigma ", sigma, ": Newton ", tiers[int(ContactTier::kNewton)], ", proximal ",
            tiers[int(ContactTier::kProximal)], ", unsolved ", tiers[int(ContactTier::kUnsolved)], "; worst residual ",
            worst, "; most solves ", most_solves, ", sweeps ", most_sweeps);
    CHECK(worst < 1e-8);
    CHECK(tiers[int(ContactTier::kNewton)] >= (sigma < 10 ? 190 : 145));  // Newton steps alone
  }
}

TEST_CASE("every method gives an accepted answer from a cold start") {
  const StandingHuman human;
  std::mt19937_64 random(4);
  for (int n = 0; n < 200; ++n) {
    CAPTURE(n);
    Case k = human.load(human.noise(random, 25));
    ContactOptions o;
    o.start = ContactTier::kProximal;
    ContactSolver solver(o);
    const ContactResult r = k.contact(solver);
    REQUIRE(r.tier == ContactTier::kProximal);
    REQUIRE(r.residual < 1e-8);
  }
}

TEST_CASE("without systems left, what takes many proximal steps stays unsolved, and nothing else") {
  const StandingHuman human;
  std::mt19937_64 random(5);
  int hard = 0;
  for (int n = 0; n < 200; ++n) {
    Case patient = human.load(human.noise(random, 25)), hasty = patient;
    ContactSolver solver, limited;
    limited.limit_systems(0);
    const ContactTier tier = patient.contact(solver).tier, other = hasty.contact(limited).tier;
    if (tier != ContactTier::kProximal) CHECK(other == tier);
    hard += other == ContactTier::kUnsolved;
  }
  CHECK(hard > 0);
}

TEST_CASE("the paper's friction cone and its spin mode are solved too") {
  const StandingHuman human;
  std::mt19937_64 random(6);
  ContactOptions o;
  o.friction_set = FrictionSet::kPaper;
  int good = 0;
  for (int n = 0; n < 200; ++n) {
    Case k = human.load(human.noise(random, 5));
    ContactSolver solver(o);
    good += k.contact(solver).status == ContactStatus::kOk;
  }
  CHECK(good == 200);
}

TEST_CASE("same input, same bits; no allocation within the reserved size") {
  const StandingHuman human;
  std::mt19937_64 random(7);
  ContactSolver solver, other;
  solver.reserve(2, 12);
  ContactResult r, s;
  r.reserve(2, 12);
  s.reserve(2, 12);
  for (int n = 0; n < 100; ++n) {
    Case k = human.load(human.noise(random, 25));
    k.memory.resize(2);
    std::vector<ContactMemory> memory(2);
    const ContactProblem q = k.problem();
    const std::size_t allocations = allocations_in([&] {
      solver.solve_contact(q, k.memory, r);
      solver.solve_impact(q, s);
    });
    CHECK(allocations == 0);
    solver.solve_contact(q, k.memory, r);  // with another history in the solver, the same memory
    k.memory.assign(2, {});
    solver.solve_contact(q, k.memory, r);
    other.solve_contact(q, memory, s);
    REQUIRE(r.force == s.force);
  }
}
