#include "kansetsu/motion/walk.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/spatial/rotations.h"
#include "motion/capture_point.h"
#include "motion/settle.h"
#include "motion/swing.h"

namespace kansetsu {
namespace {

constexpr double kSettle = 0.9;         // [s] of leaning before the first step
constexpr double kStrideChange = 0.14;  // [m] from one step to the next
constexpr double kSharedPart = 0.25;    // of a step
/// Steps of people have a length of 1.05·leg·(v/√(g·leg))^0.42 [Grieve 1968]. Feet that land flat reach less far.
constexpr double kStepLength = 0.93, kStepPower = 0.42;
/// [√(leg/g)] Within a longer step errors of the capture point would grow tenfold.
constexpr double kLongestStep = 2.3;
constexpr double kArrived = 0.04;      // [m] from where it is to go
constexpr double kBackOnTheWay = 0.4;  // [rad] of heading per metre beside the way
constexpr double kDecided = 0.08;      // [s] before landing a foothold changes no more
constexpr double kInset = 0.008;       // [m] of the centre of pressure from a sole's rim
constexpr double kReach = 0.985;       // of a leg that is used
constexpr double kBehind = 0.45;       // of a stride that the hind sole is behind the hips; its heel is up then
/// Of the arc that hips would describe over a stiff leg: knees give way to the rest. People have 0.6 to 0.8.
constexpr double kVault = 0.8;
/// [m, m/s] A sole aims below the ground and comes down to it: one that only just gets there lands late, the body is ahead of its plan
/// then and lunges.
constexpr double kAimBelow = 0.01, kLandingSpeed = 0.1, kFeelingSpeed = 0.2;
constexpr double kRollFrom = 0.1;  // of the time in which the load changes feet: then the heel comes up

/// Arms clear of the body, swinging against the legs.
struct ArmJoint {
  std::string_view joint;
  double bend;    ///< [rad] from the posture
  double swing;   ///< [rad] per metre that the left foot is ahead of the right
  double weight;  ///< of keeping to it
};
constexpr ArmJoint kArms[] = {
    {"shoulderL_y", 0, 0.8, 0.3}, {"shoulderR_y", 0, -0.8, 0.3},  // forward and back
    {"shoulderL_x", 0.4, 0, 2},   {"shoulderR_x", -0.4, 0, 2},    // aside
    {"shoulderL_z", 0, 0, 2},     {"shoulderR_z", 0, 0, 2},       //
    {"elbowL_y", -0.6, 0, 0.3},   {"elbowR_y", -0.6, 0, 0.3},
};

Mat3<> turned(double yaw) { return rotation_z(std::sin(yaw), std::cos(yaw)); }

/// A sole on the ground that points along `yaw`.
Mat3<> on_ground(const Vec3<>& normal, double yaw) {
  const Vec3<> ahead{std::cos(yaw), std::sin(yaw), 0};
  const Vec3<> y = cross(normal, ahead);
  const Vec3<> left = (1 / norm(y)) * y;
  return transpose(Mat3<>{cross(left, normal), left, normal});
}

void check(const WalkOptions& o) {
  if (!(o.speed >= 0 && o.speed < 3)) throw Error("Walker: the speed is not between 0 and 3 m/s");
  if (!(o.step_time >= 0 && o.step_width >= 0))
    throw Error("Walker: step_time or step_width is negative or not a number");
  if (!(o.clearance > 0 && o.friction > 0)) throw Error("Walker: clearance or friction is not positive");
}

}  // namespace

const char* to_string(WalkPhase phase) {
  constexpr const char* kNames[] = {"standing", "single support", "double support", "stopping"};
  return kNames[int(phase)];
}

struct Walker::Impl {
  Model model;
  Biped biped;
  WalkOptions options;
  WholeBody body;
  CapturePoint capture;
  StepTiming timing;
  double com_height, width;
  double vault = 0;  ///< [m] by which the mass centre rises in a step
  double gravity;    ///< [m/s²]
  WalkStatus status;
  struct PostureJoint {
    int q, v;
    double target;     ///< [rad, m]
    double swing = 0;  ///< per metre that the left foot is ahead
  };
  std::vector<PostureJoint> posture_joints;
  Eigen::VectorXd posture_weight, posture_wanted, tau;
  WholeBodyResult forces;

