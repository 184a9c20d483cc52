#include <fmt/format.h>

#include <cmath>

#include "io/number.h"
#include "io/recording/recorders.h"
#include "io/recording/recording_frame.h"
#include "io/text.h"

/// Recordings as tables, for spreadsheets and scripts: one row per frame, and beside it NAME.contacts.csv, one row per contact and
/// connection of every frame.
namespace kansetsu::io {
namespace {

/// run.csv: run.contacts.csv.
std::filesystem::path forces_file(std::filesystem::path file) { return file.replace_extension(".contacts.csv"); }

class CsvRecorder final : public Recorder {
 public:
  CsvRecorder(std::unique_ptr<OutputFile> file, RecordingHeader header)
      : Recorder(std::move(header)), file_(std::move(file)) {
    std::string line = "time";
    for (const RecordedFigure& figure : this->header().figures) {
      for (const std::string& name : position_names(figure.model)) line += "," + csv_field(figure.name + "/q/" + name);
      for (const std::string& name : figure.model.dof_names()) line += "," + csv_field(figure.name + "/v/" + name);
    }
    for (const NumberChannel& number : this->header().numbers) {
      line += "," + csv_field(number.unit.empty() ? number.name : number.name + " [" + number.unit + "]");
    }
    file_->write(line + "\n");
  }
  ~CsvRecorder() override { finish_begun(); }

 protected:
  void write(const RecordedFrame& frame) override {
    std::string line = format_number(frame.time);
    const auto add = [&](double x) { line += "," + (std::isnan(x) ? std::string("nan") : format_number(x)); };
    for (const State& state : frame.states) {
      for (const double x : state.q) add(x);
      for (const double x : state.v) add(x);
    }
    for (const double x : frame.numbers) add(x);
    file_->start();
    file_->write(line + "\n");
    for (const RecordedContact& c : frame.contacts) {
      write_force(frame.time, to_string(c.state), c.a, c.b, {c.point, c.normal, c.force, c.moment, c.impulse});
    }
    for (const RecordedConnection& c : frame.connections) {
      write_force(frame.time, c.name, c.a, c.b, {c.point, {}, c.wrench.f, c.wrench.t, {}});
    }
  }
  std::vector<Diagnostic> close() override {
    std::vector<Diagnostic> found = io::close(*file_);
    if (forces_) {
      for (Diagnostic& d : io::close(*forces_)) found.push_back(std::move(d));
    }
    return found;
  }

 private:
  std::string name_of(const BodyRef& body) const {
    if (body == BodyRef{}) return "world";
    const RecordedFigure& figure = header().figures[std::size_t(body.figure)];
    return figure.name + "/" + figure.model.link(LinkId(body.link)).name;
  }

  /// The table of forces is made when there is a first one.
  void write_force(double time, const std::string& what, const BodyRef& a, const BodyRef& b,
                   std::initializer_list<Vec3<>> values) {
    if (!forces_) {
      forces_ = std::make_unique<OutputFile>(forces_file(file_->path()), Writing::kInPlace);
      forces_->start();
      std::string head = "time,what,a,b";
      for (const char* name : kContactVectors) {
        for (const char* axis : {"x", "y", "z"}) head += fmt::format(",{}_{}", name, axis);
      }
      forces_->write(head + "\n");
    }
    std::string line =
        format_number(time) + "," + csv_field(what) + "," + csv_field(name_of(a)) + "," + csv_field(name_of(b));
    for (const Vec3<>& v : values) {
      for (const double x : {v.x, v.y, v.z}) line += "," + format_number(x);
    }
    forces_->write(line + "\n");
  }

  std::unique_ptr<OutputFile> file_, forces_;
};

}  // namespace

std::unique_ptr<Recorder> make_csv_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header) {
  return std::make_unique<CsvRecorder>(std::move(file), std::move(header));
}

}  // namespace kansetsu::io
