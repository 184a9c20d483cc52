#include <fmt/format.h>

#include <limits>
#include <span>

#include "io/bytes.h"
#include "io/recording/crc32.h"
#include "io/recording/recorders.h"
#include "io/recording/recording_codes.h"
#include "io/recording/recording_frame.h"
#include "io/text.h"

/// Recordings as NumPy arrays: a ZIP file of .npy files, stored as they are.
namespace kansetsu::io {
namespace {

/// The beginning of an array; data begin at a multiple of 64.
ByteWriter npy_head(const std::string& type, const std::string& shape) {
  std::string head = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  head.append(63 - (10 + head.size()) % 64, ' ') += '\n';
  ByteWriter out;
  out.raw("\x93NUMPY").put(std::uint8_t{1}).put(std::uint8_t{0}).put(static_cast<std::uint16_t>(head.size())).raw(head);
  return out;
}

/// An array of doubles or 32-bit integers, row by row.
template <class T>
std::string npy(const std::vector<T>& values, std::size_t columns) {
  const std::size_t rows = columns == 0 ? values.size() : values.size() / columns;
  const std::string shape = columns == 0 ? fmt::format("({},)", rows) : fmt::format("({}, {})", rows, columns);
  ByteWriter out = npy_head(std::is_same_v<T, double> ? "<f8" : "<i4", shape);
  out.raw({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  return std::move(out.bytes);
}

/// Texts as an array of fixed width, as NumPy keeps them: <Un.
std::string npy(const std::vector<std::string>& texts) {
  std::vector<std::u32string> wide;
  std::size_t width = 1;
  for (const std::string& text : texts) {
    std::u32string one;
    for (std::size_t i = 0; i < text.size();) {  // names are valid UTF-8: the readers see to it
      const auto lead = static_cast<unsigned char>(text[i]);
      const std::size_t n = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      char32_t c = n == 1 ? lead : lead & (0x7fu >> n);
      for (std::size_t k = 1; k < n && i + k < text.size(); ++k)
        c = (c << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3f);
      one += c;
      i += n;
    }
    width = std::max(width, one.size());
    wide.push_back(std::move(one));
  }
  ByteWriter out = npy_head(fmt::format("<U{}", width), fmt::format("({},)", wide.size()));
  for (std::u32string& one : wide) {
    one.resize(width, U'\0');
    out.raw({reinterpret_cast<const char*>(one.data()), one.size() * sizeof(char32_t)});
  }
  return std::move(out.bytes);
}

/// A ZIP file without compression.
class Zip {
 public:
  explicit Zip(OutputFile& file) : file_(file) {}

  void add(const std::string& name, std::string_view data) {
    constexpr std::uint64_t kLimit = std::numeric_limits<std::uint32_t>::max();
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint16_t>::max();
    too_large_ = too_large_ || data.size() + name.size() + offset_ + directory_.bytes.size() + 1000 > kLimit ||
                 name.size() > kMost || count_ == kMost;
    if (too_large_) return;
    ByteWriter common;  // version, UTF-8 names, stored, 1980-01-01 0:00
    common.put(std::uint16_t{20})
        .put(std::uint16_t{0x800})
        .put(std::uint16_t{0})
        .put(std::uint16_t{0})
        .put(std::uint16_t{33});
    const auto size = static_cast<std::uint32_t>(data.size());
    common.put(crc32(data)).put(size).put(size).put(static_cast<std::uint16_t>(name.size())).put(std::uint16_t{0});
    ByteWriter local;
    local.raw({"PK\3\4", 4}).raw(common.bytes).raw(name);
    directory_.raw({"PK\1\2", 4}).put(std::uint16_t{20}).raw(common.bytes);
    directory_.put(std::uint16_t{0})
        .put(std::uint16_t{0})
        .put(std::uint16_t{0})
        .put(std::uint32_t{0})
        .put(offset_)
        .raw(name);
    file_.write(local.bytes);
    file_.write(data);
    offset_ += static_cast<std::uint32_t>(local.bytes.size() + data.size());
    ++count_;
  }
  void finish() {
    ByteWriter end;
    end.raw({"PK\5\6", 4}).put(std::uint32_t{0}).put(count_).put(count_);
    end.put(static_cast<std::uint32_t>(directory_.bytes.size())).put(offset_).put(std::uint16_t{0});
    file_.write(directory_.bytes + end.bytes);
  }
  bool too_large() const { return too_large_; }

 private:
  OutputFile& file_;
  ByteWriter directory_;
  std::uint32_t offset_ = 0;
  std::uint16_t count_ = 0;
  bool too_large_ = false;
};

/// Contacts or connections of all frames, column by column.
struct Forces {
  std::vector<std::int32_t> frame{}, bodies{};
  std::vector<std::vector<double>> vectors{};

  template <class Record>
  void add(std::size_t at, const Record& c) {
    const auto all = vectors_of(c);
    vectors.resize(all.size());
    frame.push_back(static_cast<std::int32_t>(at));
    bodies.insert(bodies.end(), {c.a.figure, c.a.link, c.b.figure, c.b.link});
    for (std::size_t i = 0; i < all.size(); ++i) vectors[i].insert(vectors[i].end(), {all[i]->x, all[i]->y, all[i]->z});
  }
  void write(Zip& zip, const std::string& folder, std::span<const char* const> names) const {
    zip.add(folder + "/bodies.npy", npy(bodies, 4));
    zip.add(folder + "/frame.npy", npy(frame, 0));
    for (std::size_t i = 0; i < names.size(); ++i)
      zip.add(fmt::format("{}/{}.npy", folder, names[i]), npy(vectors.empty() ? std::vector<double>{} : vectors[i], 3));
  }
};

class NpzRecorder final : public Recorder {
 public:
  NpzRecorder(std::unique_ptr<OutputFile> file, RecordingHeader header)
      : Recorder(std::move(header)), file_(std::move(file)), q_(this->header().figures.size()), v_(q_.size()) {}
  ~NpzRecorder() override { finish_begun(); }

 protected:
  void write(const RecordedFrame& frame) override {
    for (std::size_t i = 0; i < frame.states.size(); ++i) {
      q_[i].insert(q_[i].end(), frame.states[i].q.begin(), frame.states[i].q.end());
      v_[i].insert(v_[i].end(), frame.states[i].v.begin(), frame.states[i].v.end());
    }
    for (const RecordedContact& c : frame.contacts) {
      contacts_.add(time_.size(), c);
      contact_state_.push_back(static_cast<std::int32_t>(c.state));
    }
    for (const RecordedConnection& c : frame.connections) {
      connections_.add(time_.size(), c);
      connection_names_.push_back(c.name);
    }
    numbers_.insert(numbers_.end(), frame.numbers.begin(), frame.numbers.end());
    time_.push_back(frame.time);
  }

  std::vector<Diagnostic> close() override {
    file_->start();
    Zip zip(*file_);
    zip.add("time.npy", npy(time_, 0));
    for (std::size_t i = 0; i < q_.size(); ++i) {
      const RecordedFigure& figure = header().figures[i];
      zip.add(figure.name + "/q.npy", npy(q_[i], std::size_t(figure.model.nq())));
      zip.add(figure.name + "/v.npy", npy(v_[i], std::size_t(figure.model.nv())));
      zip.add(figure.name + "/q_names.npy", npy(position_names(figure.model)));
      zip.add(figure.name + "/v_names.npy", npy(figure.model.dof_names()));
    }
    for (std::size_t i = 0; i < header().numbers.size(); ++i) {
      std::vector<double> column;
      for (std::size_t k = i; k < numbers_.size(); k += header().numbers.size()) column.push_back(numbers_[k]);
      zip.add("numbers/" + header().numbers[i].name + ".npy", npy(column, 0));
    }
    zip.add("contacts/state.npy", npy(contact_state_, 0));
    contacts_.write(zip, "contacts", kContactVectors);
    if (!connection_names_.empty()) {
      zip.add("connections/names.npy", npy(connection_names_));
      connections_.write(zip, "connections", kConnectionVectors);
    }
    zip.finish();
    if (zip.too_large()) {
      return {about_file(Severity::kError, recording::kTooLarge, file_->path(),
                         "more than 4 GiB do not fit into an .npz file", "write .mcap instead")};
    }
    return io::close(*file_);
  }

 private:
  std::unique_ptr<OutputFile> file_;
  std::vector<double> time_, numbers_;
  Forces contacts_, connections_;
  std::vector<std::int32_t> contact_state_;
  std::vector<std::string> connection_names_;
  std::vector<std::vector<double>> q_, v_;
};

}  // namespace

std::unique_ptr<Recorder> make_npz_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header) {
  return std::make_unique<NpzRecorder>(std::move(file), std::move(header));
}

}  // namespace kansetsu::io
