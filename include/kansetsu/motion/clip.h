#pragma once

#include "kansetsu/model/clip.h"
#include "kansetsu/model/configuration.h"

/// Clips as motions in time. Each function throws Error where clip_problem() finds one. docs/guide/motion.md.
namespace kansetsu {

/// The configuration at a time, between frames along the shortest way; before the first and after the last frame it stays.
Eigen::VectorXd sample(const Model& model, const Clip& clip, double time);

/// The same motion at even times, from the first frame on. The last frame is left out if it is not on the new raster.
/// @param rate  [Hz]
Clip resample(const Model& model, const Clip& clip, double rate);
/// What happens from one time to another, both sampled; frames between them as they are. Times begin at zero.
Clip cut(const Model& model, const Clip& clip, double from, double to);

/// Velocity and acceleration along the clip: three-point differences in the tangent space of each frame, of second order also
/// at the ends, where the acceleration is that of the neighbour. At least three frames.
struct ClipDerivatives {
  Eigen::MatrixXd v, vdot;  ///< nv × frames
};
ClipDerivatives derivatives(const Model& model, const Clip& clip);

/// Butterworth low pass of second order, run forwards and backwards: no delay. `cutoff` is where the two passes together have
/// −3 dB; each alone is designed for cutoff/0.802 [Winter]. Acts on the stored numbers, quaternions are normalised
/// again; the ends are continued by point reflection. Frames must be evenly spaced, and the cut-off below 0.4 of the rate.
/// @param cutoff  [Hz]
Clip low_pass(const Model& model, const Clip& clip, double cutoff);

/// Left and right exchanged: the motion as seen in a mirror in the plane y = 0. Joints are paired by their names (hipL_x and
/// hipR_x, left_knee and right_knee); those without a side are their own image. Revolute, prismatic, ball and free joints.
Clip mirror(const Model& model, const Clip& clip);

struct BlendOptions {
  double time = 0.3;        ///< [s] over which the first clip turns into the second
  bool move_second = true;  ///< ground position and heading of the second go on from the first (free base)
};
/// The first clip, then the second: the last `time` of the first is blended into the beginning of the second. Sampled at the
/// first clip's mean rate.
Clip blend(const Model& model, const Clip& first, const Clip& second, const BlendOptions& options = {});

}  // namespace kansetsu
