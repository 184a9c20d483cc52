#include "sim/medium.h"

#include <Eigen/Eigenvalues>
#include <algorithm>

namespace kansetsu {
namespace {

/// Principal axes and moments of an inertia; its own axes if it is diagonal.
struct Principal {
  Mat3<> R = Mat3<>::identity();
  Vec3<> moments{};
};
Principal principal(const Sym3<>& I) {
  if (I.xy == 0 && I.xz == 0 && I.yz == 0) return {Mat3<>::identity(), {I.xx, I.yy, I.zz}};
  Eigen::Matrix3d m;
  m << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(m);
  const Eigen::Matrix3d& U = solver.eigenvectors();
  const Eigen::Vector3d& J = solver.eigenvalues();
  return {{{U(0, 0), U(0, 1), U(0, 2)}, {U(1, 0), U(1, 1), U(1, 2)}, {U(2, 0), U(2, 1), U(2, 2)}}, {J[0], J[1], J[2]}};
}

}  // namespace

void list_medium_parts(FigureData& f, const Medium& medium) {
  f.medium_parts.clear();
  const auto& lift = f.options.gravity_compensation;
  if (!medium.acts() && lift.empty()) return;
  for (int i = 0; i < f.model.link_count(); ++i) {
    const auto& inertial = f.model.link(LinkId(i)).inertial;
    const int body = f.mechanics.body_of(LinkId(i));
    if (body < 0 || !inertial || !(inertial->mass > 0)) continue;
    const Principal axes = principal(inertial->inertia);
    const std::string& name = f.model.link(LinkId(i)).name;
    const Transform<>& X_BL = f.model.tree().links[size_t(i)].X_BL;
    const auto share = lift.find(name);
    const bool shaped = std::ranges::any_of(f.options.ellipsoids, [&](const auto& e) { return e.link == name; });
    f.medium_parts.push_back({.link = LinkId(i),
                              .body = body,
                              .X_BC = X_BL * to_transform(inertial->origin) * Transform<>{axes.R, {}},
                              .edges = shaped ? Vec3<>{} : inertia_box(inertial->mass, axes.moments),
                              .lifted = share == lift.end() ? 0 : share->second * inertial->mass});
    for (const FluidEllipsoid& e : f.options.ellipsoids) {
      if (e.link != name || !medium.acts()) continue;
      f.medium_parts.push_back({.link = LinkId(i),
                                .body = body,
                                .X_BC = X_BL * to_transform(e.pose),
                                .ellipsoid = e.drag,
                                .added = added_inertia(e.drag.radii)});
    }
  }
}

void add_medium_forces(FigureData& f, const Medium& medium, const Vec3<>& gravity) {
  f.medium_torque.setZero();
  for (MediumPart& part : f.medium_parts) {
    const Transform<> X_WC = f.mechanics.body_pose(part.body) * part.X_BC;
    const Motion<> V_O = f.mechanics.velocity(part.body);
    const Vec3<> r = X_WC.p - f.mechanics.origin();
    const Vec3<> v = V_O.v + cross(V_O.w, r) - medium.wind;
    const Motion<> V_C{transpose_times(X_WC.R, V_O.w), transpose_times(X_WC.R, v)};
    const Force<> F_C = part.ellipsoid ? force_on_ellipsoid(medium, *part.ellipsoid, part.added, V_C)
                                       : drag_on_box(medium, part.edges, V_C);
    part.p = X_WC.p;
    part.force = {X_WC.R * F_C.t, X_WC.R * F_C.f - part.lifted * gravity};
    f.mechanics.add_generalised(part.body, {part.force.t + cross(r, part.force.f), part.force.f},
                                f.medium_torque.data());
  }
}

}  // namespace kansetsu
