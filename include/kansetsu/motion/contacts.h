#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/model/clip.h"
#include "kansetsu/model/landmarks.h"

/// What a moving figure touches, and when. Landings and leavings of the whole clip are decided together, by what the motion needs
/// and by how high and how fast heels and toes are. Method: docs/theory/contacts.md.
namespace kansetsu {

/// Costs of disagreement; each number is the deviation that costs one, as much as 10 ms of a wrong contact.
struct ContactCosts {
  double height = 0.013;  ///< [m] of an end of a sole above where it stands
  double speed = 0.8;     ///< [m/s] of it against the floor
  double landing =
      0.52;  ///< [m/s] the same while it slows down: heels have almost stopped when they are loaded, toes slip off
  double need = 0.15;   ///< share of the weight that nothing carries
  double lever = 0.08;  ///< [m] by which the needed force lies outside of what is down
  double change = 2;    ///< of every landing and leaving: larger numbers give fewer of them
  bool others = true;   ///< hands, knees, seat and trunk may carry, too
  double cutoff = 10;   ///< [Hz] of the filter before differentiating
};

/// A foot of the figure: its sole, and when it is on the floor.
struct FootContacts {
  std::string name{};  ///< "left", "right"
  LinkId link{0};
  Vec3<> heel{}, toe{};                               ///< ends of the sole's middle line, in the link's frame
  double width = 0;                                   ///< of the sole [m]
  std::vector<std::uint8_t> heel_down{}, toe_down{};  ///< one per frame of the clip

  bool down(int frame) const {
    return heel_down[static_cast<std::size_t>(frame)] || toe_down[static_cast<std::size_t>(frame)];
  }
};

/// Something else that carries: a hand that holds on, a seat.
struct BodyContact {
  std::string name{};  ///< "left hand", "seat", …
  LinkId link{0};
  Vec3<> point{};      ///< in the link's frame
  bool grips = false;  ///< may pull, and lies on something that is not the floor
  std::vector<std::uint8_t> down{};
};

/// The plane z = height + slope·(x, y) on which soles rest, and its velocity if it is a treadmill belt.
struct Ground {
  double height = 0;
  Vec3<> slope{};  ///< z is zero
  Vec3<> belt{};   ///< [m/s]; zero: it stands still
  bool moves() const { return belt.x != 0 || belt.y != 0; }
};

/// Feet of a figure by its landmarks, without contact flags.
std::vector<FootContacts> find_feet(const Model& model, const LandmarkTable& table = {});

/// The floor under the feet by a robust fit, and its belt. A floor steeper than `largest_tilt` [rad] is taken as level.
/// @param belt  its velocity [m/s], where it is known; none: found from the feet
Ground find_ground(const Model& model, const Clip& clip, const std::vector<FootContacts>& feet, double largest_tilt,
                   const std::optional<Vec3<>>& belt = {});
/// The clip as seen from its ground: the floor is z = 0 and a belt stands still.
Clip on_ground(const Model& model, const Clip& clip, const Ground& ground);

struct Contacts {
  std::vector<FootContacts> feet{};
  std::vector<BodyContact> others{};  ///< those that carry somewhere
};
/// Feet on the floor z = 0, and what else carries. The feet's flags are filled.
Contacts find_all_contacts(const Model& model, const Clip& clip, std::vector<FootContacts> feet,
                           const ContactCosts& options = {});
/// The same for the feet of find_feet().
std::vector<FootContacts> find_contacts(const Model& model, const Clip& clip, const ContactCosts& options = {});

}  // namespace kansetsu
