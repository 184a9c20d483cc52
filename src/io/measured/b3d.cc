#include <cmath>

#include "io/bytes.h"
#include "io/capture/capture_codes.h"
#include "io/capture/capture_reader.h"
#include "io/recording/proto.h"
#include "io/text.h"
#include "kansetsu/base/printable.h"
#include "kansetsu/io/osim.h"
#include "kansetsu/io/subject.h"

/// The format of nimblephysics: the size of a header (8 bytes), the header, then for each frame of each trial what sensors measured and
/// what each processing pass found. Header and frames are messages of protocol buffers; all frames of a kind have the same size.
namespace kansetsu::io {
namespace {

using namespace capture;

constexpr std::uintmax_t kLargestSubject = std::uintmax_t{2}
                                           << 30;  ///< [byte]; subjects with long trials have a tenth of it
constexpr std::size_t kMostTrials = 10000, kMostPasses = 100;

/// Field numbers of the messages.
enum HeaderField {
  kDofs = 1,
  kSensorSize = 3,
  kPassSize = 4,
  kPass = 5,
  kContactBody = 6,
  kTrialHeader = 9,
  kSex = 13,
  kHeight = 14,
  kMass = 15,
  kMarkerName = 17
};
enum PassField { kModelText = 2 };
enum TrialField { kTrialName = 1, kMissingForce = 2, kLength = 3, kTimestep = 4, kTrialPass = 5 };
enum TrialPassField { kPassType = 1 };
enum PassFrameField { kPositions = 1, kPressurePoint = 6, kTorque = 7, kForce = 8 };
enum SensorFrameField { kMarkerPoints = 2 };

struct TrialHeader {
  std::string name{};
  std::vector<std::string> passes{};
  std::size_t frames = 0;
  double step = 0;
  int frames_without_force = 0;
};

std::string pass_name(std::uint64_t type) {
  constexpr const char* kNames[] = {"kinematics", "dynamics", "low-pass filter"};
  return type < std::size(kNames) ? kNames[type] : fmt::format("pass of type {}", type);
}

class B3dReader {
 public:
  B3dReader(std::string_view bytes, const std::string& file) : bytes_(bytes), report_(file) {
    out_.file = file, out_.name = stem_of(file);
  }

  Loaded<Subject> read() {
    if (read_header() && name_columns()) read_trials();
    return loaded(std::move(out_), report_.take());
  }

 private:
  bool fail(const char* code, std::string path, std::string message) {
    return report_.fail(0, code, std::move(path), std::move(message), "files of AddBiomechanics end in .b3d");
  }

  bool read_header() {
    ByteReader start(bytes_);
    const std::uint64_t size = start.take<std::uint64_t>();
    const std::string_view header = start.raw(size);
    if (start.failed || header.empty())
      return fail(kHeader, {}, fmt::format("{} bytes are too few for a header", bytes_.size()));
    data_ = start.rest;
    proto::Reader in(header);
    while (in.next()) read_header_field(in);
    if (in.failed || dofs_ == 0 || sensor_size_ == 0 || !frames_hold_what_they_should())
      return fail(kHeader, {}, "the header is damaged");
    if (out_.osim.empty()) return fail(kNoSkeleton, {}, "no processing pass has a model");
    return true;
  }

  /// Whether frames of the sizes that the header tells have room for numbers of all markers, coordinates and bodies: tables are as large
  /// as these numbers ask for, whatever is in the frames.
  bool frames_hold_what_they_should() const {
    constexpr std::size_t kPoint = 3 * sizeof(double);
    const std::size_t all = data_.size();
    return sensor_size_ <= all && pass_size_ <= all && dofs_ <= pass_size_ / sizeof(double) &&
           markers_.size() <= sensor_size_ / kPoint && bodies_.size() <= pass_size_ / kPoint;
  }

  void read_header_field(proto::Reader& in) {
    switch (in.field) {
      case kDofs:
        dofs_ = std::size_t(in.value);
        break;
      case kSensorSize:
        sensor_size_ = std::size_t(in.value);
        break;
      case kPassSize:
        pass_size_ = std::size_t(in.value);
        break;
      case kPass: {
        proto::Reader pass(in.text());
        while (pass.next())
          if (pass.field == kModelText && !pass.text().empty()) out_.osim = pass.text();
        in.failed = in.failed || pass.failed;
        break;
      }
      case kContactBody:
        bodies_.push_back(printable(std::string(in.text())));
        break;
      case kTrialHeader:
        if (trials_.size() >= kMostTrials) in.failed = true;
        trials_.push_back(read_trial_header(in));
        break;
      case kSex:
        out_.sex = printable(std::string(in.text()));
        break;
      case kHeight:
        out_.height = in.number();
        break;
      case kMass:
        out_.mass = in.number();
        break;
      case kMarkerName:
        markers_.push_back(printable(std::string(in.text())));
        break;
      default:
        break;
    }
  }

  static TrialHeader read_trial_header(proto::Reader& from) {
    TrialHeader out;
    proto::Reader in(from.text());
    while (in.next()) {
      if (in.field == kTrialName) out.name = printable(std::string(in.text()));
      if (in.field == kLength) out.frames = std::size_t(in.value);
      if (in.field == kTimestep) out.step = in.number();
      if (in.field == kMissingForce && in.wire == proto::Wire::kBytes)  // packed; zero: nothing is missing
        for (const char reason : in.bytes) out.frames_without_force += reason != 0;
      if (in.field == kTrialPass) {
        std::uint64_t type = 0;
        proto::Reader pass(in.text());
        while (pass.next())
          if (pass.field == kPassType) type = pass.value;
        out.passes.push_back(pass_name(type));
        if (pass.failed || out.passes.size() > kMostPasses) in.failed = true;
      }
    }
    from.failed = from.failed || in.failed;
    return out;
  }

