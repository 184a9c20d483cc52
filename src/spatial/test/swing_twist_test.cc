#include "kansetsu/spatial/swing_twist.h"

#include <numbers>

#include "kansetsu/spatial/rotations.h"
#include "spatial/test/support.h"
#include "spatial/test/vectors.h"

namespace kansetsu {
namespace {

using test::distance;
using test::Lanes;
using test::Random;

constexpr double kPi = std::numbers::pi;
constexpr double kRounding = 2e-15;  // about ten roundings of numbers near 1

TEST_CASE("swing and twist: every rotation is recomposed, and its sign does not matter") {
  const unsigned seed = 91;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 200; ++i) {
    const Quaternion<> q = random.quaternion();
    const SwingTwist a = swing_twist(q), b = swing_twist(-q), c = swing_twist(to_mat3(q));
    CHECK(angular_distance(to_quaternion(a), q) < 2 * kRounding);  // angles of half size
    CHECK(distance(a, b) == 0);
    const double accuracy = kRounding / std::hypot(q.z, q.w);  // the twist is as sharp as swing is far from π
    CHECK(distance(a, c) < 4 * accuracy);
    CHECK((a.swing() >= 0 && a.swing() <= kPi && a.twist > -kPi && a.twist <= kPi));
  }
}

TEST_CASE("swing and twist: angles come back, at zero, tiny, near π and at π") {
  for (const double swing : {0.0, 1e-9, 0.5, kPi / 2, 3.0, kPi - 1e-6})
    for (const double twist : {0.0, 1e-9, -1e-9, 1.0, -3.0, kPi})
      for (const double direction : {0.0, 0.7, -2.0}) {
        CAPTURE(swing);
        CAPTURE(twist);
        const SwingTwist in{swing * std::cos(direction), swing * std::sin(direction), twist};
        const SwingTwist out = swing_twist(to_quaternion(in));
        CHECK(std::abs(out.swing() - swing) < kRounding);
        CHECK(std::abs(wrap_angle(out.twist - twist)) < kRounding / std::cos(swing / 2));  // undefined at swing π
        CHECK(angular_distance(to_quaternion(out), to_quaternion(in)) < 2 * kRounding);    // angles of half size
      }
  const SwingTwist half_turn = swing_twist(Quaternion<>{0.6, 0.8, 0, 0});
  CHECK(half_turn.twist == 0);
  CHECK(std::abs(half_turn.swing() - kPi) < 1e-15);            // one rounding of π
  CHECK(swing_twist(Quaternion<>{0, 0, -1, 0}).twist == kPi);  // not −π
  CHECK(distance(swing_twist(Quaternion<>{}), SwingTwist{}) == 0);
}

TEST_CASE("swing and twist: the rate rows agree with differences") {
  const unsigned seed = 92;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const SwingTwist at{random.uniform(0.2, 1.5), random.uniform(-1.5, 1.5), random.uniform(-2.5, 2.5)};
    const Mat3<> R = to_mat3(to_quaternion(at));
    const Vec3<> omega = random.vector();
    const double h = 1e-5;
    const SwingTwist ahead = swing_twist(exp_rotation(h * omega) * R),
                     behind = swing_twist(exp_rotation(-h * omega) * R);
    const double tolerance = 1e-7;  // h² times third derivatives, which grow like 1/swing² = 25
    CHECK(std::abs((ahead.swing() - behind.swing()) / (2 * h) - dot(swing_rate_row(R), omega)) < tolerance);
    CHECK(std::abs((ahead.twist - behind.twist) / (2 * h) - dot(twist_rate_row(R), omega)) < tolerance);
  }
}

