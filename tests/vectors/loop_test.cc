#include <doctest/doctest.h>

#include "constraint/island.h"
#include "dyn_case.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

// Loops agree with dense KKT solves to 1e-12; conditioning of the worst case takes two digits.
constexpr double kTolerance = 1e-9;

/// Directions that a loop joint holds, of [v; ω] in the axes of its socket; joints act along z.
unsigned held(const std::string& joint) {
  if (joint == "fixed") return 0b111111;
  if (joint == "revolute") return 0b011111;
  if (joint == "prismatic") return 0b111011;
  return 0b000111;  // ball
}

}  // namespace

TEST_CASE("closed loops of the reference cases: accelerations, loop wrenches and ranks") {
  for (const auto& path : vector_files({"loop_", "chain_fixed_fixed"})) {
    CAPTURE(path.filename().string());
    const DynCase c(path);
    Mechanics m(c.model);
    m.set_pose(c.state.q.data());
    m.set_motion(c.state.v.data());
    Eigen::VectorXd tau = c.tau;
    for (int i = 0; i < c.body_count(); ++i) {
      const LinkId link = c.link(i);
      const Vec3<> r = m.link_pose(link).p - m.origin();
      const Force<>& F = c.external[link];
      m.add_generalised(m.body_of(link), {F.t + cross(r, F.f), F.f}, tau.data());
    }
    m.factorise(nullptr, tau.data());

    const Json& loops = c.json.at("loops");
    int rows = 0;
    for (const Json& loop : loops) rows += std::popcount(held(loop.at("joint")));
    Island island;
    Mechanics* figures[] = {&m};
    island.begin(figures, rows, 0);
    int row = 0;
    for (const Json& loop : loops) {
      const LinkId a = c.link(loop.at("a")), b = c.link(loop.at("b"));
      const Transform<> X_WC = m.link_pose(a) * pose(loop.at("socket")), X_WD = m.link_pose(b) * pose(loop.at("plug"));
      const Vec3<> gap = transpose_times(X_WC.R, X_WD.p - X_WC.p);  // a slide may be out along z
      CHECK(std::hypot(gap.x, gap.y, loop.at("joint") == "prismatic" ? 0 : gap.z) < 1e-9);
      const RowEnd end_a{.figure = &m, .body = m.body_of(a)}, end_b{.figure = &m, .body = m.body_of(b)};
      const unsigned mask = held(loop.at("joint"));
      island.add_frame(row, mask, end_a, end_b, X_WC.R, X_WD.p);
      row += std::popcount(mask);
    }
    island.assemble();
    CHECK(island.rank() == c.json.at("expect").at("loop_rank").get<int>());
    const double inconsistency = island.hold_accelerations();
    CHECK(inconsistency < kTolerance);
    island.complete(nullptr, 1);
    Eigen::VectorXd vdot = Eigen::VectorXd::Zero(c.model.nv());
    island.respond(0, vdot.data());

    const LinkMotions motions = link_motions(c.model, c.state, vdot);
    for (int i = 0; i < c.body_count(); ++i) {
      CAPTURE(i);
      const size_t l = size_t(c.link(i).value());
      const Mat3<>& R = motions.poses.X_WL[l].R;
      CHECK(deviation(transpose_times(R, motions.A[l].w), vec(c.expected(i).at("alpha"))) < kTolerance);
      CHECK(deviation(transpose_times(R, motions.A[l].v), vec(c.expected(i).at("a"))) < kTolerance);
    }
    if (island.rank() < rows) continue;  // the split of the forces is not unique
    row = 0;
    for (size_t k = 0; k < loops.size(); ++k) {
      const Transform<> X_WC = m.link_pose(c.link(loops[k].at("a"))) * pose(loops[k].at("socket"));
      const Transform<> X_WB = m.link_pose(c.link(loops[k].at("b")));
      const Transform<> X_WD = X_WB * pose(loops[k].at("plug"));
      const Vec3<> axes[3] = {X_WC.R.column_x(), X_WC.R.column_y(), X_WC.R.column_z()};
      Force<> F{};
      for (int d = 0; d < 6; ++d) {
        if (!(held(loops[k].at("joint")) >> d & 1)) continue;
        const double f = island.force()[row++];
        (d < 3 ? F.f : F.t) += f * axes[d % 3];
      }
      F.t += cross(X_WD.p - X_WB.p, F.f);
      const Json& expected = c.json.at("expect").at("loops").at(k).at("wrench_on_b");
      CHECK(deviation(transpose_times(X_WB.R, F.t), vec(expected.at("n"))) < kTolerance);
      CHECK(deviation(transpose_times(X_WB.R, F.f), vec(expected.at("f"))) < kTolerance);
    }
  }
}
