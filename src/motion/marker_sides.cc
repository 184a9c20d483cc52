#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "kansetsu/motion/marker_fit.h"
#include "motion/marker_solver.h"

/// Markers whose left and right were mistaken.
namespace kansetsu {
namespace {

/// Squares of distances fall below this part with the sides exchanged: a limb that crosses the other one still fits better as it is.
constexpr double kExchanged = 0.5;
constexpr int kFrames = 3;  ///< that are looked at
constexpr int kIterations = 50;

/// "R.Heel" of "L.Heel", "RHEE" of "LHEE", "heel_r" of "heel_l", "RightHeel" of "LeftHeel", and the other way round; empty: no side.
std::string other_side(const std::string& name) {
  struct Pair {
    const char *left, *right;
  };
  const auto exchanged = [&](std::size_t at, std::size_t size, const char* by) {
    return name.substr(0, at) + by + name.substr(at + size);
  };
  for (const auto& [left, right] : {Pair{"Left", "Right"}, {"left", "right"}, {"LEFT", "RIGHT"}}) {
    if (const std::size_t at = name.find(left); at != std::string::npos) return exchanged(at, 4, right);
    if (const std::size_t at = name.find(right); at != std::string::npos) return exchanged(at, 5, left);
  }
  const auto is = [&](std::size_t at, int (*kind)(int)) {
    return at < name.size() && kind(static_cast<unsigned char>(name[at])) != 0;
  };
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::size_t side = std::string_view("LRlr").find(name[i]);
    if (side == std::string_view::npos || (i > 0 && is(i - 1, std::isalnum))) continue;
    const bool alone = !is(i + 1, std::isalnum), joined = side < 2 && is(i + 1, std::isupper);
    if (alone || joined) return exchanged(i, 1, std::array{"R", "L", "r", "l"}[side]);
  }
  return {};
}

bool is_below(const Model& model, LinkId link, LinkId above) {
  for (std::optional<LinkId> up = link; up; up = model.parent(*up))
    if (*up == above) return true;
  return false;
}

class SideFinder {
 public:
  SideFinder(const MarkerFigure& figure, const Markers& seen) : figure_(figure), solver_(figure) {
    for (const ModelMarker& m : figure.markers) {
      const std::string other = other_side(m.name);
      const auto found = std::find_if(figure.markers.begin(), figure.markers.end(),
                                      [&](const ModelMarker& o) { return !other.empty() && o.name == other; });
      partner_.push_back(found == figure.markers.end() ? -1 : int(found - figure.markers.begin()));
    }
    pick_frames(seen);
  }

  std::optional<ExchangedSides> run() {
    if (frames_.empty() || std::all_of(partner_.begin(), partner_.end(), [](int p) { return p < 0; })) return {};
    std::vector<Eigen::VectorXd> postures;
    double cost = 0;
    for (const auto& points : frames_) {
      postures.push_back(solver_.begin(points));
      cost += solver_.solve(points, postures.back(), kIterations);
    }
    double least = kExchanged * cost;
    std::vector<bool> best;
    for (const std::vector<bool>& group : groups()) {
      double sum = 0;
      for (std::size_t f = 0; f < frames_.size() && sum < least; ++f) {
        std::vector<Vec3<>> points = frames_[f];
        for (std::size_t i = 0; i < points.size(); ++i)
          if (group[i]) points[i] = frames_[f][std::size_t(partner_[i])];
        Eigen::VectorXd x = postures[f];
        const double from_there = solver_.solve(points, x, kIterations);
        x = solver_.begin(points);
        sum += std::min(from_there, solver_.solve(points, x, kIterations));
      }
      if (sum < least) least = sum, best = group;
    }
    if (best.empty()) return {};
    ExchangedSides out;
    double count = 0;
    for (const auto& points : frames_) count += double(std::count_if(points.begin(), points.end(), Markers::seen));
    out.rms = std::sqrt(2 * cost / count), out.rms_exchanged = std::sqrt(2 * least / count);
    for (std::size_t i = 0; i < best.size(); ++i)
      if (best[i]) out.markers.push_back(figure_.markers[i].name);
    return out;
  }

 private:
  /// Evenly spread ones that have all markers, or as many as there are together.
  void pick_frames(const Markers& seen) {
    std::vector<std::vector<Vec3<>>> all;
    std::size_t most = 3;
    for (int k = 0; k < seen.frames(); ++k) {
      std::vector<Vec3<>> points;
      for (const ModelMarker& m : figure_.markers) points.push_back(seen.point(k, *seen.find(m.name)));
      const std::size_t count = std::size_t(std::count_if(points.begin(), points.end(), Markers::seen));
      if (count > most) all.clear(), most = count;
      if (count == most) all.push_back(std::move(points));
    }
    for (int f = 0; f < kFrames && !all.empty(); ++f)
      frames_.push_back(all[std::size_t(2 * f + 1) * all.size() / (2 * kFrames)]);
  }

  /// Markers that may have been mistaken together: all, those of the trunk, and for each pair of links those on them and below.
  std::vector<std::vector<bool>> groups() const {
    std::vector<std::vector<bool>> out;
    const std::size_t n = partner_.size();
    const auto link = [&](std::size_t i) { return figure_.markers[i].link; };
    const auto add = [&](const auto& takes) {
      std::vector<bool> group(n, false);
      for (std::size_t i = 0; i < n; ++i)
        group[i] = partner_[i] >= 0 && (takes(link(i)) || takes(link(std::size_t(partner_[i]))));
      if (std::find(group.begin(), group.end(), true) != group.end() &&
          std::find(out.begin(), out.end(), group) == out.end())
        out.push_back(std::move(group));
    };
    add([](LinkId) { return true; });
    for (std::size_t i = 0; i < n; ++i)
      if (partner_[i] >= 0 && link(i) != link(std::size_t(partner_[i])))
        add([&](LinkId l) { return is_below(figure_.model, l, link(i)); });
    return out;
  }

  const MarkerFigure& figure_;
  MarkerSolver solver_;
  std::vector<int> partner_;  ///< of the other side; −1: none
  std::vector<std::vector<Vec3<>>> frames_;
};

}  // namespace

std::optional<ExchangedSides> find_exchanged_sides(const MarkerFigure& figure, const Markers& seen) {
  if (figure.markers.size() < 3) return {};
  return SideFinder(figure, seen).run();
}

}  // namespace kansetsu