TEST_CASE("swing and twist: rows are zero where the rate does not exist, in lanes as in scalars") {
  const Mat3<> half_turn{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
  CHECK(swing_rate_row(Mat3<>::identity()) == Vec3<>{});
  CHECK(twist_rate_row(Mat3<>::identity()) == Vec3<>{0, 0, 1});
  CHECK(swing_rate_row(half_turn) == Vec3<>{});
  CHECK(twist_rate_row(half_turn) == Vec3<>{});
  const unsigned seed = 93;
  CAPTURE(seed);
  Random random(seed);
  const std::array<Mat3<>, 4> R{random.rotation(), Mat3<>::identity(), half_turn, random.rotation()};
  const auto packed = test::pack<Mat3<Lanes>>(R);
  for (int i = 0; i < 4; ++i) {
    test::require_same_bits(swing_rate_row(packed), i, swing_rate_row(R[std::size_t(i)]));
    test::require_same_bits(twist_rate_row(packed), i, twist_rate_row(R[std::size_t(i)]));
  }
}

struct Case {
  Mat3<> R;
  double swing, twist, tolerance;
};
std::vector<Case> load() {
  std::vector<Case> cases;
  const nlohmann::json file = test::load_cases("dynamics/swing_twist.json");
  for (const auto& c : file) cases.push_back({test::mat3(c.at("R")), c.at("swing"), c.at("twist"), c.at("tolerance")});
  return cases;
}

TEST_CASE("vectors swing_twist: angles and rates") {
  const nlohmann::json file = test::load_cases("dynamics/swing_twist.json");
  for (const auto& c : file) {
    const Mat3<> R = test::mat3(c.at("R"));
    const SwingTwist angles = swing_twist(R);
    const double tolerance = c.at("tolerance");  // stated in the file, case by case
    CAPTURE(angles.swing());
    CHECK(std::abs(angles.swing() - double(c.at("swing"))) < tolerance);
    CHECK(std::abs(wrap_angle(angles.twist - double(c.at("twist")))) < tolerance);
    if (c.contains("swing_rate")) {
      const Vec3<> omega = test::vec3(c.at("omega_socket"));
      const double rate_tolerance = 1e-9;  // e×u is divided by its length, which may be 1e-6 here
      CHECK(std::abs(dot(swing_rate_row(R), omega) - double(c.at("swing_rate"))) < rate_tolerance);
      CHECK(std::abs(dot(twist_rate_row(R), omega) - double(c.at("twist_rate"))) < rate_tolerance);
    }
  }
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

/// The seed's R_ab is component b of plug axis a in socket axes: R_zx = R.x.z here.
double printed_29(const Mat3<>& R) {
  const double xx = R.x.x, xy = R.y.x, xz = R.z.x, zx = R.x.z, zy = R.y.z, zz = R.z.z;
  return (zy * zy * xx + (1 + zz) * zz * xx - zy * zx * xy - (1 + zz * zx * xz)) / (1 + zz);
}
double corrected_29(const Mat3<>& R) {
  const double xx = R.x.x, xy = R.y.x, xz = R.z.x, zx = R.x.z, zy = R.y.z, zz = R.z.z;
  return (zy * zy * xx + (1 + zz) * zz * xx - zy * zx * xy - (1 + zz) * zx * xz) / (1 + zz);
}

TEST_CASE("erratum [Tazz13] (29): the printed cosine of the twist") {
  std::vector<double> printed, corrected, ours;
  for (const Case& c : load()) {
    if (c.swing > 3) continue;  // 1 + R_zz nearly zero
    printed.push_back(std::abs(printed_29(c.R) - std::cos(c.twist)));
    corrected.push_back(std::abs(corrected_29(c.R) - std::cos(c.twist)));
    ours.push_back(std::abs(std::cos(swing_twist(c.R).twist) - std::cos(c.twist)));
  }
  CHECK(median(printed) > 0.3);                                          // the spec found 0.86 over random rotations
  CHECK(*std::max_element(corrected.begin(), corrected.end()) < 1e-12);  // the spec found 4e-13
  CHECK(*std::max_element(ours.begin(), ours.end()) < 1e-12);            // the same standard
}

TEST_CASE("errata [Tazz13] (27), (29): the arc cosine has no digits near zero, and no sign") {
  const SwingTwist small{1e-9, 0, -1e-9};
  const Mat3<> R = to_mat3(to_quaternion(small));
  CHECK(std::abs(std::acos(std::min(R.z.z, 1.0)) - 1e-9) > 1e-10);  // cos 1e-9 is 1 in double
  CHECK(std::abs(swing_twist(R).swing() - 1e-9) < 1e-24);           // relative rounding
  CHECK(std::abs(swing_twist(R).twist + 1e-9) < 1e-24);             // relative rounding, and the sign is there
  double unsigned_error = 0, ours = -1;
  for (const Case& c : load()) {
    if (c.swing > 3) continue;  // 1 + R_zz nearly zero
    unsigned_error = std::max(unsigned_error, std::abs(std::acos(std::clamp(corrected_29(c.R), -1.0, 1.0)) - c.twist));
    ours = std::max(ours, std::abs(wrap_angle(swing_twist(c.R).twist - c.twist)) - c.tolerance);
  }
  CHECK(unsigned_error > 0.5);  // twice a negative twist
  CHECK(ours < 0);              // within each case's tolerance
}

TEST_CASE("erratum [Tazz13] sentence after (29): axis and angle of q are not swing and twist") {
  const unsigned seed = 94;
  CAPTURE(seed);
  Random random(seed);
  std::vector<double> swing_error, twist_error;
  for (int i = 0; i < 1000; ++i) {
    const Quaternion<> q = random.quaternion();
    const AxisAngle turn = to_axis_angle(q);
    const SwingTwist angles = swing_twist(q);
    swing_error.push_back(std::abs(std::acos(turn.axis.z) - angles.swing()));
    twist_error.push_back(std::abs(turn.angle - std::abs(angles.twist)));
  }
  CHECK(median(swing_error) > 0.3);  // the spec found 0.70
  CHECK(median(twist_error) > 0.2);  // the spec found 0.33
}

}  // namespace
}  // namespace kansetsu
