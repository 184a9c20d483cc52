#include "motion/ball_view.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/eigen.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
namespace {

/// The three joints that carry a link, if they are hinges that meet in a point.
std::vector<JointId> hinges_of(const Model& model, LinkId link, const std::vector<int>& children,
                               const std::set<std::string>& kept) {
  std::vector<JointId> chain;
  for (std::optional<LinkId> at = link; at && at->value() > 0; at = model.parent(*at)) {
    const JointId joint(at->value() - 1);
    const JointDescription& j = model.joint(joint);
    if (j.type != JointType::kRevolute || kept.contains(j.name)) return {};
    chain.insert(chain.begin(), joint);
    const LinkId parent = *model.parent(*at);
    const LinkDescription& between = model.link(parent);
    const bool inside = parent.value() > 0 && !between.inertial && children[std::size_t(parent.value())] == 1 &&
                        between.visuals.empty() && between.collisions.empty() && !kept.contains(between.name);
    if (!inside) break;
    if (norm(j.socket.p) > 1e-9 || norm(model.joint(JointId(parent.value() - 1)).plug.p) > 1e-9) return {};
  }
  return chain.size() == 3 ? chain : std::vector<JointId>{};
}

Mat3<> turn_of(const Pose& pose) { return to_transform(pose).R; }

}  // namespace

Mat3<> BallView::Triple::turn(const Vec3<>& a) const {
  const double angle[3] = {a.x, a.y, a.z};
  Mat3<> R = Mat3<>::identity();
  for (std::size_t k = 0; k < 3; ++k) R = R * socket[k] * exp_rotation(angle[k] * axis[k]) * transpose(plug[k]);
  return R;
}

std::array<Vec3<>, 3> BallView::Triple::axes_on_child(const Vec3<>& a) const {
  const double angle[3] = {a.x, a.y, a.z};
  std::array<Vec3<>, 3> out{};
  Mat3<> after = Mat3<>::identity();  // from behind the hinge to the child
  for (std::size_t k = 3; k-- > 0;) {
    after = exp_rotation(angle[k] * axis[k]) * transpose(plug[k]) * after;
    out[k] = transpose_times(after, axis[k]);
    after = socket[k] * after;
  }
  return out;
}

/// Newton's method on the rotation that is left, damped where axes fall together.
Vec3<> BallView::Triple::angles(const Mat3<>& target, Vec3<> at) const {
  for (int round = 0; round < 30; ++round) {
    const Vec3<> left = log_rotation(transpose(turn(at)) * target);
    if (norm(left) < 1e-12) break;
    const std::array<Vec3<>, 3> J = axes_on_child(at);
    Eigen::Matrix3d A;
    for (int k = 0; k < 3; ++k) A.col(k) = to_eigen(J[std::size_t(k)]);
    const Eigen::Vector3d right = A.transpose() * to_eigen(left);
    Eigen::Matrix3d H = A.transpose() * A;
    H.diagonal().array() += 1e-4 * dot(left, left) + 1e-9;
    const Eigen::Vector3d step = H.ldlt().solve(right);
    const double shorter = std::min(1.0, 0.5 / std::max(1e-12, step.cwiseAbs().maxCoeff()));
    at += shorter * Vec3<>{step[0], step[1], step[2]};
  }
  return at;
}

