#include <algorithm>

#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/motion/analysis.h"

namespace kansetsu {
namespace {

/// Corners beside heel and toe.
SupportHistory to_support(const Model& model, const FootContacts& foot, double friction) {
  SupportHistory history;
  history.name = foot.name;
  history.support.link = foot.link;
  history.support.friction = friction;
  // Across the foot as it stands in the neutral configuration.
  const Vec3<> up = transpose_times(fk(model, neutral(model))[foot.link].R, Vec3<>{0, 0, 1});
  const Vec3<> side = cross(up, foot.toe - foot.heel);
  const Vec3<> half = (foot.width / 2 / std::max(norm(side), 1e-9)) * side;
  history.support.corners = {foot.heel + half, foot.heel - half, foot.toe + half, foot.toe - half};
  for (std::size_t k = 0; k < foot.heel_down.size(); ++k)
    history.touching.push_back((foot.heel_down[k] ? 0b0011u : 0) | (foot.toe_down[k] ? 0b1100u : 0));
  return history;
}

SupportHistory to_support(const BodyContact& contact, double friction) {
  SupportHistory history;
  history.name = contact.name;
  history.support.link = contact.link;
  history.support.friction = friction;
  history.support.grips = contact.grips;
  history.support.corners = {contact.point};
  for (const std::uint8_t down : contact.down) history.touching.push_back(down);
  return history;
}

}  // namespace

std::vector<SupportHistory> find_supports(const Model& model, const Clip& clip, const SupportOptions& options) {
  return find_supports(model, find_all_contacts(model, clip, find_feet(model), {.others = options.others}), options);
}

std::vector<SupportHistory> find_supports(const Model& model, const Contacts& contacts, const SupportOptions& options) {
  std::vector<SupportHistory> supports;
  for (const FootContacts& foot : contacts.feet) supports.push_back(to_support(model, foot, options.friction));
  if (options.others)
    for (const BodyContact& contact : contacts.others) supports.push_back(to_support(contact, options.friction));
  return supports;
}

}  // namespace kansetsu
