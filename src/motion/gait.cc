#include "kansetsu/motion/gait.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/model/configuration.h"

namespace kansetsu {
namespace {

bool is_foot(const SupportForces& s) { return s.name == "left" || s.name == "right"; }

double at_time(const std::vector<double>& times, const std::vector<double>& values, double time) {
  const auto after = std::lower_bound(times.begin(), times.end(), time);
  if (after == times.begin()) return values.front();
  if (after == times.end()) return values.back();
  const std::size_t k = std::size_t(after - times.begin());
  const double share = (time - times[k - 1]) / (times[k] - times[k - 1]);
  return values[k - 1] + share * (values[k] - values[k - 1]);
}

}  // namespace

std::vector<GaitEvent> gait_events(const Analysis& a) {
  std::vector<GaitEvent> out;
  for (std::size_t i = 0; i < a.supports.size(); ++i) {
    if (!is_foot(a.supports[i])) continue;
    const std::vector<std::uint8_t>& down = a.supports[i].down;
    for (std::size_t k = 1; k < down.size(); ++k)
      if ((down[k] != 0) != (down[k - 1] != 0))
        out.push_back({0.5 * (a.clip.times[k - 1] + a.clip.times[k]), int(i), down[k] != 0});
  }
  std::stable_sort(out.begin(), out.end(), [](const GaitEvent& x, const GaitEvent& y) { return x.time < y.time; });
  return out;
}

std::vector<Stride> strides_of(const Model& model, const Analysis& a, const std::vector<SupportHistory>& supports) {
  constexpr double kShortest = 0.3, kLongest = 3;  // [s]
  std::vector<Stride> out;
  const std::vector<GaitEvent> events = gait_events(a);
  for (int i = 0; i < int(a.supports.size()); ++i) {
    std::vector<GaitEvent> own;
    for (const GaitEvent& e : events)
      if (e.support == i) own.push_back(e);
    // Where the sole stands: its middle, half-way through the stance.
    const auto place = [&](double from, double to) {
      const auto k =
          std::lower_bound(a.clip.times.begin(), a.clip.times.end(), 0.5 * (from + to)) - a.clip.times.begin();
      const LinkPoses poses = fk(model, a.clip.q.col(std::min(k, long(a.frames()) - 1)));
      Vec3<> sum{};
      const Support& s = supports[std::size_t(i)].support;
      for (const Vec3<>& c : s.corners) sum += poses[s.link] * c;
      return (1.0 / double(s.corners.size())) * sum;
    };
    for (std::size_t e = 0; e + 2 < own.size(); ++e) {
      if (!own[e].lands) continue;
      Stride s{.support = i, .start = own[e].time, .end = own[e + 2].time, .leaves = own[e + 1].time};
      if (s.end - s.start < kShortest || s.end - s.start > kLongest) continue;
      const double next = e + 3 < own.size() ? own[e + 3].time : s.end + (s.leaves - s.start);
      const Vec3<> from = place(s.start, s.leaves), to = place(s.end, next);
      s.length = std::hypot(to.x - from.x, to.y - from.y);
      out.push_back(s);
    }
  }
  return out;
}

CycleCurve over_cycle(const std::vector<double>& times, const std::vector<double>& values,
                      const std::vector<Stride>& strides, int support) {
  constexpr int kPoints = 101;
  CycleCurve out;
  std::vector<double> sum(kPoints, 0), squares(kPoints, 0);
  for (const Stride& s : strides) {
    if (s.support != support) continue;
    ++out.strides;
    for (std::size_t k = 0; k < kPoints; ++k) {
      const double y = at_time(times, values, s.start + double(k) / (kPoints - 1) * (s.end - s.start));
      sum[k] += y, squares[k] += y * y;
    }
  }
  if (out.strides == 0) return out;
  for (std::size_t k = 0; k < kPoints; ++k) {
    const double mean = sum[k] / out.strides;
    out.mean.push_back(mean);
    out.deviation.push_back(std::sqrt(std::max(0.0, squares[k] / out.strides - mean * mean)));
  }
  return out;
}

std::vector<GaitJoint> gait_joints(const Model& model, const Analysis& a) {
  std::vector<GaitJoint> out;
  const std::map<Landmark, LinkPoint> marks = find_landmarks(model);
  Workspace work(model);
  Eigen::Matrix<double, 6, Eigen::Dynamic> axes(6, model.nv());
  joint_axes(model, neutral(model), work, axes);
  for (int i = 0; i < int(a.supports.size()); ++i) {
    if (!is_foot(a.supports[std::size_t(i)])) continue;
    const bool left = a.supports[std::size_t(i)].name == "left";
    for (const auto& [name, landmark] : {std::pair{"hip", left ? Landmark::kHipL : Landmark::kHipR},
                                         {"knee", left ? Landmark::kKneeL : Landmark::kKneeR},
                                         {"ankle", left ? Landmark::kAnkleL : Landmark::kAnkleR}}) {
      const auto found = marks.find(landmark);
      if (found == marks.end()) continue;
      int best = -1;
      double most = 0.5;
      // Up through the massless links of the joint; the ankle of two bones, talus and heel, is both of their joints.
      const bool ankle = landmark == Landmark::kAnkleL || landmark == Landmark::kAnkleR;
      int bodies = 0;
      for (std::optional<LinkId> link = model.link_id(found->second.link); link && link->value() > 0;
           link = model.parent(*link)) {
        bodies += model.link(*link).inertial.has_value();
        const bool shank = model.parent(*link) && bodies > (ankle ? 2 : 1);
        if (shank || (ankle && bodies > 1 && marks.contains(left ? Landmark::kKneeL : Landmark::kKneeR) &&
                      *link == model.link_id(marks.at(left ? Landmark::kKneeL : Landmark::kKneeR).link)))
          break;
        const CoordinateRange range = model.coordinates(JointId(link->value() - 1));
        for (int d = 0; d < range.nv; ++d)
          if (const double lateral = std::abs(axes(1, range.v + d)); lateral > most) most = lateral, best = range.v + d;
      }
      if (best >= 0) out.push_back({name, i, best});
    }
  }
  return out;
}

}  // namespace kansetsu
