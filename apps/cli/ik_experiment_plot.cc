#include "cli/ik_experiment_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kansetsu::cli {
namespace {

constexpr double kNames = 250, kScale = 420, kRow = 42, kBar = 10, kHeading = 40;
constexpr double kLeast = 0.1, kMost = 200;  // ends of the logarithmic scale

double x_of(double rms) {
  const double part = std::log(std::max(rms, kLeast) / kLeast) / std::log(kMost / kLeast);
  return kNames + kScale * std::clamp(part, 0.0, 1.0);
}

std::string bars(std::string_view name, const std::array<double, 3>& rms, double y, const char* color) {
  std::string svg = fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kNames - 8, y + 20, name);
  for (std::size_t run = 0; run < 3; ++run) {
    const double top = y + 2 + double(run) * (kBar + 1), end = x_of(rms[run]);
    svg += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", kNames, top,
                       end - kNames, kBar, color);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"9\">{:.2f}</text>\n", end + 4, top + 8, rms[run]);
  }
  return svg;
}

}  // namespace

std::string ik_experiment_plot(const std::vector<ExperimentRow>& rows) {
  const double height = kHeading + kRow * double(rows.size() + 2) + 30;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"740\" height=\"{0}\" viewBox=\"0 0 740 {0}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"740\" height=\"{0}\" fill=\"white\"/>\n"
      "<text x=\"10\" y=\"20\" font-size=\"14\">Steps beyond the ideal (RMS of 100 trials; runs A, B, C), as [Tmps] "
      "counts</text>\n",
      height);
  for (const double tick : {0.1, 1.0, 10.0, 100.0}) {
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ccc\"/>\n", x_of(tick),
                       kHeading, height - 25);
    svg +=
        fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", x_of(tick), height - 8, tick);
  }
  double y = kHeading;
  svg += bars("log quaternion, printed in [Tmps]", kPrintedLogQuaternion, y, "#999");
  svg += bars("Euler, printed in [Tmps]", kPrintedEuler, y += kRow, "#999");
  for (const ExperimentRow& row : rows)
    svg += bars(row.name, row.rms, y += kRow, row.kept == Kept::kDouble ? "#4c72b0" : "#c44e52");
  return svg + "</svg>\n";
}

}  // namespace kansetsu::cli
