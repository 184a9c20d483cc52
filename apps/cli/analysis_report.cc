#include "cli/analysis_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/json_writer.h"
#include "cli/table.h"

namespace kansetsu::cli {
namespace {

struct JointUse {
  int v = 0;
  double torque = 0, time = 0;  ///< largest, with its sign, and when
  double power = 0;             ///< largest, with its sign [W]
  double work = 0;              ///< of all its powers [J]
};

/// For every actuated coordinate.
std::vector<JointUse> joint_uses(const Model& model, const Analysis& a) {
  std::vector<JointUse> uses;
  for (int v = model.base_coordinates().nv; v < model.nv(); ++v) {
    JointUse use{.v = v};
    for (int k = 0; k < a.frames(); ++k) {
      const std::size_t i = std::size_t(k);
      if (std::abs(a.tau(v, k)) > std::abs(use.torque)) use.torque = a.tau(v, k), use.time = a.clip.times[i];
      if (std::abs(a.power(v, k)) > std::abs(use.power)) use.power = a.power(v, k);
      if (k > 0) use.work += 0.5 * (a.clip.times[i] - a.clip.times[i - 1]) * (a.power(v, k) + a.power(v, k - 1));
    }
    uses.push_back(use);
  }
  return uses;
}

double peak_vertical(const SupportForces& s) {
  double most = 0;
  for (const Force<>& F : s.wrench) most = std::max(most, F.f.z);
  return most;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string phases_text(const Analysis& a) {
  std::vector<std::vector<std::string>> rows;
  for (const Phase& p : a.phases) {
    rows.push_back(
        {fmt::format("{:.3f} … {:.3f} s", p.start, p.end), fmt::format("{:.3f} s", p.end - p.start), phase_name(a, p)});
  }
  return "\nPhases\n" + table(rows);
}

void write_vector(JsonWriter& json, const char* name, const std::optional<Vec3<>>& p) {
  if (p) json.entry(name, *p);
}

}  // namespace

std::string phase_name(const Analysis& a, const Phase& phase) {
  std::string names;
  for (const int s : phase.supports) names += (names.empty() ? "" : ", ") + a.supports[std::size_t(s)].name;
  return names.empty() ? to_string(phase.kind) : fmt::format("{} ({})", to_string(phase.kind), names);
}

std::string analysis_text(const Model& model, const Analysis& a) {
  const AnalysisSummary& s = a.summary;
  const double rate = (a.frames() - 1) / a.clip.duration();
  std::vector<std::vector<std::string>> rows{
      {"clip", a.clip.name},
      {"figure", fmt::format("{}, {:.4g} kg", model.name(), model.mass())},
      {"frames", fmt::format("{}, {:.4g} s at {:.4g} Hz", a.frames(), a.clip.duration(), rate)}};
  if (model.base() == Base::kFree) {
    rows.push_back({"weight", fmt::format("{:.2f} N", s.weight)});
    rows.push_back({"mean vertical force", fmt::format("{:.2f} N, {:.2f} % of the weight", s.mean_vertical,
                                                       percent(s.mean_vertical, s.weight))});
    for (const SupportForces& support : a.supports) {
      rows.push_back({fmt::format("  largest of {}", support.name), fmt::format("{:.1f} N", peak_vertical(support))});
    }
    rows.push_back({"supported", fmt::format("{:.2f} % of the required force; {:.1f} % of the frames lack support",
                                             100 * s.supported, 100 * s.unsupported_frames)});
    rows.push_back(
        {"residual force", fmt::format("rms {:.3g} N ({:.2g} % of the weight), largest {:.3g} N", s.residual_force,
                                       percent(s.residual_force, s.weight), s.worst_force)});
    rows.push_back(
        {"residual moment", fmt::format("rms {:.3g} N·m, largest {:.3g} N·m", s.residual_moment, s.worst_moment)});
    rows.push_back({"largest friction", fmt::format("{:.3f} of the normal force", s.largest_friction)});
  }
  rows.push_back({"work of the joints", fmt::format("{:.4g} J, {:.4g} J", s.positive_work, s.negative_work)});
  std::string text = table(rows);
  if (model.base() == Base::kFree) text += phases_text(a);
  std::vector<JointUse> uses = joint_uses(model, a);
  std::stable_sort(uses.begin(), uses.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.torque) > std::abs(y.torque); });
  rows = {{"joint", "largest torque [N·m]", "at [s]", "largest power [W]", "work [J]"}};
  for (std::size_t k = 0; k < std::min<std::size_t>(uses.size(), 10); ++k) {
    const JointUse& u = uses[k];
    rows.push_back({model.dof_names()[std::size_t(u.v)], fmt::format("{:.1f}", u.torque), fmt::format("{:.3f}", u.time),
                    fmt::format("{:.1f}", u.power), fmt::format("{:.1f}", u.work)});
  }
  return text + "\nJoints with the largest torques\n" + table(rows);
}

