#include "cli/walk_report.h"
#include "cli/interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/arguments.h"
#include "cli/json_writer.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/tiers.h"
#include "cli/walk_push.h"

namespace kansetsu::cli {
namespace {

/// The direction of a push: angle from straight ahead to the left.
std::string direction_text(double direction) {
  const int degrees = int(std::lround(std::remainder(direction / kDegree, 360)));
  if (degrees == 0) return "forwards";
  if (std::abs(degrees) == 180) return "backwards";
  const char* side = degrees > 0 ? "left" : "right";
  if (std::abs(degrees) == 90) return fmt::format("to the {}", side);
  return fmt::format("{}° to the {} of straight ahead", std::abs(degrees), side);
}

std::string push_text(const Push& push) {
  return fmt::format("{:.3g} N·s at {:.3f} s, {}", push.impulse, *push.time, direction_text(*push.direction));
}

/// When the clip was changed so that the figure does not fall, and by how much at most.
std::string corrections_text(const WalkReport& r) {
  if (r.corrections.empty()) return "none";
  std::vector<std::pair<double, double>> spans;
  double push = 0, foothold = 0;
  for (const TrackCorrection& c : r.corrections) {
    if (!spans.empty() && c.start <= spans.back().second)
      spans.back().second = std::max(spans.back().second, c.end);
    else
      spans.emplace_back(c.start, c.end);
    push = std::max(push, norm(c.push));
    foothold = std::max({foothold, norm(c.foothold[0]), norm(c.foothold[1])});
  }
  std::string text;
  for (const auto& [start, end] : spans) text += fmt::format("{}{:.1f}-{:.1f}", text.empty() ? "" : ", ", start, end);
  return fmt::format("{} s; centre of mass by up to {:.1f} m/s², footholds by up to {:.0f} cm", text, push,
                     100 * foothold);
}

/// What the clip leans on, and was put there.
std::string props_text(const WalkReport& r) {
  std::string text;
  for (const TrackProp& p : r.props) {
    const Vec3<>& at = p.X_WP.p;
    text += fmt::format("{}{} from {:.1f} to {:.1f} s at ({:.2f}, {:.2f}, {:.2f}) m", text.empty() ? "" : "; ",
                        p.seat ? "a seat" : "a hold of the " + p.name, p.start, p.end, at.x, at.y, at.z);
  }
  return text;
}

std::string report_text(WalkSimulation& walk, const WalkReport& r, double wall) {
  const WorldTotals& t = walk.world().totals();
  std::vector<std::vector<std::string>> rows{
      {"ended", r.fallen ? fmt::format("fell after {:.3f} s: {}", r.seconds, r.cause)
                         : fmt::format("on its feet after {:.3f} s", r.seconds)},
      {"walked", fmt::format("{:.2f} m in {} steps of {:.3f} s", r.walked, r.steps, r.step_time)},
      {"heading", fmt::format("{:.1f}°", r.turned / kDegree)},
      {"joint error to the clip", fmt::format("{:.3f} rad root mean square", r.joint_error)},
      {"path error to the clip",
       fmt::format("{:.1f} cm, {:.1f}° root mean square, of the base", 100 * r.path_error, r.turn_error / kDegree)},
      {"foothold error to the clip", fmt::format("{:.1f} cm at the end", 100 * r.shift)},
      {"jerk of the joints", fmt::format("{:.1f} times that of the clip", r.jerk_ratio)},
      {"corrections of the clip", corrections_text(r)},
      {"added to the world", props_text(r)},
      {"capture point error", fmt::format("{:.1f} mm root mean square", 1e3 * r.capture_error)},
      {"mean vertical force", fmt::format("{:.4f} of the weight", r.vertical_force)},
      {"peak vertical force", fmt::format("{:.2f} of the weight, mean of 10 ms", r.peak_weights)},
      {"largest force on a foot", fmt::format("{:.0f} N in one step", r.most_force)},
      {"largest joint torque", fmt::format("{:.0f} N·m at {}", r.most_torque, r.most_torque_joint)},
      {"largest joint power", fmt::format("{:.0f} W, cost of transport {:.2f}", r.most_power, r.cost_of_transport)},
      {"other forces on the root", fmt::format("{:.3g} N", r.root_wrench)},
      {"unexplained momentum", fmt::format("{:.2g} of the weight, largest of all steps", r.unbalanced)},
      {"farthest slide of a foot", fmt::format("{:.1f} mm during one contact", 1e3 * r.foot_slide)},
      {"slip of a sticking sole", fmt::format("{:.2g} mm", 1e3 * r.slip)},
      {"smallest joint limit margin", fmt::format("{:.3g} rad", r.limit_margin)},
      {"contacts",
       fmt::format("{} surface, {} line, {} point; {} sliding", r.modes[3], r.modes[2], r.modes[1], r.sliding)},
      {"solved by", tier_text(t)},
      {"worst residual", fmt::format("{:.2g}", t.worst_residual)},
      {"deepest penetration", fmt::format("{:.2g} mm", 1e3 * t.worst_penetration)},
      {"infeasible control steps", fmt::format("{} times", r.infeasible)},
      {"speed", fmt::format("{:.1f} × real time", r.seconds / wall)},
      {"state", fmt::format("{:016x}", walk.world().hash())}};
  const auto drop = [&](const char* name) { std::erase_if(rows, [&](const auto& row) { return row[0] == name; }); };
  if (r.clip_seconds == 0)
    for (const char* name : {"joint error to the clip", "path error to the clip", "foothold error to the clip",
                             "jerk of the joints", "corrections of the clip"})
      drop(name);
  if (r.props.empty()) drop("added to the world");
  for (const Push& push : walk.pushes()) rows.insert(rows.begin() + 1, {"pushed", push_text(push)});
  return table(rows);
}

std::string report_json(WalkSimulation& walk, const WalkReport& r, double wall) {
  const WorldTotals& t = walk.world().totals();
  JsonWriter json;
  json.begin_object();
  json.entry("status", r.fallen ? "fallen" : "ok").entry("cause", r.cause).entry("seconds", r.seconds);
  json.entry("walked", r.walked).entry("distance", r.distance).entry("turned", r.turned);
  json.entry("steps", double(r.steps)).entry("step_time", r.step_time).entry("capture_error", r.capture_error);
  json.entry("vertical_force", r.vertical_force).entry("most_force", r.most_force);
  json.entry("most_torque", r.most_torque).entry("most_torque_joint", r.most_torque_joint);
  json.entry("most_power", r.most_power).entry("cost_of_transport", r.cost_of_transport);
  json.entry("root_wrench", r.root_wrench).entry("unbalanced", r.unbalanced).entry("slip", r.slip);
  json.entry("foot_slide", r.foot_slide).entry("peak_weights", r.peak_weights);
  json.entry("clip_seconds", r.clip_seconds).entry("joint_error", r.joint_error).entry("shift", r.shift);
  json.entry("path_error", r.path_error).entry("turn_error", r.turn_error).entry("jerk_ratio", r.jerk_ratio);
  json.key("corrections").begin_array();
  for (const TrackCorrection& c : r.corrections) {
    json.begin_object().entry("start", c.start).entry("end", c.end).entry("push", norm(c.push));
    json.entry("turn", norm(c.turn));
    json.entry("foothold", std::max(norm(c.foothold[0]), norm(c.foothold[1]))).end_object();
  }
  json.end_array();
  json.entry("limit_margin", r.limit_margin).entry("infeasible", double(r.infeasible));
  json.key("props").begin_array();
  for (const TrackProp& p : r.props)
    json.begin_object().entry("name", p.name).entry("start", p.start).entry("end", p.end).end_object();
  json.end_array();
  json.key("contacts").begin_object();
  json.entry("surface", double(r.modes[3])).entry("line", double(r.modes[2])).entry("point", double(r.modes[1]));
  json.entry("sliding", double(r.sliding)).end_object();
  write_tiers(t, json);
  json.entry("worst_residual", t.worst_residual).entry("penetration", t.worst_penetration);
  json.key("pushes").begin_array();
  for (const Push& push : walk.pushes()) {
    json.begin_object().entry("impulse", push.impulse).entry("time", *push.time);
    json.entry("direction", *push.direction).end_object();
  }
  json.end_array();
  json.entry("wall_seconds", wall).entry("hash", fmt::format("{:016x}", walk.world().hash())).end_object();
  return json.take() + "\n";
}

}  // namespace

void add_run_options(Arguments& args, RunOptions& run, WalkSetup& setup) {
  args.add("--push PUSH", run.pushes,
           "push on the trunk: 20Ns@3s, 20Ns@random, 20Ns@3s:left (from the front, back, left or right, or an angle in "
           "degrees); may be repeated");
  args.add("--seed N", setup.seed, "random seed for times and directions of pushes").show_default();
  args.add("--step T", setup.time_step, "time step [s]").between(1e-5, 5e-3).show_default();
  args.add("--record FILE", run.records, "record to a .mcap, .csv, .npz, .glb or .html file; may be repeated");
  args.add("--rate HZ", run.rate, "recorded frames per second [Hz]; default: every step").not_negative();
  args.add("--html OUT", run.html, "write a self-contained page");
  args.add_flag("--json", run.json, "print the report as JSON");
}

WalkSetup setup_of(const std::string& command, WalkSetup setup, const RunOptions& run) {
  for (const std::string& text : run.pushes) setup.pushes.push_back(parse_push(command, text));
  return setup;
}

Exit run_and_report(WalkSimulation& walk, const RunOptions& run, const RunTitle& title, double whole,
                    const std::function<double(const WalkStatus&)>& done) {
  std::vector<std::string> files = run.records;
  if (!run.html.empty()) files.push_back(run.html);
  WorldRecorder recorder(walk.world(), walk.scene(), files, run.rate);
  const Interrupt interrupt;
  const auto start = std::chrono::steady_clock::now();
  {
    if (walk.tracks()) {
      Progress search(title.figure + ": search", std::size_t(std::max(whole * 1000, 1.0)));
      walk.prepare([&](double reached) {
        search.done(std::size_t(std::max(reached * 1000, 0.0)));
        return !Interrupt::caught();
      });
    }
    Progress progress(title.figure + ": " + title.command, std::size_t(std::max(whole * 1000, 1.0)));
    recorder.add(walk.world());
    while (!Interrupt::caught() && walk.step()) {
      recorder.add(walk.world());
      progress.done(std::size_t(std::max(done(walk.controller().status()) * 1000, 0.0)));
    }
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  recorder.finish();
  for (const std::string& name : recorder.names()) tell_written(name);
  const WalkReport report = walk.report();
  print(run.json ? report_json(walk, report, wall) : report_text(walk, report, wall));
  if (const int signal = Interrupt::caught()) return interrupted(title.command, report.seconds, signal);
  if (!report.fallen) return kOk;
  fmt::print(stderr, "kansetsu {}: {} fell after {:.3f} s: {}\n", title.command, title.figure, report.seconds,
             report.cause);
  return kNumerical;
}

}  // namespace kansetsu::cli
