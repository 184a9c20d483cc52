#include "kansetsu/motion/track.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kansetsu/base/error.h"
#include "kansetsu/motion/clip.h"
#include "kansetsu/spatial/rotations.h"
#include "motion/capture_point.h"
#include "motion/hull.h"
#include "motion/settle.h"
#include "motion/track_plan.h"

namespace kansetsu {
namespace {

constexpr double kRate = 200;          // [Hz] of the plan
constexpr double kStepGain = 0.8;      // of what the capture point will be off at landing, taken by the foothold
constexpr double kClearance = 0.03;    // [m] that a foot is lifted more than in the clip
constexpr double kLongestShift = 0.3;  // [m] of one foothold
constexpr double kFeel = 0.02;         // [m] below the ground at which a foot aims that should be on it and is not
constexpr double kEarly = 0.1;         // [s] before its time that a foot may land
constexpr double kHeightGain = 100, kHeightDamping = 20;  // [1/s², 1/s]
constexpr double kWithoutAnswer = 0.05;                   // [s] without sensible torques
constexpr double kAfter = 0.7;    // [s] after a flight or another support that may be what made it fall
constexpr double kTakeOff = 0.4;  // [s] before a flight in which angular momentum counts
/// [m] by which whole soles come nearer to where they should push than the edges that the clip has down: below, edges suffice.
constexpr double kEdgesFail = 0.02, kEdgesSuffice = 0.01;
constexpr double kMomentumGain = 5;  // [1/s] at which angular momentum comes back to the clip's

/// [m] height of the lowest corner of a sole.
double lowest_corner(const Sole& sole, const Transform<>& X_WS) {
  return X_WS.p.z - sole.half_length * std::abs(X_WS.R.column_x().z) - sole.half_width * std::abs(X_WS.R.column_y().z);
}

}  // namespace

struct Tracker::Impl {
  Model model;
  Biped biped;
  TrackOptions options;
  CapturePoint capture;
  TrackPlan plan;
  WholeBody body;
  Workspace work;
  LinkMotions wanted;  ///< of the clip at this moment
  State reference;
  TrackPlan::Centre centre;  ///< wanted at this moment
  Eigen::VectorXd vdot, tau, posture_wanted, posture_weight;
  WalkStatus status;
  WholeBodyResult forces;
  Vec3<> shift{};                ///< of the plan from the clip
  Vec3<> next_shift{};           ///< of the foot that swings
  Vec3<> off{}, off_velocity{};  ///< of the mass centre from its plan, along the ground
  bool was_down[2] = {true, true};
  /// Corners of the soles on the ground at this moment: those that the clip has down, and all.
  std::vector<Vec3<>> edges, soles;
  bool flat_soles = false;  ///< heels and toes come down where their edges alone do not balance it
  double square_error = 0, com_height = 0;
  Eigen::VectorXd last_tau;
  double without_answer = 0;  ///< [s] since torques were sensible
  std::uint64_t samples = 0;

  Impl(const Model& m, const Biped& b, const Clip& c, const TrackOptions& o)
      : model(m), biped(b), options(o), capture(1), body(m), work(m), wanted(m), reference(m) {
    if (const auto problem = clip_problem(model, c)) throw Error("Tracker: " + *problem);
    const Clip part =
        resample(model, cut(model, c, std::max(o.from, c.times.front()), std::min(o.to, c.times.back())), kRate);
    if (part.frames() < 20) throw Error("Tracker: the selected part of the clip is shorter than 0.1 s");
    plan = plan_track(model, biped, part, o.cutoff, (c.frames() - 1) / c.duration());
    for (const TrackPlan::Centre& at : plan.centre) com_height += at.p.z / double(plan.centre.size());
    capture = CapturePoint(std::sqrt(norm(model.gravity()) / com_height));
    tau = last_tau = vdot = posture_wanted = Eigen::VectorXd::Zero(model.nv());
    posture_weight = Eigen::VectorXd::Constant(model.nv(), 0.5);
    posture_weight.head(6).setZero();
    for (const Sole* foot : {&biped.left, &biped.right}) {
      for (auto link = std::optional<LinkId>(foot->link); link && link->value() > 0; link = model.parent(*link)) {
        const CoordinateRange r = model.coordinates(JointId{link->value() - 1});
        posture_weight.segment(r.v, r.nv).setConstant(0.03);
      }
    }
  }