  // The step that is going on.
  double begin = 0;                    ///< [s] of the phase
  double stride = 0, next_stride = 0;  ///< [m] of this step and the one after it
  double heading = 0, next_heading = 0;
  double way = 0;       ///< [rad] heading of the way
  Vec3<> on_the_way{};  ///< where it should be
  double aside = 0;     ///< [m] to the left of it
  Vec3<> leaning{};     ///< capture point when it began to stand
  Vec3<> foothold{};
  Transform<> lifted{};  ///< of the swinging sole when it left the ground
  Course x, y, z, turn;  ///< of the swinging sole; turn: part of the way from `lifted` to flat on the ground
  Course yaw;            ///< of pelvis and trunk
  Course level;          ///< of the mass centre above the ground
  double waiting = 0;    ///< [s] that a foot has landed before its time
  double transfer = 1;   ///< [s] in which the load changes feet
  bool begun = false, last_step = false;

  Impl(const Model& m, const Biped& b, const WalkOptions& o)
      : model(m),
        biped(b),
        options(o),
        body(m),
        capture(1),
        com_height(0),
        width(o.step_width),
        gravity(norm(m.gravity())) {
    const double time = o.step_time > 0 ? o.step_time : usual_step_time();
    timing = {(1 - kSharedPart) * time, kSharedPart * time};
    if (!(width > 0)) {
      const LinkPoses poses = fk(model, biped.posture);
      width =
          std::abs((poses[biped.left.link] * biped.left.X_LS).p.y - (poses[biped.right.link] * biped.right.X_LS).p.y);
    }
    crouch();
    com_height = center_of_mass(model, biped.posture).z;
    level = {com_height, 0, 0};
    capture = CapturePoint(std::sqrt(gravity / com_height));
    tau = posture_wanted = Eigen::VectorXd::Zero(model.nv());
    weigh_posture();
    next_stride = std::min(0.5 * kStrideChange, speed_stride());
  }

  double leg_length() const {
    const LinkPoses straight = fk(model, neutral(model));
    return straight[biped.pelvis].p.z - (straight[biped.left.link] * biped.left.X_LS).p.z;
  }
  /// [s] by speed and size; on stairs, each stride is one of them.
  double usual_step_time() const {
    const double leg = leg_length(), speed = std::max(options.speed, 1e-3);
    const double stride_time = kStepLength * leg * std::pow(speed / std::sqrt(gravity * leg), kStepPower) / speed;
    const double longest = kLongestStep * std::sqrt(leg / gravity);
    const Terrain& t = options.terrain;
    return std::min({stride_time, longest, t.stair_rise != 0 ? t.stair_run / speed : longest});
  }
  /// Long strides need low hips: when both feet are on the ground the hind leg must still reach it. Over the foot they are higher.
  void crouch() {
    const double leg = kReach * leg_length(), behind = kBehind * speed_stride() + 0.02;
    const double low = std::sqrt(std::max(leg * leg - behind * behind, 0.25 * leg * leg));
    vault = kVault * (leg - low);
    const double height = low + 0.5 * vault;
    if (height >= biped.pelvis_height) return;
    const LinkPoses poses = fk(model, biped.posture);
    const auto lower = stand_on(model, biped, poses[biped.left.link] * biped.left.X_LS,
                                poses[biped.right.link] * biped.right.X_LS, height, biped.posture);
    if (!lower) throw Error("Walker: the figure cannot crouch for strides of this length");
    biped.posture = *lower;
    biped.pelvis_height = height;
  }
  /// Legs go where the feet need them; only their turn about the upright axis, which moves knees and not feet, is held.
  void weigh_posture() {
    posture_weight = Eigen::VectorXd::Constant(model.nv(), 0.3);
    posture_weight.head(6).setZero();
    for (int j = 0; j < model.joint_count(); ++j) {
      const CoordinateRange r = model.coordinates(JointId{j});
      if (r.nq != 1) continue;
      PostureJoint joint{.q = r.q, .v = r.v, .target = biped.posture[r.q]};
      for (const ArmJoint& arm : kArms) {
        if (model.joint(JointId{j}).name != arm.joint) continue;
        joint.target += arm.bend;
        joint.swing = arm.swing;
        posture_weight[r.v] = arm.weight;
      }
      posture_joints.push_back(joint);
    }
    Workspace work(model);
    Eigen::Matrix<double, 6, Eigen::Dynamic> axes(6, model.nv());
    joint_axes(model, neutral(model), work, axes);
    for (const Sole* foot : {&biped.left, &biped.right}) {
      for (auto link = std::optional<LinkId>(foot->link); link && link->value() > 0; link = model.parent(*link)) {
        const CoordinateRange r = model.coordinates(JointId{link->value() - 1});
        for (int i = r.v; i < r.v + r.nv; ++i) posture_weight[i] = std::abs(axes(2, i)) > 0.9 ? 0.3 : 0.003;
      }
    }
  }
  double speed_stride() const { return options.speed * timing.total(); }
  /// Where ξ shall be ahead of a foot when a step on it begins.
  Vec3<> offset(bool stance_left, double ahead, double at_heading) const {
    const double sideways = capture.offset_aside(timing, stance_left ? -width : width);
    return turned(at_heading) * Vec3<>{capture.offset_ahead(timing, ahead), sideways, 0};
  }
  FrameMotion sole(bool left) const { return body.motion(biped.sole(left).link, biped.sole(left).X_LS); }

