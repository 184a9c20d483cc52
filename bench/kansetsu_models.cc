#include "kansetsu_models.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "kansetsu/base/error.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::bench {
namespace {

constexpr double kRotorInertia = 0.01;

struct Robot {
  const char *name, *file;
  Base base;
  std::vector<std::string> locked;
};
const Robot kRobots[] = {
    {"panda7", "panda.urdf", Base::kFixed, {"panda_finger_joint1"}},  // the other finger follows it
    {"anymal_c", "anymal_c.urdf", Base::kFree, {}},
    {"atlas", "atlas_minimal_contact.urdf", Base::kFree, {}},
    {"simple_humanoid", "simple_humanoid.urdf", Base::kFree, {}},
};

Model human_with_rotors() {
  ModelDescription description = human28().description();
  for (JointDescription& joint : description.joints) {
    joint.dofs.resize(size_t(info(joint.type).nv));
    for (DofDescription& dof : joint.dofs) dof.rotor_inertia = kRotorInertia;
  }
  return value_or_throw(Model::build(std::move(description)));
}

void copy(const Mat3<>& R, double* out) {
  for (const Vec3<>& row : {R.x, R.y, R.z}) *out++ = row.x, *out++ = row.y, *out++ = row.z;
}
void copy(const Vec3<>& a, double* out) { *out++ = a.x, *out++ = a.y, *out++ = a.z; }

/// @param X_BL  the link's frame in the body's
void export_inertia(const LinkDescription& link, const Transform<>& X_BL, BodyData& body) {
  if (!link.inertial) return;
  const Transform<> X_BC = X_BL * to_transform(link.inertial->origin);
  body.mass = link.inertial->mass;
  copy(X_BC.p, body.com);
  const Mat3<> I = X_BC.R * to_mat3(link.inertial->inertia) * transpose(X_BC.R);
  const double values[] = {I.x.x, I.x.y, I.x.z, I.y.y, I.y.z, I.z.z};
  std::copy(std::begin(values), std::end(values), body.inertia);
}

BodyData export_body(const Model& model, LinkId link, int parent, const Transform<>& X_parent_link) {
  BodyData body{};
  body.parent = parent;
  if (link.value() == 0) {  // the free base
    body.type = kFreeBody;
    copy(Mat3<>::identity(), body.R);
    export_inertia(model.link(link), {}, body);
    return body;
  }
  const JointId id(link.value() - 1);
  const JointDescription& joint = model.joint(id);
  if (joint.type != JointType::kRevolute && joint.type != JointType::kPrismatic) {
    throw Error("benchmark: joint " + joint.name + " is neither revolute nor prismatic");
  }
  body.type = joint.type == JointType::kRevolute ? kRevoluteBody : kPrismaticBody;
  const Transform<> X = X_parent_link * to_transform(joint.socket);
  copy(X.R, body.R);
  copy(X.p, body.p);
  copy((1 / std::sqrt(dot(joint.axis, joint.axis))) * joint.axis, body.axis);
  body.rotor_inertia = model.dof(id, 0).rotor_inertia;
  export_inertia(model.link(link), inverse(to_transform(joint.plug)), body);
  return body;
}

}  // namespace

std::optional<Model> find_model(const std::string& name) {
  if (name == "human28") return merge_fixed_links(human_with_rotors());
  if (auto figure = find_figure(name)) return merge_fixed_links(*figure);
  const char* folder = std::getenv("KANSETSU_DATA_DIR");
  for (const Robot& robot : kRobots) {
    if (name != robot.name || !folder) continue;
    const std::filesystem::path file = std::filesystem::path(folder) / "robots" / "urdf" / robot.file;
    if (!std::filesystem::exists(file)) return std::nullopt;
    Model model = value_or_throw(io::load_urdf(file, {.base = robot.base}));
    if (!robot.locked.empty()) model = lock_joints(model, robot.locked, neutral(model));
    return merge_fixed_links(model);
  }
  return std::nullopt;
}

/// A body's frame is its joint's plug, so that its pose at q = 0 is a socket.
void export_model(const Model& model, const std::string& name, ExportedModel& out) {
  out.name = name;
  const bool fixed = model.base() == Base::kFixed;
  std::vector<int> body_of_link(size_t(model.link_count()), -1);
  for (int l = fixed ? 1 : 0; l < model.link_count(); ++l) {
    const LinkId link(l);
    int parent = -1;
    Transform<> X_parent_link;  // parent link in its body, or in the world
    if (l > 0) {
      const LinkId up = *model.parent(link);
      parent = body_of_link[size_t(up.value())];
      if (parent >= 0)
        X_parent_link = inverse(out.X_LB[size_t(parent)]);
      else
        X_parent_link = to_transform(model.description().base_pose);
    }
    body_of_link[size_t(l)] = int(out.bodies.size());
    out.bodies.push_back(export_body(model, link, parent, X_parent_link));
    out.X_LB.push_back(l > 0 ? to_transform(model.joint(JointId(l - 1)).plug) : Transform<>{});
    out.links.push_back(link);
  }
  const Vec3<>& g = model.gravity();
  out.data = {out.name.c_str(), int(out.bodies.size()), model.nq(), model.nv(), out.bodies.data(), {g.x, g.y, g.z}};
}

}  // namespace kansetsu::bench
