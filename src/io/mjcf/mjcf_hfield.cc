#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "io/bytes.h"
#include "io/mjcf/mjcf_reader.h"
#include "io/png.h"
#include "io/text.h"

/// Height fields: inline data, PNG or binary files, scaled to heights 0 … elevation of `size`. Height fields without data are flat.
namespace kansetsu::io::mjcf {
namespace {

namespace fs = std::filesystem;

/// Limit for all height fields and all geoms that use one.
constexpr int kMostSamples = 10'000'000;

/// Whether so many more samples are within the limit; an error if not.
bool take_samples(Reader& reader, const Element& element, std::size_t count) {
  if (count > std::size_t(kMostSamples) - reader.hfield_samples)
    return reader.report.fail(element, kTooLargeModel,
                              fmt::format("height fields of more than {} samples together", kMostSamples),
                              "make them coarser, or use them less often");
  reader.hfield_samples += count;
  return true;
}

/// Scales lowest … highest to 0 … height; flat data to 0.
void stretch(std::vector<double>& values, double height) {
  const auto [low, high] = std::ranges::minmax(values);
  const double scale = high > low ? height / (high - low) : 0;
  for (double& x : values) x = scale * (x - low);
}

/// Samples of a height field, rows from the highest y down.
struct Samples {
  int rows = 0, columns = 0;
  std::vector<double> value{};
};

/// MuJoCo's binary format: rows and columns as 32-bit integers, then floats, rows with ascending y.
std::optional<Samples> parse_samples(std::string_view bytes, const char*& problem) {
  problem = "it is neither a PNG file nor a complete height field file of MuJoCo";
  if (bytes.size() < 8) return std::nullopt;
  const auto rows = number_at<std::int32_t>(bytes, 0), columns = number_at<std::int32_t>(bytes, 4);
  if (rows < 1 || columns < 1 || rows > kMostSamples / columns) return std::nullopt;
  const std::size_t count = std::size_t(rows) * std::size_t(columns);
  if (bytes.size() != 8 + 4 * count) return std::nullopt;
  Samples out{rows, columns, std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const float x = number_at<float>(bytes, 8 + 4 * i);
    if (!std::isfinite(x)) return problem = "it contains numbers that are not finite", std::nullopt;
    const std::size_t row = std::size_t(rows) - 1 - i / std::size_t(columns);
    out.value[row * std::size_t(columns) + i % std::size_t(columns)] = double(x);
  }
  problem = nullptr;
  return out;
}

/// Reads a file; none, and a diagnostic, if it cannot be used.
std::optional<Samples> load_samples(Reader& reader, const Element& element, const std::string& file) {
  const Compiler& compiler = reader.compiler_of(element);
  const fs::path name = compiler.strip_path ? fs::path(file).filename() : fs::path(file);
  const fs::path path = folder_of_asset(reader, element, compiler.mesh_folder, name.string()) / name;
  std::error_code ignored;
  const char* problem = "there is no such file";
  std::string hint = "check the name and the folder";
  if (fs::is_regular_file(path, ignored)) {
    if (reader.gate.allows(path)) {
      if (!reader.take_asset(element, path)) return std::nullopt;
      const FileText read = read_file(path);
      const bool picture = read.text.starts_with("\x89PNG");
      std::optional<Samples> out;
      if (read.problem) {
        problem = "it cannot be read";
      } else if (picture) {
        // Damaged pictures count against the limit as well: a few bytes can request many pixels.
        const std::size_t left = std::size_t(kMostSamples) - reader.hfield_samples;
        if (auto grey = parse_png(read.text, left, problem))
          out = Samples{grey->height, grey->width, {grey->value.begin(), grey->value.end()}};
        else
          reader.hfield_samples += std::min(left, png_pixels(read.text));
      } else {
        out = parse_samples(read.text, problem);
      }
      if (out) return out;
      hint = "write the numbers as elevation=\"…\", with nrow and ncol";
    } else {
      problem = "it is outside of the model's package";
      hint = reader.gate.hint(path);
    }
  }
  reader.report.missing(element, kUnsupportedElement,
                        fmt::format("the height field {} is ignored: {}", quote(file), problem), hint);
  return std::nullopt;
}

/// Inline samples; flat if there are none.
std::optional<Samples> read_samples(Reader& reader, const Element& element, const Attributes& a) {
  Samples out;
  a.integer("nrow", out.rows);
  a.integer("ncol", out.columns);
  if (out.rows < 2 || out.columns < 2 || out.rows > kMostSamples / out.columns)
    return reader.report.refuse(element, kRange,
                                fmt::format("a height field of {} × {} samples", out.rows, out.columns),
                                "give nrow and ncol, at least two each");
  if (!take_samples(reader, element, std::size_t(out.rows) * std::size_t(out.columns))) return std::nullopt;
  out.value.resize(std::size_t(out.rows) * std::size_t(out.columns));
  const char* text = element.Attribute("elevation");
  const auto problem = is_blank(text) ? std::nullopt : parse_numbers(text, out.value);
  if (!problem) return out;
  return reader.report.refuse(element, kNumber, fmt::format("elevation: {}", *problem),
                              fmt::format("the height field needs {} numbers", out.value.size()));
}

}  // namespace

void read_hfield_asset(Reader& reader, const Element& element) {
  const Attributes a(reader, element, nullptr);
  const std::string file = a.text("file").value_or("");
  const std::string name = take_name(reader, element, "hfield", fs::path(file).stem().string());
  std::optional<HeightField>& field = reader.hfields[name];
  std::array<double, 4> size{};
  if (a.numbers("size", size, 4) != 4 || !(std::ranges::min(size) > 0)) {
    return reader.report.error(element, kRange, "size of a height field must be four numbers above 0",
                               "half of its edges along x and y, the largest height, the thickness of the base [m]");
  }
  auto samples = file.empty() ? read_samples(reader, element, a) : load_samples(reader, element, file);
  if (!samples) return;
  if (samples->rows < 2 || samples->columns < 2)
    return reader.report.error(element, kRange,
                               fmt::format("a height field of {} × {} samples", samples->rows, samples->columns),
                               "at least two along x and y");
  if (!file.empty() && !take_samples(reader, element, samples->value.size())) return;
  stretch(samples->value, size[2]);
  const int rows = samples->rows, columns = samples->columns;
  HeightField out{columns, rows, 2 * size[0], 2 * size[1], std::vector<double>(samples->value.size())};
  for (int row = 0; row < rows; ++row) {
    std::copy_n(samples->value.begin() + row * columns, columns, out.heights.begin() + (rows - 1 - row) * columns);
  }
  field = std::move(out);
}

std::optional<Shape> hfield_shape(Reader& reader, const Attributes& a) {
  const std::string name = a.text("hfield").value_or("");
  const std::optional<HeightField>* field = find_in(reader.hfields, name);
  if (!field) unknown(reader, a.element(), "hfield", name);
  if (!field || !*field || !take_samples(reader, a.element(), (*field)->heights.size())) return std::nullopt;
  return **field;
}

}  // namespace kansetsu::io::mjcf
