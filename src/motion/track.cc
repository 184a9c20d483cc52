#include "kansetsu/motion/track.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/motion/clip.h"
#include "kansetsu/spatial/eigen.h"
#include "kansetsu/spatial/rotations.h"
#include "motion/capture_point.h"
#include "motion/hull.h"
#include "motion/settle.h"
#include "motion/track_plan.h"

namespace kansetsu {
namespace {

constexpr double kRate = 200;          // [Hz] of the plan
constexpr double kClearance = 0.03;    // [m] that a foot is lifted more than in the clip
constexpr double kLongestShift = 0.3;  // [m] of a foothold, seen from the mass centre
constexpr double kFeel = 0.02;         // [m] below the ground at which a foot aims that should be on it and is not
constexpr double kEarly = 0.1;         // [s] before its time that a foot may land
constexpr double kHeightGain = 100, kHeightDamping = 20;  // [1/s², 1/s]
constexpr double kWithoutAnswer = 0.05;                   // [s] without sensible torques
constexpr double kAfter = 0.7;    // [s] after a flight or another support that may be what made it fall
constexpr double kTakeOff = 0.4;  // [s] before a flight in which angular momentum counts
/// [m] by which whole soles come nearer to where they should push than the edges that the clip has down: below, edges suffice.
constexpr double kEdgesFail = 0.02, kEdgesSuffice = 0.01;
constexpr double kRescue = 0.3;         // [s] of a step that the clip does not have
constexpr double kRescueHeight = 0.03;  // [m] of its swing
/// [m] by which the capture point leaves the soles before such a step begins, and [s] until the next one may.
constexpr double kLeaves = 0.02, kRescueAgain = 0.1;
constexpr double kApart = 0.15;  // [m] from which soles that were moved by different ways are too far apart
/// [1/s] Legs that push off are braked as late as a step of a millisecond allows: at 30 they lose a quarter of the speed of a jump.
constexpr double kLimitRate = 100;
/// [s] of the clip that are skipped at most when a flight ends early, and by which the clip waits at most when it ends late.
constexpr double kSkip = 0.3, kWait = 0.15;
constexpr int kMostOthers = 4;                          // supports beside the feet
constexpr double kComeToRest = 40;                      // [1/s] at which what touches comes to rest
constexpr double kLeastHold = 0.2;                      // [s] of a seat or a hold
const Box kSeat{{0.35, 0.4, 0.04}};                     // thin, so that legs go beneath it
constexpr double kSeatBelow = 0.06;                     // [m] of the pelvis' joint that flesh is thick
constexpr double kCarriedGain = 40, kCarriedRate = 12;  // [1/s², 1/s] of the mass centre over hands, knees, a seat
constexpr double kTooLow = 0.03;     // [m] at the end of a flight: a foot that still touches then goes on pushing
constexpr double kMomentumGain = 5;  // [1/s] at which angular momentum comes back to the clip's

/// The velocity of the base with which the whole figure has a given momentum.
void set_momentum(const Model& model, const Vec3<>& com_velocity, const Vec3<>& angular, State& state) {
  Workspace work(model);
  Centroidal c(model);
  centroidal(model, state, work, c);
  Eigen::Matrix<double, 6, 1> missing;
  missing << to_eigen(angular - c.h.t), to_eigen(c.mass * (com_velocity - c.com_velocity));
  const Eigen::Matrix<double, 6, 6> A = c.A.leftCols<6>();
  state.v.head<6>() += A.partialPivLu().solve(missing);
}

/// A rotation whose z axis is the normal of a surface.
Mat3<> swing_onto(const Vec3<>& normal) {
  const Vec3<> beside = std::abs(normal.x) < 0.9 ? Vec3<>{1, 0, 0} : Vec3<>{0, 1, 0};
  Vec3<> y = cross(normal, beside);
  y = (1 / norm(y)) * y;
  return transpose(Mat3<>{cross(y, normal), y, normal});
}

}  // namespace

/// A step that the clip does not have: since when, and whether the foot stands where the clip has it in the air.
struct ExtraStep {
  double start = -1;
  bool stands = false;
  bool closes = false;  ///< it goes beside the other one, as in the clip
  bool swings() const { return start >= 0; }
};

class Tracker::Memory {
 public:
  WalkStatus status;
  Vec3<> shift[2]{};   ///< of each foot from its place in the clip
  Vec3<> lifted[2]{};  ///< the same where it left the ground last
  bool was_down[2] = {true, true};
  ExtraStep rescue[2];
  double last_rescue = -1;  ///< [s] when one landed
  bool flat_soles = false;  ///< heels and toes come down where their edges alone do not balance it
  double square_error = 0;
  Eigen::VectorXd last_tau;
  double without_answer = 0;  ///< [s] since torques were sensible
  std::uint64_t samples = 0;
  double strain = 0;
  double skipped = 0;      ///< [s] of the clip; negative: waited
  double waited = 0;       ///< [s] since the flight should have ended
  bool in_flight = false;  ///< in the clip, before this step
};

struct Tracker::Impl : Tracker::Memory {
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
  WholeBodyResult forces;
  std::vector<TrackCorrection> corrections;
  std::vector<TrackProp> props;
  bool others_carry = false;     ///< at this moment
  TrackCorrection correction;    ///< their sum at this moment
  Vec3<> off{}, off_velocity{};  ///< of the mass centre from its plan, along the ground
  double height_off = 0;         ///< [m] the same upwards
  Vec3<> xi{};                   ///< capture point
  /// Corners of the soles on the ground at this moment: those that the clip has down, and all.
  std::vector<Vec3<>> edges, soles;
  double com_height = 0;

