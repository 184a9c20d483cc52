#include "cli/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kansetsu::cli {
namespace {

constexpr double kLeft = 64, kTop = 26, kBottom = 22, kLegend = 130;
constexpr int kMostPoints = 900;  ///< of a line: more than there are pixels
constexpr int kMostTicks = 100;   ///< usually at most twelve; guards ranges that a double cannot divide

// The colour-blind safe palette of Okabe and Ito, slightly darker on white and lighter on black.
constexpr const char* kStyle = R"(<style>
text { font-family: sans-serif; font-size: 11px; fill: #24292f }
.head { font-size: 14px; font-weight: 600 } .sub { fill: #57606a } .title { font-size: 12px; font-weight: 600 }
.back { fill: #ffffff } .grid { stroke: #d0d7de; stroke-width: 1 } .axis { stroke: #57606a; stroke-width: 1; fill: none }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round } .thin { stroke-width: 1 } .dash { stroke-dasharray: 5 4 }
.ink { stroke: #57606a }
.c0 { stroke: #0072b2 } .c1 { stroke: #d55e00 } .c2 { stroke: #009e73 } .c3 { stroke: #b5478c } .c4 { stroke: #997700 } .c5 { stroke: #56718f }
.f0 { fill: #0072b2; fill-opacity: .10 } .f1 { fill: #d55e00; fill-opacity: .10 }
.s1 { fill: #0072b2; fill-opacity: .08 } .s2 { fill: #d55e00; fill-opacity: .08 } .s3 { fill: #57606a; fill-opacity: .20 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .sub { fill: #9aa5b1 } .back { fill: #0d1117 } .grid { stroke: #30363d } .axis { stroke: #9aa5b1 } .ink { stroke: #9aa5b1 }
.c0 { stroke: #56b4e9 } .c1 { stroke: #f0883e } .c2 { stroke: #2ec4a0 } .c3 { stroke: #e08ac0 } .c4 { stroke: #e0c34a } .c5 { stroke: #a9bdd2 }
.f0 { fill: #56b4e9; fill-opacity: .16 } .f1 { fill: #f0883e; fill-opacity: .16 }
.s1 { fill: #56b4e9; fill-opacity: .12 } .s2 { fill: #f0883e; fill-opacity: .12 } .s3 { fill: #9aa5b1; fill-opacity: .28 }
}
</style>
)";

/// A round number of steps: 1, 2 or 5 times a power of ten.
double nice_step(double range, int wanted) {
  const double raw = std::max(range, 1e-12) / wanted, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (m * power >= raw * 0.999) return m * power;
  }
  return 10 * power;
}

/// An axis from a to b on the picture for values from low to high.
struct Axis {
  double low, high, a, b, step;

  static Axis around(double low, double high, double a, double b, int ticks) {
    if (!(high > low)) low -= 0.5, high += 0.5;
    const double step = nice_step(high - low, ticks);
    return {std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, a, b, step};
  }
  double at(double value) const { return a + (b - a) * (value - low) / (high - low); }
  std::vector<double> ticks() const {
    std::vector<double> values;
    const double first = std::ceil(low / step - 1e-9);
    for (int k = 0; k < kMostTicks; ++k) {
      const double t = (first + k) * step;
      if (!(t <= high + 1e-9 * step)) break;
      values.push_back(std::abs(t) < 1e-9 * step ? 0 : t);
    }
    return values;
  }
};

std::string text(double x, double y, std::string_view words, const char* attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(words));
}

std::string stroke(int colour, bool thin, bool dashed) {
  return fmt::format("line {}{}{}", colour < 0 ? "ink" : fmt::format("c{}", colour), thin ? " thin" : "",
                     dashed ? " dash" : "");
}

/// A path through the points, with gaps.
template <class X, class Y, class Has>
std::string path(std::size_t count, X&& x, Y&& y, Has&& has, const std::string& classes) {
  const std::size_t stride = std::max<std::size_t>(1, count / kMostPoints);
  std::string d;
  bool down = false;
  for (std::size_t k = 0; k < count; k += stride) {
    if (!has(k)) {
      down = false;
      continue;
    }
    d += fmt::format("{}{:.1f} {:.1f}", down ? "L" : "M", x(k), y(k));
    down = true;
  }
  return d.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>\n", classes, d);
}

std::string legend(double x, double y, const std::string& name, const std::string& classes) {
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}h18\"/>\n", classes, x, y) + text(x + 24, y + 4, name);
}

}  // namespace

std::string chart_style() { return kStyle; }

std::string escaped(std::string_view words) {
  std::string out;
  for (const char c : words) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string draw(const TimeChart& chart, const Box2& box) {
  const double left = box.x + kLeft, right = box.x + box.width - kLegend, top = box.y + kTop,
               bottom = box.y + box.height - kBottom;
  double low = 0, high = chart.least;
  for (const Series& s : chart.series) {
    for (const std::optional<double>& y : s.y) {
      if (y) low = std::min(low, *y), high = std::max(high, *y);
    }
  }
  const Axis y = Axis::around(low, high, bottom, top, 5);
  Axis x{chart.times.front(), chart.times.back(), left, right, 1};
  x.step = nice_step(x.high - x.low, 10);
  std::string svg = text(left, box.y + 16, chart.title, "class=\"title\"");
  for (const Band& band : chart.bands) {
    if (band.shade == 0) continue;
    svg += fmt::format("<rect class=\"s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                       band.shade, x.at(band.start), top, x.at(band.end) - x.at(band.start), bottom - top);
  }
  for (const double t : y.ticks()) {
    svg += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", t == 0 ? "axis" : "grid", left, y.at(t),
                       right);
    svg += text(left - 6, y.at(t) + 4, fmt::format("{:g}", t), "text-anchor=\"end\"");
  }
  for (const double t : x.ticks()) {
    svg += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}v4\"/>\n", x.at(t), bottom);
    svg += text(x.at(t), bottom + 16, fmt::format("{:g}", t), "text-anchor=\"middle\"");
  }
  svg += text(box.x + 4, top - 8, chart.unit, "class=\"sub\"");
  svg += text(right + 8, bottom + 16, chart.x_label, "class=\"sub\"");
  double line = top + 8;
  for (const Series& s : chart.series) {
    svg += path(
        s.y.size(), [&](std::size_t k) { return x.at(chart.times[k]); }, [&](std::size_t k) { return y.at(*s.y[k]); },
        [&](std::size_t k) { return s.y[k].has_value(); }, stroke(s.colour, s.thin, s.dashed));
    svg += legend(right + 12, line, s.name, stroke(s.colour, s.thin, s.dashed));
    line += 17;
  }
  return svg;
}

std::string draw(const PlanChart& chart, const Box2& box) {
  const double left = box.x + kLeft, right = box.x + box.width - kLegend, top = box.y + kTop,
               bottom = box.y + box.height - kBottom;
  double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
  const auto take = [&](const Vec3<>& p) {
    low_x = std::min(low_x, p.x), high_x = std::max(high_x, p.x);
    low_y = std::min(low_y, p.y), high_y = std::max(high_y, p.y);
  };
  for (const PlanChart::Path& p : chart.paths) {
    for (const std::optional<Vec3<>>& point : p.points) {
      if (point) take(*point);
    }
  }
  for (const PlanChart::Outline& o : chart.outlines) std::for_each(o.corners.begin(), o.corners.end(), take);
  if (!(low_x <= high_x)) low_x = low_y = -0.5, high_x = high_y = 0.5;
  // The same scale for both axes, centred.
  const double scale =
      std::max({(high_x - low_x) * 1.06 / (right - left), (high_y - low_y) * 1.06 / (bottom - top), 1e-4});
  const double half_x = scale * (right - left) / 2, half_y = scale * (bottom - top) / 2;
  Axis x{(low_x + high_x) / 2 - half_x, (low_x + high_x) / 2 + half_x, left, right, 1};
  Axis y{(low_y + high_y) / 2 - half_y, (low_y + high_y) / 2 + half_y, bottom, top, 1};
  x.step = nice_step(2 * half_x, 10), y.step = std::min(x.step, nice_step(2 * half_y, 5));
  std::string svg = text(left, box.y + 16, chart.title, "class=\"title\"");
  svg += text(box.x + 4, top - 8, "y [m]", "class=\"sub\"") + text(right + 8, bottom + 16, "x [m]", "class=\"sub\"");
  for (const double t : y.ticks()) {
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", left, y.at(t), right);
    svg += text(left - 6, y.at(t) + 4, fmt::format("{:g}", t), "text-anchor=\"end\"");
  }
  for (const double t : x.ticks()) {
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x.at(t), top, bottom);
    svg += text(x.at(t), bottom + 16, fmt::format("{:g}", t), "text-anchor=\"middle\"");
  }
  for (const PlanChart::Outline& o : chart.outlines) {
    std::string points;
    for (const Vec3<>& c : o.corners) points += fmt::format("{:.1f},{:.1f} ", x.at(c.x), y.at(c.y));
    svg += fmt::format("<polygon class=\"f{0} c{0} thin\" points=\"{1}\"/>\n", o.colour, points);
  }
  double line = top + 8;
  for (const PlanChart::Path& p : chart.paths) {
    svg += path(
        p.points.size(), [&](std::size_t k) { return x.at(p.points[k]->x); },
        [&](std::size_t k) { return y.at(p.points[k]->y); }, [&](std::size_t k) { return p.points[k].has_value(); },
        stroke(p.colour, p.thin, false));
    svg += legend(right + 12, line, p.name, stroke(p.colour, p.thin, false));
    line += 17;
  }
  return svg;
}

std::string picture(double width, double height, const std::string& title, const std::string& subtitle,
                    const std::string& content) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} "
             "{1:g}\">\n",
             width, height) +
         kStyle + fmt::format("<rect class=\"back\" width=\"{:g}\" height=\"{:g}\"/>\n", width, height) +
         text(16, 24, title, "class=\"head\"") + text(16, 42, subtitle, "class=\"sub\"") + content + "</svg>\n";
}

}  // namespace kansetsu::cli
