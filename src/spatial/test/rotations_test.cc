#include "kansetsu/spatial/rotations.h"

#include <numbers>
#include <vector>

#include "spatial/test/support.h"
#include "spatial/test/vectors.h"

namespace kansetsu {
namespace {

using test::distance;
using test::Lanes;
using test::Random;

constexpr double kPi = std::numbers::pi;
constexpr double kRounding = 2e-15;  // about ten roundings of numbers near 1

double distance_up_to_sign(const Quaternion<>& a, const Quaternion<>& b) {
  return std::min(distance(a, b), distance(a, -b));
}

/// Rotation vectors where formulas go wrong: zero, where a series takes over, near π, at π, and anywhere.
std::vector<Vec3<>> hard_rotation_vectors(Random& random, double longest) {
  std::vector<Vec3<>> list{{0, 0, 0}, {1e-300, 0, 0}, {0, -1e-160, 0}};
  for (const double t : {1e-12, 1e-9, 1e-8, 1e-4, 0.0999, 0.1001, 0.35, 0.4999, 0.5001, 0.7, 1.0, 2.0, 3.0, kPi - 1e-4,
                         kPi - 1e-9, kPi, kPi + 1e-9, 4.0, 6.0})
    for (int i = 0; i < 4 && t <= longest; ++i) list.push_back(t * random.unit_vector());
  list.insert(list.end(), {{kPi, 0, 0}, {0, kPi, 0}, {0, 0, kPi}, {0, 0, -1e-8}});
  return list;
}

TEST_CASE("quaternion: group axioms, and agreement with matrices") {
  const unsigned seed = 71;
  CAPTURE(seed);
  Random random(seed);
  const Quaternion<> one;
  for (int i = 0; i < 100; ++i) {
    const Quaternion<> a = random.quaternion(), b = random.quaternion(), c = random.quaternion();
    const Vec3<> v = random.vector();
    CHECK(distance(a * one, a) == 0);
    CHECK(distance(one * a, a) == 0);
    CHECK(distance(a * conjugate(a), one) < kRounding);
    CHECK(distance((a * b) * c, a * (b * c)) < kRounding);
    CHECK(distance(to_mat3(a * b), to_mat3(a) * to_mat3(b)) < kRounding);
    CHECK(distance(to_mat3(conjugate(a)), transpose(to_mat3(a))) == 0);
    CHECK(distance(to_mat3(a) * transpose(to_mat3(a)), Mat3<>::identity()) < kRounding);
    CHECK(distance(rotate(a, v), to_mat3(a) * v) < 4 * kRounding);        // |v| up to 3.5
    CHECK(distance(inverse_rotate(a, rotate(a, v)), v) < 4 * kRounding);  // |v| up to 3.5
    CHECK(distance_up_to_sign(to_quaternion(to_mat3(a)), a) < kRounding);
    CHECK(to_quaternion(to_mat3(a)).w >= 0);
  }
}

TEST_CASE("quaternion: a length off 1 stretches nothing") {
  const unsigned seed = 72;
  CAPTURE(seed);
  Random random(seed);
  for (const double length : {0.5, 1 + 1e-6, 3.0}) {
    const Quaternion<> q = random.quaternion(), longer = length * q;
    const Vec3<> v = random.vector();
    CHECK(distance(to_mat3(longer), to_mat3(q)) < kRounding);
    CHECK(distance(rotate(longer, v), rotate(q, v)) < 4 * kRounding);  // |v| up to 3.5
    CHECK(distance(normalised(longer), q) < kRounding);
    CHECK(distance(log_half(longer), log_half(q)) < kRounding);
  }
}

TEST_CASE("to_quaternion: half turns about every axis, where the trace is −1") {
  for (const Quaternion<>& q : {Quaternion<>{1, 0, 0, 0},
                                {0, 1, 0, 0},
                                {0, 0, 1, 0},
                                {0.6, 0.8, 0, 0},
                                {0, -0.6, 0.8, 0},
                                {0.6, 0, 0.8, 1e-9},
                                {0.5, 0.5, 0.5, 0.5},
                                {0.5, 0.5, 0.5, -0.5}})
    CHECK(distance_up_to_sign(to_quaternion(to_mat3(q)), q) < kRounding);
}

TEST_CASE("exp and log: inverse of each other up to π, and the exponential of any length is a rotation") {
  const unsigned seed = 73;
  CAPTURE(seed);
  Random random(seed);
  for (const Vec3<>& phi : hard_rotation_vectors(random, 7)) {
    CAPTURE(norm(phi));
    const Mat3<> R = exp_rotation(phi);
    CHECK(distance(R * transpose(R), Mat3<>::identity()) < kRounding);
    CHECK(distance(R, to_mat3(exp_quaternion(phi))) < kRounding);
    CHECK(distance(exp_rotation(-phi), transpose(R)) == 0);
    CHECK(distance(exp_rotation(log_rotation(R)), R) < kRounding);
    CHECK(distance(exp_rotation(wrap_rotation(phi)), R) < kRounding);
    CHECK(norm(wrap_rotation(phi)) < kPi + 1e-15);  // one rounding of π
    if (norm(phi) < kPi - 1e-10) {                  // where the logarithm is unique
      CHECK(distance(log_rotation(exp_quaternion(phi)), phi) <=
            1e-15 * norm(phi) * 3);                           // relative, down to 1e-300: 3 roundings
      CHECK(distance(log_rotation(R), phi) < 2 * kRounding);  // a matrix knows small angles to eps only
      CHECK(wrap_rotation(phi) == phi);
    }
  }
}

TEST_CASE("exp: tiny rotation vectors keep all digits") {
  for (const double t : {1e-300, 1e-160, 1e-20, 1e-9}) {
    CHECK(exp_quaternion(Vec3<>{t, 0, 0}).x == t / 2);
    CHECK(exp_rotation(Vec3<>{0, t, 0}).x.z == t);
    CHECK(log_half(Quaternion<>{0, 0, t, 1}).z == t);
  }
}

TEST_CASE("log_half: canonical whatever the sign of q; wrap_half agrees") {
  const unsigned seed = 74;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Vec3<> u = random.uniform(0, 12) * random.unit_vector();
    const Quaternion<> q = exp_half(u);
    CHECK(norm(log_half(q)) <= kPi / 2 + 1e-15);         // one rounding
    CHECK(distance(log_half(q), log_half(-q)) < 1e-15);  // the same numbers up to signs
    CHECK(distance(wrap_half(u), log_half(q)) < 1e-14);  // |u| up to 12 is known to 2e-15, its direction multiplies it
    CHECK(distance_up_to_sign(exp_half(wrap_half(u)), q) < 1e-14);  // as before
  }
  CHECK(log_half(Quaternion<>{0, 0, 0, 0}) == Vec3<>{});
  CHECK(log_half(Quaternion<>{0, 0, 0, -1}) == Vec3<>{});
  CHECK(log_half(Quaternion<>{0, 0, 1, 0}).z == kPi / 2);
}

/// Central difference of f along each component of x.
template <class F>
auto differences(const F& f, const Vec3<>& x, double h) {
  const Vec3<> e[3] = {{h, 0, 0}, {0, h, 0}, {0, 0, h}};
  using Result = decltype(f(x));
  std::array<Result, 3> d;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto plus = test::numbers<double>(f(x + e[k])), minus = test::numbers<double>(f(x - e[k]));
    auto quotient = plus;
    for (std::size_t i = 0; i < plus.size(); ++i) quotient[i] = (plus[i] - minus[i]) / (2 * h);
    d[k] = std::bit_cast<Result>(quotient);
  }
  return d;
}

