#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/model/clip.h"
#include "kansetsu/model/coordinate_map.h"
#include "kansetsu/model/measured.h"

/// The motion of a model whose markers are nearest to those that were seen, and the sizes of its segments.
///
///     MarkerFigure figure{mapped.model(), mapped.map()};
///     place_markers(figure, seen.names);
///     const ScaledFigure fitted = fit_figure(figure, seen);
///     const MarkerMotion motion = fit_motion(fitted.figure, seen);
///
/// Method: docs/theory/markers.md; the command: docs/guide/people.md.
namespace kansetsu {

struct ModelMarker {
  std::string name{};
  LinkId link{0};
  Vec3<> p_L{};
  double weight = 1;
};

/// A model with markers. Coordinates are those of the map, where there is one, else the model's own.
struct MarkerFigure {
  Model model;
  std::optional<CoordinateMap> map{};
  std::vector<ModelMarker> markers{};
};
/// Frames of the model that bear the names of markers that were seen become markers. @return  names that the model does not have
std::vector<std::string> place_markers(MarkerFigure& figure, const std::vector<std::string>& seen);

/// Markers in world axes (z up). What moves faster than `fastest` [m/s] from a frame to the next and back is taken out.
struct CleanMarkers {
  Markers markers{};
  struct Jump {
    int marker = 0, first = 0, last = 0;  ///< frames that were taken out
  };
  std::vector<Jump> jumps{};
};
CleanMarkers clean_markers(const Markers& seen, const Mat3<>& axes, double fastest = 20);

/// Markers whose left and right were mistaken, by their names: with them exchanged, distances of a few frames are much smaller.
struct ExchangedSides {
  std::vector<std::string> markers{};
  double rms = 0, rms_exchanged = 0;  ///< distance as they are, and exchanged, before sizes are fitted [m]
};
/// All markers of the figure must have been seen. Nothing where sides fit best as they are.
std::optional<ExchangedSides> find_exchanged_sides(const MarkerFigure& figure, const Markers& seen);

struct MarkerError {
  std::string name{};
  double rms = 0, largest = 0;      ///< [m]
  int worst_frame = 0, frames = 0;  ///< frames in which it was seen
};

struct MarkerMotion {
  Clip clip{};                         ///< configurations of the model
  TimeTable coordinates{};             ///< of the map; empty without one
  std::vector<MarkerError> markers{};  ///< those of the figure
  double rms = 0;                      ///< over all markers and frames [m]
  std::vector<double> frame_rms{};
};
/// Least squares of the distances, frame by frame, each from the one before. Throws Error if fewer than three markers of the figure were
/// seen, in which frames none was, or if coordinates of the model are geared to each other.
/// @param threads  0: as many as there are processors; results are the same bits with any number
MarkerMotion fit_motion(const MarkerFigure& figure, const Markers& seen, int threads = 0);

struct FitOptions {
  int frames = 40;       ///< that are used
  double offset = 0.02;  ///< [m] that a marker is off from where the model has it: standard deviation
  double scale = 0.1;    ///< that a segment's size differs from the body's: standard deviation
  bool move_markers = true;
};
struct SegmentScale {
  std::string link{};
  double scale = 1;
};
struct ScaledFigure {
  MarkerFigure figure;
  std::vector<SegmentScale> scales{};  ///< of links with mass; left and right are alike
  std::vector<Vec3<>> moved{};         ///< of markers, on their links [m], after scaling
  double rms = 0;                      ///< over the frames used [m]
};
/// Sizes of segments and places of markers, fitted together with the postures of a few frames. Masses keep their shares.
/// @param mass  [kg] of the body; 0: the model's
ScaledFigure fit_figure(const MarkerFigure& figure, const Markers& seen, double mass = 0,
                        const FitOptions& options = {});

}  // namespace kansetsu
