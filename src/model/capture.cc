#include "kansetsu/model/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/model/landmarks.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
namespace {

/// The coordinate axis, with its sign, that is nearest to a direction.
Vec3<> nearest_axis(const Vec3<>& d) {
  const double x = std::abs(d.x), y = std::abs(d.y), z = std::abs(d.z);
  if (x >= y && x >= z) return {std::copysign(1.0, d.x), 0, 0};
  if (y >= z) return {0, std::copysign(1.0, d.y), 0};
  return {0, 0, std::copysign(1.0, d.z)};
}

Vec3<> unit_axis(UpAxis axis) {
  return {axis == UpAxis::kX ? 1.0 : 0.0, axis == UpAxis::kY ? 1.0 : 0.0, axis == UpAxis::kZ ? 1.0 : 0.0};
}

/// Joint centres at rest, file axes and units.
std::vector<Vec3<>> rest_points(const Capture& capture) {
  std::vector<Vec3<>> out;
  out.reserve(capture.bones.size());
  for (const Bone& bone : capture.bones)
    out.push_back(bone.parent < 0 ? bone.offset : out[static_cast<std::size_t>(bone.parent)] + bone.offset);
  return out;
}

/// Where the landmarks of the best table are at rest.
class RestLandmarks {
 public:
  explicit RestLandmarks(const Capture& capture)
      : capture_(capture), table_(best_table(capture)), points_(rest_points(capture)) {}

  std::optional<Vec3<>> operator[](Landmark landmark) const {
    const std::optional<BonePoint> found = find_bone_point(capture_, table_, landmark);
    if (!found) return std::nullopt;
    return points_[static_cast<std::size_t>(found->bone)] + found->at;
  }
  /// The middle of a pair.
  std::optional<Vec3<>> middle(Landmark left, Landmark right) const {
    const auto a = (*this)[left], b = (*this)[right];
    if (!a || !b) return std::nullopt;
    return 0.5 * (*a + *b);
  }

 private:
  const Capture& capture_;
  LandmarkTable table_;
  std::vector<Vec3<>> points_;
};

/// From the hips to the ankles, along the bones; the height of the skeleton at rest where there are no legs.
struct Stature {
  double length = 0, human = 1;  ///< [file units], the same of a person [m]
};
Stature stature(const Capture& capture) {
  const RestLandmarks rest(capture);
  const auto hip = rest[Landmark::kHipL], knee = rest[Landmark::kKneeL], ankle = rest[Landmark::kAnkleL];
  if (hip && knee && ankle) return {norm(*knee - *hip) + norm(*ankle - *knee), 0.84};
  const std::vector<Vec3<>> points = rest_points(capture);
  Vec3<> low{}, high{};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3<>& p = points[i];
    low = i == 0 ? p : Vec3<>{std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = i == 0 ? p : Vec3<>{std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  return {norm(high - low), 1.7};
}

}  // namespace

std::optional<int> Capture::find_bone(std::string_view bone_name) const {
  const auto found = std::ranges::find(bones, bone_name, &Bone::name);
  if (found == bones.end()) return std::nullopt;
  return static_cast<int>(found - bones.begin());
}

void bone_poses(const Capture& capture, int frame, std::vector<Transform<>>& out) {
  if (frame < 0 || frame >= capture.frames())
    throw Error(fmt::format("bone_poses(): frame {} of a capture of {} frames", frame, capture.frames()));
  out.resize(capture.bones.size());
  for (std::size_t i = 0; i < capture.bones.size(); ++i) {
    const BonePose& pose = capture.pose(frame, static_cast<int>(i));
    const Transform<> X{to_mat3(pose.turn), capture.unit * pose.p};
    const int parent = capture.bones[i].parent;
    out[i] = (parent < 0 ? Transform<>{capture.axes, {}} : out[static_cast<std::size_t>(parent)]) * X;
  }
}

std::vector<Transform<>> bone_poses(const Capture& capture, int frame) {
  std::vector<Transform<>> out;
  bone_poses(capture, frame, out);
  return out;
}

std::vector<Transform<>> rest_poses(const Capture& capture) {
  std::vector<Transform<>> out;
  for (const Vec3<>& p : rest_points(capture)) out.push_back({capture.axes, capture.unit * (capture.axes * p)});
  return out;
}

bool begins_at_rest(const Capture& capture) {
  if (capture.frames() < 3) return false;
  // The figure jumps out of the rest pose: bones turn far more from frame 0 to 1 than from 1 to 2.
  constexpr double kLeast = 0.02;  // [rad] of a bone on average
  double jump = 0, next = 0;
  for (int i = 0; i < static_cast<int>(capture.bones.size()); ++i) {
    jump += angular_distance(capture.pose(0, i).turn, capture.pose(1, i).turn);
    next += angular_distance(capture.pose(1, i).turn, capture.pose(2, i).turn);
  }
  return jump > 10 * next && jump > kLeast * static_cast<double>(capture.bones.size());
}

Mat3<> guess_axes(const Capture& capture, std::optional<UpAxis> up) {
  const RestLandmarks rest(capture);
  const auto hips = rest.middle(Landmark::kHipL, Landmark::kHipR);
  const auto ankles = rest.middle(Landmark::kAnkleL, Landmark::kAnkleR);
  Vec3<> z = unit_axis(up.value_or(UpAxis::kY));
  if (hips && ankles) {
    const Vec3<> body = *hips - *ankles;
    if (!up && norm(body) > 0) z = nearest_axis(body);
    if (dot(z, body) < 0) z = -z;
  }
  Vec3<> y = z.y != 0 ? Vec3<>{1, 0, 0} : z.z != 0 ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0};
  const auto left = rest[Landmark::kHipL], right = rest[Landmark::kHipR];
  if (left && right) {
    const Vec3<> across = *left - *right, level = across - dot(across, z) * z;
    if (norm(level) > 0) y = nearest_axis(level);
  }
  return {cross(y, z), y, z};  // rows: the world's axes in the file's
}

double guess_unit(const Capture& capture) {
  const Stature s = stature(capture);
  if (!(s.length > 0) || !std::isfinite(s.length)) return 1;
  static constexpr double kUnits[] = {1, 0.1, 0.01, 0.001, 0.0254, 0.0254 / 0.45};
  const auto mismatch = [&](double unit) { return std::abs(std::log(unit * s.length / s.human)); };
  return *std::min_element(std::begin(kUnits), std::end(kUnits),
                           [&](double a, double b) { return mismatch(a) < mismatch(b); });
}

}  // namespace kansetsu
