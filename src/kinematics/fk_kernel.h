#pragma once

#include "kinematics/posture_kernel.h"

/// Forward kinematics of one state: the columns of a rotation are registers, so that a hinge turns two of them and a pose is
/// composed in a third of the operations. Packs of states have poses() in world_kernel.h.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A pose by the columns of R and p; the fourth lanes are meaningless.
struct ColumnPose {
  using Column = Pack<double, 4>;
  Column x, y, z, p;

  KANSETSU_HD static Column column(double a, double b, double c) { return Column(Column::Vector{a, b, c, 0}); }
  KANSETSU_HD static ColumnPose from(const Transform<double>& X) {
    return {column(X.R.x.x, X.R.y.x, X.R.z.x), column(X.R.x.y, X.R.y.y, X.R.z.y), column(X.R.x.z, X.R.y.z, X.R.z.z),
            column(X.p.x, X.p.y, X.p.z)};
  }

  /// R·a
  KANSETSU_HD Column direction(double a, double b, double c) const {
    return madd(Column(a), x, madd(Column(b), y, Column(c) * z));
  }
  /// R·a + p
  KANSETSU_HD Column point(const Vec3<double>& a) const {
    return madd(Column(a.x), x, madd(Column(a.y), y, madd(Column(a.z), z, p)));
  }
  KANSETSU_HD ColumnPose operator*(const Transform<double>& X) const {
    const Mat3<double>& R = X.R;
    return {direction(R.x.x, R.y.x, R.z.x), direction(R.x.y, R.y.y, R.z.y), direction(R.x.z, R.y.z, R.z.z), point(X.p)};
  }
  /// The pose of a body behind a hinge about one of the axes.
  template <int AX>
  KANSETSU_HD ColumnPose turned(double cosine, double sine) const {
    const Column c(cosine), s(sine);
    if constexpr (AX == 0) return {x, madd(s, z, c * y), msub(s, y, c * z), p};
    if constexpr (AX == 1) return {msub(s, z, c * x), y, madd(s, x, c * z), p};
    if constexpr (AX == 2) return {madd(s, y, c * x), msub(s, x, c * y), z, p};
  }

  /// The axis 0, 1 or 2.
  KANSETSU_HD const Column& axis(int k) const { return k == 0 ? x : k == 1 ? y : z; }
  /// p × a
  KANSETSU_HD Column moment(const Column& a) const {
    const auto next = [](const Column& b) { return Column(__builtin_shufflevector(b.v, b.v, 1, 2, 0, 3)); };
    return next(msub(next(p), a, p * next(a)));
  }

  /// As R row by row, p: twelve numbers. Each row is stored four wide; the next overwrites the fourth.
  KANSETSU_HD void store(double* out) const {
    using V = Column::Vector;
    const V xy_low = __builtin_shufflevector(x.v, y.v, 0, 4, 2, 6),
            xy_high = __builtin_shufflevector(x.v, y.v, 1, 5, 3, 7);
    const V zp_low = __builtin_shufflevector(z.v, p.v, 0, 4, 2, 6),
            zp_high = __builtin_shufflevector(z.v, p.v, 1, 5, 3, 7);
    const V row_x = __builtin_shufflevector(xy_low, zp_low, 0, 1, 4, 5);
    const V row_y = __builtin_shufflevector(xy_high, zp_high, 0, 1, 4, 5);
    const V row_z = __builtin_shufflevector(xy_low, zp_low, 2, 3, 6, 7);
    std::memcpy(out, &row_x, sizeof(V));
    std::memcpy(out + 3, &row_y, sizeof(V));
    std::memcpy(out + 6, &row_z, sizeof(V));
    out[9] = p[0], out[10] = p[1], out[11] = p[2];
  }
};

/// X_WB of every body.
KANSETSU_HD void column_poses(const TreeViewOf<double>& tree, const Posture<double>& posture, ColumnPose* X) {
  const ColumnPose ground = ColumnPose::from({});
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<double>& b = tree.bodies[i];
    ColumnPose at = b.parent < 0 ? ground : X[b.parent];
    if (b.aligned_axis < 0) {
      X[i] = at * posture.X_PB[i];
      continue;
    }
    if (!b.concurrent) at.p = at.point(b.X_PJ.p);
    const double c = posture.c[i], s = posture.s[i];
    X[i] = b.aligned_axis == 0 ? at.turned<0>(c, s) : b.aligned_axis == 1 ? at.turned<1>(c, s) : at.turned<2>(c, s);
  }
}

/// The motion of the subtree of each tree coordinate per unit rate, in world axes at the world's origin.
/// @param out  called with the coordinate, the angular and the linear part
template <class Out>
KANSETSU_HD void column_axes(const TreeViewOf<double>& tree, const ColumnPose* X, Out&& out) {
  using Column = ColumnPose::Column;
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<double>& b = tree.bodies[i];
    const ColumnPose& at = X[i];
    const auto turn = [&](int k, const Column& axis) { out(k, axis, at.moment(axis)); };
    switch (b.kind) {
      case PrimitiveKind::kHinge:
        turn(b.u, at.axis(b.aligned_axis < 0 ? 2 : b.aligned_axis));
        break;
      case PrimitiveKind::kSlide:
        out(b.u, Column(0), at.z);
        break;
      case PrimitiveKind::kScrew:
        out(b.u, at.z, madd(Column(b.pitch), at.z, at.moment(at.z)));
        break;
      case PrimitiveKind::kFree:
        for (int k = 0; k < 3; ++k) out(b.u + 3 + k, Column(0), at.axis(k));
        [[fallthrough]];
      case PrimitiveKind::kBall:
        for (int k = 0; k < 3; ++k) turn(b.u + k, at.axis(k));
        break;
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
