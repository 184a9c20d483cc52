// Replays the reference numbers of [Tmps]'s rotation formulas (60 digits and double agree there), and shows for each erratum
// that the printed form misses them while ours does not. Their matrices act on row vectors: R_row = Rᵀ.
#include <numbers>

#include "kansetsu/spatial/rotations.h"
#include "spatial/test/support.h"
#include "spatial/test/vectors.h"

namespace kansetsu {
namespace {

using test::distance;

constexpr double kPi = std::numbers::pi;
constexpr double kTolerance = 2e-15;  // the vectors' own two methods agree to 9e-16

struct HalfCase {
  Vec3<> u;
  Quaternion<> q;
  Mat3<> R_row;
  PerAxis<Quaternion<>> dq;
  PerAxis<Mat3<>> dR_row;
  Vec3<> log;
  bool sign_free;
};

std::vector<HalfCase> load_half_cases() {
  std::vector<HalfCase> cases;
  const nlohmann::json file = test::load_cases("contact/log_exp_derivative.json");
  for (const auto& c : file) {
    const auto &dq = c.at("dq_du_rows_xyzw"), &dR = c.at("dR_row_du");
    cases.push_back({test::vec3(c.at("u")),
                     test::quaternion_xyzw(c.at("q_xyzw")),
                     test::mat3(c.at("R_row")),
                     {{test::quaternion_xyzw(dq[0]), test::quaternion_xyzw(dq[1]), test::quaternion_xyzw(dq[2])}},
                     {{test::mat3(dR[0]), test::mat3(dR[1]), test::mat3(dR[2])}},
                     test::vec3(c.at("log_canonical")),
                     c.at("log_sign_ambiguous")});
  }
  return cases;
}

/// Largest error of f over the cases of the file.
template <class F>
double worst(const F& f) {
  double largest = 0;
  for (const HalfCase& c : load_half_cases()) {
    const double error = f(c);
    if (!(error <= largest)) largest = error;
    if (std::isnan(error)) break;
  }
  return largest;
}

TEST_CASE("vectors log_exp_derivative") {
  for (const HalfCase& c : load_half_cases()) {
    CAPTURE(norm(c.u));
    CHECK(distance(exp_half(c.u), c.q) < kTolerance);
    CHECK(distance(transpose(to_mat3(exp_half(c.u))), c.R_row) < kTolerance);
    const auto dq = exp_half_derivative(c.u);
    const auto dR = exp_half_rotation_derivative(c.u);
    for (int k = 0; k < 3; ++k) {
      CHECK(distance(dq[k], c.dq[k]) < kTolerance);
      CHECK(distance(transpose(dR[k]), c.dR_row[k]) < kTolerance);
    }
    const double log_error = distance(log_half(c.q), c.log);
    CHECK(std::min(log_error, c.sign_free ? distance(log_half(c.q), -c.log) : log_error) < kTolerance);
    CHECK(norm(wrap_half(c.u)) <= kPi / 2 + 1e-15);  // one rounding
  }
}

TEST_CASE("vectors so3_jacobians") {
  const nlohmann::json file = test::load_cases("contact/so3_jacobians.json");
  for (const auto& c : file) {
    const Vec3<> phi = test::vec3(c.at("phi"));
    CAPTURE(norm(phi));
    CHECK(distance(right_jacobian(phi), test::mat3(c.at("Jr"))) < 2e-14);  // the file's two methods differ by 1.3e-14
    CHECK(distance(left_jacobian(phi), transpose(test::mat3(c.at("Jr")))) < 2e-14);  // the same
    if (c.at("Jr_inv").is_null()) continue;
    const double to_pole = 2 * kPi - norm(phi),
                 tolerance = 4e-15 * (1 + 1 / (to_pole * to_pole));  // slope of cot near its pole
    CHECK(distance(right_jacobian_inverse(phi), test::mat3(c.at("Jr_inv"))) < tolerance);
  }
}

TEST_CASE("vectors rotation_conversions: quaternion, axis and angle") {
  const nlohmann::json file = test::load_cases("contact/rotation_conversions.json");
  for (const auto& c : file) {
    const Mat3<> R = transpose(test::mat3(c.at("R_row")));
    const Quaternion<> q = to_quaternion(R), expected = test::quaternion_xyzw(c.at("quat_xyzw"));
    const bool sign_free = std::abs(expected.w) < 1e-8;  // stated in the file
    CHECK(std::min(distance(q, expected), sign_free ? distance(q, -expected) : 1) < kTolerance);
    CHECK(distance(to_mat3(q), R) < kTolerance);
    const AxisAngle turn = to_axis_angle(expected);
    CHECK(std::abs(turn.angle - double(c.at("angle"))) < kTolerance);
    const Vec3<> axis = test::vec3(c.at("axis"));
    CHECK(std::min(distance(turn.axis, axis), sign_free ? distance(turn.axis, -axis) : 1) < kTolerance);
  }
}

TEST_CASE("erratum A1: element 12 of the printed rotation matrix") {
  const auto printed = [](const HalfCase& c) { return std::abs(2 * (c.q.x * c.q.y + c.q.w * c.q.y) - c.R_row.x.y); };
  CHECK(worst(printed) > 0.3);  // the spec found 0.37 in orthogonality
  CHECK(worst([](const HalfCase& c) { return distance(transpose(to_mat3(c.q)), c.R_row); }) < kTolerance);
}

TEST_CASE("erratum A5: the listing's axis is divided by sin(angle + ½)") {
  double printed = 0, ours = 0;
  const nlohmann::json file = test::load_cases("contact/rotation_conversions.json");
  for (const auto& c : file) {
    const Quaternion<> q = test::quaternion_xyzw(c.at("quat_xyzw"));
    if (double(c.at("angle")) == 0) continue;
    const double angle = 2 * std::acos(q.w);
    printed = std::max(printed, std::abs(norm((1 / std::sin(angle + 0.5)) * q.vector()) - 1));
    ours = std::max(ours, std::abs(norm(to_axis_angle(q).axis) - 1));
  }
  CHECK(printed > 0.3);  // an axis must have length 1
  CHECK(ours < kTolerance);
}

TEST_CASE("erratum A6: the printed definition of the logarithm multiplies by the angle twice") {
  const auto printed = [](const HalfCase& c) {
    const double theta = std::acos(c.q.w), s = std::sin(theta);
    if (s == 0) return 0.0;  // that is erratum A8
    const Vec3<> v = (theta / s) * c.q.vector(), u = theta * v;
    return distance(exp_half(u), c.q);
  };
  CHECK(worst(printed) > 0.3);  // exp(log q) must be q
  const auto ours = [](const HalfCase& c) {
    const Quaternion<> q = exp_half(log_half(c.q));
    return std::min(distance(q, c.q), distance(q, -c.q));
  };
  CHECK(worst(ours) < kTolerance);
}

TEST_CASE("erratum A7: the Taylor series of sin t / t has t⁴/120, not t⁴/240") {
  const double t = 0.5, exact = std::sin(t) / t;
  const auto series = [&](double n) { return 1 - t * t / 6 + t * t * t * t / n; };
  CHECK(std::abs(series(240) - exact) > 2e-4);  // the spec found 2.6e-4
  CHECK(std::abs(series(120) - exact) < 4e-6);  // the next term, t⁶/5040
  CHECK(std::abs(detail::sinc(t, std::sin(t)) - exact) == 0);
}

TEST_CASE("erratum A8: the listings divide zero by zero at the identity, the arm's first pose") {
  const double theta = 0.0;
  CHECK(std::isnan(std::sin(theta) / theta));
  CHECK(std::isnan(std::acos(1.0) / std::sin(std::acos(1.0))));
  CHECK(std::isnan(std::acos(1 + 1e-15)));  // a quaternion a rounding too long
  CHECK(exp_half(Vec3<>{}) == Quaternion<>{});
  CHECK(log_half(Quaternion<>{}) == Vec3<>{});
  CHECK(log_half(Quaternion<>{0, 0, 0, 1 + 1e-15}) == Vec3<>{});
  CHECK(exp_half_derivative(Vec3<>{})[1] == Quaternion<>{0, 1, 0, 0});
  // near π/2·2 the arc cosine loses digits like eps/(π − θ)², atan2 none
  const Vec3<> u{0, 0, kPi - 1e-6};
  const Quaternion<> q = exp_half(u);
  CHECK(std::abs(std::acos(q.w) / std::sin(std::acos(q.w)) * q.z - u.z) > 1e-6);  // the spec found 9e-5
  CHECK(std::abs(wrap_half(log_half(q)).z + 1e-6) < 1e-15);                       // π − 1e-6 is known to 4e-16
}

TEST_CASE("erratum A9: the listing's second block overwrites ∂q_x/∂u_x and leaves ∂q_x/∂u_y unset") {
  const auto printed = [](const HalfCase& c) {
    if (norm(c.u) < 0.1) return 0.0;  // that is erratum A8
    PerAxis<Quaternion<>> dq = exp_half_derivative(c.u);
    dq.k[0].x = dq.k[1].x;  // dq.x.x = b·a·…
    dq.k[1].x = 0;
    return std::max(distance(dq[0], c.dq[0]), distance(dq[1], c.dq[1]));
  };
  CHECK(worst(printed) > 0.5);  // entries are of size 1
  CHECK(worst([](const HalfCase& c) { return distance(exp_half_derivative(c.u), c.dq); }) < kTolerance);
}

TEST_CASE("erratum A20: [0.1, 0, 0, 1] normalised has four components") {
  const Quaternion<> q = normalised(Quaternion<>{0.1, 0, 0, 1});
  CHECK(std::abs(q.x - 0.0995037190209989) < 1e-15);  // 0.1/√1.01; printed "[0.099.., 0, 0.99..]"
  CHECK(std::abs(q.w - 0.9950371902099892) < 1e-15);  // 1/√1.01
  CHECK(std::abs(dot(q, q) - 1) < 1e-15);             // one rounding
}

TEST_CASE("erratum A21: the factor ½ matters: a half vector must wrap at π/2, not at π") {
  const Vec3<> u{0, 0, 3.1};
  const auto response = [](const Vec3<>& x) {
    return norm(right_jacobian(2.0 * x).column_x());
  };  // sin θ/θ across the axis
  CHECK(norm(wrap_rotation(u)) == 3.1);             // the full vector's wrap does not touch it,
  CHECK(response(wrap_rotation(u)) < 0.02);         // and the chart is all but singular there: sin 3.1/3.1 = 0.013
  CHECK(response(wrap_half(u)) > 2 / kPi - 1e-15);  // sin θ/θ ≥ 2/π up to π/2
  CHECK(distance(to_mat3(exp_half(wrap_half(u))), to_mat3(exp_half(u))) < kTolerance);
}

}  // namespace
}  // namespace kansetsu
