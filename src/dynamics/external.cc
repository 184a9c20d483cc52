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

WorkspaceUse check_state(const char* function, const Model& model, const State& state, Workspace& work) {
  check_size(function, "q", state.q.size(), model.nq());
  check_size(function, "v", state.v.size(), model.nv());
  return WorkspaceUse(work, function, model);
}

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

const double* world_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                             Carver<double>& carver) {
  if (!external) return nullptr;
  using Wrench = kernel::ExternalWrench<double>;
  const Tree& tree = model.tree();
  Wrench* out = carver.take<Wrench>(tree.body_count());
  for (int i = 0; i < tree.body_count(); ++i) out[i] = {};
  const Transform<>* X_WB = body_poses(tree, q, carver);
  const Vec3<> O = tree.free_base ? X_WB[0].p : Vec3<>{};
  for (size_t l = 0; l < tree.links.size(); ++l) {
    const LinkPlacement& link = tree.links[l];
    if (link.body < 0) continue;
    const Force<>& F = external->wrenches()[l];
    const Vec3<> r = link_pose(link, X_WB).p - O;
    Wrench& sum = out[link.body];
    sum.F += Force<>{add_cross(F.t, r, F.f), F.f};
    // E·ω = [ω×t + r×(ω×f); ω×f]
    sum.E = sum.E + CoriolisInertia<double>{-skew(F.t) - skew(r) * skew(F.f), F.f};
  }
  return &out->F.t.x;
}

}  // namespace kansetsu
