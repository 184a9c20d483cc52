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
    {"panda_gripper", "panda.urdf", Base::kFixed, {}},
    {"robotiq85", "robotiq_c2_model.urdf", Base::kFixed, {}},
    {"anymal_c", "anymal_c.urdf", Base::kFree, {}},
    {"atlas", "atlas_minimal_contact.urdf", Base::kFree, {}},
    {"simple_humanoid", "simple_humanoid.urdf", Base::kFree, {}},
};

/// Every joint with its own coordinate gets a rotor. Files without any mass, like that of the Robotiq gripper, get 50 g per
/// link, 2 cm before its origin.
Model prepared(const Model& model) {
  ModelDescription description = model.description();
  for (JointDescription& joint : description.joints) {
    joint.dofs.resize(size_t(info(joint.type).nv));
    if (model.coordinates(model.joint_id(joint.name)).nv == 0) continue;
    for (DofDescription& dof : joint.dofs) dof.rotor_inertia = kRotorInertia;
  }
  if (model.mass() == 0) {
    for (LinkDescription& link : description.links) {
      link.inertial = Inertial{.mass = 0.05, .inertia = {1e-5, 0, 0, 2e-5, 0, 3e-5}};
      link.inertial->origin.p = {0.02, 0, 0};
    }
  }
  return merge_fixed_links(value_or_throw(Model::build(std::move(description))));
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
  body.leader = -1;
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
  if (auto figure = find_figure(name)) return prepared(*figure);
  const char* folder = std::getenv("KANSETSU_DATA_DIR");
  for (const Robot& robot : kRobots) {
    if (name != robot.name || !folder) continue;
    const std::filesystem::path file = std::filesystem::path(folder) / "robots" / "urdf" / robot.file;
    if (!std::filesystem::exists(file)) return std::nullopt;
    Model model = value_or_throw(io::load_urdf(file, {.base = robot.base}));
    if (!robot.locked.empty()) model = lock_joints(model, robot.locked, neutral(model));
    return prepared(model);
  }
  return std::nullopt;
}

namespace {

/// The body with whose joint a dependent joint moves.
void export_coupling(const Model& model, JointId joint, ExportedModel& out, BodyData& body) {
  const Model::Row& row = model.row(joint, 0);
  if (row.terms.size() != 1) throw Error("benchmark: joint " + model.joint(joint).name + " follows several others");
  body.ratio = row.terms[0].second;
  body.offset = row.offset;
  for (size_t b = 0; b < out.links.size(); ++b) {
    const int l = out.links[b].value();
    if (l == 0) continue;
    const CoordinateRange range = model.coordinates(JointId(l - 1));
    if (range.nv == 1 && range.v == row.terms[0].first) body.leader = int(b);
  }
  if (body.leader < 0) throw Error("benchmark: joint " + model.joint(joint).name + " comes before the one it follows");
}

}  // namespace

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
    if (l > 0 && model.coordinates(JointId(l - 1)).nv == 0) {
      export_coupling(model, JointId(l - 1), out, out.bodies.back());
    }
    out.X_LB.push_back(l > 0 ? to_transform(model.joint(JointId(l - 1)).plug) : Transform<>{});
    out.links.push_back(link);
  }
  const Vec3<>& g = model.gravity();
  out.data = {out.name.c_str(), int(out.bodies.size()), model.nq(), model.nv(), out.bodies.data(), {g.x, g.y, g.z}};
}

}  // namespace kansetsu::bench
