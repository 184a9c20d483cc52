#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "kansetsu/io/capture.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::io::test {

/// What must hold for any capture that was read: it is whole, and the same after being written as BVH and read again.
inline std::string capture_violation(const Loaded<Capture>& read) {
  if (!read) return has_errors(read.diagnostics) ? "" : "refused without an error";
  if (has_errors(read.diagnostics)) return "accepted with an error";
  const Capture& c = *read.value;
  if (c.frames() < 1 || c.poses.size() != c.bones.size() * static_cast<std::size_t>(c.frames()))
    return "frames are not whole";
  for (int f = 0; f < c.frames(); f += 7)
    for (const Transform<>& X : bone_poses(c, f))
      if (!std::isfinite(norm(X.p)) || !std::isfinite(norm(X.R.x))) return "poses are not finite";
  const std::string text = to_bvh(c);
  const Loaded<Capture> again = parse_bvh(text, "again.bvh", {.unit = c.unit});
  if (!again) return "written, but cannot be read: " + to_string(again.diagnostics) + text;
  if (again.value->frames() != c.frames() || again.value->bones.size() != c.bones.size())
    return "not the same size again";
  for (std::size_t i = 0; i < c.bones.size(); ++i) {
    const auto other = again.value->find_bone(c.bones[i].name);
    if (!other) return "lost bone " + c.bones[i].name;
    for (int f = 0; f < c.frames(); ++f) {
      const BonePose &a = c.pose(f, static_cast<int>(i)), &b = again.value->pose(f, *other);
      if (!(a.p == b.p)) return "moved bone " + c.bones[i].name;
      if (angular_distance(a.turn, b.turn) > 1e-7) return "turned bone " + c.bones[i].name;  // √eps of the angle
    }
  }
  return "";
}

inline std::string bvh_violation(std::string_view text) { return capture_violation(parse_bvh(text, "any.bvh")); }

/// Skeleton and motion in one text, divided by a line of three equals signs.
inline std::string asf_amc_violation(std::string_view text) {
  const std::size_t at = text.find("===");
  if (at == std::string_view::npos) return "";
  return capture_violation(parse_asf_amc(text.substr(0, at), text.substr(at + 3), "any.asf", "any.amc"));
}

}  // namespace kansetsu::io::test