  int frame_at(double time) const { return std::clamp(int(time * kRate), 0, plan.clip.frames() - 2); }
  void look_up(double time);
  Transform<> wanted_sole(bool left) const { return wanted.poses[biped.sole(left).link] * biped.sole(left).X_LS; }
  void add_foot(bool left, int k, bool touches);
  Vec3<> landing_error(int k, double time) const;
  void add_corners(const Sole& sole, bool heel, bool toe);
  void fall(double time, const char* what);
  Vec3<> feasible(const Vec3<>& a, const Vec3<>& com);
  void add_foot_task(bool left, const Vec3<>& moved, double weight_turn, double weight);
  void add_link(LinkId link, double weight);
  void add_posture(const State& state);
};

Tracker::Tracker(const Model& model, const Biped& biped, const Clip& clip, const TrackOptions& options)
    : impl_(std::make_unique<Impl>(model, biped, clip, options)) {}
const WalkStatus& Tracker::status() const { return impl_->status; }
const WholeBodyResult& Tracker::forces() const { return impl_->forces; }
double Tracker::duration() const { return (impl_->plan.clip.frames() - 1) / kRate; }
State Tracker::start() const {
  const Impl& m = *impl_;
  State state(m.model);
  state.q = m.plan.clip.q.col(0);
  state.v = m.plan.v.col(0);
  const LinkPoses poses = fk(m.model, state.q);
  double lowest = 0;
  for (const Sole* sole : {&m.biped.left, &m.biped.right})
    lowest = std::min(lowest, lowest_corner(*sole, poses[sole->link] * sole->X_LS));
  state.q[2] -= lowest;
  return state;
}

void Tracker::Impl::look_up(double time) {
  const int k = frame_at(time);
  const double s = std::clamp(time * kRate - k, 0.0, 1.0);
  reference.q = interpolate(model, plan.clip.q.col(k), plan.clip.q.col(k + 1), s);
  reference.v = plan.v.col(k) + s * (plan.v.col(k + 1) - plan.v.col(k));
  vdot = plan.vdot.col(k) + s * (plan.vdot.col(k + 1) - plan.vdot.col(k));
  const auto between = [s](const Vec3<>& a, const Vec3<>& b) { return a + s * (b - a); };
  const TrackPlan::Centre &a = plan.centre[size_t(k)], &b = plan.centre[size_t(k + 1)];
  centre = {between(a.p, b.p),           between(a.v, b.v),
            between(a.a, b.a),           between(a.momentum, b.momentum),
            between(a.moment, b.moment), between(a.turning, b.turning)};
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

void Tracker::Impl::add_foot(bool left, int k, bool touches) {
  const TrackPlan::Foot& foot = plan.foot(left);
  const int side = left ? 0 : 1;
  const double air = foot.in_air[size_t(k)], until = foot.until_down[size_t(k)];
  // A foot that meets the ground a little before its time has landed.
  const bool early = touches && until < kEarly && until < air;
  const int at = early ? std::min(k + int(std::lround(until * kRate)), plan.clip.frames() - 1) : k;
  if (!foot.down(at)) {
    // Along the clip's way, over to where the capture point will need the foot.
    Vec3<> needed = kStepGain * landing_error(k, std::min(until, 0.5));
    const double length = norm(needed);
    if (length > kLongestShift) needed = (kLongestShift / length) * needed;
    const double part = air / std::max(air + until, 1e-3), s = part * part * (3 - 2 * part);
    next_shift = shift + s * needed;
    was_down[side] = false;
    const Vec3<> clear{0, 0, plan.flies(k) ? 0 : kClearance * std::sin(std::numbers::pi * part)};
    add_foot_task(left, next_shift + clear, 3, 100);
    return;
  }
  if (!touches) {  // it should be there: down, wherever the clip's own sole is
    const Transform<> X_WS = body.motion(biped.sole(left).link, biped.sole(left).X_LS).X_WF;
    const Vec3<>& moved = was_down[side] ? shift : next_shift;
    const double down = X_WS.p.z - wanted_sole(left).p.z - lowest_corner(biped.sole(left), X_WS) - kFeel;
    add_foot_task(left, {moved.x, moved.y, down}, 3, 100);
    return;
  }
  if (!was_down[side]) {
    was_down[side] = true;
    ++status.steps;
    shift = flat(body.motion(biped.sole(left).link, biped.sole(left).X_LS).X_WF.p - wanted_sole(left).p);
  }
  add_corners(biped.sole(left), foot.heel[size_t(at)], foot.toe[size_t(at)]);
  const bool heel = foot.heel[size_t(at)], toe = foot.toe[size_t(at)];
  SupportLimits limits{.friction = options.friction, .inset = 0.005};
  limits.pivot = heel == toe ? Edge::kNone : heel ? Edge::kRear : Edge::kFront;
  const Sole& sole = biped.sole(left);
  if (flat_soles) limits.pivot = Edge::kNone;
  body.support(sole, limits, settling(body.motion(sole.link, sole.X_LS), sole, limits.pivot, {0, 0, 1}));
  if (limits.pivot != Edge::kNone) add_foot_task(left, shift, 1, 0);
}

/// What the capture point will be off when a foot lands in `time`: on a foot it runs away, in flight it goes straight on.
Vec3<> Tracker::Impl::landing_error(int k, double time) const {
  const double w = capture.omega();
  if (plan.flies(k)) return off + (time + 1 / w) * off_velocity;
  return capture.growth(time) * (off + (1 / w) * off_velocity);
}

void Tracker::Impl::add_corners(const Sole& sole, bool heel, bool toe) {
  const Transform<> X_WS = body.motion(sole.link, sole.X_LS).X_WF;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) {
      const Vec3<> p = X_WS * Vec3<>{x * sole.half_length, y * sole.half_width, 0};
      soles.push_back(p);
      if (x < 0 ? heel : toe) edges.push_back(p);
    }
  }
}