constexpr double kStep = 1e-5, kDifference = 2e-9;  // truncation h²/6 times third derivatives, rounding 1e-16/h

TEST_CASE("derivatives of the half-angle exponential agree with differences") {
  const unsigned seed = 75;
  CAPTURE(seed);
  Random random(seed);
  for (const Vec3<>& phi : hard_rotation_vectors(random, 7)) {
    const Vec3<> u = 0.5 * phi;
    CAPTURE(norm(u));
    const auto dq = exp_half_derivative(u);
    const auto dR = exp_half_rotation_derivative(u);
    const auto dq_difference = differences([](const Vec3<>& x) { return exp_half(x); }, u, kStep);
    const auto dR_difference = differences([](const Vec3<>& x) { return to_mat3(exp_half(x)); }, u, kStep);
    for (int k = 0; k < 3; ++k) {
      CHECK(distance(dq[k], dq_difference[std::size_t(k)]) < kDifference);
      CHECK(distance(dR[k], dR_difference[std::size_t(k)]) < kDifference);
      // dR/du_k = R·skew(2·Jr(2u)·e_k)
      const Mat3<> J = right_jacobian(2.0 * u);
      const Vec3<> column = k == 0 ? J.column_x() : k == 1 ? J.column_y() : J.column_z();
      CHECK(distance(dR[k], to_mat3(exp_half(u)) * skew(2.0 * column)) <
            1e-14);  // spec: 1e-12; products of numbers below 2
    }
  }
}

