#include "kansetsu/constraint/supported.h"
#include "sim/impl.h"

namespace kansetsu {

World::StandReport World::stand(FigureId id) {
  FigureData& f = impl_->data(id, "World::stand");
  impl_->refresh();
  Contacts& contacts = impl_->contacts;
  const Contacts::Carried carried = contacts.carried();  // looking changes nothing
  contacts.find(impl_->figures, impl_->time, impl_->options.contact_margin, impl_->options.contact.tol_gap,
                impl_->options.contact.tol_gap);
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

  State state(f.model);
  state.q = f.q;
  const SupportedMotion motion =
      supported_inverse_dynamics(f.model, state, Eigen::VectorXd::Zero(f.model.nv()), supports);
  if (motion.feasible) set_torque(id, motion.tau);
  return {motion.feasible, norm(motion.residual.f), norm(motion.residual.t), int(supports.size())};
}

}  // namespace kansetsu