BallView::BallView(const Model& model, std::set<std::string> kept) : balls_(model), figure_nq_(model.nq()) {
  std::vector<int> children(std::size_t(model.link_count()), 0);
  for (int i = 1; i < model.link_count(); ++i) ++children[std::size_t(model.parent(LinkId(i))->value())];
  std::set<std::string>& needed = kept;  // what others name stays
  for (const Coupling& c : model.description().couplings) {
    needed.insert(c.dependent.joint);
    for (const Coupling::Term& t : c.terms) needed.insert(t.dof.joint);
  }
  for (const FrameDescription& f : model.description().frames) needed.insert(f.link);
  std::map<std::string, std::vector<JointId>> found;  // by the child's name
  std::set<std::string> gone;
  for (int i = 1; i < model.link_count(); ++i) {
    if (!model.link(LinkId(i)).inertial) continue;
    const std::vector<JointId> chain = hinges_of(model, LinkId(i), children, needed);
    if (chain.empty()) continue;
    const auto axis = [&](std::size_t k) { return model.joint(chain[k]).axis; };
    const auto parallel = [](const Vec3<>& a, const Vec3<>& b) { return norm(cross(a, b)) < 0.1 * norm(a) * norm(b); };
    // In socket axes of each; turned into those of the one before they must differ.
    if (parallel(axis(0), turn_of(model.joint(chain[1]).socket) * axis(1)) ||
        parallel(axis(1), turn_of(model.joint(chain[2]).socket) * axis(2)))
      continue;
    found[model.link(LinkId(i)).name] = chain;
    for (const std::size_t k : {0u, 1u}) gone.insert(model.link(model.child_link(chain[k])).name);
  }
  if (found.empty()) return;
  ModelDescription d = model.description();
  std::erase_if(d.links, [&](const LinkDescription& l) { return gone.contains(l.name); });
  std::erase_if(d.collision_filters,
                [&](const CollisionFilter& f) { return gone.contains(f.a) || gone.contains(f.b); });
  d.actuators.clear();
  std::vector<JointDescription> joints;
  for (const JointDescription& j : d.joints) {
    if (gone.contains(j.child)) continue;
    const auto chain = found.find(j.child);
    if (chain == found.end()) {
      joints.push_back(j);
      continue;
    }
    Triple t{.name = j.name};
    for (std::size_t k = 0; k < 3; ++k) {
      const JointDescription& hinge = model.joint(chain->second[k]);
      t.q[k] = model.coordinates(chain->second[k]).q, t.v[k] = model.coordinates(chain->second[k]).v;
      t.axis[k] = (1 / norm(hinge.axis)) * hinge.axis;
      t.socket[k] = turn_of(hinge.socket), t.plug[k] = turn_of(hinge.plug);
    }
    const JointDescription& first = model.joint(chain->second[0]);
    t.ball_plug = transpose(t.turn({})) * t.socket[0];
    joints.push_back({.name = j.name,
                      .type = JointType::kBall,
                      .parent = first.parent,
                      .child = j.child,
                      .socket = first.socket,
                      .plug = to_pose({t.ball_plug, j.plug.p})});
    triples_.push_back(t);
  }
  d.joints = std::move(joints);
  balls_ = value_or_throw(Model::build(std::move(d)));
  for (Triple& t : triples_) {
    const CoordinateRange range = balls_.coordinates(balls_.joint_id(t.name));
    t.ball_q = range.q, t.ball_v = range.v;
  }
  for (const JointDescription& j : balls_.description().joints) {
    const CoordinateRange range = balls_.coordinates(balls_.joint_id(j.name));
    if (found.contains(j.child)) continue;
    const CoordinateRange own = model.coordinates(model.joint_id(j.name));
    kept_.push_back({own.q, range.q, own.nq, own.v, range.v, own.nv});
  }
  if (model.base() == Base::kFree) kept_.push_back({0, 0, 7, 0, 0, 6});
  for (int i = 0; i < model.link_count(); ++i) {
    const std::optional<LinkId> link = balls_.find_link(model.link(LinkId(i)).name);
    links_.push_back(link ? link->value() : -1);
  }
}

LinkId BallView::link(LinkId of_model) const {
  if (same()) return of_model;
  const int link = links_[std::size_t(of_model.value())];
  if (link < 0) throw Error("BallView: the link is part of a joint");
  return LinkId(link);
}

LinkId BallView::link_of_figure(LinkId of_view) const {
  if (same()) return of_view;
  return LinkId(int(std::find(links_.begin(), links_.end(), of_view.value()) - links_.begin()));
}

Clip BallView::to_balls(const Clip& clip) const {
  if (same()) return clip;
  Clip out{clip.name, clip.times, Eigen::MatrixXd(balls_.nq(), clip.frames())};
  for (long k = 0; k < clip.frames(); ++k) {
    const auto q = clip.q.col(k);
    for (const Kept& kept : kept_) out.q.col(k).segment(kept.ball_q, kept.nq) = q.segment(kept.q, kept.nq);
    for (const Triple& t : triples_) {
      const Mat3<> R = transpose(t.socket[0]) * t.turn({q[t.q[0]], q[t.q[1]], q[t.q[2]]}) * t.ball_plug;
      const Quaternion<> u = to_quaternion(R);
      Eigen::Vector4d now(u.x, u.y, u.z, u.w);
      // Of the two quaternions of a rotation the one beside that of the frame before.
      if (k > 0 && now.dot(out.q.col(k - 1).segment<4>(t.ball_q)) < 0) now = -now;
      out.q.col(k).segment<4>(t.ball_q) = now;
    }
  }
  return out;
}

