#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/shapes.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/model/joint_values.h"
#include "kansetsu/spatial/quaternion.h"
#include "model/joint_motion.h"

/// Where the links of a recorded figure are, and what they look like.
namespace kansetsu::io {
namespace {

constexpr double kShortest = 1e-3;   // [m] shorter ones are not drawn
constexpr double kWater = 1000;      // [kg/m³]
constexpr double kThinnest = 0.004;  // [m]
constexpr double kFattest = 0.3;     // radius of a bone by its length

LinkShape bone(const Vec3<>& a, const Vec3<>& b, double radius) {
  const double length = norm(b - a);
  const Mat3<> R = rotation_to(b - a);
  return {.origin = to_pose({R, 0.5 * (a + b)}), .shape = Capsule{radius, length}};
}

/// Points of a link where others are joined to it.
std::vector<Vec3<>> sockets_of(const Model& model, LinkId link) {
  std::vector<Vec3<>> points;
  for (int j = 0; j < model.joint_count(); ++j) {
    if (model.parent_link(JointId(j)) == link) points.push_back(model.joint(JointId(j)).socket.p);
  }
  return points;
}

std::vector<LinkShape> bones_of(const Model& model, LinkId link) {
  const LinkDescription& description = model.link(link);
  const Vec3<> start = link.value() == 0 ? Vec3<>{} : model.joint(JointId(link.value() - 1)).plug.p;
  std::vector<Vec3<>> ends = sockets_of(model, link);
  std::erase_if(ends, [&](const Vec3<>& p) { return norm(p - start) < kShortest; });
  if (ends.empty() && description.inertial) {
    const Vec3<> com = description.inertial->origin.p;
    if (norm(com - start) >= kShortest) ends.push_back(2.0 * com - start);
  }
  double length = 0;
  for (const Vec3<>& end : ends) length += norm(end - start);
  const double mass = description.inertial ? description.inertial->mass : 0;
  if (length == 0) {
    if (mass <= 0) return {};
    const double radius = std::cbrt(mass / kWater * 3 / (4 * std::numbers::pi));
    return {{.origin = {.p = description.inertial->origin.p}, .shape = Sphere{radius}}};
  }
  const double wished = std::sqrt(mass / kWater / (std::numbers::pi * length));
  std::vector<LinkShape> bones;
  for (const Vec3<>& end : ends) {
    bones.push_back(bone(start, end, std::clamp(wished, kThinnest, std::max(kThinnest, kFattest * norm(end - start)))));
  }
  return bones;
}

}  // namespace

std::vector<std::vector<LinkShape>> bone_shapes(const Model& model) {
  std::vector<std::vector<LinkShape>> shapes;
  for (int i = 0; i < model.link_count(); ++i) shapes.push_back(bones_of(model, LinkId(i)));
  return shapes;
}

std::vector<std::vector<LinkShape>> body_shapes(const Model& model) {
  std::vector<std::vector<LinkShape>> shapes;
  bool any = false;
  for (int i = 0; i < model.link_count(); ++i) {
    const LinkDescription& link = model.link(LinkId(i));
    shapes.push_back(link.visuals.empty() ? link.collisions : link.visuals);
    any = any || !shapes.back().empty();
  }
  return any ? shapes : bone_shapes(model);
}

std::vector<Transform<>> recorded_poses(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& q) {
  const auto values = joint_values(model, q);  // checks the size
  std::vector<Transform<>> X_WL(std::size_t(model.link_count()));
  X_WL[0] = model.base() == Base::kFree ? Transform<>{to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]}), {q[0], q[1], q[2]}}
                                        : to_transform(model.description().base_pose);
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const Transform<>& X_WP = X_WL[std::size_t(model.parent_link(JointId(j)).value())];
    X_WL[std::size_t(j + 1)] = X_WP * to_transform(joint.socket) * joint_pose(joint, values[std::size_t(j)]) *
                               inverse(to_transform(joint.plug));
  }
  return X_WL;
}

std::vector<std::string> position_names(const Model& model) {
  static constexpr const char* kPosition[] = {".x", ".y", ".z", ".qx", ".qy", ".qz", ".qw"};
  std::vector<std::string> names;
  if (model.base() == Base::kFree) {
    for (const char* suffix : kPosition) names.push_back(std::string("base") + suffix);
  }
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const CoordinateRange range = model.coordinates(JointId(j));
    for (int k = 0; k < range.nq; ++k) {
      if (joint.type == JointType::kFree || joint.type == JointType::kBall) {
        names.push_back(joint.name + kPosition[k + (joint.type == JointType::kBall ? 3 : 0)]);
      } else {
        names.push_back(model.dof_names()[std::size_t(range.v + k)]);
      }
    }
  }
  return names;
}

}  // namespace kansetsu::io