/// What is not asked of the feet would be got by turning the trunk: the acceleration for which they push where they are.
Vec3<> Tracker::Impl::feasible(const Vec3<>& a, const Vec3<>& com) {
  const double lambda = std::max(norm(model.gravity()) + a.z, 1.0) / std::max(com.z, kLeastHeight);
  const Vec3<> z = com - (1 / lambda) * flat(a - centre.turning);
  const double gain = distance_to_hull(edges, z) - distance_to_hull(soles, z);
  flat_soles = gain > (flat_soles ? kEdgesSuffice : kEdgesFail);
  const Vec3<> out = lambda * flat(com - nearest_in_hull(flat_soles ? soles : edges, z)) + centre.turning;
  return {out.x, out.y, a.z};
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

/// How far it came, and what the clip did there that feet alone do not.
void Tracker::Impl::fall(double time, const char* what) {
  status.fallen = true;
  status.cause = fmt::format("{}, {:.2f} s into {:.2f} s", what, time, (plan.clip.frames() - 1) / kRate);
  const OtherSupport* other = nullptr;
  for (const OtherSupport& o : plan.others)
    if (!other && o.start - kAfter < time && time < o.end + kAfter) other = &o;
  if (other) {
    status.cause +=
        fmt::format("; from {:.2f} to {:.2f} s the clip rests on its {}, and only soles can carry load here",
                    other->start, other->end, other->name);
    return;
  }
  for (int k = frame_at(time); k >= frame_at(time - kAfter); --k) {
    if (plan.until_flight[size_t(k)] > 0) continue;
    int first = k, last = k;
    while (first > 0 && plan.until_flight[size_t(first - 1)] == 0) --first;
    while (last + 1 < plan.clip.frames() && plan.until_flight[size_t(last + 1)] == 0) ++last;
    status.cause += fmt::format("; the clip is in flight from {:.2f} to {:.2f} s", first / kRate, last / kRate);
    return;
  }
}

const Eigen::VectorXd& Tracker::control(double time, double dt, const State& state, const FootSensing& feet) {
  Impl& m = *impl_;
  WalkStatus& s = m.status;
  m.look_up(time);
  m.body.begin(state);
  const Centroidal& c = m.body.centroidal();
  const int k = m.frame_at(time);
  const double w = m.capture.omega();
  const Vec3<> xi = flat(c.com + (1 / w) * c.com_velocity);
  m.off = flat(c.com - m.centre.p) - m.shift, m.off_velocity = flat(c.com_velocity - m.centre.v);
  m.edges.clear(), m.soles.clear();
  m.add_foot(true, k, feet.left);
  m.add_foot(false, k, feet.right);
  // z = z_ref + (1 + k/ω)·(ξ − ξ_ref) in accelerations.
  const Vec3<> back = -w * kCaptureGain * m.off - (w + kCaptureGain) * m.off_velocity;
  Vec3<> a = m.centre.a + back;
  a.z = m.centre.a.z + kHeightGain * (m.centre.p.z - c.com.z) + kHeightDamping * (m.centre.v.z - c.com_velocity.z);
  if (!m.edges.empty()) {
    a = m.feasible(a, c.com);
    // In flight nothing changes it any more.
    const double momentum = m.plan.until_flight[size_t(k)] < kTakeOff ? 0.2 : 0.01;
    m.body.com(a, {1000, 1000, 300});
    m.body.angular_momentum(m.centre.moment + kMomentumGain * (m.centre.momentum - c.h.t), momentum * Vec3<>{1, 1, 1});
    m.add_link(m.biped.pelvis, 5);
    m.add_link(m.biped.trunk, 5);
  }
  m.add_posture(state);
  m.forces = m.body.solve();
  m.tau = m.forces.tau;
  if (m.forces.status != WholeBodyResult::Status::kSolved) ++s.infeasible;

  s.phase = m.plan.left.down(k) && m.plan.right.down(k) ? WalkPhase::kShared : WalkPhase::kSingle;
  s.stance_left = m.plan.left.down(k);
  s.com = c.com, s.capture = xi, s.capture_error = norm(m.off + (1 / w) * m.off_velocity);
  s.pressure = flat(c.com) - (c.com.z / std::max(norm(m.model.gravity()) + a.z, 1.0)) * flat(a);
  s.walked = norm(flat(c.com) - flat(center_of_mass(m.model, m.plan.clip.q.col(0))));
  s.done = time >= duration();
  const Mat3<>&R = m.body.motion(m.biped.trunk).X_WF.R, &R_ref = m.wanted.poses[m.biped.trunk].R;
  // One problem without a sensible answer is no fall: the torques before it last for a moment.
  const bool sensible =
      m.tau.cwiseAbs().maxCoeff() < kMostTorque * m.model.mass() * norm(m.model.gravity()) * m.com_height;
  m.without_answer = sensible ? 0 : m.without_answer + dt;
  if (sensible)
    m.last_tau = m.tau;
  else
    m.tau = m.last_tau;
  if (c.com.z < 0.65 * m.centre.p.z)
    m.fall(time, "the centre of mass sank");
  else if (dot(R.column_z(), R_ref.column_z()) < 0.5)
    m.fall(time, "the trunk tilted");
  else if (m.without_answer > kWithoutAnswer)
    m.fall(time, "no feasible torques keep it upright");
  return m.tau;
}

}  // namespace kansetsu
