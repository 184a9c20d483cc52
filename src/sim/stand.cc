#include "kansetsu/constraint/supported.h"
#include "sim/impl.h"

namespace kansetsu {
namespace {

/// The support by a connection that holds its point: any force there, and any moment if it holds all rotations.
Support grip_of(const ConnectionData& c, LinkId link, const Vec3<>& p_L) {
  Support s{.link = link, .corners = {p_L}, .grips = true};
  if ((c.held & kOrientationMask) != kOrientationMask) return s;
  constexpr double kArm = 0.1;  // [m] forces this far apart make moments
  for (const Vec3<>& arm : {Vec3<>{kArm, 0, 0}, Vec3<>{0, kArm, 0}, Vec3<>{0, 0, kArm}}) s.corners.push_back(p_L + arm);
  return s;
}

/// Subtracts the torques of joint springs from those that hold the figure.
void leave_to_springs(const FigureData& f, Eigen::VectorXd& tau) {
  for (const PassiveDrive& p : f.springs) {
    const DriveCoordinate& d = f.drives[size_t(p.drive)];
    if (p.stiffness == 0) continue;
    const double spring = -p.stiffness * (d.position(f.q) - d.dof.rest);
    for (const auto& [column, ratio] : d.terms) tau[column] -= ratio * spring;
  }
}

}  // namespace

World::StandReport World::stand(FigureId id) {
  FigureData& f = impl_->data(id, "World::stand");
  impl_->refresh();
  State state(f.model);
  state.q = f.q;
  const Eigen::VectorXd still = Eigen::VectorXd::Zero(f.model.nv());
  if (f.model.base() == Base::kFixed) {  // the base carries it
    Eigen::VectorXd tau = rnea(f.model, state, still);
    leave_to_springs(f, tau);
    set_torque(id, tau);
    return {.feasible = true};
  }
  ContactFinder& contacts = impl_->contacts;
  const ContactFinder::Carried carried = contacts.carried();  // looking changes nothing
  contacts.find(impl_->figures, impl_->time, impl_->options.contact_margin, impl_->options.contact.tol_gap, {});
  std::vector<Support> supports;
  for (const Touch& t : contacts.touches()) {
    const bool on_real = contacts.shapes()[size_t(t.real)].figure == id.value();
    const bool on_parent = contacts.shapes()[size_t(t.parent)].figure == id.value();
    if (on_real == on_parent) continue;
    Support s;
    s.link = contacts.shapes()[size_t(on_real ? t.real : t.parent)].link;
    const Transform<> X_LW = inverse(f.mechanics.link_pose(s.link));
    for (int k = 0; k < t.patch.vertex_count; ++k) {
      const ContactVertex& v = t.patch.vertices[size_t(k)];
      if (v.gap <= impl_->options.contact.tol_gap) s.corners.push_back(X_LW * (t.origin + t.E * Vec3<>{v.x, v.y, 0}));
    }
    s.normal = on_real ? t.E.column_z() : -t.E.column_z();
    s.friction = t.patch.mu_static;
    if (!s.corners.empty()) supports.push_back(std::move(s));
  }
  contacts.restore(carried);
  contacts.touches().clear();
  for (const ConnectionData& c : impl_->connections) {
    const bool on_a = c.a.figure == id, on_b = c.b.figure == id;
    if (!c.active || on_a == on_b || (c.held & kPointMask) != kPointMask) continue;
    const BodyRef& end = on_a ? c.a : c.b;
    supports.push_back(grip_of(c, end.link, on_a ? c.X_AC.p : c.X_BD.p));
  }

  SupportedMotion motion = supported_inverse_dynamics(f.model, state, still, supports);
  leave_to_springs(f, motion.tau);
  if (motion.feasible) set_torque(id, motion.tau);
  return {motion.feasible, norm(motion.residual.f), norm(motion.residual.t), int(supports.size())};
}

}  // namespace kansetsu