  void begin_step(double time, bool stance_left);
  void land(double time);
  void choose_foothold(double left, const Vec3<>& xi);
  void move_swing(double left, double dt);
  void move_level(double t, double dt);
  Vec3<> wanted_pressure(double time, const Vec3<>& xi);
  Vec3<> standing_pressure(const Vec3<>& xi, const Vec3<>& aim, double part, double duration);
  void add_supports(double time);
  void add_tasks(const State& state, const Vec3<>& pressure, double dt);
  void add_roll(bool left);
  void add_swing_task();
  void add_upright(LinkId link);
  void add_posture(const State& state);
  void look_for_fall();
};

Walker::Walker(const Model& model, const Biped& biped, const WalkOptions& options)
    : impl_((check(options), std::make_unique<Impl>(model, biped, options))) {}
const WalkStatus& Walker::status() const { return impl_->status; }
const WholeBodyResult& Walker::forces() const { return impl_->forces; }

State Walker::start() const {
  const Impl& m = *impl_;
  State state(m.model);
  Transform<> soles[2];
  for (const bool left : {true, false}) {
    const double y = (left ? 0.5 : -0.5) * m.width;
    soles[left ? 0 : 1] = {on_ground(m.options.terrain.normal(), 0), {0, y, m.options.terrain.height(0)}};
  }
  const auto q = stand_on(m.model, m.biped, soles[0], soles[1], m.biped.pelvis_height, m.biped.posture);
  if (!q) throw Error("Walker::start: the figure cannot stand on this ground");
  state.q = *q;
  return state;
}

/// Onto one foot; the other begins to swing.
void Walker::Impl::begin_step(double time, bool stance_left) {
  status.phase = WalkPhase::kSingle;
  status.stance_left = stance_left;
  begin = time;
  stride = next_stride;
  heading = next_heading;
  // A stride s can be brought down to nothing, a little less each step, within s²/2Δ + s/2.
  const double left = std::max(options.distance - status.walked - stride, 0.0);
  const double braked = kStrideChange * (std::sqrt(0.25 + 2 * left / kStrideChange) - 0.5);
  next_stride = std::clamp(std::min(speed_stride(), braked), stride - kStrideChange, stride + kStrideChange);
  last_step = left < kArrived && next_stride < kArrived;
  const double turn_left = std::max(options.turn_until - std::abs(way), 0.0);
  way += std::clamp(options.turn * timing.total(), -turn_left, turn_left);
  next_heading = way + std::clamp(-kBackOnTheWay * aside, -0.1, 0.1);
  const FrameMotion swinging = sole(!stance_left);
  lifted = swinging.X_WF;
  x = {lifted.p.x, swinging.V.v.x, 0}, y = {lifted.p.y, swinging.V.v.y, 0}, z = {lifted.p.z, swinging.V.v.z, 0};
  turn = {};
}

/// The swinging foot has touched: the ground pushes on both.
void Walker::Impl::land(double time) {
  status.phase = WalkPhase::kShared;
  const double spent = time - begin;
  waiting = std::max(timing.single - spent, 0.0);
  transfer = std::clamp(timing.total() - std::max(spent, timing.single), 0.5 * timing.shared, timing.shared);
  begin = time;
  ++status.steps;
  const Vec3<> from = flat(sole(status.stance_left).X_WF.p), to = flat(sole(!status.stance_left).X_WF.p);
  const Vec3<> ahead = turned(way).column_x(), left{-ahead.y, ahead.x, 0};
  const double advance = dot(ahead, to - from);
  status.walked += advance;
  on_the_way = on_the_way + advance * ahead;
  aside = dot(left, 0.5 * (from + to) - on_the_way);
}

void Walker::Impl::choose_foothold(double left, const Vec3<>& xi) {
  const bool stance_left = status.stance_left;
  const Vec3<> stance = sole(stance_left).X_WF.p;
  const Vec3<> b = offset(!stance_left, next_stride, next_heading);
  const Vec3<> wanted{capture.foothold(timing, xi.x, stance.x, left, b.x),
                      capture.foothold(timing, xi.y, stance.y, left, b.y), 0};
  // In the frame of the step: neither beyond the legs' reach nor onto the other foot.
  const Mat3<> R = turned(next_heading);
  Vec3<> d = transpose_times(R, wanted - flat(stance));
  const double side = stance_left ? -1 : 1;
  d.x = std::clamp(d.x, -0.35, 0.7);
  d.y = side * std::clamp(side * d.y, 0.9 * width, 0.45);
  const Vec3<> p = flat(stance) + R * Vec3<>{d.x, d.y, 0};
  const double x_on = options.terrain.foothold(p.x, biped.sole(!stance_left).half_length);
  foothold = {x_on, p.y, options.terrain.height(x_on)};
}

void Walker::Impl::move_swing(double left, double dt) {
  const double time = timing.single - left;
  x = glide(x, foothold.x, left, dt);
  y = glide(y, foothold.y, left, dt);
  turn = approach(turn, {1, 0, 0}, left, dt);
  const double rise = 0.45 * timing.single;
  if (time < rise) {
    z = approach(z, {std::max(lifted.p.z, foothold.z) + options.clearance, 0, 0}, rise - time, dt);
  } else if (left > dt) {
    z = approach(z, {foothold.z - kAimBelow, -kLandingSpeed, 0}, left, dt);
  } else {
    z = {z.p - kFeelingSpeed * dt, -kFeelingSpeed, 0};  // the ground is lower than thought: feel for it
  }
}

/// Like a cosine: highest over the foot, lowest between the feet. @param t  [s] of the phase
void Walker::Impl::move_level(double t, double dt) {
  const double half = 0.5 * vault * std::min(stride / std::max(speed_stride(), 1e-9), 1.0);
  const double bend = half * std::pow(2 * std::numbers::pi / timing.total(), 2), top = 0.5 * timing.single;
  const Course highest{com_height + half, 0, -bend}, lowest{com_height - half, 0, bend};
  if (status.phase == WalkPhase::kSingle && t < top) {
    level = approach(level, highest, top - t, dt);
  } else if (status.phase == WalkPhase::kSingle) {
    level = approach(level, lowest, std::max(timing.single + 0.5 * timing.shared - t, 2 * dt), dt);
  } else if (status.phase == WalkPhase::kShared) {
    level = approach(level, highest, waiting + transfer - t + top, dt);
  } else {
    level = approach(level, {com_height, 0, 0}, 0.3, dt);
  }
}

/// Leans until the capture point is at `aim`; part: how far it should have come.
Vec3<> Walker::Impl::standing_pressure(const Vec3<>& xi, const Vec3<>& aim, double part, double duration) {
  const double s = minimum_jerk(part), e = 1e-3;
  const double rate = (minimum_jerk(part + e) - s) / (e * duration);
  const Vec3<> reference = leaning + s * (aim - leaning);
  status.capture_error = norm(xi - reference);
  return xi - (rate / capture.omega()) * (aim - leaning) + (kCaptureGain / capture.omega()) * (xi - reference);
}

Vec3<> Walker::Impl::wanted_pressure(double time, const Vec3<>& xi) {
  const double t = time - begin, feedback = 1 + kCaptureGain / capture.omega();
  const Vec3<> stance = flat(sole(status.stance_left).X_WF.p), other = flat(sole(!status.stance_left).X_WF.p);
  Vec3<> reference, pressure;
  switch (status.phase) {
    case WalkPhase::kStanding:
      return standing_pressure(xi, stance + offset(status.stance_left, next_stride, next_heading), t / kSettle,
                               kSettle);
    case WalkPhase::kStopping:
      return standing_pressure(xi, 0.5 * (stance + other), t / kSettle, kSettle);
    case WalkPhase::kSingle:
      pressure = stance;
      reference = stance + capture.growth(t) * offset(status.stance_left, stride, heading);
      break;
    case WalkPhase::kShared: {  // onto the foot that has landed: status.stance_left is the old one still
      const double wait = std::max(waiting - t, 0.0), left = std::clamp(waiting + transfer - t, 1e-6, transfer);
      const Vec3<> b = offset(!status.stance_left, next_stride, next_heading);
      pressure = stance + std::clamp((t - waiting) / transfer, 0.0, 1.0) * (other - stance);
      reference = {capture.shared_reference(pressure.x, other.x, left, b.x),
                   capture.shared_reference(pressure.y, other.y, left, b.y), 0};
      if (wait > 0) reference = stance + (1 / capture.growth(wait)) * (reference - stance);
    }
  }
  status.capture_error = norm(xi - reference);
  return pressure + feedback * (xi - reference);
}

void Walker::Impl::add_supports(double time) {
  for (const bool left : {true, false}) {
    const bool is_stance = left == status.stance_left;
    if (status.phase == WalkPhase::kSingle && !is_stance) continue;
    SupportLimits limits{.friction = options.friction, .inset = kInset};
    if (status.phase == WalkPhase::kShared && is_stance) {
      const double part = std::max((time - begin - waiting) / transfer, 0.0);
      limits.most = std::max(1.5 * (1 - part), 0.02) * model.mass() * gravity;
      if (part > kRollFrom && !last_step) limits.pivot = Edge::kFront;
    }
    body.support(biped.sole(left), limits,
                 settling(sole(left), biped.sole(left), limits.pivot, options.terrain.normal()));
    if (limits.pivot == Edge::kFront) add_roll(left);
  }
}

/// A foot whose heel is off the ground rolls on over its toes: the leg is on its way when it leaves the ground.
void Walker::Impl::add_roll(bool left) {
  constexpr double kRollRate = 4, kGain = 40, kWeight = 3;  // [rad/s] per [m/s] of walking, [1/s], of the task
  const FrameMotion motion = sole(left);
  const Vec3<> axis = motion.X_WF.R.column_y();
  const Vec3<> A = kGain * (kRollRate * options.speed - dot(axis, motion.V.w)) * axis;
  body.link(biped.sole(left).link, biped.sole(left).X_LS, {A, {}},
            {{kWeight * axis.x * axis.x, kWeight * axis.y * axis.y, 0}, {}});
}

void Walker::Impl::add_swing_task() {
  if (status.phase != WalkPhase::kSingle) return;
  const bool left = !status.stance_left;
  const FrameMotion motion = sole(left);
  const Mat3<> landing = on_ground(options.terrain.normal(), next_heading);
  const Vec3<> rotation = log_rotation(times_transpose(landing, lifted.R));  // in world axes
  const Mat3<> R = exp_rotation(turn.p * rotation) * lifted.R;
  constexpr double kStiffness = 900, kDamping = 60;
  const Vec3<> error{x.p - motion.X_WF.p.x, y.p - motion.X_WF.p.y, z.p - motion.X_WF.p.z};
  const Vec3<> velocity{x.v, y.v, z.v}, acceleration{x.a, y.a, z.a};
  const Vec3<> turn_error = log_rotation(times_transpose(R, motion.X_WF.R));
  const Motion<> A{turn.a * rotation + kStiffness * turn_error + kDamping * (turn.v * rotation - motion.V.w),
                   acceleration + kStiffness * error + kDamping * (velocity - motion.V.v)};
  body.link(biped.sole(left).link, biped.sole(left).X_LS, A, {{3, 3, 3}, {100, 100, 100}});
}

void Walker::Impl::add_upright(LinkId link) {
  const FrameMotion motion = body.motion(link);
  const Vec3<> error = log_rotation(times_transpose(turned(yaw.p), motion.X_WF.R));
  constexpr double kStiffness = 80, kDamping = 18, kTilt = 20, kTurn = 5;
  const Vec3<> A = Vec3<>{0, 0, yaw.a} + kStiffness * error + kDamping * (Vec3<>{0, 0, yaw.v} - motion.V.w);
  body.link(link, {}, {A, {}}, {{kTilt, kTilt, kTurn}, {}});
}

void Walker::Impl::add_posture(const State& state) {
  constexpr double kStiffness = 60, kDamping = 12;
  posture_wanted = -kDamping * state.v;
  const double apart = dot(turned(yaw.p).column_x(), sole(true).X_WF.p - sole(false).X_WF.p);
  for (const PostureJoint& p : posture_joints) {
    posture_wanted[p.v] += kStiffness * (p.target + p.swing * apart - state.q[p.q]);
  }
  body.posture(posture_wanted, posture_weight);
}

void Walker::Impl::add_tasks(const State& state, const Vec3<>& pressure, double dt) {
  const Centroidal& c = body.centroidal();
  const double w2 = capture.omega() * capture.omega();
  const double ground = options.terrain.even_height(c.com.x);
  const double rise = options.terrain.even_grade(c.com.x) * c.com_velocity.x;
  const double az = level.a + 60 * (ground + level.p - c.com.z) + 15 * (rise + level.v - c.com_velocity.z);
  // Height above all: what a swinging leg needs of the ground would else be got by leaping.
  body.com({w2 * (c.com.x - pressure.x), w2 * (c.com.y - pressure.y), az}, {1000, 1000, 3000});
  body.angular_momentum({-2 * c.h.t.x, -2 * c.h.t.y, -2 * c.h.t.z}, {0.01, 0.01, 0.01});
  yaw = approach(yaw, {next_heading, 0, 0}, 0.3, dt);
  add_swing_task();
  add_upright(biped.pelvis);
  add_upright(biped.trunk);
  add_posture(state);
}

void Walker::Impl::look_for_fall() {
  const Vec3<> com = body.centroidal().com;
  const double height = com.z - options.terrain.even_height(com.x);
  if (height < 0.65 * com_height) {
    status.fallen = true;
    status.cause = "the centre of mass sank";
  } else if (body.motion(biped.trunk).X_WF.R.z.z < 0.5) {
    status.fallen = true;
    status.cause = "the trunk tilted";
  }
}

const Eigen::VectorXd& Walker::control(double time, double dt, const State& state, const FootSensing& feet) {
  Impl& m = *impl_;
  WalkStatus& s = m.status;
  m.body.begin(state);
  const Centroidal& c = m.body.centroidal();
  const Vec3<> xi = flat(c.com + (1 / m.capture.omega()) * c.com_velocity);
  if (!m.begun) {
    m.begun = true;
    m.begin = time;
    m.leaning = xi;
  }
  const double t = time - m.begin;
  const bool swing_touches = s.stance_left ? feet.right : feet.left;
  if (s.phase == WalkPhase::kStanding && t > kSettle && (s.capture_error < 0.01 || t > 2 * kSettle)) {
    m.begin_step(time, s.stance_left);
  } else if (s.phase == WalkPhase::kSingle && t > 0.6 * m.timing.single && swing_touches) {
    m.land(time);
  } else if (s.phase == WalkPhase::kShared && t >= m.waiting + m.transfer) {
    if (m.last_step) {
      s.phase = WalkPhase::kStopping;
      m.begin = time;
      m.leaning = xi;
    } else {
      m.begin_step(time, !s.stance_left);
    }
  } else if (s.phase == WalkPhase::kStopping && t > 2 * kSettle && norm(c.com_velocity) < 0.02) {
    s.done = true;
  }
  if (s.phase == WalkPhase::kSingle) {
    const double left = m.timing.single - (time - m.begin);
    if (left > kDecided || m.begin == time) m.choose_foothold(std::max(left, 0.0), xi);
    m.move_swing(left, dt);
  }
  m.move_level(time - m.begin, dt);
  const Vec3<> pressure = m.wanted_pressure(time, xi);
  m.add_supports(time);
  m.add_tasks(state, pressure, dt);
  m.forces = m.body.solve();
  if (m.forces.status != WholeBodyResult::Status::kSolved) ++s.infeasible;
  m.tau = m.forces.tau;
  if (!(m.tau.cwiseAbs().maxCoeff() < kMostTorque * m.model.mass() * m.gravity * m.com_height)) {
    s.fallen = true;
    s.cause = "no feasible torques keep it upright";
    m.tau.setZero();
  }
  s.com = c.com, s.capture = xi, s.pressure = pressure, s.foothold = m.foothold, s.heading = m.yaw.p;
  m.look_for_fall();
  return m.tau;
}

}  // namespace kansetsu
