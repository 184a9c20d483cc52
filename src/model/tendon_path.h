#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kansetsu/model/actuator.h"

/// The path of a tendon through points and round spheres and cylinders, from the poses of the bodies they are on.
namespace kansetsu {

/// A TendonPart with its bodies found; −1: the world.
struct PathPart {
  TendonPartKind kind = TendonPartKind::kPoint;
  int body = -1;
  int link = -1;  ///< of the model
  Transform<> X_BP{};
  double divisor = 1, radius = 0;
  bool has_side = false;
  int side_body = -1;
  Vec3<> side{};  ///< on its body
  TendonSide side_is = TendonSide::kPoint;
  double length = kInfinity;  ///< of a cylinder
  bool absent = false;        ///< in this posture
  int index = 0;              ///< in its path
};

/// A force at a point of a body, world axes: what a length changes by when the body moves.
struct Pull {
  int body = -1;
  Vec3<> p{}, f{}, t{};
  int link = -1;  ///< where it is known; −1 too: the world
  int part = -1;  ///< of a path
};

/// Memory is kept from call to call.
struct PathTrace {
  double length = 0;
  std::vector<Pull> pulls;
  std::vector<Vec3<>> points;  ///< for looks; NaN between two branches
};

inline constexpr double kNoDirection = 1e-15;  ///< [m] shorter lengths have none
/// The pulls at both ends of a straight line from a to b, of which a share counts. Returns its length.
double add_pulls(const PathPart& from, const Vec3<>& a, const PathPart& to, const Vec3<>& b, double share,
                 PathTrace& out);

/// Whether every branch begins and ends in a point, and goes round one thing at a time.
bool has_ends(std::span<const TendonPart> path);

/// Length and pulls of a path. X_WB holds the poses of all bodies.
void trace_path(std::span<const PathPart> path, std::span<const Transform<>> X_WB, PathTrace& out);
/// And the points that it goes through.
void trace_points(std::span<const PathPart> path, std::span<const Transform<>> X_WB, PathTrace& out);
/// So much memory as any posture needs.
void reserve_trace(std::span<const PathPart> path, PathTrace& out);

/// Slider and crank: where the slider is along z of X_WS for a rod of that length to the point crank.
double trace_slider_crank(const Transform<>& X_WS, int slider_body, const Vec3<>& crank, int crank_body, double rod,
                          std::vector<Pull>& out);

/// A thread from p to q round a circle of radius r about the origin; false: it goes straight. `inside`: on the inside of
/// the circle, where a and b are one point.
struct CircleWrap {
  double a[2], b[2];  ///< where it begins and ends to lie on the circle
  double arc = 0;     ///< length on it
};
struct CircleSide {
  double p[2]{};
  TendonSide is = TendonSide::kPoint;
};
bool wrap_circle(const double p[2], const double q[2], double r, const std::optional<CircleSide>& side,
                 CircleWrap& out);
bool wrap_inside(const double p[2], const double q[2], double r, CircleWrap& out);

}  // namespace kansetsu
