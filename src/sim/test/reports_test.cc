#include "sim/reports.h"

#include <doctest/doctest.h>

#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

struct ReportWorld : WorldState {
  ReportWorld() : WorldState(world_options()) {
    add_floor(*this, {}, {2, 0, 0});
    add_ball(*this, -1e-5);
    find_contacts(*this);
    find_islands(*this, islands);
    reports.list_contacts(*this);
    w().result.patches.resize(1);
    w().result.patches[0].wrench = {3, 0, 10, 0, 0, 0};
    w().result.patches[0].mode = ContactMode::kPoint;
    w().result.patches[0].tier = ContactTier::kNewton;
  }
  IslandWork& w() { return islands[0]; }
  Islands islands{options.contact};
  Reports reports;
};

}  // namespace

TEST_CASE("a contact is listed with its place and gap, and forces are written in world axes") {
  ReportWorld world;
  REQUIRE(world.reports.contacts.size() == 1);
  const ContactReport& c = world.reports.contacts[0];
  CHECK(c.gap == doctest::Approx(-1e-5));
  CHECK(c.a.is_world());
  CHECK(c.b.figure == FigureId(0));
  CHECK(c.normal.z == 1);
  CHECK(c.wrench.f == Vec3<>{});
  world.reports.write_forces(world.w(), world.contacts);
  CHECK(c.wrench.f.z == 10);
  const Vec3<> along = world.contacts.touches()[0].E.column_x();
  CHECK(dot(c.wrench.f, along) == doctest::Approx(3));
  CHECK(world.reports.surface_work(world.w(), world.contacts, kStep) == doctest::Approx(kStep * 2 * 3 * along.x));
}

TEST_CASE("moments that resist rolling are part of the wrench of their contact") {
  ReportWorld world;
  world.w().bounded.push_back(BoundedRow::friction(0, 1));
  world.w().bounded_origin.push_back({.touch = 0, .axis = {0, 1, 0}});
  world.w().result.force = {0.25};
  world.reports.write_forces(world.w(), world.contacts);
  CHECK(world.reports.contacts[0].wrench.t.y == doctest::Approx(0.25));
}

TEST_CASE("contacts of sleeping figures are reported with their last forces, and count in no tier") {
  ReportWorld world;
  Touch& t = world.contacts.touches()[0];
  t.memory.wrench = {0, 0, 7, 0, 0, 0};
  t.memory.mode = ContactMode::kPoint;
  world.figure(0).nap = 0;
  world.reports.list_contacts(world);
  CHECK(world.reports.contacts[0].wrench.f.z == 7);
  find_islands(world, world.islands);
  world.reports.add_part(world, world.islands);
  CHECK(world.reports.totals.contacts == 0);
}

TEST_CASE("parts of a step add up, its report has the worst of them") {
  ReportWorld world;
  world.reports.write_forces(world.w(), world.contacts);
  IslandAccount& a = world.w().account;
  a.residual = 1e-9, a.impact = true, a.impact_energy = -2, a.work = {3, -4}, a.connection_springs = 1;
  world.reports.add_part(world, world.islands);
  a.residual = 1e-10, a.impact = false;
  world.reports.add_part(world, world.islands);
  world.reports.finish_step(world);
  const WorldTotals& t = world.reports.totals;
  CHECK(world.reports.step.residual == 1e-9);
  CHECK(world.reports.step.impacts == 1);
  CHECK(t.impact_energy == -4);
  CHECK(t.work_connection == 4);
  CHECK(t.work_contact == -8);
  CHECK(t.contacts == 2);
  CHECK(t.steps == 1);
  CHECK(t.worst_penetration == doctest::Approx(1e-5));
}

}  // namespace kansetsu
