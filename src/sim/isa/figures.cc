#include <cstring>

#include "constraint/eight.h"
#include "sim/figure_kernels.h"

/// Registers full of numbers, then the rest one by one.
namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

using P = NativePack<double>;

KANSETSU_HD P take(const double* at) {
  P out;
  std::memcpy(&out, at, sizeof(out));
  return out;
}
KANSETSU_HD void put(const P& a, double* at) { std::memcpy(at, &a, sizeof(a)); }
KANSETSU_HD P absolute(const P& a) { return select(a < P(0.0), -a, a); }

bool finite_entry(int n, const double* a) {
  P zero(0.0);  // 0·x is not zero where x is not finite
  double rest = 0;
  int i = 0;
  for (; i + P::width <= n; i += P::width) zero += P(0.0) * take(a + i);
  for (; i < n; ++i) rest += 0 * a[i];
  for (int k = 0; k < P::width; ++k) rest += zero[k];
  return rest == 0;
}

void add_entry(int n, const double* a, const double* b, double* sum) {
  int i = 0;
  for (; i + P::width <= n; i += P::width) put(take(a + i) + take(b + i), sum + i);
  for (; i < n; ++i) sum[i] = a[i] + b[i];
}

void advance_entry(int n, double h, const double* rate, double* x) {
  int i = 0;
  for (; i + P::width <= n; i += P::width) put(take(x + i) + P(h) * take(rate + i), x + i);
  for (; i < n; ++i) x[i] += h * rate[i];
}

template <class T>
KANSETSU_HD T pd_torque(const T& half, const T& kp, const T& kd, const T& value, const T& q, const T& v) {
  return kp * (value - q - half * v) - kd * v;
}

void control_entry(int n, double h, const double* kp, const double* kd, const double* value, const double* q,
                   const double* v, double* tau, double* extra) {
  const double half = 0.5 * h, hh = h * half;
  int i = 0;
  for (; i + P::width <= n; i += P::width) {
    const P p = take(kp + i), d = take(kd + i);
    put(take(tau + i) + pd_torque(P(half), p, d, take(value + i), take(q + i), take(v + i)), tau + i);
    put(take(extra + i) + (P(h) * d + P(hh) * p), extra + i);
  }
  for (; i < n; ++i) {
    tau[i] += pd_torque(half, kp[i], kd[i], value[i], q[i], v[i]);
    extra[i] += h * kd[i] + hh * kp[i];
  }
}

double fastest_entry(int n, double h, const double* v, const double* vdot) {
  P most(0.0);
  double out = 0;
  int i = 0;
  for (; i + P::width <= n; i += P::width) {
    const P speed = absolute(take(v + i)) + P(h) * absolute(take(vdot + i));
    most = select(speed > most, speed, most);
  }
  for (; i < n; ++i) {
    const double speed = __builtin_fabs(v[i]) + h * __builtin_fabs(vdot[i]);
    out = speed > out ? speed : out;
  }
  for (int k = 0; k < P::width; ++k) out = most[k] > out ? most[k] : out;
  return out;
}

double effort_entry(int n, double h, const double* tau, const double* extra, const double* v, const double* vdot,
                    double* effort) {
  const double half = 0.5 * h;
  Eight sum(0.0);
  double rest = 0;
  int i = 0;
  for (; i + Eight::width <= n; i += Eight::width) {
    const Eight x = load_eight(vdot + i), e = load_eight(tau + i) + Eight(-1.0) * (load_eight(extra + i) * x);
    store_eight(e, effort + i);
    sum = madd(e, load_eight(v + i) + Eight(half) * x, sum);
  }
  for (; i < n; ++i) {
    effort[i] = tau[i] - extra[i] * vdot[i];
    rest = madd(effort[i], v[i] + half * vdot[i], rest);
  }
  return total(sum) + rest;
}

}  // namespace

extern const FigureKernels figure_table;
const FigureKernels figure_table = {finite_entry, add_entry, advance_entry, control_entry, fastest_entry, effort_entry};

}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
