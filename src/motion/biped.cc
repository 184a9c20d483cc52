#include "kansetsu/motion/biped.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu {
namespace {

/// Corners of what a foot stands on, on its link: those of boxes, the lowest points of balls and capsules.
std::vector<Vec3<>> sole_points(const LinkDescription& link) {
  std::vector<Vec3<>> points;
  for (const LinkShape& s : link.collisions) {
    const Transform<> X_LS = to_transform(s.origin);
    if (const Box* box = std::get_if<Box>(&s.shape)) {
      for (const double x : {-0.5, 0.5}) {
        for (const double y : {-0.5, 0.5}) {
          for (const double z : {-0.5, 0.5}) {
            points.push_back(X_LS * Vec3<>{x * box->size.x, y * box->size.y, z * box->size.z});
          }
        }
      }
    } else if (const Sphere* sphere = std::get_if<Sphere>(&s.shape)) {
      points.push_back(X_LS.p - Vec3<>{0, 0, sphere->radius});
    } else if (const Capsule* capsule = std::get_if<Capsule>(&s.shape)) {
      for (const double side : {-0.5, 0.5}) {
        points.push_back(X_LS * Vec3<>{0, 0, side * capsule->length} - Vec3<>{0, 0, capsule->radius});
      }
    }
  }
  return points;
}

/// The rectangle around the points of a foot that lie on its sole's plane.
std::optional<Sole> make_sole(const Model& model, FrameId frame) {
  const LinkId link = model.frame_link(frame);
  const Transform<> X_LF = to_transform(model.frame(frame).origin);
  double low[2] = {1e30, 1e30}, high[2] = {-1e30, -1e30};
  int count = 0;
  for (const Vec3<>& p_L : sole_points(model.link(link))) {
    const Vec3<> p = inverse(X_LF) * p_L;
    if (std::abs(p.z) > 5e-3) continue;  // not what it stands on
    const double xy[2] = {p.x, p.y};
    for (int k = 0; k < 2; ++k) low[k] = std::min(low[k], xy[k]), high[k] = std::max(high[k], xy[k]);
    ++count;
  }
  if (count < 3) return std::nullopt;
  const Transform<> X_FS{.p = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0}};
  return Sole{link, X_LF * X_FS, 0.5 * (high[0] - low[0]), 0.5 * (high[1] - low[1])};
}

std::optional<FrameId> find_any(const Model& model, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto id = model.find_frame(name)) return id;
  }
  return std::nullopt;
}

/// The link that most of the body above the pelvis hangs on: of the pelvis' children the one that leads to no foot.
LinkId find_trunk(const Model& model, LinkId pelvis, const Biped& biped) {
  const auto hangs_on = [&](LinkId link, LinkId from) {
    for (std::optional<LinkId> at = link; at; at = model.parent(*at)) {
      if (*at == from) return true;
    }
    return false;
  };
  LinkId best = pelvis;
  double most = 0;
  for (int i = 0; i < model.link_count(); ++i) {
    const LinkId link{i};
    if (!hangs_on(link, pelvis) || hangs_on(biped.left.link, link) || hangs_on(biped.right.link, link)) continue;
    const auto& inertial = model.link(link).inertial;
    if (inertial && inertial->mass > most) most = inertial->mass, best = link;
  }
  return best;
}

/// The base goes wherever the feet carry it.
Eigen::VectorXd joint_weights(const Model& model) {
  Eigen::VectorXd weight = Eigen::VectorXd::Ones(model.nv());
  weight.head(6).setZero();
  return weight;
}

/// Away from straight knees and elbows, where nothing can sink.
Eigen::VectorXd with_bent_joints(const Model& model) {
  Eigen::VectorXd q = neutral(model);
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange range = model.coordinates(JointId{j});
    if (range.nq != 1) continue;
    const double low = model.lower_position()[range.q], high = model.upper_position()[range.q];
    if (std::abs(low) < 1e-9 && high > 1) q[range.q] = 0.3;
    if (std::abs(high) < 1e-9 && low < -1) q[range.q] = -0.3;
  }
  return q;
}

}  // namespace

std::optional<Eigen::VectorXd> stand_on(const Model& model, const Biped& biped, const Transform<>& X_WLeft,
                                        const Transform<>& X_WRight, double pelvis_height, const VectorRef& start) {
  const Vec3<> middle = 0.5 * (X_WLeft.p + X_WRight.p);
  const Vec3<> ahead = X_WLeft.R.column_x() + X_WRight.R.column_x();
  const double yaw = std::atan2(ahead.y, ahead.x);
  ik::Problem problem;
  problem.add(ik::PoseTask{{biped.left.link, biped.left.X_LS}, X_WLeft});
  problem.add(ik::PoseTask{{biped.right.link, biped.right.X_LS}, X_WRight});
  problem.add(ik::PoseTask{.frame = {biped.pelvis},
                           .target = {rotation_z(std::sin(yaw), std::cos(yaw)), {0, 0, middle.z + pelvis_height}},
                           .weight = {0, 0, 1}});
  problem.add(ik::ComTask{.target = middle, .weight = {1, 1, 0}});
  ik::Options options;
  options.iterations = 300;
  ik::Problem at_ease = problem;
  at_ease.add(ik::PostureTask{neutral(model), joint_weights(model)}, {.level = 1});
  // Knees that are to be straight, and cannot be, may keep it from settling; then any posture will do.
  for (const ik::Problem& p : {at_ease, problem}) {
    ik::Report report = ik::Solver(model, p, options).solve(start);
    if (report.solved()) return report.q;
  }
  return std::nullopt;
}

FoundBiped find_biped(const Model& model, double crouch) {
  if (model.base() != Base::kFree) return {{}, "its base is fixed"};
  const auto left = find_any(model, {"soleL", "left_sole", "l_sole", "l_foot_sole", "left_foot_sole"});
  const auto right = find_any(model, {"soleR", "right_sole", "r_sole", "r_foot_sole", "right_foot_sole"});
  if (!left || !right) return {{}, "it has no frames soleL and soleR"};
  const auto left_sole = make_sole(model, *left), right_sole = make_sole(model, *right);
  if (!left_sole || !right_sole) {
    return {{},
            "the link of " + model.frame(left_sole ? *right : *left).name +
                " has no collision shapes on the sole's plane z = 0"};
  }
  Biped biped{.left = *left_sole, .right = *right_sole, .pelvis = LinkId{0}};
  biped.trunk = find_trunk(model, biped.pelvis, biped);

  const Eigen::VectorXd straight = neutral(model);
  const LinkPoses poses = fk(model, straight);
  const Vec3<> a = (poses[biped.left.link] * biped.left.X_LS).p, b = (poses[biped.right.link] * biped.right.X_LS).p;
  biped.pelvis_height = poses[biped.pelvis].p.z - 0.5 * (a.z + b.z) - crouch;
  const auto posture =
      stand_on(model, biped, {.p = {0, a.y, 0}}, {.p = {0, b.y, 0}}, biped.pelvis_height, with_bent_joints(model));
  if (!posture) return {{}, "it cannot stand with its hips lowered by " + std::to_string(crouch) + " m"};
  biped.posture = *posture;
  return {biped, {}};
}

Biped biped_of(const Model& model) {
  FoundBiped found = find_biped(model);
  if (!found.biped) throw Error(model.name() + " cannot walk: " + found.problem);
  return *std::move(found.biped);
}

}  // namespace kansetsu
