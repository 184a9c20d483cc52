#include <algorithm>

#include "kansetsu/ik/solver.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::ik {
namespace {

/// On the straight line from a to b, turning at constant speed.
Transform<> between(const Transform<>& a, const Transform<>& b, double s) {
  return {to_mat3(slerp(to_quaternion(a.R), to_quaternion(b.R), s)), a.p + s * (b.p - a.p)};
}

class Follower {
 public:
  Follower(const Model& model, const FrameOn& frame, const Options& options, const PathOptions& path_options)
      : model_(model), options_(path_options), solver_(model, Problem().add(PoseTask{frame, {}}), options) {}

  /// From pose a, where q is, to pose b, in steps as short as it takes. Empty, or why it did not work.
  std::string advance(const Transform<>& a, const Transform<>& b, Eigen::VectorXd& q) {
    Eigen::VectorXd at = q;
    double done = 0, part = 1;
    while (done < 1) {
      const double next = std::min(done + part, 1.0);
      std::get<PoseTask>(solver_.problem().items.front().task).target = between(a, b, next);
      solver_.solve(at, report_);
      const double change = difference(model_, at, report_.q).lpNorm<Eigen::Infinity>();
      if (report_.solved() && change <= options_.largest_change * std::max(part, options_.finest)) {
        at = report_.q;
        done = next;
        continue;
      }
      if (report_.solved() && part <= options_.finest) {
        return "a coordinate would have to change by " + std::to_string(change) + " at once";
      }
      if (part <= options_.finest) return std::string("pose not reached: ") + to_string(report_.status);
      part /= 2;
    }
    if (difference(model_, q, at).lpNorm<Eigen::Infinity>() > options_.largest_change) {
      return "a coordinate would have to change by more than " + std::to_string(options_.largest_change) +
             " between two poses";
    }
    q = at;
    return "";
  }

 private:
  const Model& model_;
  const PathOptions& options_;
  Solver solver_;
  Report report_;
};

}  // namespace

PathReport follow(const Model& model, const FrameOn& frame, const std::vector<Transform<>>& path,
                  const VectorRef& start, const Options& options, const PathOptions& path_options) {
  PathReport report;
  if (path.empty()) {
    report.complete = true;
    return report;
  }
  Solver first(model, Problem().add(PoseTask{frame, path.front()}), options);
  const Report at = first.solve(start);
  if (!at.solved()) {
    report.reason = std::string("first pose: ") + to_string(at.status);
    return report;
  }
  Eigen::VectorXd q = at.q;
  report.q.push_back(q);
  Follower follower(model, frame, options, path_options);
  for (size_t i = 1; i < path.size() && report.reason.empty(); ++i) {
    const std::string why = follower.advance(path[i - 1], path[i], q);
    if (why.empty())
      report.q.push_back(q);
    else
      report.reason = "pose " + std::to_string(i) + ": " + why;
  }
  report.reached = int(report.q.size());
  report.complete = report.q.size() == path.size();
  return report;
}

}  // namespace kansetsu::ik
