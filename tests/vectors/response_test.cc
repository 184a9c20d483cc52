#include "kansetsu/dynamics/response.h"

#include <doctest/doctest.h>

#include "dyn_case.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

constexpr double kTolerance = 1e-9;  // the vectors agree to 3e-13

/// The group of the model that holds the members named in the vector.
const Response::Group& find(const std::vector<Response::Group>& groups, const DynCase& c, const Json& members) {
  for (const Response::Group& g : groups) {
    if (g.members.front() == c.link(members.at(0)) && g.members.size() == members.size()) return g;
  }
  FAIL("no such group");
  return groups.front();
}

}  // namespace

TEST_CASE("responses between all pairs of bodies") {
  for (const auto& path : vector_files({"gear_", "response_"})) {
    CAPTURE(path.filename().string());
    const DynCase c(path);
    Response response(c.model);
    REQUIRE(response.update(c.state.q) == Status::kOk);
    const Json& expected = c.json.at("response");
    CHECK(deviation(response.base_theta(), matrix(expected.at("Theta_root"))) < kTolerance);
    for (const Json& pair : expected.at("pairs")) {
      CHECK(deviation(response.link_response(c.link(pair.at("j")), c.link(pair.at("i"))), matrix(pair.at("Lambda"))) <
            kTolerance);
    }
  }
}

TEST_CASE("operators of coupling groups") {
  for (const auto& path : vector_files({"gear_", "response_"})) {
    CAPTURE(path.filename().string());
    const DynCase c(path);
    Response response(c.model);
    response.update(c.state.q);
    const auto groups = response.groups();
    const Json& expected = c.json.at("response").at("groups");
    CHECK(groups.size() == expected.size());
    for (const Json& e : expected) {
      const Response::Group& g = find(groups, c, e.at("members"));
      CHECK(deviation(g.D_inv, matrix(e.at("D_inv"))) < kTolerance);
      const size_t n = g.members.size();
      for (size_t a = 0; a < n; ++a) {
        const std::string name = std::to_string(e.at("members")[a].get<int>());
        CAPTURE(name);
        CHECK(deviation(g.J[a], matrix(e.at("J").at(name))) < kTolerance);
        CHECK(deviation(g.X[a], matrix(e.at("X").at(name))) < kTolerance);
        CHECK(deviation(g.T[a], matrix(e.at("T").at(name))) < kTolerance);
        for (size_t b = 0; b < n; ++b) {
          const std::string pair = name + "," + std::to_string(e.at("members")[b].get<int>());
          CHECK(deviation(g.S[a * n + b], matrix(e.at("S").at(pair))) < kTolerance);
          CHECK(deviation(g.Theta[a * n + b], matrix(e.at("Theta").at(pair))) < kTolerance);
        }
      }
    }
  }
}

TEST_CASE("responses of joint accelerations to forces and torques") {
  for (const auto& path : vector_files({"gear_", "response_"})) {
    CAPTURE(path.filename().string());
    const DynCase c(path);
    Response response(c.model);
    response.update(c.state.q);
    const auto groups = response.groups();
    const Json& expected = c.json.at("response");
    std::vector<Motion<>> A(size_t(c.model.link_count()));
    Eigen::VectorXd vdot(c.model.nv());
    const auto group = [&](const Json& index) -> const Response::Group& {
      return find(groups, c, expected.at("groups").at(index.get<size_t>()).at("members"));
    };
    const auto rows = [&](const Response::Group& g) {
      Eigen::VectorXd out(long(g.columns.size()));
      for (size_t k = 0; k < g.columns.size(); ++k) out[long(k)] = vdot[g.columns[k]];
      return out;
    };
    for (const Json& e : expected.at("qdd_from_force")) {
      const Response::Group& g = group(e.at("group"));
      const Eigen::MatrixXd reference = matrix(e.at("dydd_df"));
      for (int k = 0; k < 6; ++k) {
        Force<> F;
        (k < 3 ? (&F.t.x)[k] : (&F.f.x)[k - 3]) = 1;
        response.apply_wrench(c.link(e.at("i")), F, vdot, A);
        CHECK(deviation(rows(g), Eigen::VectorXd(reference.col(k))) < kTolerance);
      }
    }
    for (const Json& e : expected.at("qdd_from_torque")) {
      const Response::Group &g = group(e.at("group")), &h = group(e.at("torque_group"));
      const Eigen::MatrixXd reference = matrix(e.at("dydd_dtau"));
      for (size_t k = 0; k < h.columns.size(); ++k) {
        response.apply_torque(Eigen::VectorXd::Unit(c.model.nv(), h.columns[k]), vdot, A);
        CHECK(deviation(rows(g), Eigen::VectorXd(reference.col(long(k)))) < kTolerance);
      }
    }
  }
}
