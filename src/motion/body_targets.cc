#include "motion/body_targets.h"

#include <cmath>
#include <numbers>

#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::retargeting {
namespace {

using L = Landmark;
constexpr Vec3<> kUp{0, 0, 1};

Vec3<> unit(const Vec3<>& a) {
  const double n = norm(a);
  return n > 0 ? (1 / n) * a : kUp;
}

/// Columns x, y, z from where left and roughly upward is; left decides.
Mat3<> frame_from(const Vec3<>& left, const Vec3<>& upward) {
  const Vec3<> y = unit(left), x = unit(cross(y, upward)), z = cross(x, y);
  return transpose(Mat3<>{x, y, z});
}
/// The same where upward decides.
Mat3<> frame_from_up(const Vec3<>& upward, const Vec3<>& left) {
  const Vec3<> z = unit(upward), x = unit(cross(left, z)), y = cross(z, x);
  return transpose(Mat3<>{x, y, z});
}
}  // namespace

Mat3<> swing(const Vec3<>& a, const Vec3<>& b) {
  const Vec3<> from = unit(a), to = unit(b), axis = cross(from, to);
  const double s = norm(axis), c = dot(from, to);
  if (s > 1e-12) return exp_rotation((std::atan2(s, c) / s) * axis);
  if (c > 0) return Mat3<>::identity();
  const Vec3<> across = unit(cross(from, std::abs(from.x) < 0.9 ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0}));
  return exp_rotation(std::numbers::pi * across);
}

namespace {

template <class Points>
double leg_length(const Points& p) {
  double sum = 0;
  for (const auto& [hip, knee, ankle] :
       {std::array{L::kHipL, L::kKneeL, L::kAnkleL}, std::array{L::kHipR, L::kKneeR, L::kAnkleR}})
    sum += norm(p(knee) - p(hip)) + norm(p(ankle) - p(knee));
  return 0.5 * sum;
}

}  // namespace

FigurePoints place_landmarks(const Model& model, const std::map<Landmark, LinkPoint>& landmarks) {
  const LinkPoses poses = fk(model, neutral(model));
  FigurePoints out;
  for (const auto& [landmark, point] : landmarks) {
    const LinkId link = model.link_id(point.link);
    at(out, landmark) = FigurePoint{link, point.at, poses[link] * point.at, poses[link].R};
  }
  return out;
}

TargetMaker::TargetMaker(const Capture& capture, const BonePoints& bones, const FigurePoints& figure)
    : capture_(capture), bones_(bones), figure_(figure), rest_(rest_poses(capture)) {
  for (std::size_t l = 0; l < bones_.size(); ++l) {
    if (!bones_[l]) continue;
    const Transform<>& X = rest_[static_cast<std::size_t>(bones_[l]->bone)];
    rest_points_[l] = X * (capture.unit * bones_[l]->at);
  }
  capture_leg_ = leg_length([&](L l) { return *at(rest_points_, l); });
  figure_leg_ = leg_length([&](L l) { return at(figure_, l)->neutral; });
}

void TargetMaker::load(int frame) {
  bone_poses(capture_, frame, poses_);
  for (std::size_t l = 0; l < bones_.size(); ++l)
    if (bones_[l]) now_[l] = poses_[static_cast<std::size_t>(bones_[l]->bone)] * (capture_.unit * bones_[l]->at);
}

Mat3<> TargetMaker::turned(Landmark l) const {
  const auto bone = static_cast<std::size_t>(at(bones_, l)->bone);
  return times_transpose(poses_[bone].R, rest_[bone].R);
}

Mat3<> TargetMaker::pelvis() const {
  return frame_from(captured(L::kHipL) - captured(L::kHipR), turned(L::kPelvis).column_z());
}

double TargetMaker::heading(int frame) {
  load(frame);
  const Vec3<> x = pelvis().column_x();
  return std::atan2(x.y, x.x);
}

Vec3<> TargetMaker::hips(int frame) {
  load(frame);
  return 0.5 * (captured(L::kHipL) + captured(L::kHipR));
}

