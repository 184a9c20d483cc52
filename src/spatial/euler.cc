#include "kansetsu/spatial/euler.h"

#include <cmath>
#include <numbers>

#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/sincos.h"

namespace kansetsu {
namespace {

/// Axes 0, 1, 2 of an order. k is the axis that is neither first nor second; sign = +1 if first → second → k is cyclic.
struct Axes {
  int first, second, third, k;
  double sign;
};

constexpr std::array<std::string_view, 12> kNames{"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX",
                                                  "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"};

Axes axes_of(EulerOrder order) {
  const std::string_view name = to_string(order);
  const int i = name[0] - 'X', j = name[1] - 'X';
  return {i, j, name[2] - 'X', 3 - i - j, (j - i + 3) % 3 == 1 ? 1.0 : -1.0};
}

Mat3<> elementary(int axis, double angle) {
  double s, c;
  sincos(angle, s, c);
  return axis == 0 ? rotation_x(s, c) : axis == 1 ? rotation_y(s, c) : rotation_z(s, c);
}

/// Below this the outer axes count as parallel: rounding of R alone turns its elements by as much.
constexpr double kLock = 1e-15;

}  // namespace

std::string_view to_string(EulerOrder order) { return kNames[static_cast<std::size_t>(order)]; }

std::optional<EulerOrder> find_euler_order(std::string_view letters) {
  const auto same = [](char a, char b) { return a == b || a == b - 'a' + 'A'; };
  for (const EulerOrder order : kEulerOrders) {
    const std::string_view name = to_string(order);
    if (letters.size() == 3 && same(name[0], letters[0]) && same(name[1], letters[1]) && same(name[2], letters[2]))
      return order;
  }
  return std::nullopt;
}

Mat3<> from_euler(EulerOrder order, const Vec3<>& angles) {
  const Axes axes = axes_of(order);
  return elementary(axes.first, angles.x) * elementary(axes.second, angles.y) * elementary(axes.third, angles.z);
}

namespace {

/// @param lock  distance below which the outer axes count as parallel, and the first angle is `first_at_lock`
Vec3<> angles_of(EulerOrder order, const Mat3<>& R, double lock, double first_at_lock) {
  const auto [i, j, third, k, sign] = axes_of(order);
  const double r[3][3] = {{R.x.x, R.x.y, R.x.z}, {R.y.x, R.y.y, R.y.z}, {R.z.x, R.z.y, R.z.z}};
  const bool proper = third == i;

  // The first angle a turns the third axis (column `third` of R) out of the plane it was given by the second turn.
  const double sin_part = proper ? r[j][i] : -sign * r[j][k];
  const double cos_part = proper ? -sign * r[k][i] : r[k][k];
  const double distance_to_lock = std::hypot(sin_part, cos_part);
  const double a = distance_to_lock < lock ? first_at_lock : std::atan2(sin_part, cos_part);
  const double b = proper ? std::atan2(distance_to_lock, r[i][i]) : std::atan2(sign * r[i][k], distance_to_lock);

  // Row j of R_first(a)ᵀ·R holds the third angle alone: whatever error a has near the lock, c makes up for it.
  double s, c;
  sincos(a, s, c);
  const auto turned_back = [&](int column) { return c * r[j][column] + sign * s * r[k][column]; };
  const double sin_c = proper ? -sign * turned_back(k) : sign * turned_back(i);
  return {a, b, std::atan2(sin_c, turned_back(j))};
}

Vec3<> with_nearest_turns(const Vec3<>& a, const Vec3<>& near) {
  constexpr double turn = 2 * std::numbers::pi;
  const auto moved = [](double x, double to) { return x + turn * std::round((to - x) / turn); };
  return {moved(a.x, near.x), moved(a.y, near.y), moved(a.z, near.z)};
}

}  // namespace

Vec3<> to_euler(EulerOrder order, const Mat3<>& R) { return angles_of(order, R, kLock, 0); }

Vec3<> nearest_euler(EulerOrder order, const Mat3<>& R, const Vec3<>& near) {
  constexpr double kNearLock =
      1e-12;  // nearer to the lock the first angle is noise; what this costs R is no more than that
  constexpr double pi = std::numbers::pi;
  const Vec3<> first = angles_of(order, R, kNearLock, near.x);
  const Axes axes = axes_of(order);
  const double other_second = axes.third == axes.first ? -first.y : pi - first.y;
  const Vec3<> a = with_nearest_turns(first, near);
  const Vec3<> b = with_nearest_turns({first.x + pi, other_second, first.z + pi}, near);
  return norm(a - near) <= norm(b - near) ? a : b;
}

Mat3<> euler_rate_matrix(EulerOrder order, const Vec3<>& angles) {
  const Axes axes = axes_of(order);
  const auto unit = [](int axis) {
    return Vec3<>{axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0};
  };
  const Mat3<> R3 = elementary(axes.third, angles.z), R23 = elementary(axes.second, angles.y) * R3;
  return transpose(
      Mat3<>{transpose_times(R23, unit(axes.first)), transpose_times(R3, unit(axes.second)), unit(axes.third)});
}

Mat3<> from_rpy(const Vec3<>& rpy) { return from_euler(EulerOrder::kZYX, {rpy.z, rpy.y, rpy.x}); }

Vec3<> to_rpy(const Mat3<>& R) {
  const Vec3<> zyx = to_euler(EulerOrder::kZYX, R);
  return {zyx.z, zyx.y, zyx.x};
}

}  // namespace kansetsu
