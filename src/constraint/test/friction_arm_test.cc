#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "contact_support.h"

using namespace kansetsu;
using namespace kansetsu::test;

TEST_CASE("vectors friction_cases: arms of rectangles under uniform pressure") {
  std::ifstream file(std::string(KANSETSU_TEST_VECTORS) + "/contact/friction_cases.json");
  REQUIRE(file.good());
  const nlohmann::json cases = nlohmann::json::parse(file);
  REQUIRE(!cases.at("rect_uniform_pressure_arm").empty());
  for (const auto& c : cases.at("rect_uniform_pressure_arm")) {
    const double a = c.at("a"), b = c.at("b"), d = c.at("d");
    CHECK(std::abs(friction_arm_rectangle(a, b) - d) < 1e-15);  // rounding of a tenth
    const ContactPatch p = rectangle(a, b, 0, 0);
    CHECK(std::abs(friction_arm({p.vertices.data(), 4}) - d) < 1e-14);  // eight logarithms more
  }
}

TEST_CASE("vectors friction_cases: the ellipse bounds the exact limit surface of a disc within seven per cent") {
  std::ifstream file(std::string(KANSETSU_TEST_VECTORS) + "/contact/friction_cases.json");
  REQUIRE(file.good());
  const nlohmann::json cases = nlohmann::json::parse(file);
  for (const auto& c : cases.at("disc_limit_surface")) {
    const double f = c.at("f_over_mufz"), n = double(c.at("n_over_mufzR")) / friction_arm_disc(1);
    const double size = std::hypot(f, n);
    CHECK(size <= 1 + 1e-12);
    CHECK(size > 0.93);
  }
}

TEST_CASE("the arm of a polygon does not depend on where it lies, and tends to that of a disc") {
  std::vector<ContactVertex> polygon;
  const int n = 400;
  for (int i = 0; i < n; ++i) {
    const double angle = -2 * 3.14159265358979323846 * i / n;  // clockwise
    polygon.push_back({3 + 0.1 * std::cos(angle), -2 + 0.1 * std::sin(angle), 0});
  }
  CHECK(friction_arm(polygon) == doctest::Approx(friction_arm_disc(0.1)).epsilon(1e-4));  // 2 (pi/n)² of the area
  CHECK(friction_arm(std::span(polygon).first(1)) == 0);
  const ContactVertex segment[3] = {{0, 0, 0}, {1, 1, 0}, {3, 3, 0}};
  CHECK(friction_arm(segment) == doctest::Approx(friction_arm_line(std::hypot(3, 3))));
  CHECK(friction_arm_rectangle(0, 0.4) == doctest::Approx(0.1));
}
