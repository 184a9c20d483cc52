#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "io/file_report.h"
#include "io/urdf/urdf_codes.h"
#include "io/xml_writer.h"
#include "kansetsu/io/urdf.h"
#include "model/joint_motion.h"
#include "model/model_schema.h"

namespace kansetsu::io {
namespace {

/// The largest double instead of infinity, which other programs do not read.
double limit_text(double x) {
  return std::clamp(x, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
}

const char* urdf_name(const JointDescription& joint) {
  if (joint.continuous && joint.type == JointType::kRevolute) return "continuous";
  if (joint.type == JointType::kFree) return "floating";
  return info(joint.type).name.data();
}

bool is_urdf_type(JointType type) {
  return type == JointType::kFixed || type == JointType::kRevolute || type == JointType::kPrismatic ||
         type == JointType::kPlanar || type == JointType::kFree;
}

class UrdfWriter {
 public:
  explicit UrdfWriter(const ModelDescription& model) : model_(model) {
    for (const JointDescription& joint : model.joints) joints_.emplace(joint.name, &joint);
    for (const Material& material : model.materials) materials_.emplace(material.name, &material);
    for (const Coupling& coupling : model.couplings) {
      if (is_mimic(coupling)) mimics_.emplace(coupling.dependent.joint, &coupling);
    }
  }

  Loaded<std::string> write() {
    xml_.open("robot").attribute("name", model_.name);
    for (const Material& material : model_.materials) write_material(material);
    for (const LinkDescription& link : model_.links) write_link(link);
    for (const JointDescription& joint : model_.joints) write_joint(joint);
    for (const FrameDescription& frame : model_.frames) {
      xml_.open("frame").attribute("name", frame.name).attribute("link", frame.link);
      pose_attributes(frame.origin);
      xml_.close();
    }
    write_model_extension();
    xml_.close();
    if (lost_contact_data_) {
      report(Severity::kWarning, urdf::kContactData, {}, "contact masks and surfaces of shapes are not written",
             "URDF cannot express them; a scene file can");
    }
    if (!xml_.values().finite)
      report(Severity::kError, urdf::kNotFinite, {}, "the model contains numbers that are not finite",
             "write finite numbers");
    if (!xml_.values().clean) {
      report(Severity::kError, urdf::kCharacters, {}, "a name contains control characters or is not valid UTF-8",
             "use letters, digits and punctuation");
    }
    return loaded(xml_.text(), std::move(diagnostics_));
  }

 private:
  void report(Severity severity, const char* code, std::string path, std::string message, std::string hint) {
    diagnostics_.push_back({severity, code, {}, 0, std::move(path), std::move(message), std::move(hint)});
  }

  /// q = multiplier·q_other + offset between joints of one coordinate, the first such coupling of its joint.
  bool is_mimic(const Coupling& coupling) const {
    const auto one_dof = [&](const DofRef& dof) {
      const auto joint = joints_.find(dof.joint);
      return dof.index == 0 && joint != joints_.end() && info(joint->second->type).nv == 1;
    };
    return coupling.terms.size() == 1 && one_dof(coupling.dependent) && one_dof(coupling.terms[0].dof);
  }
  bool is_written_as_mimic(const Coupling& coupling) const {
    const auto mimic = mimics_.find(coupling.dependent.joint);
    return mimic != mimics_.end() && mimic->second == &coupling;
  }

  void pose_attributes(const Pose& pose) {
    if (pose.p != Vec3<>{}) xml_.attribute("xyz", pose.p);
    if (pose.rpy != Vec3<>{}) xml_.attribute("rpy", pose.rpy);
  }
  void write_origin(const Pose& pose) {
    if (pose == Pose{}) return;
    xml_.open("origin").attribute("xyz", pose.p).attribute("rpy", pose.rpy).close();
  }

  void write_material(const Material& material) {
    xml_.open("material").attribute("name", material.name);
    if (material.rgba) xml_.open("color").attribute("rgba", *material.rgba).close();
    if (!material.texture.empty()) xml_.open("texture").attribute("filename", material.texture).close();
    xml_.close();
  }
  /// By name only, if it is one of the model's materials.
  void write_use(const Material& material) {
    const auto global = materials_.find(material.name);
    if (global == materials_.end() || *global->second != material) return write_material(material);
    xml_.open("material").attribute("name", material.name).close();
  }

  void write_shape(const Sphere& s) { xml_.open("sphere").attribute("radius", s.radius).close(); }
  void write_shape(const Box& s) { xml_.open("box").attribute("size", s.size).close(); }
  void write_shape(const Cylinder& s) {
    xml_.open("cylinder").attribute("radius", s.radius).attribute("length", s.length).close();
  }
  void write_shape(const Capsule& s) {
    xml_.open("capsule").attribute("radius", s.radius).attribute("length", s.length).close();
  }
  void write_shape(const Mesh& s) {
    xml_.open("mesh").attribute("filename", s.uri);
    if (s.scale != Vec3<>{1, 1, 1}) xml_.attribute("scale", s.scale);
    xml_.close();
  }
  template <class S>
  void write_shape(const S&) {}  // left out before

  /// The kind of a shape that URDF does not have; empty if it has it.
  static std::string_view foreign_shape(const Shape& shape) {
    if (std::holds_alternative<Plane>(shape)) return "planes";
    if (std::holds_alternative<ConvexHull>(shape)) return "convex hulls";
    if (std::holds_alternative<HeightField>(shape)) return "height fields";
    return std::holds_alternative<TriangleMesh>(shape) ? "meshes without a file" : "";
  }

  void write_link_shape(const char* tag, const LinkShape& shape, const LinkDescription& link) {
    if (const std::string_view what = foreign_shape(shape.shape); !what.empty()) {
      report(Severity::kWarning, urdf::kForeignShape, fmt::format("link[{}]", link.name),
             fmt::format("URDF has no {}; the shape is ignored", what),
             "write it to a mesh file and refer to that, or use a box");
      return;
    }
    if (shape.contype != 1 || shape.conaffinity != 1 || !shape.surface.empty()) lost_contact_data_ = true;
    xml_.open(tag);
    if (!shape.name.empty()) xml_.attribute("name", shape.name);
    write_origin(shape.origin);
    xml_.open("geometry");
    std::visit([&](const auto& s) { write_shape(s); }, shape.shape);
    xml_.close();
    if (shape.material) write_use(*shape.material);
    xml_.close();
  }

  void write_link(const LinkDescription& link) {
    xml_.open("link").attribute("name", link.name);
    if (link.inertial) {
      const Sym3<>& I = link.inertial->inertia;
      xml_.open("inertial");
      write_origin(link.inertial->origin);
      xml_.open("mass").attribute("value", link.inertial->mass).close();
      xml_.open("inertia").attribute("ixx", I.xx).attribute("ixy", I.xy).attribute("ixz", I.xz);
      xml_.attribute("iyy", I.yy).attribute("iyz", I.yz).attribute("izz", I.zz).close();
      xml_.close();
    }
    for (const LinkShape& shape : link.visuals) write_link_shape("visual", shape, link);
    for (const LinkShape& shape : link.collisions) write_link_shape("collision", shape, link);
    xml_.close();
  }

  void write_joint(const JointDescription& joint) {
    const std::string path = fmt::format("joint[{}]", joint.name);
    if (joint.plug != Pose{}) {
      report(Severity::kError, urdf::kPlug, path, "URDF has no plug frame: the joint frame is the child's own",
             "move the child link's frame into the plug frame, with its inertia, shapes and joints");
    }
    if (!is_urdf_type(joint.type)) {
      report(Severity::kWarning, urdf::kForeignJoint, path,
             fmt::format("URDF has no {} joints; only Kansetsu will read this file", info(joint.type).name),
             "for other programs, replace it by hinges and slides with massless links between them");
    }
    xml_.open("joint").attribute("name", joint.name).attribute("type", urdf_name(joint));
    write_origin(joint.socket);
    xml_.open("parent").attribute("link", joint.parent).close();
    xml_.open("child").attribute("link", joint.child).close();
    if (uses_axis(joint, PrimitiveAxis::kAxis)) xml_.open("axis").attribute("xyz", joint.axis).close();
    if (info(joint.type).nv == 1 && !joint.dofs.empty()) write_dof(joint, joint.dofs[0]);
    if (const auto mimic = mimics_.find(joint.name); mimic != mimics_.end()) write_mimic(*mimic->second);
    write_joint_extension(joint);
    xml_.close();
  }

  /// <limit> and <dynamics>, with all attributes: defaults differ between programs.
  void write_dof(const JointDescription& joint, const DofDescription& dof) {
    if (!joint.continuous || dof.effort < kInfinity || dof.velocity < kInfinity) {
      xml_.open("limit");
      if (!joint.continuous) {
        xml_.attribute("lower", limit_text(dof.lower)).attribute("upper", limit_text(dof.upper));
      }
      xml_.attribute("effort", limit_text(dof.effort)).attribute("velocity", limit_text(dof.velocity)).close();
    }
    if (dof.damping != 0 || dof.friction != 0) {
      xml_.open("dynamics").attribute("damping", dof.damping).attribute("friction", dof.friction).close();
    }
  }

  void write_mimic(const Coupling& coupling) {
    xml_.open("mimic").attribute("joint", coupling.terms[0].dof.joint);
    xml_.attribute("multiplier", coupling.terms[0].ratio).attribute("offset", coupling.offset).close();
  }

  /// Whether a number of a coordinate is not written by write_dof().
  bool is_extra(const JointDescription& joint, const DofDescription& dof, const DofField& a) const {
    if (dof.*a.member == DofDescription{}.*a.member) return false;
    if (info(joint.type).nv > 1) return true;
    if (a.member == &DofDescription::lower || a.member == &DofDescription::upper) return joint.continuous;
    return a.range == NumberRange::kFinite && a.member != &DofDescription::damping &&
           a.member != &DofDescription::friction;
  }

  void write_joint_extension(const JointDescription& joint) {
    const auto extra = [&](const DofDescription& dof) {
      return std::ranges::any_of(kDofFields, [&](const DofField& a) { return is_extra(joint, dof, a); });
    };
    const bool two_axes = uses_axis(joint, PrimitiveAxis::kSecondAxis);
    const bool any = std::ranges::any_of(joint.dofs, extra);
    if (!any && !two_axes && joint.type != JointType::kHelical && !joint.swing_twist) return;
    xml_.open("kansetsu");
    if (joint.type == JointType::kHelical) xml_.attribute("pitch", joint.pitch);
    if (two_axes) xml_.attribute("second_axis", joint.second_axis);
    for (int i = 0; const DofDescription& dof : joint.dofs) {
      if (extra(dof)) write_extra(joint, dof, i);
      ++i;
    }
    if (joint.swing_twist) {
      const SwingTwistLimit& limit = *joint.swing_twist;
      xml_.open("swing_twist").attribute("swing", limit_text(limit.swing));
      xml_.attribute("lower", limit_text(limit.twist_lower)).attribute("upper", limit_text(limit.twist_upper)).close();
    }
    xml_.close();
  }

  void write_extra(const JointDescription& joint, const DofDescription& dof, int index) {
    xml_.open("dof");
    if (info(joint.type).nv > 1) xml_.attribute("index", index);
    for (const DofField& a : kDofFields) {
      if (!is_extra(joint, dof, a)) continue;
      xml_.attribute(a.key, a.range == NumberRange::kFinite ? dof.*a.member : limit_text(dof.*a.member));
    }
    xml_.close();
  }

  void dof_attributes(const DofRef& dof) {
    xml_.attribute("joint", dof.joint);
    if (dof.index != 0) xml_.attribute("index", dof.index);
  }

  void write_coupling(const Coupling& coupling) {
    report(Severity::kWarning, urdf::kForeignCoupling, fmt::format("joint[{}]", coupling.dependent.joint),
           "URDF has no gear with several terms or coordinates; other programs will see a free joint",
           "for other programs, keep only gears between two joints of one coordinate each");
    xml_.open("coupling");
    dof_attributes(coupling.dependent);
    xml_.attribute("offset", coupling.offset);
    for (const Coupling::Term& term : coupling.terms) {
      xml_.open("term");
      dof_attributes(term.dof);
      xml_.attribute("ratio", term.ratio).close();
    }
    xml_.close();
  }

  void write_actuator(const Actuator& actuator) {
    xml_.open("actuator").attribute("name", actuator.name);
    dof_attributes(actuator.dof);
    xml_.attribute("gear", actuator.gear);
    if (actuator.effort < kInfinity) xml_.attribute("effort", actuator.effort);
    xml_.close();
  }

  void write_model_extension() {
    const auto foreign = [&](const Coupling& c) { return !is_written_as_mimic(c); };
    const bool couplings = std::ranges::any_of(model_.couplings, foreign);
    const bool gravity = model_.gravity != ModelDescription{}.gravity;
    if (model_.base == Base::kFixed && !gravity && model_.base_pose == Pose{} && !couplings &&
        model_.actuators.empty() && model_.collision_filters.empty()) {
      return;
    }
    xml_.open("kansetsu");
    if (model_.base == Base::kFree) xml_.attribute("base", "free");
    if (gravity) xml_.attribute("gravity", model_.gravity);
    write_origin(model_.base_pose);
    for (const Coupling& coupling : model_.couplings) {
      if (foreign(coupling)) write_coupling(coupling);
    }
    for (const Actuator& actuator : model_.actuators) write_actuator(actuator);
    for (const CollisionFilter& pair : model_.collision_filters) {
      xml_.open("collision_filter").attribute("a", pair.a).attribute("b", pair.b).close();
    }
    xml_.close();
  }

  const ModelDescription& model_;
  XmlWriter xml_;
  std::vector<Diagnostic> diagnostics_;
  std::map<std::string, const JointDescription*> joints_;
  std::map<std::string, const Material*> materials_;
  std::map<std::string, const Coupling*> mimics_;
  bool lost_contact_data_ = false;
};

}  // namespace

Loaded<std::string> to_urdf(const ModelDescription& description) {
  if (std::vector<Diagnostic> problems = errors_of(validate(description)); !problems.empty())
    return {std::nullopt, std::move(problems)};
  return UrdfWriter(description).write();
}

std::vector<Diagnostic> write_urdf(const ModelDescription& description, const std::filesystem::path& file) {
  return replace_file(file, to_urdf(description), urdf::kCannotWrite);
}

}  // namespace kansetsu::io
