#include "sim/connections.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kansetsu/spatial/rotations.h"

namespace kansetsu {

int row_count(ConstraintMask mask) { return std::popcount(unsigned(mask)); }

namespace {

/// Takes all directions of its options.
void hold_all(ConnectionData& c) {
  c.held = c.soft = 0;
  for (int bit = 0; bit < 6; ++bit) {
    if (!(c.options.mask >> bit & 1)) continue;
    const Compliance& give = c.options.compliance;
    const unsigned one = 1u << bit;
    if (give.stiffness[bit] == kInfinity)
      c.held = ConstraintMask(c.held | one);
    else if (give.stiffness[bit] > 0 || give.damping[bit] > 0)
      c.soft = ConstraintMask(c.soft | one);
  }
}

}  // namespace

void let_rebound(ConnectionData& c, const double* speed, double rest) {
  unsigned free = 0;
  for_each_direction(c, [&](int, int bit) {
    if (c.options.restitution[bit] > 0 && std::abs(*speed) > rest) free |= 1u << bit;
    ++speed;
  });
  c.held = ConstraintMask(c.held & ~free);
}

RowEnd row_end(const Figures& figures, BodyRef body) {
  if (body.is_world()) return {};
  Mechanics& m = figures[size_t(body.figure.value())]->mechanics;
  return {.figure = &m, .body = m.body_of(body.link)};
}

Transform<> body_pose(const Figures& figures, BodyRef body) {
  return body.is_world() ? Transform<>{} : figures[size_t(body.figure.value())]->mechanics.link_pose(body.link);
}

namespace {

Vec3<> axis(const Mat3<>& R, int k) { return k == 0 ? R.column_x() : k == 1 ? R.column_y() : R.column_z(); }

/// Gaps of the held rotations: all three, two about which the third axis may turn, or one.
void turn_gaps(ConnectionData& c, const Mat3<>& R_WC, const Mat3<>& R_WD) {
  const unsigned held = c.mask() & 7u;
  const int count = std::popcount(held);
  double* phi = c.phi + 3;
  phi[0] = phi[1] = phi[2] = 0;
  c.angle_gap = 0;
  if (count == 3) {
    const Vec3<> e = log_rotation(to_quaternion(transpose(R_WC) * R_WD));
    phi[0] = e.x, phi[1] = e.y, phi[2] = e.z;
    c.angle_gap = norm(e);
  } else if (count == 2) {  // the free axis of b follows that of a
    const int k = std::countr_zero(~held & 7u);
    const Vec3<> e = transpose_times(R_WC, cross(axis(R_WC, k), axis(R_WD, k)));
    const double full[3] = {e.x, e.y, e.z};
    for (int i = 0; i < 3; ++i) phi[i] = i == k ? 0 : full[i];
    c.angle_gap = std::atan2(norm(e), dot(axis(R_WC, k), axis(R_WD, k)));
  } else if (count == 1) {  // the second free axis of b stays at right angles to the first of a
    const int i = std::countr_zero(held), j = (i + 1) % 3, k = (i + 2) % 3;
    const Vec3<> first = axis(R_WC, j), second = axis(R_WD, k);
    c.turn_axis = cross(first, second);
    phi[i] = dot(first, second) * -1;
    c.angle_gap = std::abs(phi[i]);
  }
}

/// ½ Σ stiffness·φ² and its gradient along the rates of the rows. Rotations count by their angle; three of them are the rotation
/// vector φ of D in C: φ̇ = Jl⁻¹(φ)·ω.
void set_springs(ConnectionData& c) {
  c.stored = 0;
  double stretched[6] = {};  // stiffness·φ
  const int turns = std::popcount(c.mask() & 7u);
  double* angle = c.phi + 3;
  if ((c.soft & 7u) != 0 && turns < 3) {  // turn_gaps() writes sines
    const double sine = std::sqrt(angle[0] * angle[0] + angle[1] * angle[1] + angle[2] * angle[2]);
    const double scale = sine > 0 ? (turns == 1 ? std::asin(std::min(sine, 1.0)) : c.angle_gap) / sine : 1;
    for (int k = 0; k < 3; ++k) angle[k] *= scale;
    const double length = turns == 1 ? norm(c.turn_axis) : 0;  // its row is the rate of a sine
    if (length > 0) c.turn_axis = (1 / length) * c.turn_axis;
  }
  for_each_direction(c, [&](int k, int bit) {
    if (!(c.soft >> bit & 1)) return;
    stretched[k] = c.options.compliance.stiffness[bit] * c.phi[k];
    c.stored += 0.5 * stretched[k] * c.phi[k];
  });
  std::copy(stretched, stretched + 6, c.push);
  if ((c.soft & 7u) == 0 || turns < 3) return;
  const Vec3<> phi{angle[0], angle[1], angle[2]};
  const Vec3<> torque = transpose(left_jacobian_inverse(phi)) * Vec3<>{stretched[3], stretched[4], stretched[5]};
  c.push[3] = torque.x, c.push[4] = torque.y, c.push[5] = torque.z;
}

}  // namespace

Give give_of(const ConnectionData& c, int k, double rate, double h) {
  const int bit = (k + 3) % 6;
  const double stiffness = c.options.compliance.stiffness[bit], damping = c.options.compliance.damping[bit];
  return {c.push[k] + damping * (rate - c.velocity[k]), 0.25 * h * h * stiffness + h * damping};
}

void place_connection(const Figures& figures, double time, ConnectionData& c) {
  c.end_a = row_end(figures, c.a);
  c.end_b = row_end(figures, c.b);
  Transform<> X_WC = body_pose(figures, c.a) * c.X_AC;
  const Transform<> X_WD = body_pose(figures, c.b) * c.X_BD;
  c.rows = row_count(c.mask());
  c.E = X_WC.R;
  for (int k = 0; k < 6; ++k) c.velocity[k] = c.acceleration[k] = 0;
  Vec3<> wanted{};
  Mat3<> R_wanted = X_WC.R;
  if (c.options.motion) {  // of D as seen from C
    const MotionSample s = sample(*c.options.motion, {}, time - c.start);
    wanted = s.X_WB.p;
    R_wanted = X_WC.R * s.X_WB.R;
    const double u[6] = {s.V_WB.v.x, s.V_WB.v.y, s.V_WB.v.z, s.V_WB.w.x, s.V_WB.w.y, s.V_WB.w.z};
    const double a[6] = {s.A_WB.v.x, s.A_WB.v.y, s.A_WB.v.z, s.A_WB.w.x, s.A_WB.w.y, s.A_WB.w.z};
    for (int k = 0; k < 6; ++k) c.velocity[k] = u[k], c.acceleration[k] = a[k];
  }
  c.p = X_WD.p;
  const Vec3<> gap = transpose_times(X_WC.R, X_WD.p - X_WC.p) - wanted;
  c.phi[0] = gap.x, c.phi[1] = gap.y, c.phi[2] = gap.z;
  const unsigned shifts = c.mask() >> 3 & 7u, held = c.held >> 3 & 7u;
  double squares = 0;
  for (int k = 0; k < 3; ++k) {
    if (!(shifts >> k & 1)) c.phi[k] = 0;
    if (held >> k & 1) squares += c.phi[k] * c.phi[k];
  }
  c.position_gap = std::sqrt(squares);
  turn_gaps(c, R_wanted, X_WD.R);
  if (c.soft == 0) return;
  set_springs(c);
  if ((c.soft & 7u) == 0) return;
  squares = 0;  // of the held rotations alone
  for (int k = 0; k < 3; ++k) {
    if (c.held >> k & 1) squares += c.phi[3 + k] * c.phi[3 + k];
  }
  c.angle_gap = std::sqrt(squares);
}

void activate(const Figures& figures, double time, ConnectionData& c) {
  if (c.options.hold == Hold::kRelativePose)
    c.X_AC = inverse(body_pose(figures, c.a)) * (body_pose(figures, c.b) * c.X_BD);
  c.active = c.is_new = true;
  hold_all(c);
  c.start = time;
  c.wrench = c.impulse = c.struck = c.load = {};
  place_connection(figures, time, c);
}

void add_connection_rows(const ConnectionData& c, int row, Island& island) {
  if (c.rows == 0) return;
  const unsigned mask = row_mask(c.mask());
  const bool one_turn = std::popcount(c.mask() & 7u) == 1;
  if (!one_turn) return island.add_frame(row, mask, c.end_a, c.end_b, c.E, c.p);
  const int shifts = std::popcount(mask & 7u);
  if (shifts > 0) island.add_frame(row, mask & 7u, c.end_a, c.end_b, c.E, c.p);
  island.add_turn(row + shifts, c.end_a, c.end_b, c.turn_axis);
}

namespace {

/// visit(is a rotation, axis) of every row
template <class Visit>
void for_each_row(const ConnectionData& c, Visit&& visit) {
  const bool one_turn = std::popcount(c.mask() & 7u) == 1;
  for_each_direction(c, [&](int k, int) {
    visit(k >= 3, k < 3 ? axis(c.E, k) : one_turn ? c.turn_axis : axis(c.E, k - 3));
  });
}

}  // namespace

void write_connection(const ConnectionData& c, const Mechanics& figure, int body, double sign, double* J) {
  const Vec3<> p = c.p - figure.origin();
  for_each_row(c, [&](bool turns, const Vec3<>& along) {
    const Vec3<> a = sign * along;
    figure.add_generalised(body, turns ? Force<>{a, {}} : Force<>{cross(p, a), a}, J);
    J += figure.nv();
  });
}

void connection_forces(const ConnectionData& c, double* force) {
  for_each_row(c, [&](bool turns, const Vec3<>& along) { *force++ = dot(along, turns ? c.wrench.t : c.wrench.f); });
}

Force<> connection_wrench(const ConnectionData& c, const double* force) {
  Force<> out{};
  for_each_row(c, [&](bool turns, const Vec3<>& along) { (turns ? out.t : out.f) += *force++ * along; });
  return out;
}

void connection_rates(const ConnectionData& c, double* rate) {
  const PointMotion A = point_motion(c.end_a, c.p), B = point_motion(c.end_b, c.p);
  const Vec3<> v = B.v - A.v, w = B.w - A.w;
  for_each_row(c, [&](bool turns, const Vec3<>& along) { *rate++ = dot(along, turns ? w : v); });
}

void soft_forces(const ConnectionData& c, const double* rate, double* force) {
  for_each_direction(c, [&](int k, int bit) {
    if (c.soft >> bit & 1) *force = -give_of(c, k, *rate, 0).force_now;
    ++rate, ++force;
  });
}

void add_load(ConnectionData& c, double h) {
  const double left = std::exp(-h / threshold::kBreakTime);  // a blow counts in full at the end of its step
  const auto add = [left](const Vec3<>& force, const Vec3<>& blow, Vec3<>& load) {
    load = left * load + (1 - left) * force + (1 / threshold::kBreakTime) * blow;
  };
  add(c.wrench.f, c.struck.f, c.load.f);
  add(c.wrench.t, c.struck.t, c.load.t);
  c.struck = {};
}

}  // namespace kansetsu
