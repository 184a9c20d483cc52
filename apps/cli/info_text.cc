#include <fmt/ranges.h>

#include "cli/info.h"
#include "cli/table.h"
#include "kansetsu/base/cpu.h"

namespace kansetsu::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string number(double x) { return fmt::format("{:.6g}", x); }
std::string vector(const Vec3<>& x) { return fmt::format("({:.6g} {:.6g} {:.6g})", x.x, x.y, x.z); }
std::string limit(double x) { return x < kInfinity ? number(x) : "–"; }
std::string range(double lower, double upper) {
  return lower > -kInfinity || upper < kInfinity
             ? fmt::format("{} … {}", lower > -kInfinity ? number(lower) : "–", limit(upper))
             : "–";
}

std::string pose(const Pose& p) { return p == Pose{} ? "" : fmt::format(" at {}, rpy {}", vector(p.p), vector(p.rpy)); }

/// "−2·knee + 0.5" for a coordinate determined by a gear, "" for others.
std::string gear(const Model& model, const JointDescription& joint, int index) {
  const auto& couplings = model.description().couplings;
  const auto found = std::find_if(couplings.begin(), couplings.end(),
                                  [&](const Coupling& c) { return c.dependent == DofRef{joint.name, index}; });
  if (found == couplings.end()) return "";
  std::string text = "=";
  for (const Coupling::Term& term : found->terms) {
    const JointDescription& other = model.joint(model.joint_id(term.dof.joint));
    text += fmt::format("{} {:.6g}·{}", text == "=" ? "" : " +", term.ratio, coordinate_name(other, term.dof.index));
  }
  if (found->offset != 0 || found->terms.empty()) text += fmt::format(" + {:.6g}", found->offset);
  return text;
}

std::string axes(const JointDescription& joint) {
  std::string text;
  for (const Primitive& p : info(joint.type).chain) {
    if (p.axis == PrimitiveAxis::kAxis && text.empty()) text = vector(joint.axis);
    if (p.axis == PrimitiveAxis::kSecondAxis) text += " " + vector(joint.second_axis);
  }
  if (joint.type == JointType::kHelical) text += fmt::format(", {:.6g} m/rad", joint.pitch);
  return text.empty() ? "–" : text;
}

/// Data other than limits: "rotor 0.1, damping 2".
std::string extras(const DofDescription& d) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, double x) {
    if (x != 0) parts.push_back(fmt::format("{} {:.6g}", name, x));
  };
  add("rotor", d.rotor_inertia);
  add("damping", d.damping);
  add("friction", d.friction);
  add("stiffness", d.stiffness);
  add("rest", d.rest);
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string joint_table(const Model& model) {
  Rows rows{{"joint", "type", "parent → child", "axis", "v", "range", "velocity", "effort", "gear and more"}};
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const std::string type = joint.continuous ? "continuous" : std::string(info(joint.type).name);
    const std::string between = fmt::format("{} → {}", joint.parent, joint.child);
    if (info(joint.type).nv == 0) rows.push_back({joint.name, type, between});
    int column = model.coordinates(JointId(j)).v;
    for (int k = 0; k < info(joint.type).nv; ++k) {
      const DofDescription& d = model.dof(JointId(j), k);
      const std::string follows = gear(model, joint, k), more = extras(d);
      const bool first = k == 0;
      rows.push_back({coordinate_name(joint, k), first ? type : "", first ? between : "", first ? axes(joint) : "",
                      follows.empty() ? std::to_string(column++) : "–", range(d.lower, d.upper), limit(d.velocity),
                      limit(d.effort), follows + (follows.empty() || more.empty() ? "" : ", ") + more});
    }
  }
  return table(rows);
}

std::string list_of(const std::vector<std::vector<std::string>>& groups) {
  std::string text;
  for (const auto& group : groups) text += fmt::format("{}{{{}}}", text.empty() ? "" : ", ", fmt::join(group, ", "));
  return text.empty() ? "none" : text;
}

std::string overview(const Model& model) {
  std::vector<std::string> massless;
  for (const JointId id : model.massless_joints()) massless.push_back(model.joint(id).name);
  Rows rows{
      {"base", (model.base() == Base::kFree ? "free" : "fixed") + pose(model.description().base_pose)},
      {"gravity", vector(model.gravity()) + " m/s²"},
      {"mass", number(model.mass()) + " kg"},
      {"size", fmt::format("{} links, {} joints, nq {}, nv {}", model.link_count(), model.joint_count(), model.nq(),
                           model.nv())},
      {"coupling groups", list_of(coupling_groups(model))},
      {"loops", "none"},
      {"instruction set", to_string(instruction_set())},
  };
  if (!massless.empty()) rows.push_back({"joints that move no mass", fmt::format("{}", fmt::join(massless, ", "))});
  if (!model.description().file.empty()) rows.insert(rows.begin(), {"file", model.description().file});
  return table(rows);
}

}  // namespace

std::string info_text(const Model& model) {
  const ModelDescription& d = model.description();
  std::string text = fmt::format("{}\n{}\ntree\n", d.name, overview(model));
  for (const std::string& line : draw_tree(model)) text += "  " + line + "\n";
  if (model.joint_count() > 0)
    text += "\njoints (SI units, radians; limits are data, dynamics do not apply them)\n" + joint_table(model);
  if (!d.frames.empty()) {
    Rows rows;
    for (const FrameDescription& f : d.frames) rows.push_back({f.name, "on " + f.link + pose(f.origin)});
    text += "\nframes\n" + table(rows);
  }
  if (!d.actuators.empty()) {
    Rows rows{{"actuator", "drives", "gear", "effort"}};
    for (const Actuator& a : d.actuators) {
      const JointDescription& joint = model.joint(model.joint_id(a.dof.joint));
      rows.push_back({a.name, coordinate_name(joint, a.dof.index), number(a.gear), limit(a.effort)});
    }
    text += "\nactuators\n" + table(rows);
  }
  return text;
}

}  // namespace kansetsu::cli