/// Pelvis, chest, neck and head. The chest stands on the waist, wherever the figure has its own.
void TargetMaker::trunk(Targets& out) const {
  const Mat3<> R_pelvis = pelvis();
  const Vec3<> hips = 0.5 * (*at(out.captured, L::kHipL) + *at(out.captured, L::kHipR));
  const Vec3<> hips_neutral = 0.5 * (figure(L::kHipL).neutral + figure(L::kHipR).neutral);
  const auto on_pelvis = [&](L l) { return hips + placement_.R * R_pelvis * (figure(l).neutral - hips_neutral); };
  at(out.points, L::kPelvis) = on_pelvis(L::kPelvis);
  at(out.turns, L::kPelvis) = placement_.R * R_pelvis * figure(L::kPelvis).R_WL;
  for (const L l : {L::kHipL, L::kHipR}) at(out.points, l) = on_pelvis(l);

  if (!has(L::kChest)) return;
  Mat3<> R_chest = turned(L::kChest);
  const Vec3<> waist_neutral = figure(L::kChest).neutral;  // where the chest's link begins
  const double ratio = capture_leg_ / figure_leg_;
  const Vec3<> waist =
      0.5 * (captured(L::kHipL) + captured(L::kHipR)) + ratio * (R_pelvis * (waist_neutral - hips_neutral));
  const bool arms = has(L::kShoulderL) && has(L::kShoulderR);
  if (arms) {
    const Vec3<> middle = 0.5 * (captured(L::kShoulderL) + captured(L::kShoulderR));
    const Vec3<> top = has(L::kNeck) ? captured(L::kNeck) : middle;
    if (norm(top - waist) > 0.1 * capture_leg_)
      R_chest = frame_from_up(top - waist, captured(L::kShoulderL) - captured(L::kShoulderR));
  }
  at(out.turns, L::kChest) = placement_.R * R_chest * figure(L::kChest).R_WL;
  const Vec3<> base = on_pelvis(L::kChest);
  for (const L l : {L::kNeck, L::kShoulderL, L::kShoulderR})
    if (has(l)) at(out.points, l) = base + placement_.R * R_chest * (figure(l).neutral - waist_neutral);
  if (has(L::kHead)) at(out.turns, L::kHead) = placement_.R * turned(L::kHead) * figure(L::kHead).R_WL;
}

/// Two bones in a row, from a point that is placed already.
void TargetMaker::limb(Landmark root, Landmark middle, Landmark end, Targets& out) const {
  for (const auto& [from, to] : {std::pair{root, middle}, std::pair{middle, end}}) {
    if (!has(from) || !has(to) || !at(out.points, from)) return;
    const Vec3<> along = figure(to).neutral - figure(from).neutral;
    const Vec3<> direction = unit(captured(to) - captured(from));
    at(out.points, to) = *at(out.points, from) + norm(along) * (placement_.R * direction);
    const Vec3<> at_rest = *at(rest_points_, to) - *at(rest_points_, from);
    at(out.turns, from) = placement_.R * turned(from) * swing(along, at_rest) * figure(from).R_WL;
  }
}

/// At rest the sole is square to the lower leg, whatever the toe bone does.
void TargetMaker::foot(Landmark knee, Landmark ankle, Landmark toe, Targets& out) const {
  if (!has(ankle)) return;
  Mat3<> R_rest = Mat3<>::identity();
  if (at(bones_, toe)) {
    const Vec3<> up = *at(rest_points_, knee) - *at(rest_points_, ankle);
    const Vec3<> forward = *at(rest_points_, toe) - *at(rest_points_, ankle);
    if (norm(cross(up, forward)) > 1e-3 * norm(up) * norm(forward)) R_rest = frame_from_up(up, cross(up, forward));
  }
  at(out.turns, ankle) = placement_.R * turned(ankle) * R_rest * figure(ankle).R_WL;
}

void TargetMaker::make(int frame, Targets& out) {
  load(frame);
  out = {};
  const Vec3<> origin = placement_.origin + double(frame) * placement_.drift;
  for (std::size_t l = 0; l < now_.size(); ++l)
    if (now_[l]) out.captured[l] = placement_.scale * (placement_.R * (*now_[l] - origin));
  trunk(out);
  limb(L::kHipL, L::kKneeL, L::kAnkleL, out);
  limb(L::kHipR, L::kKneeR, L::kAnkleR, out);
  limb(L::kShoulderL, L::kElbowL, L::kWristL, out);
  limb(L::kShoulderR, L::kElbowR, L::kWristR, out);
  foot(L::kKneeL, L::kAnkleL, L::kToeL, out);
  foot(L::kKneeR, L::kAnkleR, L::kToeR, out);
}

}  // namespace kansetsu::retargeting