  Impl(const Model& m, const Biped& b, const Clip& c, const TrackOptions& o)
      : model(m),
        biped(b),
        options(o),
        capture(1),
        body(m, {.limit_rate = kLimitRate}, 6),
        work(m),
        wanted(m),
        reference(m) {
    if (const auto problem = clip_problem(model, c)) throw Error("Tracker: " + *problem);
    const Clip part =
        resample(model, cut(model, c, std::max(o.from, c.times.front()), std::min(o.to, c.times.back())), kRate);
    if (part.frames() < 20) throw Error("Tracker: the selected part of the clip is shorter than 0.1 s");
    plan = plan_track(model, biped, part, o.cutoff, (c.frames() - 1) / c.duration());
    for (const TrackPlan::Centre& at : plan.centre) com_height += at.p.z / double(plan.centre.size());
    capture = CapturePoint(std::sqrt(norm(model.gravity()) / com_height));
    make_props();
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
  /// The frame before a time, and what part of a frame has passed since.
  std::pair<int, double> moment(double time) const {
    const int k = frame_at(time);
    return {k, std::clamp(time * kRate - k, 0.0, 1.0)};
  }
  void make_props();
  void add_others(double at, const FootSensing& feet);
  void lower(const OtherSupport& other);
  void keep_in_step(double time, double dt, const FootSensing& feet);
  bool flies_too_low(int k) const;
  void look_up_corrections(double time);
  Vec3<> corrected_landing(int side, double time, double until) const;
  double measure_strain(const Centroidal& c) const;
  void look_up(double time);
  Transform<> wanted_sole(bool left) const { return wanted.poses[biped.sole(left).link] * biped.sole(left).X_LS; }
  void add_foot(bool left, int k, double time, bool touches);
  Vec3<> of_state(const BalanceState& row) const;
  Vec3<> balanced(const BalanceFrame& now) const;
  void add_corners(const Sole& sole, bool heel, bool toe);
  std::array<Vec3<>, 4> corners(bool left) const;
  struct Landing {
    Vec3<> place{};
    double effort = 0;  ///< [m]
  };
  Landing rescuing_place(bool left, double in) const;
  void start_rescue(int side, double time, bool closes);
  void begin_rescue(int k, double time);
  bool swing_rescue(bool left, double time, bool touches);
  void stand(bool left, int at, bool whole);
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
const State& Tracker::reference() const { return impl_->reference; }
void Tracker::correct(std::vector<TrackCorrection> corrections) { impl_->corrections = std::move(corrections); }
const std::vector<TrackProp>& Tracker::props() const { return impl_->props; }
double Tracker::clip_time(double time) const { return time + impl_->skipped; }
const std::vector<TrackCorrection>& Tracker::corrections() const { return impl_->corrections; }
double Tracker::strain() const { return impl_->strain; }
std::shared_ptr<const Tracker::Memory> Tracker::save() const { return std::make_shared<const Memory>(*impl_); }
void Tracker::restore(const Memory& memory) { static_cast<Memory&>(*impl_) = memory; }
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
  // Derivatives at the end of a filtered clip are poor; in flight nothing would make up for them.
  if (m.plan.flies(0)) set_momentum(m.model, m.plan.centre[0].v, m.plan.centre[0].momentum, state);
  return state;
}

void Tracker::Impl::look_up(double time) {
  const auto [k, s] = moment(time);
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

void Tracker::Impl::look_up_corrections(double time) {
  correction = {};
  for (const TrackCorrection& c : corrections) {
    if (!(time > c.start && time < c.end)) continue;
    const double root = std::sin(std::numbers::pi * (time - c.start) / (c.end - c.start)), s = root * root;
    correction.push += s * c.push, correction.turn += s * c.turn;
  }
}

/// By how much corrections move the foothold of a foot that will land in `until` seconds. None does anything before its start.
Vec3<> Tracker::Impl::corrected_landing(int side, double time, double until) const {
  Vec3<> sum{};
  for (const TrackCorrection& c : corrections)
    if (time > c.start && time + until <= c.end) sum += c.foothold[size_t(side)];
  return sum;
}

/// The capture point 0.2 m off, the trunk 45° off, the mass centre 0.2 m too low, or an angular momentum of 15 N·m·s: each is 1.
double Tracker::Impl::measure_strain(const Centroidal& c) const {
  const Vec3<> feet = 0.5 * (shift[0] + shift[1]);
  const Mat3<>&R = body.motion(biped.trunk).X_WF.R, &R_ref = wanted.poses[biped.trunk].R;
  const double turned = norm(log_rotation(times_transpose(R_ref, R)));
  return norm(off - feet + (1 / capture.omega()) * off_velocity) / 0.2 + turned / 0.8 +
         std::abs(c.com.z - centre.p.z) / 0.2 + norm(c.h.t - centre.momentum) / 15;
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

void Tracker::Impl::add_foot(bool left, int k, double time, bool touches) {
  if (swing_rescue(left, time, touches)) return;
  const TrackPlan::Foot& foot = plan.foot(left);
  const int side = left ? 0 : 1;
  if (rescue[side].stands && touches) return stand(left, k, true);
  const double air = foot.in_air[size_t(k)], until = foot.until_down[size_t(k)];
  // A foot that meets the ground a little before its time has landed.
  const bool early = touches && until < kEarly && until < air;
  const int at = early ? std::min(k + int(std::lround(until * kRate)), plan.clip.frames() - 1) : k;
  if (!foot.down(at) && touches && plan.flies(at) && flies_too_low(k)) return stand(left, k, true);
  if (!foot.down(at)) {
    // Along the clip's way, over to where the foot will be needed.
    if (was_down[side]) lifted[side] = shift[side];
    was_down[side] = false;
    Vec3<> needed = of_state(plan.balance[size_t(k)].land[size_t(side)]) + corrected_landing(side, time, until) - off;
    const double length = norm(needed);
    if (length > kLongestShift) needed = (kLongestShift / length) * needed;
    const double part = air / std::max(air + until, 1e-3), s = part * part * (3 - 2 * part);
    shift[side] = lifted[side] + s * (off + needed - lifted[side]);
    // In flight legs go as in the clip beneath the mass centre, however high that is.
    const Vec3<> clear{0, 0, plan.flies(k) ? height_off : kClearance * std::sin(std::numbers::pi * part)};
    add_foot_task(left, shift[side] + clear, 3, 100);
    return;
  }
  if (!touches) {  // it should be there: down, wherever the clip's own sole is
    const Transform<> X_WS = body.motion(biped.sole(left).link, biped.sole(left).X_LS).X_WF;
    const Vec3<>& moved = shift[side];
    const double down = X_WS.p.z - wanted_sole(left).p.z - lowest_corner(biped.sole(left), X_WS) - kFeel;
    add_foot_task(left, {moved.x, moved.y, down}, 3, 100);
    return;
  }
  stand(left, at, rescue[side].stands);
}

/// Seats and holds where the clip has them.
void Tracker::Impl::make_props() {
  for (const OtherSupport& o : plan.others) {
    if (o.on_floor() || o.end - o.start < kLeastHold) continue;
    TrackProp prop{.name = o.name, .start = o.start, .end = o.end, .link = o.link, .point = o.point};
    Vec3<> sum{}, ahead{};
    double lowest = kInfinity;
    int count = 0;
    LinkPoses poses(model);
    for (int k = frame_at(o.start); k <= frame_at(o.end); ++k, ++count) {
      fk(model, plan.clip.q.col(k), work, poses);
      const Vec3<> p = poses[o.link] * o.point;
      sum += p, ahead += poses[biped.pelvis].R.column_x(), lowest = std::min(lowest, p.z);
    }
    prop.X_WP.p = (1.0 / count) * sum;
    if (!o.grips) {
      const double yaw = std::atan2(ahead.y, ahead.x);
      prop.seat = kSeat;
      prop.X_WP = {rotation_z(std::sin(yaw), std::cos(yaw)),
                   {prop.X_WP.p.x, prop.X_WP.p.y, lowest - kSeatBelow - 0.5 * kSeat.size.z}};
      if (prop.X_WP.p.z < kSeat.size.z) continue;  // it sits on the floor
    }
    props.push_back(prop);
  }
}

/// Whatever touches beside the feet carries while the clip rests on something else; what should touch and does not comes down.
void Tracker::Impl::add_others(double at, const FootSensing& feet) {
  others_carry = false;
  bool planned = false;
  for (const OtherSupport& o : plan.others) planned |= o.start - kEarly < at && at < o.end;
  if (!planned) return;
  int count = 0;
  for (const BodyTouch& t : feet.others) {
    if (count++ == kMostOthers) break;
    const Transform<> X_WL = body.motion(t.link).X_WF;
    const Mat3<> R = swing_onto(t.normal);
    const Sole sole{.link = t.link, .X_LS = inverse(X_WL) * Transform<>{R, t.p}};
    const Motion<> V = body.motion(sole.link, sole.X_LS).V;
    body.support(sole, {.friction = options.friction, .kind = t.holds ? SupportKind::kGrip : SupportKind::kPoint},
                 {{}, transpose_times(R, -kComeToRest * V.v)});
    edges.push_back(t.p), soles.push_back(t.p);
    others_carry = true;
  }
  for (const OtherSupport& o : plan.others) {
    const auto is_it = [&](const BodyTouch& t) { return t.link == o.link; };
    if (o.on_floor() && o.start < at && at < o.end && std::none_of(feet.others.begin(), feet.others.end(), is_it))
      lower(o);
  }
}

void Tracker::Impl::lower(const OtherSupport& other) {
  const Transform<> X_LF{.p = other.point};
  const FrameMotion is = body.motion(other.link, X_LF), ref = frame_motion(wanted, other.link, X_LF);
  constexpr double kStiffness = 400, kDamping = 40, kDown = 0.05;
  Vec3<> error = ref.X_WF.p + 0.5 * (shift[0] + shift[1]) - is.X_WF.p;
  error.z = -std::min(is.X_WF.p.z, kDown);
  const Vec3<> a = ref.A.v + kStiffness * error + kDamping * (ref.V.v - is.V.v);
  body.link(other.link, X_LF, {{}, a}, {{}, {30, 30, 30}});
}

/// Flights end when the ground is met. The clip goes on from there, whenever that is.
void Tracker::Impl::keep_in_step(double time, double dt, const FootSensing& feet) {
  const int k = frame_at(time + skipped);
  const bool touches = feet.left || feet.right;
  const double left = plan.until_landing[size_t(k)];
  const bool falls = plan.centre[size_t(k)].v.z < 0;
  if (plan.until_flight[size_t(k)] == 0) {
    if (touches && falls && left < kSkip) skipped += left;
    waited = 0;
  } else if (k > 0 && !touches && !plan.flies(k) && waited < kWait && in_flight) {
    skipped -= dt, waited += dt;
    return;
  }
  in_flight = plan.until_flight[size_t(k)] == 0;
}

/// Whether a flight that began now would end with the mass centre lower than the clip's by more than kTooLow.
bool Tracker::Impl::flies_too_low(int k) const {
  const double left = plan.until_landing[size_t(k)];
  if (!std::isfinite(left)) return true;
  const int landing = std::min(k + int(std::lround(left * kRate)), plan.clip.frames() - 1);
  const Centroidal& c = body.centroidal();
  const double z = c.com.z + left * (c.com_velocity.z + 0.5 * left * model.gravity().z);
  return z < plan.centre[size_t(landing)].p.z - kTooLow;
}

/// The sole carries: what of it the clip has down, or all.
void Tracker::Impl::stand(bool left, int at, bool whole) {
  const TrackPlan::Foot& foot = plan.foot(left);
  const int side = left ? 0 : 1;
  const Sole& sole = biped.sole(left);
  if (!was_down[side]) {
    was_down[side] = true;
    ++status.steps;
    shift[side] = flat(body.motion(sole.link, sole.X_LS).X_WF.p - wanted_sole(left).p);
  }
  const bool heel = whole || foot.heel[size_t(at)], toe = whole || foot.toe[size_t(at)];
  add_corners(sole, heel, toe);
  SupportLimits limits{.friction = options.friction, .inset = 0.005};
  limits.pivot = heel == toe ? Edge::kNone : heel ? Edge::kRear : Edge::kFront;
  if (flat_soles) limits.pivot = Edge::kNone;
  body.support(sole, limits, settling(body.motion(sole.link, sole.X_LS), sole, limits.pivot, {0, 0, 1}));
  if (limits.pivot != Edge::kNone) add_foot_task(left, shift[side], 1, 0);
}

std::array<Vec3<>, 4> Tracker::Impl::corners(bool left) const {
  const Sole& sole = biped.sole(left);
  const Transform<> X_WS = body.motion(sole.link, sole.X_LS).X_WF;
  const double x = sole.half_length, y = sole.half_width;
  return {X_WS * Vec3<>{x, y, 0}, X_WS * Vec3<>{x, -y, 0}, X_WS * Vec3<>{-x, y, 0}, X_WS * Vec3<>{-x, -y, 0}};
}

/// Where a foot must land `in` seconds to stand at the capture point, if the other one carries until then; beside that one.
Tracker::Impl::Landing Tracker::Impl::rescuing_place(bool left, double in) const {
  const Vec3<> z = flat(nearest_in_hull(corners(!left), xi));
  const Vec3<> meets = z + capture.growth(in) * (xi - z);
  const Sole &own = biped.sole(left), &other = biped.sole(!left);
  const Transform<> X_WO = body.motion(other.link, other.X_LS).X_WF;
  Vec3<> beside = transpose_times(X_WO.R, meets - flat(X_WO.p));
  const double least = own.half_width + other.half_width + kLeaves, across = left ? beside.y : -beside.y;
  if (across < least) beside.y = left ? least : -least;
  const Vec3<> place = flat(X_WO.p) + flat(X_WO.R * beside);
  const Vec3<> from = flat(body.motion(own.link, own.X_LS).X_WF.p);
  return {place, norm(place - from) + 3 * norm(place - meets)};
}

/// Where the capture point has left the soles, nothing but a step brings it back.
void Tracker::Impl::begin_rescue(int k, double time) {
  for (const int side : {0, 1}) {
    ExtraStep& r = rescue[side];
    const bool stays = distance_to_hull(corners(side != 0), xi) == 0;
    if (r.stands && (plan.foot(side == 0).down(k) || stays)) r.stands = false;
    if (r.swings()) return;
  }
  if (time < last_rescue + kRescueAgain || plan.until_flight[size_t(k)] < 2 * kRescue ||
      plan.until_landing[size_t(k)] < 2 * kRescue)
    return;
  soles.clear();
  bool carries[2];
  for (const int side : {0, 1}) {
    carries[side] = plan.foot(side == 0).down(k) || rescue[side].stands;
    if (!carries[side]) continue;
    for (const Vec3<>& p : corners(side == 0)) soles.push_back(p);
  }
  if (soles.empty()) return;
  if (!(distance_to_hull(soles, xi) > kLeaves)) {
    // Soles that such a step has left far apart come together again, one over which nothing stands.
    for (const int side : {0, 1})
      if (carries[0] && carries[1] && norm(shift[0] - shift[1]) > kApart &&
          distance_to_hull(corners(side != 0), xi) == 0)
        return start_rescue(side, time, true);
    return;
  }
  int best = -1;
  double least = kInfinity;
  for (const int side : {0, 1}) {
    const TrackPlan::Foot& foot = plan.foot(side == 0);
    // One that is about to land anyway is where it should be.
    if (!carries[1 - side] || (!foot.down(k) && foot.until_down[size_t(k)] < kRescue)) continue;
    const double effort = rescuing_place(side == 0, kRescue).effort;
    if (effort < least) least = effort, best = side;
  }
  if (best < 0) return;
  start_rescue(best, time, false);
}

void Tracker::Impl::start_rescue(int side, double time, bool closes) {
  rescue[side] = {.start = time, .stands = false, .closes = closes};
  lifted[side] = shift[side];
  was_down[side] = false;
}

/// @return  whether the foot is on its way
bool Tracker::Impl::swing_rescue(bool left, double time, bool touches) {
  const int side = left ? 0 : 1;
  ExtraStep& r = rescue[side];
  if (!r.swings()) return false;
  const double part = (time - r.start) / kRescue;
  if (touches && part > 0.5) {
    r = {.start = -1, .stands = true, .closes = false};
    last_rescue = time;
    return false;
  }
  const double p = std::min(part, 1.0), s = p * p * (3 - 2 * p);
  const Transform<> X_WS = body.motion(biped.sole(left).link, biped.sole(left).X_LS).X_WF;
  const Vec3<> needed =
      r.closes ? shift[1 - side] : flat(rescuing_place(left, (1 - p) * kRescue).place - wanted_sole(left).p);
  shift[side] = lifted[side] + s * (needed - lifted[side]);
  const double height = kRescueHeight * std::sin(std::numbers::pi * p) - kFeel * p;
  const double up = X_WS.p.z - wanted_sole(left).p.z - lowest_corner(biped.sole(left), X_WS) + height;
  add_foot_task(left, {shift[side].x, shift[side].y, up}, 3, 100);
  return true;
}

/// A row of the balance plan times what is off now.
Vec3<> Tracker::Impl::of_state(const BalanceState& row) const {
  return row[0] * off + row[1] * off_velocity + row[2] * shift[0] + row[3] * shift[1];
}

/// The acceleration along the ground that brings the mass centre back as planned.
Vec3<> Tracker::Impl::balanced(const BalanceFrame& now) const {
  const Vec3<> feet = now.share[0] * shift[0] + now.share[1] * shift[1];
  return centre.a + now.stiffness * (off - feet - of_state(now.pressure));
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
  status.shift = 0.5 * norm(shift[0] + shift[1]);
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
        fmt::format("; from {:.2f} to {:.2f} s the clip rests on its {}", other->start, other->end, other->name);
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
  m.keep_in_step(time, dt, feet);
  const double at = time + m.skipped;  // of the clip
  m.look_up(at);
  m.look_up_corrections(time);
  if (std::lround(time / dt) % std::max(std::lround(kTrackMoment / dt), 1L) == 0) m.body.forget();
  m.body.begin(state);
  const Centroidal& c = m.body.centroidal();
  const int k = m.frame_at(at);
  const double w = m.capture.omega();
  const Vec3<> xi = flat(c.com + (1 / w) * c.com_velocity);
  m.off = flat(c.com - m.centre.p), m.off_velocity = flat(c.com_velocity - m.centre.v);
  m.height_off = c.com.z - m.centre.p.z;
  m.xi = xi;
  m.begin_rescue(k, time);
  m.edges.clear(), m.soles.clear();
  m.add_foot(true, k, time, feet.left);
  m.add_foot(false, k, time, feet.right);
  m.add_others(at, feet);
  Vec3<> a = m.others_carry ? m.centre.a - kCarriedGain * m.off - kCarriedRate * m.off_velocity
                            : m.balanced(m.plan.balance[size_t(k)]);
  a.z = m.centre.a.z + kHeightGain * (m.centre.p.z - c.com.z) + kHeightDamping * (m.centre.v.z - c.com_velocity.z);
  a += m.correction.push;
  if (!m.edges.empty()) {
    if (!m.others_carry) a = m.feasible(a, c.com);
    // In flight nothing changes it any more.
    const bool matters = m.plan.until_flight[size_t(k)] < kTakeOff || norm(m.correction.turn) > 0;
    const double momentum = matters ? 0.2 : 0.01;
    m.body.com(a, {1000, 1000, 300});
    m.body.angular_momentum(m.centre.moment + m.correction.turn + kMomentumGain * (m.centre.momentum - c.h.t),
                            momentum * Vec3<>{1, 1, 1});
  }
  m.add_link(m.biped.pelvis, 5);
  m.add_link(m.biped.trunk, 5);
  m.add_posture(state);
  m.forces = m.body.solve();
  m.tau = m.forces.tau;
  if (m.forces.status != WholeBodyResult::Status::kSolved) ++s.infeasible;

  s.phase = m.plan.left.down(k) && m.plan.right.down(k) ? WalkPhase::kShared : WalkPhase::kSingle;
  s.stance_left = m.plan.left.down(k);
  s.com = c.com, s.capture = xi;
  s.capture_error = norm(m.off - 0.5 * (m.shift[0] + m.shift[1]) + (1 / w) * m.off_velocity);
  s.pressure = flat(c.com) - (c.com.z / std::max(norm(m.model.gravity()) + a.z, 1.0)) * flat(a);
  s.walked = norm(flat(c.com) - flat(center_of_mass(m.model, m.plan.clip.q.col(0))));
  s.done = at >= duration();
  m.strain = m.measure_strain(c);
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
