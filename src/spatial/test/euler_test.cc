#include "kansetsu/spatial/euler.h"

#include <numbers>

#include "kansetsu/spatial/ball_zyx.h"
#include "kansetsu/spatial/rotations.h"
#include "spatial/test/support.h"
#include "spatial/test/vectors.h"

namespace kansetsu {
namespace {

using test::distance;
using test::Lanes;
using test::Random;

constexpr double kPi = std::numbers::pi;
constexpr double kRounding = 3e-15;  // three rotations multiplied, angles known to 4e-16

bool proper(EulerOrder order) { return to_string(order)[0] == to_string(order)[2]; }

TEST_CASE("euler: names of the twelve orders, both ways") {
  for (const EulerOrder order : kEulerOrders) CHECK(find_euler_order(to_string(order)) == order);
  CHECK(find_euler_order("zxy") == EulerOrder::kZXY);
  for (const char* bad : {"", "XY", "XXY", "XYY", "XYZX", "abc"}) CHECK_FALSE(find_euler_order(bad).has_value());
}

TEST_CASE("euler: matrices are products of elementary turns, first letter leftmost") {
  const double a = 0.3, b = -0.4, c = 0.5;
  const auto turn = [](const Vec3<>& axis, double angle) { return exp_rotation(angle * axis); };
  const Vec3<> x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  CHECK(distance(from_euler(EulerOrder::kZYX, {a, b, c}), turn(z, a) * turn(y, b) * turn(x, c)) < kRounding);
  CHECK(distance(from_euler(EulerOrder::kXZY, {a, b, c}), turn(x, a) * turn(z, b) * turn(y, c)) < kRounding);
  CHECK(distance(from_euler(EulerOrder::kZXZ, {a, b, c}), turn(z, a) * turn(x, b) * turn(z, c)) < kRounding);
  CHECK(distance(from_rpy({c, b, a}), turn(z, a) * turn(y, b) * turn(x, c)) < kRounding);
}

TEST_CASE("euler: angles come back in all twelve orders") {
  const unsigned seed = 81;
  CAPTURE(seed);
  Random random(seed);
  for (const EulerOrder order : kEulerOrders) {
    CAPTURE(to_string(order));
    for (int i = 0; i < 200; ++i) {
      const double middle = random.uniform(0.1, kPi / 2 - 0.1);  // off the lock by 0.1
      const Vec3<> angles{random.uniform(-kPi, kPi), proper(order) ? 2 * middle : 2 * middle - kPi / 2,
                          random.uniform(-kPi, kPi)};
      const Mat3<> R = from_euler(order, angles);
      const double lock = proper(order) ? std::sin(angles.y) : std::cos(angles.y);
      CHECK(distance(to_euler(order, R), angles) <
            kRounding / lock);  // the outer angles are as sharp as the lock is far
    }
  }
}

TEST_CASE("euler: any rotation is rebuilt, with angles in their ranges") {
  const unsigned seed = 82;
  CAPTURE(seed);
  Random random(seed);
  for (const EulerOrder order : kEulerOrders) {
    CAPTURE(to_string(order));
    for (int i = 0; i < 200; ++i) {
      const Mat3<> R = random.rotation();
      const Vec3<> angles = to_euler(order, R);
      CHECK(distance(from_euler(order, angles), R) < kRounding);
      CHECK((proper(order) ? angles.y >= 0 && angles.y <= kPi : std::abs(angles.y) <= kPi / 2));
      CHECK((std::abs(angles.x) <= kPi && std::abs(angles.z) <= kPi));
    }
  }
}

TEST_CASE("euler: near and at gimbal lock the rotation is rebuilt; at it the first angle is zero") {
  const unsigned seed = 83;
  CAPTURE(seed);
  Random random(seed);
  for (const EulerOrder order : kEulerOrders) {
    CAPTURE(to_string(order));
    for (const double lock : {proper(order) ? 0 : kPi / 2, proper(order) ? kPi : -kPi / 2}) {
      for (const double off : {0.0, 1e-16, 1e-15, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3}) {
        CAPTURE(off);
        const Vec3<> angles{random.uniform(-3, 3), lock - std::copysign(off, lock - 0.1), random.uniform(-3, 3)};
        const Mat3<> R = from_euler(order, angles);
        const Vec3<> back = to_euler(order, R);
        CHECK(distance(from_euler(order, back), R) < kRounding);
        if (off == 0) CHECK(back.x == 0);
      }
    }
  }
}

TEST_CASE("euler: elements beyond ±1 by a rounding do no harm") {
  const double beyond = std::nextafter(1.0, 2.0);
  const Vec3<> angles = to_euler(EulerOrder::kZYX, {{0, 0, 1}, {0, 1, 0}, {-beyond, 0, 0}});
  CHECK(std::abs(angles.y - kPi / 2) < 1e-15);  // one rounding
  CHECK(to_euler(EulerOrder::kZXZ, {{1, 0, 0}, {0, 1, 0}, {0, 0, beyond}}).y == 0);
}

TEST_CASE("rpy of URDF: identity, one known pose, lock") {
  CHECK(to_rpy(Mat3<>::identity()) == Vec3<>{});
  CHECK(distance(from_rpy({kPi / 2, 0, 0}) * Vec3<>{0, 1, 0}, Vec3<>{0, 0, 1}) < kRounding);  // roll: y goes to z
  CHECK(distance(from_rpy({0, kPi / 2, 0}) * Vec3<>{0, 0, 1}, Vec3<>{1, 0, 0}) < kRounding);  // pitch: z goes to x
  CHECK(distance(from_rpy({0, 0, kPi / 2}) * Vec3<>{1, 0, 0}, Vec3<>{0, 1, 0}) < kRounding);  // yaw: x goes to y
  const Vec3<> rpy = to_rpy(from_rpy({0.3, kPi / 2, 0.5}));
  CHECK(rpy.z == 0);
  CHECK(std::abs(rpy.x - (0.3 - 0.5)) < kRounding);
}

TEST_CASE("euler: the rate matrix gives the body's angular velocity in all orders") {
  const unsigned seed = 84;
  CAPTURE(seed);
  Random random(seed);
  for (const EulerOrder order : kEulerOrders) {
    CAPTURE(to_string(order));
    const Vec3<> angles = random.vector(), rates = random.vector();
    const double h = 1e-5;
    const Mat3<> R = from_euler(order, angles);
    const Mat3<> ahead = transpose(R) * from_euler(order, angles + h * rates);
    const Mat3<> behind = transpose(R) * from_euler(order, angles - h * rates);
    const Vec3<> omega = (1 / (2 * h)) * (log_rotation(ahead) - log_rotation(behind));
    CHECK(distance(euler_rate_matrix(order, angles) * rates, omega) < 4e-9);  // h² times third derivatives of size 40
  }
}

TEST_CASE("ball_zyx: pose and rates agree with the Euler order ZYX, plug and socket with each other") {
  const unsigned seed = 85;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Vec3<> q = random.vector(), qd = random.vector();
    const BallZyx<> ball = BallZyx<>::at(q);
    const Mat3<> R = ball.rotation(), B = ball.rate_matrix();
    CHECK(distance(R, from_euler(EulerOrder::kZYX, {q.z, q.y, q.x})) < kRounding);
    CHECK(distance(B * qd, euler_rate_matrix(EulerOrder::kZYX, {q.z, q.y, q.x}) * Vec3<>{qd.z, qd.y, qd.x}) <
          2 * kRounding);  // |qd| to 3.5
    CHECK(distance(R * B, ball.rate_matrix_socket()) < kRounding);
    CHECK(distance(R * ball.rate_bias(qd), ball.rate_bias_socket(qd)) <
          4 * kRounding);  // products of two rates up to 2
    const double h = 1e-5;
    const Vec3<> ahead = BallZyx<>::at(q + h * qd).rate_matrix() * qd,
                 behind = BallZyx<>::at(q - h * qd).rate_matrix() * qd;
    CHECK(distance((1 / (2 * h)) * (ahead - behind), ball.rate_bias(qd)) <
          1e-8);  // h² times third derivatives of size 60
  }
}

TEST_CASE("ball_zyx: packs give the bits of the scalar") {
  const unsigned seed = 86;
  CAPTURE(seed);
  Random random(seed);
  std::array<Vec3<>, 4> q, qd;
  for (std::size_t i = 0; i < 4; ++i) q[i] = random.vector(), qd[i] = random.vector();
  const auto packed = BallZyx<Lanes>::at(test::pack<Vec3<Lanes>>(q));
  for (int i = 0; i < 4; ++i) {
    const auto k = std::size_t(i);
    test::require_same_bits(packed.rotation(), i, BallZyx<>::at(q[k]).rotation());
    test::require_same_bits(packed.rate_bias(test::pack<Vec3<Lanes>>(qd)), i, BallZyx<>::at(q[k]).rate_bias(qd[k]));
  }
}

TEST_CASE("vectors joint_kinematics: poses, Jacobians and their rates, in socket axes") {
  int balls = 0;
  const nlohmann::json file = test::load_cases("dynamics/joint_kinematics.json");
  for (const auto& c : file) {
    const std::string joint = c.at("joint");
    CAPTURE(joint);
    const auto& q = c.at("q");
    const Mat3<> R = test::mat3(c.at("R"));
    if (joint == "revolute") {
      double s, cosine;
      sincos(double(q[0]), s, cosine);
      CHECK(distance(rotation_z(s, cosine), R) < kRounding);
    } else if (joint == "ball_quat") {
      CHECK(distance(to_mat3(Quaternion<>{q[1], q[2], q[3], q[0]}), R) < kRounding);  // the file has w first
      CHECK(distance(R * test::vec3(c.at("qd")), test::vec3(c.at("omega"))) < kRounding);
    } else if (joint == "ball_zyx") {
      const BallZyx<> ball = BallZyx<>::at(test::vec3(q));
      const Vec3<> qd = test::vec3(c.at("qd")), qdd = test::vec3(c.at("qdd"));
      CHECK(distance(ball.rotation(), R) < kRounding);
      CHECK(distance(ball.rate_matrix_socket(), test::mat3(c.at("J_angular"))) < kRounding);
      CHECK(distance(ball.rate_bias_socket(qd), test::vec3(c.at("Jdot_qd_angular"))) <
            4 * kRounding);                                                                       // products of rates
      CHECK(distance(R * (ball.rate_matrix() * qd), test::vec3(c.at("omega"))) < 2 * kRounding);  // |qd| up to 3
      CHECK(distance(R * (ball.rate_matrix() * qdd + ball.rate_bias(qd)), test::vec3(c.at("alpha"))) <
            4 * kRounding);  // as above
      ++balls;
    }
  }
  CHECK(balls > 0);
}

/// [Tmps]'s matrices act on row vectors: R_row = Rz(roll)·Rx(pitch)·Ry(yaw), whose transpose is the order YXZ.
Vec3<> yaw_pitch_roll(const Mat3<>& R_row) { return to_euler(EulerOrder::kYXZ, transpose(R_row)); }
Mat3<> row_matrix(const Vec3<>& ypr) { return transpose(from_euler(EulerOrder::kYXZ, ypr)); }

/// R with what is below 1e-12 set to zero: exactly at the lock, where the file's own matrices still hold cos 90° = 6e-17.
Mat3<> exact_zeros(const Mat3<>& R) {
  auto r = test::numbers<double>(R);
  for (double& x : r) x = std::abs(x) < 1e-12 ? 0 : x;
  return std::bit_cast<Mat3<>>(r);
}

/// Largest error of the matrices that f's angles rebuild, over the cases of rotation_conversions.json at the lock or off it.
template <class F>
double worst_rebuilt(const F& f, bool gimbal) {
  double largest = 0;
  const nlohmann::json file = test::load_cases("contact/rotation_conversions.json");
  for (const auto& c : file) {
    if (bool(c.at("gimbal")) != gimbal) continue;
    const Mat3<> R_row = exact_zeros(test::mat3(c.at("R_row")));
    largest = std::max(largest, distance(row_matrix(f(R_row)), R_row));
  }
  return largest;
}

TEST_CASE("vectors rotation_conversions: yaw, pitch and roll") {
  const nlohmann::json file = test::load_cases("contact/rotation_conversions.json");
  for (const auto& c : file) {
    const Mat3<> R_row = test::mat3(c.at("R_row"));
    CHECK(distance(row_matrix(test::vec3(c.at("yaw_pitch_roll_in"))), R_row) < kRounding);
    const Vec3<> ypr = yaw_pitch_roll(R_row);
    CHECK(distance(row_matrix(ypr), R_row) < kRounding);
    const double cos_pitch = std::hypot(R_row.x.y, R_row.y.y);
    if (cos_pitch > 1e-3)
      CHECK(distance(ypr, test::vec3(c.at("ypr_out_canonical"))) < kRounding / cos_pitch);  // as sharp as that
  }
  CHECK(worst_rebuilt(yaw_pitch_roll, true) < kRounding);
}

TEST_CASE("erratum A11: arc tangents of quotients lose the quadrant") {
  const auto printed = [](const Mat3<>& m) {
    return Vec3<>{std::atan(m.z.x / m.z.z), std::asin(-m.z.y), std::atan(m.x.y / m.y.y)};
  };
  CHECK(worst_rebuilt(printed, false) > 0.5);  // a wrong quadrant
  CHECK(worst_rebuilt(yaw_pitch_roll, false) < kRounding);
  int wrong = 0;
  const unsigned seed = 87;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    const Mat3<> R_row = random.rotation();
    wrong += distance(row_matrix(printed(R_row)), R_row) > 1e-6;  // far above rounding
  }
  CHECK(wrong > 1400);  // the spec found 1486: three of four quadrant pairs
  CHECK(wrong < 1600);
}

