#include "cli/subject.h"

#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>

#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/table.h"
#include "kansetsu/io/measured.h"

namespace kansetsu::cli {

io::Subject subject_or_fail(const std::string& file) { return value_or_fail(io::read_b3d(file)); }

const io::SubjectTrial& trial_or_fail(const io::Subject& subject, const std::string& trial) {
  if (trial.empty()) return subject.trials.front();
  for (const io::SubjectTrial& t : subject.trials)
    if (t.name == trial) return t;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(trial.data(), trial.data() + trial.size(), number);
  if (error == std::errc() && end == trial.data() + trial.size() && number >= 1 && number <= subject.trials.size())
    return subject.trials[number - 1];
  std::vector<std::string> names;
  for (const io::SubjectTrial& t : subject.trials) names.push_back(t.name);
  throw Failure(kBadUsage, fmt::format("{} has no trial '{}'\n  known: {}, or a number from 1 to {}", subject.file,
                                       trial, fmt::join(names, ", "), names.size()));
}

std::string subject_text(const io::Subject& s) {
  std::string text =
      fmt::format("subject {}\n  {}{:g} kg, {:g} m, {} coordinates, {} markers, forces on {} bodies\n\n", s.name,
                  s.sex.empty() ? "" : s.sex + ", ", s.mass, s.height, s.trials.front().coordinates.columns.size(),
                  s.trials.front().markers.names.size(), s.loads.size());
  std::vector<std::vector<std::string>> rows{{"trial", "name", "frames", "rate [Hz]", "without force", "passes"}};
  for (std::size_t i = 0; i < s.trials.size(); ++i) {
    const io::SubjectTrial& t = s.trials[i];
    rows.push_back({std::to_string(i + 1), t.name, std::to_string(t.coordinates.rows()),
                    fmt::format("{:g}", t.markers.rate), std::to_string(t.frames_without_force),
                    fmt::format("{}", fmt::join(t.passes, ", "))});
  }
  return text + table(rows);
}

std::string subject_json(const io::Subject& s) {
  JsonWriter json;
  json.begin_object().entry("name", s.name).entry("sex", s.sex).entry("mass", s.mass).entry("height", s.height);
  json.key("coordinates").array(s.trials.front().coordinates.columns);
  json.key("bodies").array(s.loads, &ExternalLoad::body);
  json.key("trials").begin_array();
  for (const io::SubjectTrial& t : s.trials) {
    json.line().begin_object().entry("name", t.name).entry("frames", t.coordinates.rows());
    json.entry("rate", t.markers.rate).entry("frames_without_force", t.frames_without_force);
    json.key("passes").array(t.passes).end_object();
  }
  json.end_array().end_object();
  return json.take() + "\n";
}

Exit convert_subject(const std::string& in, const std::string& trial, const std::string& out) {
  const std::string ending = std::filesystem::path(out).extension().string();
  const io::Subject subject = subject_or_fail(in);
  const io::SubjectTrial& t = trial_or_fail(subject, trial);
  std::vector<Diagnostic> problems;
  if (ending == ".osim") {
    write_whole(out, subject.osim);
  } else if (ending == ".mot") {
    problems = io::write_sto(t.coordinates, out);
  } else if (ending == ".sto") {
    problems = io::write_sto(t.forces, out);
  } else if (ending == ".trc") {
    problems = io::write_trc(t.markers, out);
  } else {
    throw Failure(kBadUsage, fmt::format("kansetsu convert: {}: unknown format for a subject\n  known: .osim (its "
                                         "model), .mot (coordinates), .sto (forces), .trc (markers)",
                                         out));
  }
  check_written(problems);
  return kOk;
}

}  // namespace kansetsu::cli
