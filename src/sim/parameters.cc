#include <utility>

#include "kansetsu/model/edit.h"
#include "sim/impl.h"

/// Parameters of a world: masses and materials.
namespace kansetsu {

void World::Impl::parameters_changed() {
  changed();
  ledger.reset();
  ++parameters;
}

void World::set_inertial_parameters(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& values) {
  FigureData& f = impl_->data(id, "World::set_inertial_parameters");
  Model model = with_inertial_parameters(f.model, values);
  impl_->parameters_changed();
  impl_->sleeping.wake(id.value());
  f.model = std::move(model);
  f.mechanics = Mechanics(f.model);
  f.set_mechanics();
}

void World::set_material(FigureId id, const ContactMaterial& material) {
  FigureData& f = impl_->data(id, "World::set_material");
  MaterialTable& table = impl_->contacts.materials();
  if (f.own_material.value() < 0)
    f.own_material = table.add(material);
  else
    table.set(f.own_material, material);
  impl_->parameters_changed();
  impl_->sleeping.wake(id.value());
  f.options.material = material;
  for (WorldShape& s : impl_->contacts.change_shapes()) {
    if (s.owner == id.value()) s.material = f.own_material;
  }
}

}  // namespace kansetsu
