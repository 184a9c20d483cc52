#include "motion/stance.h"

#include <fmt/ranges.h>

#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/model/configuration.h"

namespace kansetsu {
namespace {

/// Knees bend so much that the pelvis sinks by this part of its height: straight legs are singular.
constexpr double kSink = 0.025;

/// A little from straight towards the middle of every range, so that knees know which way to bend.
Eigen::VectorXd relaxed(const Model& model) {
  Eigen::VectorXd q = neutral(model);
  for (int k = 0; k < model.nq(); ++k) {
    const double lower = model.lower_position()[k], upper = model.upper_position()[k];
    if (std::isfinite(lower) && std::isfinite(upper)) q[k] += 0.15 * ((lower + upper) / 2 - q[k]);
  }
  return q;
}

}  // namespace

std::vector<ik::FrameOn> frames_named(const Model& model, const char* function,
                                      std::initializer_list<const char*> names) {
  std::vector<ik::FrameOn> frames;
  for (const char* name : names) {
    if (!model.find_frame(name)) {
      throw Error(fmt::format("{}: '{}' has no frame '{}'; it needs a figure with frames {}", function, model.name(),
                              name, fmt::join(names, ", ")));
    }
    frames.push_back(ik::frame_on(model, name));
  }
  return frames;
}

std::vector<Vec3<>> patch_corners(const Model& model, const ik::FrameOn& frame) {
  const Transform<> X_FL = inverse(frame.X_LF);
  std::vector<Vec3<>> all;
  double lowest = kInfinity;
  for (const LinkShape& shape : model.link(frame.link).collisions) {
    const Box* box = std::get_if<Box>(&shape.shape);
    if (!box) continue;
    const Transform<> X_FS = X_FL * to_transform(shape.origin);
    for (int k = 0; k < 8; ++k) {
      const Vec3<> half{(k & 1 ? 0.5 : -0.5) * box->size.x, (k & 2 ? 0.5 : -0.5) * box->size.y,
                        (k & 4 ? 0.5 : -0.5) * box->size.z};
      all.push_back(X_FS * half);
      lowest = std::min(lowest, all.back().z);
    }
  }
  // What is within a millimetre of the lowest point is the side that stands.
  std::erase_if(all, [&](const Vec3<>& p) { return p.z > lowest + 1e-3; });
  if (all.empty()) all.push_back({});
  return all;
}

Stance::Stance(const Model& model, const char* function)
    : q(relaxed(model)), poses(model), soles(frames_named(model, function, {"soleL", "soleR"})) {
  if (model.base() != Base::kFree)
    throw Error(fmt::format("{}: '{}' has a fixed base and cannot stand", function, model.name()));
  poses = fk(model, neutral(model));
  const double depth = pose(soles[0]).p.z;  // of the soles below the base, legs straight
  ik::Problem problem;
  int corners = 0;
  for (const ik::FrameOn& sole : soles) {
    Transform<> place = pose(sole);
    place.p.z = 0;
    problem.add(ik::PoseTask{sole, place});
    for (const Vec3<>& corner : patch_corners(model, sole)) {
      middle += place * corner;
      ++corners;
    }
  }
  middle = (1.0 / corners) * middle;
  middle.z = 0;
  problem.add(ik::PositionTask{{LinkId(0), {}}, {0, 0, -depth * (1 - kSink)}, {0, 0, 1}});
  problem.add(ik::ComTask{middle, {1, 1, 0}});
  problem.add(ik::PostureTask{q}, {.level = 1});
  q[2] = -depth;
  ik::Solver solver(model, problem, {.iterations = 500});
  const ik::Report report = solver.solve(q);
  if (!report.solved()) {
    throw Error(fmt::format("{}: '{}' cannot stand on its soles ({}, {:.3g} m)", function, model.name(),
                            ik::to_string(report.status), report.distance));
  }
  q = report.q;
  poses = fk(model, q);
}

}  // namespace kansetsu