  /// Coordinates are numbered as the model's joints have them.
  bool name_columns() {
    const Loaded<OsimModel> model = parse_osim(out_.osim, report_.file());
    if (!model) return fail(kNoSkeleton, {}, "its model cannot be read:\n" + to_string(model.diagnostics));
    for (const MapCoordinate& c : model.value->map.coordinates) coordinates_.push_back(c.name);
    if (coordinates_.size() != dofs_)
      return fail(kColumns, {},
                  fmt::format("{} numbers per frame, its model has {} coordinates", dofs_, coordinates_.size()));
    for (const std::string& body : bodies_) {
      const std::string force = "ground_force_" + body + "_", torque = "ground_torque_" + body + "_";
      out_.loads.push_back({.name = body, .body = body, .force = force + "v", .point = force + "p", .torque = torque});
      for (const std::string& first : {force + "v", force + "p", torque})
        for (const char axis : {'x', 'y', 'z'}) force_columns_.push_back(first + axis);
    }
    return true;
  }

  void read_trials() {
    ByteReader in(data_);
    for (const TrialHeader& head : trials_) {
      const std::size_t frame = sensor_size_ + head.passes.size() * pass_size_;
      if (head.passes.empty() || !(head.step > 0) || head.frames == 0 || head.frames > in.rest.size() / frame) {
        fail(kTruncated, head.name,
             fmt::format("{} frames of {} bytes each, {} bytes are left", head.frames, frame, in.rest.size()));
        return;
      }
      SubjectTrial trial{.name = head.name, .passes = head.passes, .frames_without_force = head.frames_without_force};
      start_tables(head, trial);
      for (std::size_t k = 0; k < head.frames; ++k) {
        const std::string_view sensors = in.raw(sensor_size_);
        in.raw((head.passes.size() - 1) * pass_size_);
        if (!read_sensors(sensors, trial) || !read_pass(in.raw(pass_size_), long(k), trial)) {
          fail(kFrame, head.name, fmt::format("frame {} is damaged", k));
          return;
        }
      }
      out_.trials.push_back(std::move(trial));
    }
    if (out_.trials.empty()) fail(kFrameCount, {}, "there are no trials");
  }

  void start_tables(const TrialHeader& head, SubjectTrial& trial) const {
    for (std::size_t k = 0; k < head.frames; ++k) trial.coordinates.times.push_back(double(k) * head.step);
    trial.coordinates.name = trial.forces.name = head.name;
    trial.coordinates.file = trial.forces.file = report_.file();
    trial.forces.times = trial.markers.times = trial.coordinates.times;
    trial.coordinates.columns = coordinates_, trial.forces.columns = force_columns_;
    trial.coordinates.values.resize(long(dofs_), long(head.frames));
    trial.forces.values.setZero(long(force_columns_.size()), long(head.frames));
    trial.markers.names = markers_;
    trial.markers.rate = 1 / head.step;
  }

  /// Markers that were not seen are no numbers.
  bool read_sensors(std::string_view frame, SubjectTrial& trial) const {
    proto::Reader in(frame);
    std::vector<double> p;
    while (in.next())
      if (in.field == kMarkerPoints) p = in.number_list();
    if (in.failed || p.size() != 3 * markers_.size()) return false;
    for (std::size_t i = 0; i < markers_.size(); ++i)
      trial.markers.points.push_back({p[3 * i], p[3 * i + 1], p[3 * i + 2]});
    return true;
  }

  bool read_pass(std::string_view frame, long k, SubjectTrial& trial) const {
    proto::Reader in(frame);
    bool whole = false;
    while (in.next()) {
      if (in.field == kPositions) {
        const std::vector<double> x = in.number_list();
        whole = x.size() == dofs_;
        for (std::size_t i = 0; whole && i < dofs_; ++i) {
          trial.coordinates.values(long(i), k) = x[i];
          whole = std::abs(x[i]) < kLargestNumber;  // also false for what is no number
        }
      }
      const int part = in.field == kForce ? 0 : in.field == kPressurePoint ? 1 : in.field == kTorque ? 2 : -1;
      if (part < 0) continue;
      const std::vector<double> x = in.number_list();
      if (x.size() != 3 * bodies_.size()) return false;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (!(std::abs(x[i]) < kLargestNumber)) return false;
        trial.forces.values(long(9 * (i / 3) + std::size_t(3 * part) + i % 3), k) = x[i];
      }
    }
    return whole && !in.failed;
  }

  std::string_view bytes_, data_{};
  Report report_;
  Subject out_;
  std::size_t dofs_ = 0, sensor_size_ = 0, pass_size_ = 0;
  std::vector<std::string> bodies_, markers_, coordinates_, force_columns_;
  std::vector<TrialHeader> trials_;
};

}  // namespace

bool names_subject(const std::filesystem::path& file) { return same_word(file.extension().string(), ".b3d"); }

Loaded<Subject> parse_b3d(std::string_view bytes, const std::string& file_name) {
  return B3dReader(bytes, file_name).read();
}

Loaded<Subject> read_b3d(const std::filesystem::path& file) {
  const auto parse = [&](const std::string& bytes) { return parse_b3d(bytes, file.string()); };
  return parse_file(file, kFileCodes, parse, kLargestSubject);
}

}  // namespace kansetsu::io
