#include <algorithm>

#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/motion/analysis.h"

namespace kansetsu {
namespace {

/// Where a sole presses, from heel to toe: its edge, the heel, the ball and the tip of the toes; and how much of the load of its
/// end each takes. Ends of soles are nobody's usual place: pressure of walkers is at a tenth of the sole when the heel lands, and at
/// three quarters once it has left.
struct SoleRow {
  double along, ease;
  bool front;
};
constexpr SoleRow kSole[] = {{0, 0.3, false}, {0.13, 0.7, false}, {0.72, 0.8, true}, {1, 0.2, true}};

/// Corners beside them.
SupportHistory to_support(const Model& model, const FootContacts& foot, double friction) {
  SupportHistory history;
  history.name = foot.name;
  history.support.link = foot.link;
  history.support.friction = friction;
  // Across the foot as it stands in the neutral configuration.
  const Vec3<> up = transpose_times(fk(model, neutral(model))[foot.link].R, Vec3<>{0, 0, 1});
  const Vec3<> side = cross(up, foot.toe - foot.heel);
  const Vec3<> half = (foot.width / 2 / std::max(norm(side), 1e-9)) * side;
  std::uint32_t heel = 0, toe = 0;
  for (const SoleRow& row : kSole) {
    const Vec3<> middle = foot.heel + row.along * (foot.toe - foot.heel);
    (row.front ? toe : heel) |= 0b11u << history.support.corners.size();
    for (const Vec3<>& corner : {middle + half, middle - half})
      history.support.corners.push_back(corner), history.ease.push_back(row.ease);
  }
  for (std::size_t k = 0; k < foot.heel_down.size(); ++k)
    history.touching.push_back((foot.heel_down[k] ? heel : 0) | (foot.toe_down[k] ? toe : 0));
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
