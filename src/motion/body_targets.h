#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/motion/retarget.h"

/// Where a figure's landmarks belong so that it stands as the captured skeleton does: directions of the capture, lengths of the
/// figure.
namespace kansetsu::retargeting {

template <class T>
using PerLandmark = std::array<T, kLandmarkCount>;
template <class T>
auto& at(T& per_landmark, Landmark landmark) {
  return per_landmark[static_cast<std::size_t>(landmark)];
}

/// A landmark of the figure, and where it is in the neutral configuration.
struct FigurePoint {
  LinkId link{0};
  Vec3<> p_L{};
  Vec3<> neutral{};                  ///< in the world
  Mat3<> R_WL = Mat3<>::identity();  ///< of the link, in the neutral configuration
};
using FigurePoints = PerLandmark<std::optional<FigurePoint>>;
FigurePoints place_landmarks(const Model& model, const std::map<Landmark, LinkPoint>& landmarks);

/// Where bones are in the capture.
using BonePoints = PerLandmark<std::optional<BonePoint>>;

/// What a frame asks for.
struct Targets {
  PerLandmark<std::optional<Vec3<>>> points{};    ///< of landmarks
  PerLandmark<std::optional<Mat3<>>> turns{};     ///< R_WL of the links that begin there
  PerLandmark<std::optional<Vec3<>>> captured{};  ///< scaled joint centres of the capture
};

/// The shortest turn from one direction to another.
Mat3<> swing(const Vec3<>& a, const Vec3<>& b);

/// Capture to figure: scale·R·(p − origin − frame·drift).
struct Placement {
  double scale = 1;
  Mat3<> R = Mat3<>::identity();
  Vec3<> origin{};  ///< [m]
  Vec3<> drift{};   ///< [m] per frame: of a floor that moves
};

class TargetMaker {
 public:
  TargetMaker(const Capture& capture, const BonePoints& bones, const FigurePoints& figure);

  double leg_of_capture() const { return capture_leg_; }
  double leg_of_figure() const { return figure_leg_; }
  void set(const Placement& placement) { placement_ = placement; }
  /// Facing of the pelvis about z, and the middle of the hips, as captured.
  double heading(int frame);
  Vec3<> hips(int frame);

  void make(int frame, Targets& out);

 private:
  void load(int frame);
  bool has(Landmark l) const { return at(bones_, l) && at(figure_, l); }
  const FigurePoint& figure(Landmark l) const { return *at(figure_, l); }
  Vec3<> captured(Landmark l) const { return *at(now_, l); }
  /// Turn of the landmark's bone from its rest pose.
  Mat3<> turned(Landmark l) const;
  Mat3<> pelvis() const;
  void trunk(Targets& out) const;
  void limb(Landmark root, Landmark middle, Landmark end, Targets& out) const;
  void foot(Landmark knee, Landmark ankle, Landmark toe, Targets& out) const;

  const Capture& capture_;
  BonePoints bones_;
  FigurePoints figure_;
  Placement placement_{};
  double capture_leg_ = 0, figure_leg_ = 0;
  std::vector<Transform<>> rest_, poses_;
  PerLandmark<std::optional<Vec3<>>> rest_points_{}, now_{};
};

}  // namespace kansetsu::retargeting
