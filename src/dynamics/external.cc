#include "dynamics/external.h"

#include "dynamics/derivatives_kernel.h"
#include "kansetsu/base/error.h"
#include "kinematics/kernel_table.h"

namespace kansetsu {
namespace {

const Transform<>* body_poses(const Tree& tree, const VectorRef& q, Carver<double>& carver) {
  Transform<>* X_WB = carver.take<Transform<>>(tree.body_count());
  kernel::kinematics().poses(tree.view(), q.data(), carver.rest(), numbers(X_WB));
  return X_WB;
}

}  // namespace

ExternalForces::ExternalForces(const Model& model) : wrenches_(size_t(model.link_count())) {}
void ExternalForces::set_zero() { std::fill(wrenches_.begin(), wrenches_.end(), Force<>{}); }

const double* body_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                            Carver<double>& carver) {
  if (!external) return nullptr;
  const Tree& tree = model.tree();
  check_size("external forces", "wrenches", long(external->wrenches().size()), long(tree.links.size()));
  Force<>* out = carver.take<Force<>>(tree.body_count());
  for (int i = 0; i < tree.body_count(); ++i) out[i] = {};
  const Transform<>* X_WB = body_poses(tree, q, carver);
  for (size_t l = 0; l < tree.links.size(); ++l) {
    const LinkPlacement& link = tree.links[l];
    if (link.body < 0) continue;
    const Force<>& F = external->wrenches()[l];  // at the link's origin, world axes
    const Mat3<>& R_WB = X_WB[link.body].R;
    const Vec3<> t = transpose_times(R_WB, F.t), f = transpose_times(R_WB, F.f);
    out[link.body] += Force<>{add_cross(t, link.X_BL.p, f), f};
  }
  return numbers(out);
}

namespace {

using Wrench = kernel::ExternalWrench<double>;

/// E·ω = [ω×m + r×(ω×f); ω×f], at r from O.
void add_wrench(const Vec3<>& r, const Vec3<>& m, const Vec3<>& f, Wrench& sum) {
  sum.F += Force<>{add_cross(m, r, f), f};
  sum.E = sum.E + CoriolisInertia<double>{-skew(m) - skew(r) * skew(f), f};
}

}  // namespace

const double* world_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                             Carver<double>& carver, std::span<const PointWrench> at_points) {
  if (!external && at_points.empty()) return nullptr;
  const Tree& tree = model.tree();
  Wrench* out = carver.take<Wrench>(tree.body_count());
  for (int i = 0; i < tree.body_count(); ++i) out[i] = {};
  const Vec3<> O = tree.free_base ? tree.bodies[0].X_PJ * Vec3<>{q[0], q[1], q[2]} : Vec3<>{};
  for (const PointWrench& w : at_points) add_wrench(w.p_W - O, w.m, w.f, out[w.body]);
  if (!external) return &out->F.t.x;
  const Transform<>* X_WB = body_poses(tree, q, carver);
  for (size_t l = 0; l < tree.links.size(); ++l) {
    const LinkPlacement& link = tree.links[l];
    if (link.body < 0) continue;
    const Force<>& F = external->wrenches()[l];
    add_wrench(link_pose(link, X_WB).p - O, F.t, F.f, out[link.body]);
  }
  return &out->F.t.x;
}

}  // namespace kansetsu
