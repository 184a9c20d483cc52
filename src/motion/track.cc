#include "kansetsu/motion/track.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kansetsu/base/error.h"
#include "kansetsu/motion/clip.h"
#include "kansetsu/spatial/rotations.h"
#include "motion/capture_point.h"
#include "motion/foot_plan.h"
#include "motion/settle.h"

namespace kansetsu {
namespace {

constexpr double kRate = 200;          // [Hz] of the plan
constexpr double kStepGain = 0.8;      // of what the capture point will be off at landing, taken by the foothold
constexpr double kClearance = 0.03;    // [m] that a foot is lifted more than in the clip
constexpr double kLongestShift = 0.3;  // [m] of one foothold

}  // namespace

struct Tracker::Impl {
  Model model;
  Biped biped;
  TrackOptions options;
  Clip clip;
  ClipDerivatives rates;
  CapturePoint capture;
  FootPlan plan;
  WholeBody body;
  Workspace work;
  LinkMotions wanted;  ///< of the clip at this moment
  State reference;
  Eigen::VectorXd vdot, tau, posture_wanted, posture_weight;
  WalkStatus status;
  WholeBodyResult forces;
  Vec3<> shift{};       ///< of the plan from the clip
  Vec3<> next_shift{};  ///< of the foot that swings
  bool was_down[2] = {true, true};
  double square_error = 0, com_height = 0;
  std::uint64_t samples = 0;

  Impl(const Model& m, const Biped& b, const Clip& c, const TrackOptions& o)
      : model(m), biped(b), options(o), capture(1), body(m), work(m), wanted(m), reference(m) {
    if (const auto problem = clip_problem(model, c)) throw Error("Tracker: " + *problem);
    clip = resample(model, cut(model, c, std::max(o.from, c.times.front()), std::min(o.to, c.times.back())), kRate);
    if (clip.frames() < 20) throw Error("Tracker: the selected part of the clip is shorter than 0.1 s");
    const Clip smooth = o.cutoff > 0 ? low_pass(model, clip, o.cutoff) : clip;
    rates = derivatives(model, smooth);
    clip = smooth;
    for (int k = 0; k < clip.frames(); ++k) com_height += center_of_mass(model, clip.q.col(k)).z / clip.frames();
    capture = CapturePoint(std::sqrt(norm(model.gravity()) / com_height));
    plan = plan_feet(model, biped, clip, capture.omega());
    tau = vdot = posture_wanted = Eigen::VectorXd::Zero(model.nv());
    posture_weight = Eigen::VectorXd::Constant(model.nv(), 0.5);
    posture_weight.head(6).setZero();
    for (const Sole* foot : {&biped.left, &biped.right}) {
      for (auto link = std::optional<LinkId>(foot->link); link && link->value() > 0; link = model.parent(*link)) {
        const CoordinateRange r = model.coordinates(JointId{link->value() - 1});
        posture_weight.segment(r.v, r.nv).setConstant(0.03);
      }
    }
  }

