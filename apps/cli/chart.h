#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kansetsu/spatial/vec3.h"

/// Charts as SVG for light and dark pages: colours are the classes of chart_style().
namespace kansetsu::cli {

struct Box2 {
  double x = 0, y = 0, width = 0, height = 0;
};

/// A line over time; gaps where there is no value.
struct Series {
  std::string name{};
  std::vector<std::optional<double>> y{};
  int colour = 0;  ///< 0 … 5; −1: ink
  bool thin = false, dashed = false;
};
/// A shaded interval of time.
struct Band {
  double start = 0, end = 0;
  int shade = 0;  ///< 0: none, 1 and 2: lightly tinted, 3: strongest
};
struct TimeChart {
  std::string title{}, unit{};
  std::vector<double> times{};
  std::vector<Series> series{};
  std::vector<Band> bands{};
  std::string x_label = "time [s]";
  double least = 0;  ///< minimum range of the axis, so that rounding errors are not magnified
};
std::string draw(const TimeChart& chart, const Box2& box);

/// The ground seen from above, x to the right, y up, both to the same scale.
struct PlanChart {
  struct Path {
    std::string name{};
    std::vector<std::optional<Vec3<>>> points{};
    int colour = 0;
    bool thin = false;
  };
  struct Outline {
    std::vector<Vec3<>> corners{};
    int colour = 0;
  };
  std::string title{};
  std::vector<Path> paths{};
  std::vector<Outline> outlines{};
};
std::string draw(const PlanChart& chart, const Box2& box);

/// A complete SVG around charts that have been drawn.
std::string picture(double width, double height, const std::string& title, const std::string& subtitle,
                    const std::string& content);

/// The colours of charts, once for a page with several.
std::string chart_style();

/// Text with the special characters of XML escaped.
std::string escaped(std::string_view text);

}  // namespace kansetsu::cli
