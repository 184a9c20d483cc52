#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kansetsu/model/model.h"

/// Human body segments from published tables: lengths, masses, inertias, and a figure made of them. docs/guide/anthropometry.md.
namespace kansetsu {

enum class Sex { kFemale, kMale };
/// "female", "male"
std::optional<Sex> find_sex(std::string_view name);

/// A segment of the body. Of the trunk's three parts the longitudinal axis is vertical, of the foot it goes from heel to toe tip.
struct SegmentShare {
  const char* name = "";
  double length = 0;  ///< over the height of the body, between its ends
  double mass = 0;    ///< over that of the body
  double com = 0;     ///< distance of the centre of mass from the proximal (upper, rear) end, over the length
  Vec3<>
      gyration{};  ///< radii about the centre of mass over the length, about the sagittal (fore and aft), transverse and longitudinal axis
};
/// Head, upper, middle and lower trunk, upper arm, forearm, hand, thigh, shank, foot: de Leva (1996), Table 4, after Zatsiorsky and
/// Seluyanov. Lengths are those of the mean of the people measured.
std::span<const SegmentShare> segment_shares(Sex sex);

struct HumanOptions {
  double mass = 0;    ///< [kg]; 0: the mean of those measured, 61.9 and 73.0
  double height = 0;  ///< [m]; 0: likewise, 1.735 and 1.741
  Sex sex = Sex::kMale;
};
/// A figure of these segments with a free base: trunk of three parts, hands, feet with toes; 43 degrees of freedom. Links pelvis
/// abdomen thorax head, thigh_l shank_l foot_l toes_l upper_arm_l forearm_l hand_l and those of the right; joints lumbar_z lumbar_x lumbar_y …;
/// frames soleL, soleR, gripL, gripR. Throws Error for a mass or height outside the human range.
Model human(const HumanOptions& options = {});
/// "human", or with any of a sex, a height and a mass: "human:female:1.68m:60kg". None for any other name.
std::optional<HumanOptions> parse_human(std::string_view name);
std::string human_name(const HumanOptions& options);

}  // namespace kansetsu