  int frame_at(double time) const { return std::clamp(int(time * kRate), 0, clip.frames() - 2); }
  void look_up(double time);
  Transform<> wanted_sole(bool left) const { return wanted.poses[biped.sole(left).link] * biped.sole(left).X_LS; }
  void add_foot(bool left, int k, bool touches, const Vec3<>& error);
  void add_foot_task(bool left, const Vec3<>& moved, double weight_turn, double weight);
  void add_link(LinkId link, double weight);
  void add_posture(const State& state);
};

Tracker::Tracker(const Model& model, const Biped& biped, const Clip& clip, const TrackOptions& options)
    : impl_(std::make_unique<Impl>(model, biped, clip, options)) {}
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;
Tracker::~Tracker() = default;
const WalkStatus& Tracker::status() const { return impl_->status; }
const WholeBodyResult& Tracker::forces() const { return impl_->forces; }
double Tracker::duration() const { return (impl_->clip.frames() - 1) / kRate; }
State Tracker::start() const {
  const Impl& m = *impl_;
  State state(m.model);
  state.q = m.clip.q.col(0);
  state.v = m.rates.v.col(0);
  const LinkPoses poses = fk(m.model, state.q);
  double lowest = 0;
  for (const bool left : {true, false}) {
    const Sole& sole = m.biped.sole(left);
    for (const double x : {-1.0, 1.0}) {
      for (const double y : {-1.0, 1.0}) {
        const Vec3<> p = poses[sole.link] * (sole.X_LS * Vec3<>{x * sole.half_length, y * sole.half_width, 0});
        lowest = std::min(lowest, p.z);
      }
    }
  }
  state.q[2] -= lowest;
  return state;
}

void Tracker::Impl::look_up(double time) {
  const int k = frame_at(time);
  const double s = std::clamp(time * kRate - k, 0.0, 1.0);
  reference.q = interpolate(model, clip.q.col(k), clip.q.col(k + 1), s);
  reference.v = rates.v.col(k) + s * (rates.v.col(k + 1) - rates.v.col(k));
  vdot = rates.vdot.col(k) + s * (rates.vdot.col(k + 1) - rates.vdot.col(k));
  link_motions(model, reference, vdot, work, wanted);
}

/// The sole goes as in the clip, moved aside.
void Tracker::Impl::add_foot_task(bool left, const Vec3<>& moved, double weight_turn, double weight) {
  const Sole& sole = biped.sole(left);
  const FrameMotion is = body.motion(sole.link, sole.X_LS), ref = frame_motion(wanted, sole.link, sole.X_LS);
  constexpr double kStiffness = 900, kDamping = 60;
  const Vec3<> error = ref.X_WF.p + moved - is.X_WF.p;
  const Vec3<> turn = log_rotation(times_transpose(ref.X_WF.R, is.X_WF.R));
  const Motion<> A{ref.A.w + kStiffness * turn + kDamping * (ref.V.w - is.V.w),
                   ref.A.v + kStiffness * error + kDamping * (ref.V.v - is.V.v)};
  body.link(sole.link, sole.X_LS, A, {{weight_turn, weight_turn, weight_turn}, {weight, weight, weight}});
}

void Tracker::Impl::add_foot(bool left, int k, bool touches, const Vec3<>& error) {
  const FootPlan::Foot& foot = plan.foot(left);
  const bool down = foot.down(k);
  const int side = left ? 0 : 1;
  if (!down) {
    // Along the clip's way, over to where the capture point will need the foot.
    const double air = foot.in_air[size_t(k)], until = foot.until_down[size_t(k)];
    Vec3<> needed = kStepGain * capture.growth(std::min(until, 0.5)) * error;
    const double length = norm(needed);
    if (length > kLongestShift) needed = (kLongestShift / length) * needed;
    const double part = air / std::max(air + until, 1e-3), s = part * part * (3 - 2 * part);
    next_shift = shift + s * needed;
    was_down[side] = false;
    const Vec3<> clear{0, 0, kClearance * std::sin(std::numbers::pi * part)};
    add_foot_task(left, next_shift + clear, 3, 100);
    return;
  }
  if (!touches) {  // it should be there: feel for the ground
    const Vec3<> lower{0, 0, was_down[side] ? 0 : -0.01};
    add_foot_task(left, (was_down[side] ? shift : next_shift) + lower, 3, 100);
    return;
  }
  if (!was_down[side]) {
    was_down[side] = true;
    ++status.steps;
    shift = flat(body.motion(biped.sole(left).link, biped.sole(left).X_LS).X_WF.p - wanted_sole(left).p);
  }
  const bool heel = foot.heel[size_t(k)], toe = foot.toe[size_t(k)];
  SupportLimits limits{.friction = options.friction, .inset = 0.005};
  limits.pivot = heel == toe ? Edge::kNone : heel ? Edge::kRear : Edge::kFront;
  const Sole& sole = biped.sole(left);
  body.support(sole, limits, settling(body.motion(sole.link, sole.X_LS), sole, limits.pivot, {0, 0, 1}));
  if (limits.pivot != Edge::kNone) add_foot_task(left, shift, 1, 0);
}

void Tracker::Impl::add_link(LinkId link, double weight) {
  const FrameMotion is = body.motion(link), ref = frame_motion(wanted, link, {});
  constexpr double kStiffness = 80, kDamping = 18;
  const Vec3<> turn = log_rotation(times_transpose(ref.X_WF.R, is.X_WF.R));
  body.link(link, {}, {ref.A.w + kStiffness * turn + kDamping * (ref.V.w - is.V.w), {}},
            {{weight, weight, weight}, {}});
}

void Tracker::Impl::add_posture(const State& state) {
  constexpr double kStiffness = 100, kDamping = 20;
  const Eigen::VectorXd error = difference(model, state.q, reference.q);
  posture_wanted = vdot + kStiffness * error + kDamping * (reference.v - state.v);
  body.posture(posture_wanted, posture_weight);
  const int joints = model.nv() - 6;
  square_error += error.tail(joints).squaredNorm() / joints;
  status.joint_error = std::sqrt(square_error / double(++samples));
  status.shift = norm(shift);
}

const Eigen::VectorXd& Tracker::control(double time, double /*dt*/, const State& state, const FootSensing& feet) {
  Impl& m = *impl_;
  WalkStatus& s = m.status;
  m.look_up(time);
  m.body.begin(state);
  const Centroidal& c = m.body.centroidal();
  const int k = m.frame_at(time);
  const Vec3<> xi = flat(c.com + (1 / m.capture.omega()) * c.com_velocity);
  const Vec3<> error = xi - m.plan.capture[size_t(k)] - m.shift;
  const double feedback = 1 + kCaptureGain / m.capture.omega();
  const Vec3<> pressure = m.plan.pressure[size_t(k)] + m.shift + feedback * error;
  m.add_foot(true, k, feet.left, error);
  m.add_foot(false, k, feet.right, error);

  const double w2 = m.capture.omega() * m.capture.omega();
  const Vec3<> ref_com = center_of_mass(m.model, m.reference.q, m.work);
  const double az = 60 * (ref_com.z - c.com.z) - 15 * c.com_velocity.z;
  const bool supported = (m.plan.left.down(k) && feet.left) || (m.plan.right.down(k) && feet.right);
  if (supported) {
    m.body.com({w2 * (c.com.x - pressure.x), w2 * (c.com.y - pressure.y), az}, {1000, 1000, 300});
    m.add_link(m.biped.pelvis, 5);
    m.add_link(m.biped.trunk, 5);
  }
  m.add_posture(state);
  m.forces = m.body.solve();
  m.tau = m.forces.tau;
  if (m.forces.status != WholeBodyResult::Status::kSolved) ++s.infeasible;

  s.phase = m.plan.left.down(k) && m.plan.right.down(k) ? WalkPhase::kShared : WalkPhase::kSingle;
  s.stance_left = m.plan.left.down(k);
  s.com = c.com, s.capture = xi, s.pressure = pressure, s.capture_error = norm(error);
  s.walked = norm(flat(c.com) - flat(center_of_mass(m.model, m.clip.q.col(0))));
  s.done = time >= duration();
  const Mat3<>&R = m.body.motion(m.biped.trunk).X_WF.R, &R_ref = m.wanted.poses[m.biped.trunk].R;
  if (c.com.z < 0.65 * ref_com.z) {
    s.fallen = true, s.cause = "the centre of mass sank";
  } else if (dot(R.column_z(), R_ref.column_z()) < 0.5) {
    s.fallen = true, s.cause = "the trunk tilted";
  } else if (!(m.tau.cwiseAbs().maxCoeff() < kMostTorque * m.model.mass() * norm(m.model.gravity()) * m.com_height)) {
    s.fallen = true, s.cause = "no sensible torques keep it up";
    m.tau.setZero();
  }
  return m.tau;
}

}  // namespace kansetsu
