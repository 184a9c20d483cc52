#pragma once

#include <bit>

#include "ik/kernel_table.h"
#include "kansetsu/spatial/small_matrix.h"
#include "kinematics/posture_kernel.h"

/// Levenberg–Marquardt for the pose of one frame on a serial chain, in the tangent space: with e = [ℓ·log(R_d·Rᵀ); p_d − p] and
/// J = [ℓ·ω; v] of the frame,
///   Δq = Jᵀ·(J·Jᵀ + λ·1)⁻¹·e,   λ = damping·|e|²/2                                                    (theory/ik.md eq. 7)
/// over the joints that are not held by a limit: a joint at a limit is held while the gradient Jᵀ·e presses it outwards.
/// λ vanishes with the error, so that the final convergence is quadratic (Sugihara 2011), and grows where a step is too long.
///
/// Most iterations are in single precision, with twice as many lanes. The last two or three are in double precision, from the
/// result of the first phase. For targets that are not met a third phase continues to the nearest configuration, with
/// λ = 4·ℓ·|e|, because the curvature, which J·Jᵀ neglects, grows with |e| and the reach, 3·ℓ.
namespace kansetsu::ik::inline KANSETSU_ISA {

/// Sines of plain numbers are computed a register full at a time.
inline constexpr int kArmPadding = 16;

enum class ArmPhase {
  kSearch,  ///< from starting points, until one comes near the target
  kFinish,  ///< from where the search ended, once
  kSettle,  ///< from the nearest configuration of a target that was not met, once
};

template <class T>
struct ArmColumn {
  Vec3<T> w, v;
};

/// p + R·offset, without the products with zeros that most arms have.
template <class T>
KANSETSU_HD Vec3<T> arm_origin(const Transform<T>& X, const Vec3<>& offset, ArmOffset kind) {
  switch (kind) {
    case ArmOffset::kNone:
      return X.p;
    case ArmOffset::kX:
      return madd(lift<T>(offset.x), X.R.column_x(), X.p);
    case ArmOffset::kY:
      return madd(lift<T>(offset.y), X.R.column_y(), X.p);
    case ArmOffset::kZ:
      return madd(lift<T>(offset.z), X.R.column_z(), X.p);
    case ArmOffset::kAny:
      break;
  }
  return X.p + X.R * lift<T>(offset);
}

/// Pose of the frame and the motion each joint gives it, world axes, at the frame's origin.
template <class T>
KANSETSU_HD Transform<T> arm_jacobian(const ArmView& arm, const T* q, ArmColumn<T>* J) {
  alignas(64) T s[kArmPadding], c[kArmPadding];
  kernel::sincos_array(q, arm.n, s, c);
  const T zero = T(scalar_t<T>(0));
  Transform<T> X;
  for (int k = 0; k < arm.n; ++k) {
    const ArmJoint& joint = arm.joints[k];
    X.p = arm_origin(X, joint.p, joint.offset);
    if (joint.turned) X.R = X.R * lift<T>(joint.R);
    switch (joint.motion) {
      case ArmMotion::kTurnX:
        J[k] = {X.R.column_x(), X.p};
        X.R = {kernel::turn_back<0>(c[k], s[k], X.R.x), kernel::turn_back<0>(c[k], s[k], X.R.y),
               kernel::turn_back<0>(c[k], s[k], X.R.z)};
        break;
      case ArmMotion::kTurnY:
        J[k] = {X.R.column_y(), X.p};
        X.R = {kernel::turn_back<1>(c[k], s[k], X.R.x), kernel::turn_back<1>(c[k], s[k], X.R.y),
               kernel::turn_back<1>(c[k], s[k], X.R.z)};
        break;
      case ArmMotion::kTurnZ:
        J[k] = {X.R.column_z(), X.p};
        X.R = {kernel::turn_back<2>(c[k], s[k], X.R.x), kernel::turn_back<2>(c[k], s[k], X.R.y),
               kernel::turn_back<2>(c[k], s[k], X.R.z)};
        break;
      case ArmMotion::kSlideZ:
        J[k] = {{zero, zero, zero}, X.R.column_z()};
        X.p = madd(q[k], J[k].v, X.p);
        break;
    }
  }
  X.p = arm_origin(X, arm.X_tool.p, arm.tool_offset);
  if (arm.tool_turned) X.R = X.R * lift<T>(arm.X_tool.R);
  for (int k = 0; k < arm.n; ++k) {
    if (arm.joints[k].motion != ArmMotion::kSlideZ) J[k].v = cross(J[k].w, X.p - J[k].v);
  }
  return X;
}

/// log(R) without atan2: φ = 2·(xyz of the quaternion)·F(w), F = acos(w)/√(1 − w²) = 1 + t·P(t), t = 1 − w in [0, 1]. P interpolates at
/// Chebyshev points, off by less than 1e-8; F(1) is exact, so that the error is relative to φ³ and nothing is lost near the target.
template <class T>
KANSETSU_HD Vec3<T> smooth_log(const Mat3<T>& R) {
  using S = scalar_t<T>;
  constexpr S P[] = {S(0.33333332837044344),   S(0.13333432335370787),  S(0.05711058743228666),
                     S(0.02580038138920896),   S(0.009014780611965938), S(0.014275173636510622),
                     S(-0.016299032252371445), S(0.024591883474787524), S(-0.01574709213899854),
                     S(0.005381983277973888)};
  const Quaternion<T> q = to_quaternion(R);
  const T t = T(S(1)) - q.w;
  const T f = T(S(2)) * madd(t, detail::polynomial(t, P), T(S(1)));
  return {f * q.x, f * q.y, f * q.z};
}

template <class T>
struct ArmStep {
  T rotation2, position2;  ///< squared errors at q
  T q_next[kMostArmJoints];
};

template <ArmPhase kPhase, class T>
KANSETSU_HD T arm_damping(const ArmView& arm, const ArmLimits& limits, const T& error2) {
  using S = scalar_t<T>;
  using std::sqrt;
  const T least = T(S(1e-14));
  if constexpr (kPhase == ArmPhase::kSettle) return madd(T(S(4 * arm.length)), sqrt(error2), least);
  return madd(T(S(0.5 * limits.damping)), error2, least);
}

/// The errors at q and the configuration that one step leads to.
template <ArmPhase kPhase, class T>
KANSETSU_HD void arm_step(const ArmView& arm, const ArmLimits& limits, const Mat3<T>& R_d, const Vec3<T>& p_d,
                          const T* q, ArmStep<T>& out) {
  using S = scalar_t<T>;
  const T zero = T(S(0)), one = T(S(1)), length = T(S(arm.length));
  ArmColumn<T> J[kMostArmJoints];
  const Transform<T> X = arm_jacobian(arm, q, J);
  const Vec3<T> turn = smooth_log(times_transpose(R_d, X.R)), shift = p_d - X.p;
  out.rotation2 = dot(turn, turn);
  out.position2 = dot(shift, shift);
  T e[6] = {length * turn.x, length * turn.y, length * turn.z, shift.x, shift.y, shift.z};
  const T error2 = madd(length * length, out.rotation2, out.position2);
  const T lambda = arm_damping<kPhase>(arm, limits, error2);

  Lower<T, 6> A;
  for (T& a : A.a) a = zero;
  for (int i = 0; i < 6; ++i) A(i, i) = lambda;
  for (int k = 0; k < arm.n; ++k) {
    J[k].w = length * J[k].w;
    const T g = madd(J[k].w.x, e[0], madd(J[k].w.y, e[1], J[k].w.z * e[2])) + dot(J[k].v, shift);
    const T low = T(S(arm.joints[k].lower)), high = T(S(arm.joints[k].upper));
    const auto held = ((q[k] <= low) & (g < zero)) | ((q[k] >= high) & (g > zero));
    const T free = select(held, zero, one);
    J[k].w = free * J[k].w;
    J[k].v = free * J[k].v;
    const T c[6] = {J[k].w.x, J[k].w.y, J[k].w.z, J[k].v.x, J[k].v.y, J[k].v.z};
    detail::unroll<0, 6>([&](auto i) KANSETSU_INLINE_LAMBDA {
      detail::unroll<0, i + 1>([&](auto j) KANSETSU_INLINE_LAMBDA { A(i, j) = madd(c[i], c[j], A(i, j)); });
    });
  }
  Ldlt<T, 6>::factor(A, zero).solve(e);
  T largest = zero;
  for (int k = 0; k < arm.n; ++k) {
    const T step = madd(J[k].w.x, e[0], madd(J[k].w.y, e[1], J[k].w.z * e[2])) +
                   madd(J[k].v.x, e[3], madd(J[k].v.y, e[4], J[k].v.z * e[5]));
    out.q_next[k] = step;
    const T size = select(step < zero, -step, step);
    largest = select(size > largest, size, largest);
  }
  const T cap = T(S(limits.largest_step));
  const T scale = select(largest > cap, cap / select(largest > cap, largest, one), one);
  for (int k = 0; k < arm.n; ++k) {
    const T low = T(S(arm.joints[k].lower)), high = T(S(arm.joints[k].upper));
    const T next = madd(scale, out.q_next[k], q[k]);
    out.q_next[k] = select(next < low, low, select(next > high, high, next));
  }
}

/// Lane access for numbers and packs alike.
template <class T>
struct LanesOf {
  static constexpr int width = 1;
  KANSETSU_HD static T get(const T& x, int) { return x; }
  KANSETSU_HD static void set(T& x, int, T s) { x = s; }
  KANSETSU_HD static unsigned bits(bool mask) { return mask; }
};
template <class S, int W>
struct LanesOf<Pack<S, W>> {
  static constexpr int width = W;
  KANSETSU_HD static S get(const Pack<S, W>& x, int lane) { return x[lane]; }
  KANSETSU_HD static void set(Pack<S, W>& x, int lane, S s) { x.set(lane, s); }
  KANSETSU_HD static unsigned bits(const typename Pack<S, W>::Mask& mask) {
    [[maybe_unused]] constexpr int bytes = W * int(sizeof(S));
#if defined(__AVX512DQ__)
    if constexpr (bytes == 64 && sizeof(S) == 8) return _mm512_movepi64_mask(__m512i(mask.m));
    if constexpr (bytes == 64 && sizeof(S) == 4) return _mm512_movepi32_mask(__m512i(mask.m));
#endif
#if defined(__AVX2__)
    if constexpr (bytes == 32 && sizeof(S) == 8) return unsigned(_mm256_movemask_pd(__m256d(mask.m)));
    if constexpr (bytes == 32 && sizeof(S) == 4) return unsigned(_mm256_movemask_ps(__m256(mask.m)));
#endif
    unsigned found = 0;
    for (int i = 0; i < W; ++i) found |= unsigned(mask.m[i] != 0) << i;
    return found;
  }
};

/// Each lane solves a task; a lane that is done takes the next task. The checks of every step are done for all lanes at once, the
/// work at the end of a start lane by lane.
template <class T, ArmPhase kPhase>
class ArmCrew {
 public:
  using S = scalar_t<T>;
  using Lanes = LanesOf<T>;

