#include <cmath>

#include "io/number.h"
#include "io/recorders.h"

/// Recordings as a table: one row per frame, for spreadsheets and scripts. Contacts have no columns.
namespace kansetsu::io {
namespace {

/// A name as a field; quoted where it holds a separator.
std::string field(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

class CsvRecorder final : public Recorder {
 public:
  CsvRecorder(std::unique_ptr<OutputFile> file, RecordingHeader header)
      : Recorder(std::move(header)), file_(std::move(file)) {
    std::string line = "time";
    for (const RecordedFigure& figure : this->header().figures) {
      for (const std::string& name : position_names(figure.model)) line += "," + field(figure.name + "/q/" + name);
      for (const std::string& name : figure.model.dof_names()) line += "," + field(figure.name + "/v/" + name);
    }
    for (const NumberChannel& number : this->header().numbers) {
      line += "," + field(number.unit.empty() ? number.name : number.name + " [" + number.unit + "]");
    }
    file_->write(line + "\n");
  }
  ~CsvRecorder() override { finish(); }

 protected:
  void write(const RecordedFrame& frame) override {
    std::string line = format_number(frame.time);
    const auto add = [&](double x) { line += "," + (std::isnan(x) ? std::string("nan") : format_number(x)); };
    for (const State& state : frame.states) {
      for (const double x : state.q) add(x);
      for (const double x : state.v) add(x);
    }
    for (const double x : frame.numbers) add(x);
    file_->write(line + "\n");
  }
  std::vector<Diagnostic> close() override { return file_->close(); }

 private:
  std::unique_ptr<OutputFile> file_;
};

}  // namespace

std::unique_ptr<Recorder> make_csv_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header) {
  return std::make_unique<CsvRecorder>(std::move(file), std::move(header));
}

}  // namespace kansetsu::io