std::string analysis_json(const Model& model, const Analysis& a) {
  const AnalysisSummary& s = a.summary;
  JsonWriter json;
  json.begin_object().entry("clip", a.clip.name).entry("figure", model.name()).entry("mass", model.mass());
  json.entry("frames", a.frames()).entry("duration", a.clip.duration()).entry("weight", s.weight);
  json.entry("supported", s.supported).entry("unsupported_frames", s.unsupported_frames);
  json.entry("mean_vertical", s.mean_vertical).entry("residual_force", s.residual_force);
  json.entry("residual_moment", s.residual_moment).entry("worst_force", s.worst_force);
  json.entry("fall", s.fall).entry("worst_moment", s.worst_moment).entry("largest_friction", s.largest_friction);
  json.entry("positive_work", s.positive_work).entry("negative_work", s.negative_work);
  json.key("supports").begin_array();
  for (const SupportForces& support : a.supports) {
    json.line().begin_object().entry("name", support.name).entry("grips", support.grips);
    json.entry("frames_down", int(std::count(support.down.begin(), support.down.end(), 1)));
    json.entry("peak_vertical", peak_vertical(support)).end_object();
  }
  json.end_array().key("gaps").begin_array();
  for (const SupportGap& gap : a.gaps) {
    json.line().begin_object().entry("first", gap.first).entry("last", gap.last);
    json.entry("found", gap.found).entry("needed", gap.needed).end_object();
  }
  json.end_array().key("phases").begin_array();
  for (const Phase& p : a.phases) {
    json.line().begin_object().entry("kind", to_string(p.kind)).entry("start", p.start).entry("end", p.end);
    json.key("supports").array(p.supports, [&](int i) { return a.supports[std::size_t(i)].name; });
    const std::size_t middle = std::size_t((p.first + p.last) / 2);
    write_vector(json, "zmp", a.zmp[middle]);
    json.end_object();
  }
  json.end_array().key("joints").begin_object();
  for (const JointUse& u : joint_uses(model, a)) {
    json.line().key(model.dof_names()[std::size_t(u.v)]).begin_object().entry("torque", u.torque).entry("at", u.time);
    json.entry("power", u.power).entry("work", u.work).end_object();
  }
  json.end_object().end_object();
  return json.take() + "\n";
}

std::string analysis_csv(const Model& model, const Analysis& a) {
  std::string text = "time,phase";
  const int base = model.base_coordinates().nv;
  for (const char* name : {"com/x [m]", "com/y [m]", "com/z [m]"}) text += fmt::format(",{}", name);
  if (base > 0) {
    for (const char* name : {"zmp/x [m]", "zmp/y [m]", "residual/tx [N·m]", "residual/ty [N·m]", "residual/tz [N·m]",
                             "residual/fx [N]", "residual/fy [N]", "residual/fz [N]"})
      text += fmt::format(",{}", name);
  }
  for (const SupportForces& s : a.supports) {
    text += fmt::format(",{0}/down,{0}/fx [N],{0}/fy [N],{0}/fz [N],{0}/px [m],{0}/py [m],{0}/pz [m]", s.name);
  }
  for (int v = base; v < model.nv(); ++v) text += fmt::format(",tau/{}", model.dof_names()[std::size_t(v)]);
  for (int v = base; v < model.nv(); ++v) text += fmt::format(",power/{}", model.dof_names()[std::size_t(v)]);
  text += "\n";
  std::size_t phase = 0;
  const auto add = [&](double x) { text += fmt::format(",{}", x); };
  for (int k = 0; k < a.frames(); ++k) {
    const std::size_t i = std::size_t(k);
    while (phase + 1 < a.phases.size() && a.phases[phase].last < k) ++phase;
    text += fmt::format("{},{}", a.clip.times[i], to_string(a.phases[phase].kind));
    add(a.com[i].x), add(a.com[i].y), add(a.com[i].z);
    if (base > 0) {
      text += a.zmp[i] ? fmt::format(",{},{}", a.zmp[i]->x, a.zmp[i]->y) : ",,";
      const Force<>& r = a.residual[i];
      add(r.t.x), add(r.t.y), add(r.t.z), add(r.f.x), add(r.f.y), add(r.f.z);
    }
    for (const SupportForces& s : a.supports) {
      add(s.down[i]), add(s.wrench[i].f.x), add(s.wrench[i].f.y), add(s.wrench[i].f.z);
      const std::optional<Vec3<>>& p = s.pressure[i];
      text += p ? fmt::format(",{},{},{}", p->x, p->y, p->z) : ",,,";
    }
    for (int v = base; v < model.nv(); ++v) add(a.tau(v, k));
    for (int v = base; v < model.nv(); ++v) add(a.power(v, k));
    text += "\n";
  }
  return text;
}

io::Recording analysis_recording(const Model& model, const Analysis& a, const std::vector<SupportHistory>& supports) {
  io::Recording out;
  out.header.figures.push_back({model.name().empty() ? "figure" : model.name(), model});
  out.header.environment.push_back({.name = "floor", .shape = Plane{}});
  out.header.notes = {{"title", a.clip.name}, {"program", "kansetsu analyze"}};
  for (const SupportForces& s : a.supports) out.header.numbers.push_back({s.name + " vertical force", "N"});
  out.header.numbers.push_back({"residual force", "N"});
  out.header.numbers.push_back({"residual moment", "N·m"});
  std::size_t phase = 0;
  for (int k = 0; k < a.frames(); ++k) {
    const std::size_t i = std::size_t(k);
    io::RecordedFrame frame{.time = a.clip.times[i] - a.clip.times.front()};
    State state;
    state.q = a.clip.q.col(k), state.v = a.v.col(k);
    frame.states.push_back(std::move(state));
    for (std::size_t s = 0; s < a.supports.size(); ++s) {
      frame.numbers.push_back(a.supports[s].wrench[i].f.z);
      if (!a.supports[s].pressure[i]) continue;
      frame.contacts.push_back({.a = {0, supports[s].support.link.value()},
                                .b = {},
                                .point = *a.supports[s].pressure[i],
                                .normal = supports[s].support.normal,
                                .force = a.supports[s].wrench[i].f});
    }
    frame.numbers.push_back(norm(a.residual[i].f));
    frame.numbers.push_back(norm(a.residual[i].t));
    while (phase < a.phases.size() && a.phases[phase].first <= k)
      frame.events.push_back(phase_name(a, a.phases[phase++]));
    out.frames.push_back(std::move(frame));
  }
  return out;
}

}  // namespace kansetsu::cli