  KANSETSU_HD ArmCrew(const ArmView& arm, ArmTask* first, const ArmLimits& limits)
      : arm_(arm), next_(first), limits_(limits) {}

  KANSETSU_HD void run() {
    const T zero = T(S(0));
    for (T& q : q_) q = zero;
    R_ = Mat3<T>::identity();
    p_ = {zero, zero, zero};
    working_ = zero;
    if constexpr (kPhase == ArmPhase::kSettle) {
      last_error2_ = zero;
      for (T& q : last_q_) q = zero;
    }
    int busy = 0;
    for (int lane = 0; lane < Lanes::width; ++lane) busy += take_task(lane, q_);
    while (busy > 0) {
      arm_step<kPhase>(arm_, limits_, R_, p_, q_, step_);
      for (unsigned ends = Lanes::bits(at_an_end() & (working_ > zero)); ends; ends &= ends - 1) {
        if (!end_start(std::countr_zero(ends))) --busy;
      }
      for (int k = 0; k < arm_.n; ++k) q_[k] = step_.q_next[k];
    }
  }

 private:
  /// The progress of a lane with its task.
  struct Lane {
    ArmTask* task = nullptr;
    double best = 0;  ///< least squared error at the end of a start
  };

  /// Which lanes have met their target, have stalled, or have used up their iterations.
  KANSETSU_HD auto at_an_end() {
    const T zero = T(S(0)), one = T(S(1));
    error2_ = madd(T(S(arm_.length * arm_.length)), step_.rotation2, step_.position2);
    iteration_ = iteration_ + one;
    patience_ = patience_ - one;
    const auto met = (step_.rotation2 <= T(S(limits_.rotation * limits_.rotation))) &
                     (step_.position2 <= T(S(limits_.position * limits_.position)));
    const auto check = patience_ <= zero;
    const auto closer = error2_ < T(S(limits_.progress)) * milestone_;
    milestone_ = select(check, error2_, milestone_);
    patience_ = select(check, T(S(limits_.patience)), patience_);
    const auto ends = met | (check & !closer) | (iteration_ >= T(S(limits_.iterations_per_start)));
    met_ = select(met, one, zero);
    if constexpr (kPhase == ArmPhase::kSettle) gather_momentum();
    return ends;
  }
  /// Momentum: a step continues in the direction of the last one unless that increased the error; it speeds up a slow descent.
  KANSETSU_HD void gather_momentum() {
    const T kept = select(error2_ > last_error2_, T(S(0)), T(S(0.9)));
    for (int k = 0; k < arm_.n; ++k) {
      const T low = T(S(arm_.joints[k].lower)), high = T(S(arm_.joints[k].upper));
      const T next = madd(kept, q_[k] - last_q_[k], step_.q_next[k]);
      step_.q_next[k] = select(next < low, low, select(next > high, high, next));
      last_q_[k] = q_[k];
    }
    last_error2_ = error2_;
  }
  /// Keeps the best result and starts again, or with another task. False if there is none left.
  KANSETSU_HD bool end_start(int lane) {
    Lane& state = lanes_[lane];
    ArmTask& task = *state.task;
    const bool met = Lanes::get(met_, lane) > 0;
    task.iterations += int(Lanes::get(iteration_, lane));
    if constexpr (kPhase == ArmPhase::kSearch) {
      const double error2 = Lanes::get(error2_, lane);
      if (met || !(state.best <= error2)) {
        state.best = error2;
        keep(lane, task.solution);
      }
      if (++task.starts < limits_.starts && !met) {
        begin(lane, step_.q_next);
        return true;
      }
    } else {
      end_task(lane, met, task);
    }
    return take_task(lane, step_.q_next);
  }
  /// A met target is the solution; otherwise the nearest configuration is kept.
  KANSETSU_HD void end_task(int lane, bool met, ArmTask& task) {
    const double error2 = Lanes::get(error2_, lane);
    task.solved = met;
    if (!met && task.nearest2 <= error2) return;
    task.nearest2 = error2;
    task.rotation = std::sqrt(double(Lanes::get(step_.rotation2, lane)));
    task.position = std::sqrt(double(Lanes::get(step_.position2, lane)));
    keep(lane, met ? task.solution : task.start);
  }
  KANSETSU_HD void keep(int lane, double* where) const {
    for (int k = 0; k < arm_.n; ++k) where[k] = within(k, Lanes::get(q_[k], lane));
  }
  KANSETSU_HD bool take_task(int lane, T* q) {
    Lane& state = lanes_[lane];
    state.task = next_;
    Lanes::set(working_, lane, S(next_ ? 1 : 0));
    if (!next_) return false;
    next_ = next_->next;
    state.best = 1e300;
    T* numbers[12] = {&R_.x.x, &R_.x.y, &R_.x.z, &R_.y.x, &R_.y.y, &R_.y.z,
                      &R_.z.x, &R_.z.y, &R_.z.z, &p_.x,   &p_.y,   &p_.z};
    for (int i = 0; i < 12; ++i) Lanes::set(*numbers[i], lane, S(state.task->target[i]));
    begin(lane, q);
    return true;
  }
  /// Puts the next starting point into q: the given one, then points of an additive recurrence that fills the box evenly.
  KANSETSU_HD void begin(int lane, T* q) {
    const ArmTask& task = *lanes_[lane].task;
    Lanes::set(iteration_, lane, S(0));
    Lanes::set(patience_, lane, S(1));  // the first check sets the reference
    Lanes::set(milestone_, lane, S(1e30));
    for (int k = 0; k < arm_.n; ++k) {
      const ArmJoint& joint = arm_.joints[k];
      double x = kPhase == ArmPhase::kFinish ? task.solution[k] : task.start[k];
      if (kPhase == ArmPhase::kSearch && task.starts > 0) {
        const double turns = 0.5 + task.starts * joint.stride;
        x = joint.from + (turns - std::floor(turns)) * (joint.to - joint.from);
      }
      constexpr double kNonsense = 1e6;  // NaN fails the comparison, too
      if (!(x >= -kNonsense && x <= kNonsense)) x = joint.from;
      Lanes::set(q[k], lane, S(within(k, x)));
      if constexpr (kPhase == ArmPhase::kSettle) Lanes::set(last_q_[k], lane, S(within(k, x)));
    }
    if constexpr (kPhase == ArmPhase::kSettle) Lanes::set(last_error2_, lane, S(1e30));
  }
  KANSETSU_HD double within(int k, double x) const {
    const ArmJoint& joint = arm_.joints[k];
    return x < joint.lower ? joint.lower : x > joint.upper ? joint.upper : x;
  }

