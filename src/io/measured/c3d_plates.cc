#include "io/measured/c3d_plates.h"

#include <array>

#include "base/lookup.h"
#include "io/capture/capture_codes.h"
#include "kansetsu/spatial/spatial.h"

/// Signals to forces, by the type of the plate [C3D User Guide, force platforms]:
///
///   1  Fx Fy Fz Px Py Mz     force, its place from the middle of the surface, turning moment there
///   2  Fx Fy Fz Mx My Mz     about the plate's own origin, ORIGIN = from there to the middle of the surface
///   3  Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4     sensors at (±a, ±b), ORIGIN = a, b, height of the surface
///   4  six voltages; CAL_MATRIX makes them those of type 2
namespace kansetsu::io::c3d {
namespace {

const Parameter kNothing{};

struct Wrench {
  Vec3<> f{}, m{};  ///< about the middle of the surface, plate axes
};

Wrench from_signals(int type, const std::array<double, 8>& c, const Vec3<>& origin) {
  if (type == 1) {
    const Vec3<> f{c[0], c[1], c[2]};
    return {f, cross(Vec3<>{c[3], c[4], 0}, f) + Vec3<>{0, 0, c[5]}};
  }
  if (type == 3) {
    const double a = origin.x, b = origin.y;
    const Vec3<> f{c[0] + c[1], c[2] + c[3], c[4] + c[5] + c[6] + c[7]};
    const Vec3<> m{b * (c[4] + c[5] - c[6] - c[7]), a * (-c[4] + c[5] + c[6] - c[7]),
                   b * (-c[0] + c[1]) + a * (c[2] - c[3])};
    return {f, m + cross(f, Vec3<>{0, 0, origin.z})};
  }
  const Vec3<> f{c[0], c[1], c[2]}, m{c[3], c[4], c[5]};
  return {f, m + cross(f, origin)};
}

class PlateReader {
 public:
  PlateReader(const Parameters& parameters, const TimeTable& analog, double unit, capture::Report& report)
      : parameters_(parameters), analog_(analog), unit_(unit), report_(report) {}

  std::optional<ForcePlate> read(int plate) {
    ForcePlate out;
    const std::size_t i = std::size_t(plate);
    const double type = find("TYPE").number(i, 0);
    out.type = type >= 1 && type <= 4 ? int(type) : 0;
    const Parameter &corners = find("CORNERS"), &origin = find("ORIGIN"), &channel = find("CHANNEL");
    if (out.type == 0) return refuse(plate, fmt::format("type {} is not known", type));
    if (corners.numbers.size() < 12 * (i + 1)) return refuse(plate, "it has no corners");
    if (origin.numbers.size() < 3 * (i + 1)) return refuse(plate, "it has no origin");
    const int signals = out.type == 3 ? 8 : 6, per_plate = channel.dim(0);
    if (per_plate < signals || channel.numbers.size() < i * std::size_t(per_plate) + std::size_t(signals))
      return refuse(plate, fmt::format("it has fewer than {} signals", signals));
    std::array<int, 8> columns{};
    for (int c = 0; c < signals; ++c) {
      const double number = channel.numbers[i * std::size_t(per_plate) + std::size_t(c)];
      if (!(number >= 1) || number > double(analog_.columns.size()))
        return refuse(plate, fmt::format("signal {} is not there", number));
      columns[std::size_t(c)] = int(number) - 1;
    }
    for (std::size_t c = 0; c < 4; ++c) out.corners[c] = unit_ * vector_at(corners, 12 * i + 3 * c);
    const Vec3<> x = out.corners[0] - out.corners[1], along = out.corners[0] - out.corners[3], z = cross(x, along);
    constexpr double kLeastArea = 1e-9;  // [m²] a square of 30 µm: corners on a line or in a point
    if (!(norm(z) > kLeastArea)) return refuse(plate, "its corners do not span a surface");
    const Vec3<> ex = (1 / norm(x)) * x, ez = (1 / norm(z)) * z, ey = cross(ez, ex);
    Vec3<> centre = vector_at(origin, 3 * i);
    // The surface is above the sensors and z points down; some programs write the way back.
    if (out.type != 1 && centre.z > 0) {
      centre = out.type == 3 ? Vec3<>{centre.x, centre.y, -centre.z} : -centre;
      report_.warn(0, capture::kPlate, name(plate), "its surface lies below its sensors",
                   "the sign of the origin is reversed");
    }
    const std::optional<std::vector<double>> matrix = calibration(out.type, i);
    if (out.type == 4 && !matrix) return refuse(plate, "it has no calibration matrix");
    for (int k = 0; k < analog_.rows(); ++k) {
      std::array<double, 8> c{}, raw{};
      for (int s = 0; s < signals; ++s) raw[std::size_t(s)] = analog_.values(columns[std::size_t(s)], k);
      c = raw;
      if (out.type == 4)
        for (std::size_t row = 0; row < 6; ++row) {
          c[row] = 0;
          for (std::size_t column = 0; column < 6; ++column) c[row] += (*matrix)[row + 6 * column] * raw[column];
        }
      const Wrench w = from_signals(out.type, c, centre);
      out.force.push_back(w.f.x * ex + w.f.y * ey + w.f.z * ez);
      out.moment.push_back(unit_ * (w.m.x * ex + w.m.y * ey + w.m.z * ez));
    }
    return out;
  }

 private:
  static std::string name(int plate) { return fmt::format("FORCE_PLATFORM[{}]", plate + 1); }

  std::nullopt_t refuse(int plate, std::string why) {
    report_.warn(0, capture::kPlate, name(plate), std::move(why), "the plate is ignored");
    return std::nullopt;
  }

  const Parameter& find(const char* key) const {
    const Parameter* found = find_in(parameters_, std::string("FORCE_PLATFORM:") + key);
    return found ? *found : kNothing;
  }
  static Vec3<> vector_at(const Parameter& p, std::size_t at) {
    return {p.number(at), p.number(at + 1), p.number(at + 2)};
  }
  std::optional<std::vector<double>> calibration(int type, std::size_t plate) const {
    const Parameter& p = find("CAL_MATRIX");
    if (type != 4 || p.dim(0) != 6 || p.dim(1) != 6 || p.numbers.size() < 36 * (plate + 1)) return std::nullopt;
    return std::vector<double>(p.numbers.begin() + long(36 * plate), p.numbers.begin() + long(36 * plate + 36));
  }

  const Parameters& parameters_;
  const TimeTable& analog_;
  double unit_;
  capture::Report& report_;
};

}  // namespace

std::vector<ForcePlate> read_plates(const Parameters& parameters, const TimeTable& analog, double unit,
                                    capture::Report& report) {
  std::vector<ForcePlate> out;
  const auto used = parameters.find("FORCE_PLATFORM:USED");
  if (used == parameters.end()) return out;
  // Each plate has signals of its own; plates that share them would make a small file large.
  constexpr std::size_t kFewest = 6;
  const double said = used->second.number(0);
  const int most = int(std::min<std::size_t>(analog.columns.size() / kFewest, 255));
  const int count = said >= 0 && said <= most ? int(said) : most;
  if (!(said <= most))
    report.warn(0, capture::kPlate, "FORCE_PLATFORM:USED",
                fmt::format("{} plates, {} signals", said, analog.columns.size()),
                fmt::format("a plate has {} signals or more; the others are ignored", kFewest));
  PlateReader reader(parameters, analog, unit, report);
  for (int i = 0; i < count; ++i)
    if (auto plate = reader.read(i)) out.push_back(*std::move(plate));
  return out;
}

}  // namespace kansetsu::io::c3d
