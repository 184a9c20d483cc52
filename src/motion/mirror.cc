#include <fmt/format.h>

#include <array>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/motion/clip.h"
#include "motion/clip_check.h"

namespace kansetsu {
namespace {

/// The name of what is on the other side; the name itself if it has no side.
std::string other_side(const Model& model, const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMarks{
      {{"left", "right"}, {"Left", "Right"}, {"L", "R"}, {"l", "r"}}};
  for (const auto& [left, right] : kMarks) {
    for (const auto& [from, to] : {std::pair{left, right}, std::pair{right, left}}) {
      for (std::size_t at = name.find(from); at != std::string::npos; at = name.find(from, at + 1)) {
        std::string other = name;
        other.replace(at, from.size(), to);
        if (model.find_joint(other)) return other;
      }
    }
  }
  return name;
}

/// In a mirror y turns around; of what turns (axes, rotation vectors) x and z do.
Vec3<> mirrored(const Vec3<>& a) { return {a.x, -a.y, a.z}; }
Vec3<> mirrored_turn(const Vec3<>& a) { return {-a.x, a.y, -a.z}; }

class Mirror {
 public:
  explicit Mirror(const Model& model) : model_(model) {
    const LinkPoses poses = fk(model, neutral(model));
    for (int j = 0; j < model.joint_count(); ++j) {
      const JointDescription& joint = model.joint(JointId(j));
      sockets_.push_back(poses[model.parent_link(JointId(j))].R * to_transform(joint.socket).R);
    }
    for (int j = 0; j < model.joint_count(); ++j) add(JointId(j));
  }

  void apply(const Eigen::VectorXd& q, Eigen::Ref<Eigen::VectorXd> out) const {
    out = q;
    if (const CoordinateRange base = model_.base_coordinates(); base.nq == 7) {
      out[base.q + 1] = -q[base.q + 1];
      out[base.q + 3] = -q[base.q + 3];
      out[base.q + 5] = -q[base.q + 5];
    }
    for (const Scalar& s : scalars_) out[s.to] = s.sign * q[s.from];
    for (const Ball& b : balls_) {
      const Vec3<> u =
          transpose_times(b.R_to, mirrored_turn(b.R_from * Vec3<>{q[b.from], q[b.from + 1], q[b.from + 2]}));
      out.segment<4>(b.to) << u.x, u.y, u.z, q[b.from + 3];
    }
  }

 private:
  struct Scalar {
    int from, to;
    double sign;
  };
  struct Ball {
    int from, to;
    Mat3<> R_from, R_to;
  };

  void add(JointId id) {
    const JointDescription& joint = model_.joint(id);
    const CoordinateRange from = model_.coordinates(id);
    if (from.nq == 0) return;
    const JointId other = model_.joint_id(other_side(model_, joint.name));
    const JointDescription& image = model_.joint(other);
    const CoordinateRange to = model_.coordinates(other);
    if (image.type != joint.type || to.nq != from.nq)
      throw Error(fmt::format("mirror(): {} and {} are joints of different types", joint.name, image.name));
    const Mat3<>&R_from = sockets_[static_cast<std::size_t>(id.value())],
          &R_to = sockets_[static_cast<std::size_t>(other.value())];
    if (joint.type == JointType::kBall) {
      balls_.push_back({from.q, to.q, R_from, R_to});
      return;
    }
    const bool turns = joint.type == JointType::kRevolute;
    if (!turns && joint.type != JointType::kPrismatic)
      throw Error(fmt::format("mirror(): joint {} is {}; revolute, prismatic and ball joints have a mirror image",
                              joint.name, info(joint.type).name));
    const Vec3<> axis = R_from * joint.axis, seen = turns ? mirrored_turn(axis) : mirrored(axis),
                 own = R_to * image.axis;
    const double along = dot(seen, own) / (norm(seen) * norm(own));
    constexpr double kParallel = 1 - 1e-6;  // models are written with few digits
    if (std::abs(along) < kParallel)
      throw Error(fmt::format("mirror(): the axes of {} and {} are not mirror images (y = 0) of each other", joint.name,
                              image.name));
    scalars_.push_back({from.q, to.q, along > 0 ? 1.0 : -1.0});
  }

  const Model& model_;
  std::vector<Mat3<>> sockets_;  ///< R_WJ in the neutral configuration
  std::vector<Scalar> scalars_;
  std::vector<Ball> balls_;
};

}  // namespace

Clip mirror(const Model& model, const Clip& clip) {
  check_clip("mirror", model, clip);
  const Mirror image(model);
  Clip out = clip;
  for (int k = 0; k < clip.frames(); ++k) image.apply(clip.q.col(k), out.q.col(k));
  return out;
}

}  // namespace kansetsu
