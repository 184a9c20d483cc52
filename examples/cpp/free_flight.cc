/// human28 in free flight: it leaves the ground spinning, with moving limbs and without joint torques. Only gravity acts,
/// so the energy and the angular momentum about the centre of mass must stay as they are, the linear momentum must change
/// by m·g·t, and the centre of mass must fly along a parabola. Prints how well they do; ends with 1 if one of them misses
/// its tolerance.
///
/// The integrator is the classical Runge–Kutta method of fourth order with steps of 1 ms, on the configuration manifold.
/// A step from (q, v) works in the tangent space at q: its stages are at integrate(q, x), where x starts at zero.

#include <cmath>
#include <cstdio>
#include <utility>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/eigen.h"

using Eigen::VectorXd;
using namespace kansetsu;

namespace {

/// dx/dt for the velocity v at integrate(q, x). Joint angles add up, so theirs is v. Turns of the base do not: what x
/// has turned already enters through the inverse of the exponential map's derivative, v + ½·x×v + 1/12·x×(x×v) + …
/// Without these terms the method is of second order only.
VectorXd tangent_rate(const VectorXd& x, const VectorXd& v) {
  const Motion<> moved = to_motion(x.head<6>()), velocity = to_motion(v.head<6>());
  const Motion<> once = cross(moved, velocity), twice = cross(moved, once);
  VectorXd rate = v;
  rate.head<6>() += to_eigen(0.5 * once + (1.0 / 12) * twice);
  return rate;
}

/// Advances a state without torques.
class FreeFlight {
 public:
  explicit FreeFlight(const Model& model)
      : model_(model), work_(model), forward_(model), none_(VectorXd::Zero(model.nv())) {}

  void step(State& state, double h) {
    const VectorXd& v = state.v;
    const Rates a = rates(state.q, none_, v);
    const Rates b = rates(state.q, h / 2 * a.x, v + h / 2 * a.v);
    const Rates c = rates(state.q, h / 2 * b.x, v + h / 2 * b.v);
    const Rates d = rates(state.q, h * c.x, v + h * c.v);
    state.q = integrate(model_, state.q, h / 6 * (a.x + 2 * b.x + 2 * c.x + d.x));
    state.v += h / 6 * (a.v + 2 * b.v + 2 * c.v + d.v);
  }

 private:
  struct Rates {
    VectorXd x, v;
  };

  Rates rates(const VectorXd& q, const VectorXd& x, const VectorXd& v) {
    stage_.q = integrate(model_, q, x);
    stage_.v = v;
    aba(model_, stage_, none_, work_, forward_);
    return {tangent_rate(x, v), forward_.vdot};
  }

  const Model model_;
  Workspace work_;
  AbaResult forward_;
  const VectorXd none_;
  State stage_;
};

/// What the laws of motion speak of, at one moment.
struct Balance {
  double energy;           ///< kinetic and potential [J]
  Vec3<> linear, angular;  ///< momentum; the angular one about the centre of mass [N·s, N·m·s]
  Vec3<> com;              ///< [m]
};

Balance balance(const Model& model, const State& state) {
  const Energy e = energy(model, state);
  const Centroidal c = centroidal(model, state);
  return {e.kinetic + e.potential, c.h.f, c.h.t, c.com};
}

/// How far it is from what they demand after t seconds.
struct Deviation {
  double energy = 0, linear = 0, angular = 0, path = 0;
};

Deviation deviation(const Model& model, const Balance& start, const Balance& now, double t) {
  const double m = model.mass();
  const Vec3<>& g = model.gravity();
  const Vec3<> parabola = start.com + (t / m) * start.linear + (0.5 * t * t) * g;
  return {std::abs(now.energy - start.energy), norm(now.linear - start.linear - (m * t) * g),
          norm(now.angular - start.angular), norm(now.com - parabola)};
}

Deviation larger(const Deviation& a, const Deviation& b) {
  const auto pick = [](double x, double y) { return y <= x ? x : y; };  // a NaN in b wins
  return {pick(a.energy, b.energy), pick(a.linear, b.linear), pick(a.angular, b.angular), pick(a.path, b.path)};
}

/// A somersault with some twist; up fast enough to be back at about the same height after two seconds.
State take_off(const Model& model) {
  State state(model);
  state.q[2] = 0.88;                                   // hips at the height of a standing figure
  state.v.head<6>() << 0.2, 1.5, 0.2, 0.3, 0.0, 9.81;  // [ω; v] in base axes
  const std::pair<const char*, double> limbs[] = {{"waist_z", 0.2},   {"shoulderL_y", -0.5}, {"shoulderR_y", 0.5},
                                                  {"elbowL_y", -0.5}, {"elbowR_y", -0.5},    {"hipL_y", -0.5},
                                                  {"hipR_y", 0.25},   {"kneeL_y", 0.5},      {"kneeR_y", 0.25}};
  for (const auto& [joint, rate] : limbs) state.v[model.coordinates(model.joint_id(joint)).v] = rate;
  return state;
}

bool verdict(const char* law, double worst, double tolerance, const char* unit) {
  const bool holds = worst <= tolerance;  // false for a NaN
  std::printf("  %-45s off by at most %.1e %s (tolerance %.0e): %s\n", law, worst, unit, tolerance,
              holds ? "ok" : "MISSED");
  return holds;
}

}  // namespace

int main() {
  constexpr double kStep = 1e-3;  // [s]
  constexpr int kSteps = 2000, kRowEvery = 250;
  const Model model = human28();
  FreeFlight flight(model);
  State state = take_off(model);
  const Balance start = balance(model, state);

  std::printf("%s, %.0f kg, %d degrees of freedom, gravity %.2f m/s², RK4 with %.0f ms\n\n", model.name().c_str(),
              model.mass(), model.nv(), model.gravity().z, 1e3 * kStep);
  std::printf("   t [s]      energy [J]  |Δp − m g t| [N·s]  angular momentum about the com [N·m·s]  com height [m]\n");
  Deviation worst;
  for (int n = 0; n <= kSteps; ++n) {
    const double t = n * kStep;
    const Balance now = balance(model, state);
    const Deviation off = deviation(model, start, now, t);
    worst = larger(worst, off);
    if (n % kRowEvery == 0) {
      std::printf("%8.2f %15.8f %19.1e %14.8f %12.8f %12.8f %15.8f\n", t, now.energy, off.linear, now.angular.x,
                  now.angular.y, now.angular.z, now.com.z);
    }
    if (n < kSteps) flight.step(state, kStep);
  }

  // RK4 with 1 ms leaves 3e-10 J, 2e-10 N·s, 2e-12 N·m·s and 5e-12 m; twenty times that or more is allowed.
  std::printf("\nOver %d steps:\n", kSteps);
  bool ok = verdict("energy is conserved,", worst.energy, 1e-8, "J");
  ok = verdict("linear momentum changes by m g t,", worst.linear, 1e-8, "N·s") && ok;
  ok = verdict("angular momentum about the com is conserved,", worst.angular, 1e-9, "N·m·s") && ok;
  ok = verdict("the com follows the parabola,", worst.path, 1e-10, "m") && ok;
  return ok ? 0 : 1;
}