TEST_CASE("Jacobians of SO(3): definition by differences, inverses, transposes") {
  const unsigned seed = 76;
  CAPTURE(seed);
  Random random(seed);
  for (const Vec3<>& phi : hard_rotation_vectors(random, 5)) {
    CAPTURE(norm(phi));
    const Mat3<> Jr = right_jacobian(phi), Jl = left_jacobian(phi), R = exp_rotation(phi);
    const Mat3<> Jr_inverse = right_jacobian_inverse(phi), Jl_inverse = left_jacobian_inverse(phi);
    CHECK(distance(Jr * Jr_inverse, Mat3<>::identity()) < 1e-14);  // |Jr⁻¹| ≤ 5/2/sin(5/2) ≈ 4 on this list
    CHECK(distance(Jl * Jl_inverse, Mat3<>::identity()) < 1e-14);  // the same
    CHECK(distance(Jl, transpose(Jr)) == 0);
    CHECK(distance(Jl, R * Jr) < 4 * kRounding);  // two products
    CHECK(distance(Jr * phi, phi) < 1e-14);       // K·φ = 0; |φ| up to 5
    // exp(φ)ᵀ·exp(φ + δ) = exp(Jr·δ)
    const auto relative = [&](const Vec3<>& x) {
      return log_rotation(conjugate(exp_quaternion(phi)) * exp_quaternion(x));
    };
    const auto columns = differences(relative, phi, kStep);
    CHECK(distance(transpose(Mat3<>{columns[0], columns[1], columns[2]}), Jr) < kDifference);
    if (norm(phi) < 3) {  // log(exp(φ)·exp(δ)) = φ + Jr⁻¹·δ, away from the jump of the logarithm at π
      const auto ahead = [&](const Vec3<>& x) { return log_rotation(exp_quaternion(phi) * exp_quaternion(x)); };
      const auto inverse_columns = differences(ahead, Vec3<>{}, kStep);
      CHECK(distance(transpose(Mat3<>{inverse_columns[0], inverse_columns[1], inverse_columns[2]}), Jr_inverse) <
            kDifference);
    }
  }
  CHECK(right_jacobian(Vec3<>{}) == Mat3<>::identity());
  CHECK(right_jacobian_inverse(Vec3<>{}) == Mat3<>::identity());
}

TEST_CASE("axis and angle: at zero, near π, and back") {
  const unsigned seed = 77;
  CAPTURE(seed);
  Random random(seed);
  for (const double angle : {1e-9, 0.5, 3.0, kPi - 1e-9, kPi}) {
    const Vec3<> axis = random.unit_vector();
    const AxisAngle turn = to_axis_angle(-to_quaternion(AxisAngle{3.0 * axis, angle}));
    CHECK(std::abs(turn.angle - angle) < 1e-15);  // one rounding of π
    CHECK(std::min(distance(turn.axis, axis), angle == kPi ? distance(turn.axis, -axis) : 1) < kRounding);
  }
  CHECK(to_axis_angle(Quaternion<>{}).angle == 0);
  CHECK(to_axis_angle(Quaternion<>{}).axis == Vec3<>{1, 0, 0});
  CHECK(to_quaternion(AxisAngle{{0, 0, 0}, 1}) == Quaternion<>{});
}

