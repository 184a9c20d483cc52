#include "kansetsu/motion/muscle_forces.h"

#include <algorithm>
#include <set>

#include "kansetsu/actuation/actuation.h"
#include "kansetsu/actuation/static_optimization.h"
#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/kinematics.h"
#include "model/tendon_path.h"

namespace kansetsu {
namespace {

/// Coordinates whose moments muscles are to give.
std::vector<int> shared_coordinates(const CoordinateMap& map) {
  std::set<int> root;
  for (const auto* axes : {&map.base_turns, &map.base_shifts})
    for (const MapAxis& axis : *axes) root.insert(axis.coordinate);
  std::vector<int> out;
  for (int i = 0; i < int(map.coordinates.size()); ++i) {
    const MapCoordinate& c = map.coordinates[std::size_t(i)];
    if (!root.contains(i) && !c.locked && c.follows < 0) out.push_back(i);
  }
  return out;
}

class MuscleSharing {
 public:
  MuscleSharing(const MappedModel& mapped, const ActuationDescription& muscles, const MuscleOptions& options)
      : mapped_(mapped),
        model_(mapped.model()),
        options_(options),
        actuation_(model_, muscles, EffortLimits::kIgnored),
        optimum_({.reserve = options.reserve}),
        work_(model_),
        poses_(model_),
        external_(model_),
        loads_(model_),
        state_(model_) {
    for (int i = 0; i < actuation_.actuator_count(); ++i)
      if (actuation_.actuator(i).transmission == Transmission::kTendon) users_.push_back(i);
    if (users_.empty()) throw Error("the model has no muscles");
    const long n = long(users_.size());
    coordinates_ = shared_coordinates(mapped.map());
    A_.resize(long(coordinates_.size()), n), arms_.resize(model_.nv(), n);
    b_.resize(long(coordinates_.size()));
    gain_.resize(n), bias_.resize(n), lower_.resize(n), upper_.resize(n);
    for (long i = 0; i < n; ++i) {
      const ActuatorDescription& d = muscle(i);
      tendons_.push_back(actuation_.find_tendon(d.target));
      lower_[i] = std::max(d.control_range.lower, d.gain == GainLaw::kFixed ? -kInfinity : 0.0);
      upper_[i] = std::min(d.control_range.upper, d.gain == GainLaw::kFixed ? kInfinity : 1.0);
    }
  }

  void start(int frames, MuscleForces& out) const {
    const long n = long(users_.size());
    for (long i = 0; i < n; ++i) out.muscles.push_back(muscle(i).name);
    for (Eigen::MatrixXd* m : {&out.activations, &out.forces, &out.lengths}) m->resize(n, frames);
    out.coordinates = coordinates_;
    out.reserves.resize(long(coordinates_.size()), frames);
    for (int j = 0; j < model_.joint_count(); ++j) {
      const LinkDescription& link = model_.link(LinkId(j + 1));
      if (link.inertial && link.inertial->mass > 0)
        out.joints.push_back({model_.joint(JointId(j)).name, link.name, {}});
    }
  }

  void add_frame(int k, const CoordinateMotion& motion, const MeasuredDynamics& dynamics,
                 std::span<const MeasuredForce> forces, MuscleForces& out) {
    state_.q = dynamics.clip.q.col(k), state_.v = dynamics.v.col(k);
    actuation_.place(state_);
    find_arms(motion.x.col(k));
    for (std::size_t i = 0; i < coordinates_.size(); ++i) b_[long(i)] = dynamics.moments(coordinates_[i], k);
    b_.noalias() -= A_ * bias_;
    A_ *= gain_.asDiagonal();
    const SharedMoments& shared = optimum_.solve(A_, b_, lower_, upper_);
    out.unsolved += !shared.solved;
    out.activations.col(k) = shared.activations, out.reserves.col(k) = shared.reserves;
    const Eigen::VectorXd force = gain_.cwiseProduct(shared.activations) + bias_;
    out.forces.col(k) = -force;
    for (long i = 0; i < force.size(); ++i) out.lengths(i, k) = actuation_.tendon_length(tendons_[std::size_t(i)]);
    add_loads(k, force, dynamics.vdot.col(k), forces, out);
  }

 private:
  const ActuatorDescription& muscle(long i) const { return actuation_.actuator(users_[std::size_t(i)]); }

  /// Moments per unit of force of the shared coordinates, and forces over activations.
  void find_arms(const Eigen::VectorXd& x) {
    arms_.setZero();
    for (long i = 0; i < gain_.size(); ++i) {
      const int user = users_[std::size_t(i)];
      const MomentRow row = actuation_.actuator_moment(user);
      for (std::size_t c = 0; c < row.columns.size(); ++c) arms_(row.columns[c], i) = row.values[c];
      const double none = actuation_.force(user, 0, 0).force, whole = actuation_.force(user, 1, 1).force;
      gain_[i] = whole - none;
      bias_[i] = options_.passive == PassiveForces::kCounted ? none : 0;
    }
    const Eigen::MatrixXd J = mapped_.jacobian(x);
    for (std::size_t c = 0; c < coordinates_.size(); ++c)
      A_.row(long(c)).noalias() = J.col(coordinates_[c]).transpose() * arms_;
  }

  /// What the joints bear: muscles are forces on links like those from outside.
  void add_loads(int k, const Eigen::VectorXd& force, const Eigen::VectorXd& vdot,
                 std::span<const MeasuredForce> forces, MuscleForces& out) {
    fk(model_, state_.q, work_, poses_);
    external_.set_zero();
    for (const MeasuredForce& f : forces) external_[f.link] += f.wrench[std::size_t(k)];
    for (long i = 0; i < force.size(); ++i) {
      const double tension = force[i] * muscle(i).gear;
      for (const Pull& pull : actuation_.tendon_pulls(tendons_[std::size_t(i)])) {
        if (pull.link < 0) continue;
        const Vec3<> f = tension * pull.f, r = pull.p - poses_[LinkId(pull.link)].p;
        external_[LinkId(pull.link)] += {cross(r, f), f};
      }
    }
    reactions(model_, state_, vdot, work_, loads_, &external_);
    for (JointLoad& load : out.joints) {
      const LinkId link = model_.link_id(load.link);
      const Force<>& w = loads_.wrench[std::size_t(link.value())];
      const Vec3<> at = model_.joint(JointId(link.value() - 1)).plug.p;
      load.wrench.push_back({w.t - cross(at, w.f), w.f});
    }
  }

  const MappedModel& mapped_;
  const Model& model_;
  MuscleOptions options_;
  Actuation actuation_;
  StaticOptimization optimum_;
  Workspace work_;
  LinkPoses poses_;
  ExternalForces external_;
  Reactions loads_;
  State state_;
  std::vector<int> users_, tendons_, coordinates_;
  Eigen::MatrixXd A_, arms_;
  Eigen::VectorXd b_, gain_, bias_, lower_, upper_;
};

}  // namespace

MuscleForces share_among_muscles(const MappedModel& model, const ActuationDescription& muscles,
                                 const CoordinateMotion& motion, const MeasuredDynamics& dynamics,
                                 std::span<const MeasuredForce> forces, const MuscleOptions& options) {
  MuscleSharing sharing(model, muscles, options);
  MuscleForces out;
  sharing.start(motion.frames(), out);
  for (int k = 0; k < motion.frames(); ++k) sharing.add_frame(k, motion, dynamics, forces, out);
  return out;
}

}  // namespace kansetsu
