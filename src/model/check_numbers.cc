#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "model/checks.h"

namespace kansetsu {
namespace {

/// Walks over the numbers of one part of the description and reports those that are no use.
class NumberCheck {
 public:
  NumberCheck(Report& report, int line, std::string path) : report_(report), line_(line), path_(std::move(path)) {}

  void finite(std::string_view name, double x) {
    if (!std::isfinite(x)) {
      report_.add(ModelCode::kNotFinite, line_, path_, fmt::format("{} is {}", name, x));
    } else if (std::abs(x) > kLargestNumber) {
      report_.add(ModelCode::kOutOfRange, line_, path_, fmt::format("{} is out of range: {}", name, x));
    }
  }
  void finite(std::string_view name, const Vec3<>& a) {
    finite(fmt::format("{}.x", name), a.x);
    finite(fmt::format("{}.y", name), a.y);
    finite(fmt::format("{}.z", name), a.z);
  }
  void finite(std::string_view name, const Pose& pose) {
    finite(fmt::format("position of {}", name), pose.p);
    finite(fmt::format("rpy of {}", name), pose.rpy);
  }
  /// A limit may be infinite on its own side, or so large that it means the same.
  void lower(std::string_view name, double x) {
    if (std::isnan(x) || x == kInfinity)
      report_.add(ModelCode::kNotFinite, line_, path_, fmt::format("{} is {}", name, x));
  }
  void upper(std::string_view name, double x) {
    if (std::isnan(x) || x == -kInfinity)
      report_.add(ModelCode::kNotFinite, line_, path_, fmt::format("{} is {}", name, x));
  }

 private:
  Report& report_;
  int line_;
  std::string path_;
};

void check_shape(NumberCheck& check, const LinkShape& shape) {
  check.finite("origin", shape.origin);
  std::visit(
      [&](const auto& s) {
        using S = std::decay_t<decltype(s)>;
        if constexpr (std::is_same_v<S, Box>) {
          check.finite("size", s.size);
        } else if constexpr (std::is_same_v<S, Mesh>) {
          check.finite("scale", s.scale);
        } else if constexpr (std::is_same_v<S, ConvexHull>) {
          for (const Vec3<>& vertex : s.vertices) check.finite("vertex", vertex);
        } else if constexpr (std::is_same_v<S, HeightField>) {
          check.finite("size_x", s.size_x);
          check.finite("size_y", s.size_y);
          for (double height : s.heights) check.finite("height", height);
        } else if constexpr (std::is_same_v<S, TriangleMesh>) {
          if (!s.data) return;
          for (const Vec3<>& vertex : s.data->vertices) check.finite("vertex", vertex);
        } else if constexpr (!std::is_same_v<S, Plane>) {
          check.finite("radius", s.radius);
          if constexpr (!std::is_same_v<S, Sphere>) check.finite("length", s.length);
        }
      },
      shape.shape);
}

void check_link(const LinkDescription& link, Report& report) {
  if (link.inertial) {
    NumberCheck check(report, link.line, link_path(link) + "/inertial");
    const Sym3<>& I = link.inertial->inertia;
    check.finite("mass", link.inertial->mass);
    check.finite("origin", link.inertial->origin);
    check.finite("inertia.xx", I.xx);
    check.finite("inertia.xy", I.xy);
    check.finite("inertia.xz", I.xz);
    check.finite("inertia.yy", I.yy);
    check.finite("inertia.yz", I.yz);
    check.finite("inertia.zz", I.zz);
  }
  const auto shapes = [&](const char* kind, const std::vector<LinkShape>& list) {
    for (int i = 0; const LinkShape& shape : list) {
      NumberCheck check(report, link.line, fmt::format("{}/{}[{}]", link_path(link), kind, i++));
      check_shape(check, shape);
    }
  };
  shapes("visual", link.visuals);
  shapes("collision", link.collisions);
}

void check_joint(const JointDescription& joint, Report& report) {
  NumberCheck check(report, joint.line, joint_path(joint));
  check.finite("socket", joint.socket);
  check.finite("plug", joint.plug);
  check.finite("axis", joint.axis);
  check.finite("second axis", joint.second_axis);
  check.finite("pitch", joint.pitch);
  for (int k = 0; const DofDescription& dof : joint.dofs) {
    NumberCheck dof_check(report, joint.line, dof_path(joint, k++));
    dof_check.lower("lower limit", dof.lower);
    dof_check.upper("upper limit", dof.upper);
    dof_check.upper("velocity limit", dof.velocity);
    dof_check.upper("effort limit", dof.effort);
    dof_check.finite("rotor inertia", dof.rotor_inertia);
    dof_check.finite("damping", dof.damping);
    dof_check.finite("friction", dof.friction);
    dof_check.finite("stiffness", dof.stiffness);
    dof_check.finite("rest position", dof.rest);
  }
  if (joint.swing_twist) {
    check.upper("swing limit", joint.swing_twist->swing);
    check.lower("lower twist limit", joint.swing_twist->twist_lower);
    check.upper("upper twist limit", joint.swing_twist->twist_upper);
  }
}

}  // namespace

void check_numbers(const ModelDescription& d, Report& report) {
  NumberCheck model(report, 0, fmt::format("model[{}]", d.name));
  model.finite("base pose", d.base_pose);
  model.finite("gravity", d.gravity);
  for (const LinkDescription& link : d.links) check_link(link, report);
  for (const JointDescription& joint : d.joints) check_joint(joint, report);
  for (const Coupling& c : d.couplings) {
    NumberCheck check(report, c.line, fmt::format("coupling[{}]", c.dependent.joint));
    check.finite("offset", c.offset);
    for (const Coupling::Term& term : c.terms) check.finite(fmt::format("ratio to '{}'", term.dof.joint), term.ratio);
  }
  for (const FrameDescription& frame : d.frames) {
    NumberCheck(report, 0, fmt::format("frame[{}]", frame.name)).finite("origin", frame.origin);
  }
  for (const Actuator& actuator : d.actuators) {
    NumberCheck check(report, 0, fmt::format("actuator[{}]", actuator.name));
    check.finite("gear", actuator.gear);
    check.upper("effort limit", actuator.effort);
  }
}

}  // namespace kansetsu