void BallView::hinges_of_frame(const Clip& balls, long k, const Eigen::VectorXd& near,
                               Eigen::Ref<Eigen::VectorXd> out) const {
  for (const Kept& kept : kept_) out.segment(kept.q, kept.nq) = balls.q.col(k).segment(kept.ball_q, kept.nq);
  for (const Triple& t : triples_) {
    const auto u = balls.q.col(k).segment<4>(t.ball_q);
    const Mat3<> R = t.socket[0] * to_mat3(Quaternion<>{u[0], u[1], u[2], u[3]}) * transpose(t.ball_plug);
    const Vec3<> a = t.angles(R, {near[t.q[0]], near[t.q[1]], near[t.q[2]]});
    out[t.q[0]] = a.x, out[t.q[1]] = a.y, out[t.q[2]] = a.z;
  }
}

Clip BallView::to_hinges(const Clip& balls, const Clip& near) const {
  if (same()) return balls;
  Clip out = near;
  for (long k = 0; k < balls.frames(); ++k) hinges_of_frame(balls, k, near.q.col(k), out.q.col(k));
  return out;
}

Clip BallView::to_hinges(const Clip& balls) const {
  if (same()) return balls;
  Clip out{balls.name, balls.times, Eigen::MatrixXd::Zero(figure_nq_, balls.frames())};
  for (long k = 0; k < balls.frames(); ++k) hinges_of_frame(balls, k, out.q.col(std::max(k - 1, 0L)), out.q.col(k));
  return out;
}

void BallView::torques(const Eigen::VectorXd& q, const Eigen::VectorXd& of_balls,
                       Eigen::Ref<Eigen::VectorXd> out) const {
  for (const Kept& kept : kept_) out.segment(kept.v, kept.nv) = of_balls.segment(kept.ball_v, kept.nv);
  for (const Triple& t : triples_) {
    const Vec3<> on_child = t.ball_plug * Vec3<>{of_balls[t.ball_v], of_balls[t.ball_v + 1], of_balls[t.ball_v + 2]};
    const std::array<Vec3<>, 3> axes = t.axes_on_child({q[t.q[0]], q[t.q[1]], q[t.q[2]]});
    for (std::size_t k = 0; k < 3; ++k) out[t.v[k]] = dot(axes[k], on_child);
  }
}

void BallView::rates(const Eigen::VectorXd& q, const Eigen::VectorXd& v_balls, const Eigen::VectorXd& vdot_balls,
                     Eigen::Ref<Eigen::VectorXd> v, Eigen::Ref<Eigen::VectorXd> vdot) const {
  constexpr double kDamping = 0.05;  // [–] volume of the three axes below which speeds are held back
  for (const Kept& kept : kept_) {
    v.segment(kept.v, kept.nv) = v_balls.segment(kept.ball_v, kept.nv);
    vdot.segment(kept.v, kept.nv) = vdot_balls.segment(kept.ball_v, kept.nv);
  }
  for (const Triple& t : triples_) {
    const auto on_child = [&](const Eigen::VectorXd& balls) {
      return to_eigen(t.ball_plug * Vec3<>{balls[t.ball_v], balls[t.ball_v + 1], balls[t.ball_v + 2]});
    };
    const auto axes = [&](const Eigen::Vector3d& angles) {
      const std::array<Vec3<>, 3> columns = t.axes_on_child({angles[0], angles[1], angles[2]});
      Eigen::Matrix3d A;
      for (int k = 0; k < 3; ++k) A.col(k) = to_eigen(columns[std::size_t(k)]);
      return A;
    };
    const Eigen::Vector3d angles(q[t.q[0]], q[t.q[1]], q[t.q[2]]);
    const Eigen::Matrix3d A = axes(angles);
    const double regular = std::min(1.0, std::abs(A.determinant()) / kDamping);
    Eigen::Matrix3d H = A.transpose() * A;
    H.diagonal().array() += kDamping * kDamping * (1 - regular);
    const Eigen::LDLT<Eigen::Matrix3d> factor(H);
    const auto solve = [&](const Eigen::Vector3d& w) -> Eigen::Vector3d { return factor.solve(A.transpose() * w); };
    const Eigen::Vector3d own = solve(on_child(v_balls));
    constexpr double h = 1e-5;  // [s]; ω = A·v, ω̇ = A·v̇ + Ȧ·v
    const Eigen::Matrix3d A_dot = (axes(angles + h * own) - axes(angles - h * own)) / (2 * h);
    const Eigen::Vector3d rate = solve(on_child(vdot_balls) - A_dot * own);
    for (std::size_t k = 0; k < 3; ++k) v[t.v[k]] = own[long(k)], vdot[t.v[k]] = rate[long(k)];
  }
}

}  // namespace kansetsu
