#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"

/// Height fields: numbers within the file, rows from the highest y down, stretched to the heights 0 … elevation of `size`. Those
/// without numbers are flat until a program fills them.
namespace kansetsu::io::mjcf {
namespace {

/// Of all height fields, and of all geoms that have one: a few words ask for any number of them.
constexpr int kMostSamples = 10'000'000;

/// Whether so many more are within bounds; told if not.
bool take_samples(Reader& reader, const Element& element, std::size_t count) {
  if (count > std::size_t(kMostSamples) - reader.hfield_samples) {
    reader.report.error(element, kTooLargeModel,
                        fmt::format("height fields of more than {} samples together", kMostSamples),
                        "make them coarser, or use them less often");
    return false;
  }
  reader.hfield_samples += count;
  return true;
}

/// From lowest to highest as 0 … height; what is flat is at 0.
void stretch(std::vector<double>& values, double height) {
  const auto [low, high] = std::ranges::minmax(values);
  const double scale = high > low ? height / (high - low) : 0;
  for (double& x : values) x = scale * (x - low);
}

}  // namespace

void read_hfield_asset(Reader& reader, const Element& element) {
  const Attributes a(reader, element, nullptr);
  const std::string file = a.text("file").value_or("");
  const std::string name = take_name(reader, element, "hfield", std::filesystem::path(file).stem().string());
  std::optional<HeightField>& field = reader.hfields[name];
  if (!file.empty()) {
    reader.report.missing(element, kUnsupportedElement, "height fields from files are left out",
                          "write the numbers as elevation=\"…\", with nrow and ncol");
    return;
  }
  int rows = 0, columns = 0;
  std::array<double, 4> size{};
  a.integer("nrow", rows);
  a.integer("ncol", columns);
  if (rows < 2 || columns < 2 || rows > kMostSamples / columns) {
    return reader.report.error(element, kRange, fmt::format("a height field of {} × {} samples", rows, columns),
                               "give nrow and ncol, two at least");
  }
  if (a.numbers("size", size, 4) != 4 || !(std::ranges::min(size) > 0)) {
    return reader.report.error(element, kRange, "size of a height field must be four numbers above 0",
                               "half of its edges along x and y, the largest height, the thickness of the base [m]");
  }
  if (!take_samples(reader, element, std::size_t(rows) * std::size_t(columns))) return;
  std::vector<double> values(std::size_t(rows) * std::size_t(columns));
  if (const char* text = element.Attribute("elevation")) {
    if (const auto problem = parse_numbers(text, values))
      return reader.report.error(element, kNumber, fmt::format("elevation: {}", *problem),
                                 fmt::format("the height field needs {} numbers", values.size()));
  }
  stretch(values, size[2]);
  HeightField out{columns, rows, 2 * size[0], 2 * size[1], std::vector<double>(values.size())};
  for (int row = 0; row < rows; ++row) {
    std::copy_n(values.begin() + row * columns, columns, out.heights.begin() + (rows - 1 - row) * columns);
  }
  field = std::move(out);
}

std::optional<Shape> hfield_shape(Reader& reader, const Attributes& a) {
  const std::string name = a.text("hfield").value_or("");
  const auto found = reader.hfields.find(name);
  if (found != reader.hfields.end()) {
    const std::optional<HeightField>& field = found->second;
    if (!field || !take_samples(reader, a.element(), field->heights.size())) return std::nullopt;
    return *field;
  }
  unknown(reader, a.element(), "hfield", name);
  return std::nullopt;
}

}  // namespace kansetsu::io::mjcf