TEST_CASE("nearest Euler angles: those that were there, beyond a turn and at gimbal lock, too") {
  const unsigned seed = 88;
  CAPTURE(seed);
  Random random(seed);
  for (const EulerOrder order : kEulerOrders) {
    CAPTURE(std::string(to_string(order)));
    const bool proper = to_string(order)[0] == to_string(order)[2];
    for (int i = 0; i < 100; ++i) {
      Vec3<> angles = 6.0 * random.vector();
      const bool lock = i % 5 == 0;
      if (lock) angles.y = proper ? 0 : (i % 2 ? kPi / 2 : -kPi / 2);
      const double sine = proper ? std::sin(angles.y) : std::cos(angles.y);
      if (!lock && std::abs(sine) < 0.1) continue;  // near the lock neighbours have distant angles
      const Mat3<> R = from_euler(order, angles);
      const Vec3<> near = lock ? angles : angles + 0.01 * random.vector();
      const Vec3<> found = nearest_euler(order, R, near);
      CHECK(norm(found - angles) < 1e-13);  // rounding over the sine of 0.1
      CHECK(distance(from_euler(order, found), R) < kRounding);
    }
  }
}

TEST_CASE("erratum A12: at gimbal lock the listing adds π to both angles, which changes nothing") {
  const auto listing = [](const Mat3<>& m) {
    const auto half_turn = [](double x) { return x > 0 ? kPi : -kPi; };
    return Vec3<>{std::atan2(m.z.x, m.z.z) + half_turn(m.z.x), std::asin(std::clamp(-m.z.y, -1.0, 1.0)),
                  std::atan2(m.x.y, m.y.y) + half_turn(m.x.y)};
  };
  CHECK(worst_rebuilt(listing, true) > 0.5);  // the spec found up to 1.7
  CHECK(worst_rebuilt(yaw_pitch_roll, true) < kRounding);
}

TEST_CASE("erratum A13: the arc sine loses half the digits near ±90° and fails beyond 1") {
  const double pitch = kPi / 2 - 1e-7;
  const Mat3<> R_row = row_matrix({0.3, pitch, 0.2});
  CHECK(std::abs(std::asin(-R_row.z.y) - pitch) > 1e-11);    // eps/1e-7
  CHECK(std::abs(yaw_pitch_roll(R_row).y - pitch) < 1e-15);  // one rounding
  CHECK(std::isnan(std::asin(1 + 1e-15)));
  // in single precision the error has the size of the seed's IK step of 1e-3 rad
  const float m32 = -float(std::sin(kPi / 2 - 1e-4));
  CHECK(std::abs(double(std::asin(-m32)) - (kPi / 2 - 1e-4)) > 2e-5);  // 1e-4 at this distance
}

}  // namespace
}  // namespace kansetsu