  const ArmView& arm_;
  ArmTask* next_;
  const ArmLimits& limits_;
  Mat3<T> R_;
  Vec3<T> p_;
  alignas(64) T q_[kArmPadding];
  ArmStep<T> step_;
  T error2_, iteration_, patience_, milestone_;
  T working_, met_;                                                           ///< 1 in the lanes that are
  T last_q_[kPhase == ArmPhase::kSettle ? kMostArmJoints : 1], last_error2_;  ///< while settling
  Lane lanes_[Lanes::width];
};

/// Not inlined: phases in one function would compete for registers.
template <class T, ArmPhase kPhase>
[[gnu::noinline]] void arm_phase(const ArmView& arm, ArmTask* first, const ArmLimits& limits) {
  ArmCrew<T, kPhase>(arm, first, limits).run();
}

/// Removes finished tasks from the list; those that were never met go to the list of lost ones.
inline void part_with_done(ArmTask*& first, ArmTask*& lost, int starts) {
  for (ArmTask** at = &first; *at;) {
    ArmTask* task = *at;
    if (!task->solved && task->starts < starts) {
      at = &task->next;
      continue;
    }
    *at = task->next;
    if (task->solved) continue;
    task->next = lost;
    lost = task;
  }
}

/// @tparam Search, Finish  the scalars of the phases
template <class Search, class Finish>
void arm_solve_entry(const ArmView& arm, ArmTask* tasks, int count, const ArmLimits& limits) {
  ArmLimits coarse = limits, patient = limits;
  const double size = arm.extent > 1 ? arm.extent : 1;
  coarse.rotation = coarse.rotation > coarse.coarse ? coarse.rotation : coarse.coarse;
  coarse.position = coarse.position > size * coarse.coarse ? coarse.position : size * coarse.coarse;
  patient.iterations_per_start = limits.settling;
  patient.progress = limits.settled;
  patient.patience = 4 * limits.patience;
  for (int i = 0; i + 1 < count; ++i) tasks[i].next = &tasks[i + 1];
  ArmTask *first = count > 0 ? tasks : nullptr, *lost = nullptr;
  while (first) {
    arm_phase<Search, ArmPhase::kSearch>(arm, first, coarse);
    arm_phase<Finish, ArmPhase::kFinish>(arm, first, limits);
    part_with_done(first, lost, limits.starts);  // near, but not there: other starting points
  }
  if (lost) arm_phase<Finish, ArmPhase::kSettle>(arm, lost, patient);
  for (ArmTask* task = lost; task; task = task->next) {
    for (int k = 0; k < arm.n && !task->solved; ++k) task->solution[k] = task->start[k];
  }
}

}  // namespace kansetsu::ik::inline KANSETSU_ISA