TEST_CASE("slerp and angular distance: ends, middle, constant speed, shortest arc") {
  const unsigned seed = 78;
  CAPTURE(seed);
  Random random(seed);
  for (const double angle : {0.0, 1e-9, 0.3, 2.0, kPi - 1e-6}) {
    CAPTURE(angle);
    const Quaternion<> a = random.quaternion(), b = a * exp_quaternion(angle * random.unit_vector());
    CHECK(std::abs(angular_distance(a, b) - angle) < kRounding);
    CHECK(std::abs(angular_distance(a, -b) - angle) < kRounding);
    CHECK(std::abs(angular_distance(to_mat3(a), to_mat3(b)) - angle) < 2 * kRounding);  // one conversion more
    CHECK(distance_up_to_sign(slerp(a, b, 0), a) < kRounding);
    CHECK(distance_up_to_sign(slerp(a, b, 1), b) < kRounding);
    for (const double t : {0.25, 0.5, 0.9}) {
      const Quaternion<> q = slerp(a, -b, t);
      CHECK(std::abs(angular_distance(a, q) - t * angle) < kRounding);
      CHECK(std::abs(angular_distance(q, b) - (1 - t) * angle) < kRounding);
    }
  }
}

TEST_CASE("wrap_angle: into (−π, π]") {
  CHECK(wrap_angle(kPi) == kPi);
  CHECK(wrap_angle(-kPi) == kPi);
  CHECK(wrap_angle(0.5) == 0.5);
  CHECK(std::abs(wrap_angle(7) - (7 - 2 * kPi)) < 1e-15);  // one rounding of 7
}

TEST_CASE("rotations: packs give the bits of the scalar, also when lanes need different branches") {
  const unsigned seed = 79;
  CAPTURE(seed);
  Random random(seed);
  std::array<Vec3<>, 4> phi{Vec3<>{}, 1e-9 * random.unit_vector(), 3.0 * random.unit_vector(),
                            kPi * random.unit_vector()};
  std::array<Mat3<>, 4> R;
  std::array<Quaternion<>, 4> q;
  for (std::size_t i = 0; i < 4; ++i) R[i] = exp_rotation(phi[i]), q[i] = random.quaternion();
  R[2] = {{-1, 0, 0}, {0, 1, 0}, {0, 0, -1}};
  const auto Pphi = test::pack<Vec3<Lanes>>(phi);
  const auto PR = test::pack<Mat3<Lanes>>(R);
  const auto Pq = test::pack<Quaternion<Lanes>>(q);
  for (int i = 0; i < 4; ++i) {
    const auto k = std::size_t(i);
    test::require_same_bits(exp_half(Pphi), i, exp_half(phi[k]));
    test::require_same_bits(exp_rotation(Pphi), i, exp_rotation(phi[k]));
    test::require_same_bits(exp_half_rotation_derivative(Pphi), i, exp_half_rotation_derivative(phi[k]));
    test::require_same_bits(right_jacobian(Pphi), i, right_jacobian(phi[k]));
    test::require_same_bits(right_jacobian_inverse(Pphi), i, right_jacobian_inverse(phi[k]));
    test::require_same_bits(to_quaternion(PR), i, to_quaternion(R[k]));
    test::require_same_bits(to_mat3(Pq), i, to_mat3(q[k]));
    test::require_same_bits(Pq * Pq, i, q[k] * q[k]);
    test::require_same_bits(rotate(Pq, Pphi), i, rotate(q[k], phi[k]));
  }
}

TEST_CASE("rotations in float: right at zero, small, and near π") {
  for (const float t : {0.0f, 1e-20f, 1e-4f, 0.3f, 1.0f, 3.1415f}) {
    const Vec3<float> phi{0, 0, t};
    const Vec3<> exact{0, 0, double(t)};
    const float tolerance = 4e-7f;  // a few roundings of 6e-8
    CHECK(std::abs(exp_rotation(phi).x.y - float(exp_rotation(exact).x.y)) < tolerance);
    CHECK(std::abs(right_jacobian(phi).y.x - float(right_jacobian(exact).y.x)) < tolerance);
    CHECK(std::abs(right_jacobian_inverse(phi).x.x - float(right_jacobian_inverse(exact).x.x)) < tolerance);
  }
}

}  // namespace
}  // namespace kansetsu
