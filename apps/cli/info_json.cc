#include "cli/info.h"
#include "cli/json_writer.h"
#include "kansetsu/base/cpu.h"

namespace kansetsu::cli {
namespace {

void write_pose(JsonWriter& json, const Pose& pose) {
  json.begin_object().entry("p", pose.p).entry("rpy", pose.rpy).end_object();
}

void write_link(JsonWriter& json, const Model& model, LinkId id) {
  const LinkDescription& link = model.link(id);
  const Inertial inertial = link.inertial.value_or(Inertial{});
  const Sym3<>& I = inertial.inertia;
  json.line().begin_object().entry("name", link.name).entry("mass", inertial.mass);
  json.key("inertial_pose");
  write_pose(json, inertial.origin);
  json.key("inertia").begin_object().entry("xx", I.xx).entry("yy", I.yy).entry("zz", I.zz);
  json.entry("xy", I.xy).entry("xz", I.xz).entry("yz", I.yz).end_object();
  json.entry("visuals", int(link.visuals.size())).entry("collisions", int(link.collisions.size())).end_object();
}

/// A dependent coordinate as a function of the independent ones: {"terms": {dof: ratio}, "offset": x}.
void write_row(JsonWriter& json, const Model& model, const Model::Row& row) {
  json.begin_object().key("terms").begin_object();
  for (const auto& [column, ratio] : row.terms) json.entry(model.dof_names()[std::size_t(column)], ratio);
  json.end_object().entry("offset", row.offset).end_object();
}

void write_coordinate(JsonWriter& json, const Model& model, JointId id, int index) {
  const DofDescription& d = model.dof(id, index);
  json.begin_object().entry("name", coordinate_name(model.joint(id), index));
  json.entry("lower", d.lower).entry("upper", d.upper).entry("velocity", d.velocity).entry("effort", d.effort);
  json.entry("rotor_inertia", d.rotor_inertia).entry("damping", d.damping).entry("friction", d.friction);
  json.entry("stiffness", d.stiffness).entry("rest", d.rest).key("follows");
  write_row(json, model, model.row(id, index));
  json.end_object();
}

void write_joint(JsonWriter& json, const Model& model, JointId id) {
  const JointDescription& joint = model.joint(id);
  const CoordinateRange range = model.coordinates(id);
  json.line().begin_object().entry("name", joint.name).entry("type", info(joint.type).name);
  json.entry("continuous", joint.continuous).entry("parent", joint.parent).entry("child", joint.child);
  json.key("socket");
  write_pose(json, joint.socket);
  json.key("plug");
  write_pose(json, joint.plug);
  json.entry("axis", joint.axis);
  if (joint.type == JointType::kUniversal) json.entry("second_axis", joint.second_axis);
  if (joint.type == JointType::kHelical) json.entry("pitch", joint.pitch);
  json.entry("q", range.q).entry("nq", range.nq).entry("v", range.v).entry("nv", range.nv);
  json.key("coordinates").begin_array();
  for (int k = 0; k < info(joint.type).nv; ++k) write_coordinate(json, model, id, k);
  json.end_array().end_object();
}

void write_attachments(JsonWriter& json, const ModelDescription& d) {
  json.key("frames").begin_array();
  for (const FrameDescription& f : d.frames) {
    json.begin_object().entry("name", f.name).entry("link", f.link).key("pose");
    write_pose(json, f.origin);
    json.end_object();
  }
  json.end_array().key("actuators").begin_array();
  for (const Actuator& a : d.actuators) {
    json.begin_object().entry("name", a.name).entry("joint", a.dof.joint).entry("index", a.dof.index);
    json.entry("gear", a.gear).entry("effort", a.effort).end_object();
  }
  json.end_array();
}

}  // namespace

std::string info_json(const Model& model) {
  const ModelDescription& d = model.description();
  JsonWriter json;
  json.begin_object().entry("name", d.name).entry("file", d.file);
  json.entry("base", model.base() == Base::kFree ? "free" : "fixed").key("base_pose");
  write_pose(json, d.base_pose);
  json.entry("gravity", model.gravity()).entry("mass", model.mass()).entry("nq", model.nq()).entry("nv", model.nv());
  json.key("dofs").array(model.dof_names()).key("links").begin_array();
  for (int i = 0; i < model.link_count(); ++i) write_link(json, model, LinkId(i));
  json.end_array().key("joints").begin_array();
  for (int j = 0; j < model.joint_count(); ++j) write_joint(json, model, JointId(j));
  json.end_array();
  write_attachments(json, d);
  json.key("coupling_groups").begin_array();
  for (const auto& group : coupling_groups(model)) json.array(group);
  json.end_array().key("loops").begin_array().end_array().key("massless_joints");
  json.array(model.massless_joints(), [&](JointId id) { return model.joint(id).name; })
      .entry("instruction_set", to_string(instruction_set()));
  return json.end_object().take() + "\n";
}

}  // namespace kansetsu::cli
