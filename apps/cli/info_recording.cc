#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/recording.h"
#include "cli/table.h"

namespace kansetsu::cli {
namespace {

struct RecordingSummary {
  double start = 0, end = 0;
  std::size_t events = 0, most_contacts = 0, most_connections = 0;
};

RecordingSummary summarise(const io::Recording& recording) {
  RecordingSummary s;
  if (recording.frames.empty()) return s;
  s.start = recording.frames.front().time;
  s.end = recording.frames.back().time;
  for (const io::RecordedFrame& frame : recording.frames) {
    s.events += frame.events.size();
    s.most_contacts = std::max(s.most_contacts, frame.contacts.size());
    s.most_connections = std::max(s.most_connections, frame.connections.size());
  }
  return s;
}

}  // namespace

bool names_recording(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::path(name).extension() == ".mcap" ||
         (std::filesystem::is_regular_file(name, ignored) && io::is_mcap(name));
}

io::Recording recording_or_fail(const std::string& file) { return value_or_fail(io::read_recording(file)); }

std::string recording_text(const io::Recording& recording) {
  const RecordingSummary s = summarise(recording);
  const auto title = recording.header.notes.find("title");
  std::string text = fmt::format("recording{}\n  {} frames from {:g} to {:g} s{}\n",
                                 title == recording.header.notes.end() ? "" : " of " + title->second,
                                 recording.frames.size(), s.start, s.end, recording.complete ? "" : ", truncated");
  text += fmt::format("  events: {}\n  contacts: up to {} at a time\n  connections: up to {} at a time\n", s.events,
                      s.most_contacts, s.most_connections);
  std::vector<std::vector<std::string>> rows{{"figure", "base", "links", "dofs", "mass [kg]"}};
  for (const io::RecordedFigure& f : recording.header.figures) {
    rows.push_back({f.name, f.model.base() == Base::kFree ? "free" : "fixed", std::to_string(f.model.link_count()),
                    std::to_string(f.model.nv()), fmt::format("{:.6g}", f.model.mass())});
  }
  if (rows.size() > 1) text += "\n" + table(rows);
  std::vector<std::vector<std::string>> numbers{{"number", "unit"}};
  for (const io::NumberChannel& n : recording.header.numbers) numbers.push_back({n.name, n.unit});
  return numbers.size() > 1 ? text + "\n" + table(numbers) : text;
}

std::string recording_json(const io::Recording& recording) {
  const RecordingSummary s = summarise(recording);
  JsonWriter json;
  json.begin_object().entry("frames", int(recording.frames.size())).entry("start", s.start).entry("end", s.end);
  json.entry("complete", recording.complete).entry("events", int(s.events));
  json.entry("contacts", int(s.most_contacts)).entry("connections", int(s.most_connections));
  json.key("figures").begin_array();
  for (const io::RecordedFigure& f : recording.header.figures) {
    json.line().begin_object().entry("name", f.name).entry("links", f.model.link_count());
    json.entry("nq", f.model.nq()).entry("nv", f.model.nv()).entry("mass", f.model.mass()).end_object();
  }
  json.end_array().key("numbers").begin_array();
  for (const io::NumberChannel& n : recording.header.numbers)
    json.line().begin_object().entry("name", n.name).entry("unit", n.unit).end_object();
  return json.end_array().end_object().take() + "\n";
}

}  // namespace kansetsu::cli
