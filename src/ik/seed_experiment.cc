#include "kansetsu/ik/seed_experiment.h"

#include <chrono>
#include <numbers>

#include "ik/seed_arm.h"

namespace kansetsu::ik {
namespace seed {
namespace {

/// du = J·(Jᵀ·J)⁺·dp with J of 15 rows: eigenvalues of the 3×3 matrix by Jacobi's rotations.
void least_norm(const double (&J)[kUnknowns][3], const double (&dp)[3], double* du) {
  double G[3][3], V[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      G[i][j] = 0;
      for (const auto& row : J) G[i][j] += row[i] * row[j];
    }
  }
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (std::abs(G[p][q]) < 1e-300) continue;
        const double ratio = (G[q][q] - G[p][p]) / (2 * G[p][q]);
        const double t = (ratio >= 0 ? 1 : -1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        const auto turn = [&](double& a, double& b) {
          const double old = a;
          a = c * old - s * b;
          b = s * old + c * b;
        };
        for (auto& row : G) turn(row[p], row[q]);
        for (int k = 0; k < 3; ++k) turn(G[p][k], G[q][k]);
        for (auto& row : V) turn(row[p], row[q]);
      }
    }
  }
  const double largest = std::max(G[0][0], std::max(G[1][1], G[2][2]));
  double y[3] = {0, 0, 0};
  for (int e = 0; e < 3; ++e) {
    if (G[e][e] <= 1e-28 * largest) continue;
    const double part = (V[0][e] * dp[0] + V[1][e] * dp[1] + V[2][e] * dp[2]) / G[e][e];
    for (int k = 0; k < 3; ++k) y[k] += part * V[k][e];
  }
  for (int k = 0; k < kUnknowns; ++k) du[k] = J[k][0] * y[0] + J[k][1] * y[1] + J[k][2] * y[2];
}

template <class T>
Angles<T> angles_of(const Rotation<T>& m, SeedMethod method) {
  const auto& a = m.a;
  Angles<T> r{std::atan2(a[0][1], a[1][1]), 0, std::atan2(a[2][0], a[2][2])};
  if (method == SeedMethod::kEuler) {
    r.pitch = std::asin(-a[2][1]);
    if (std::abs(std::cos(r.pitch)) < T(1e-6)) {  // erratum A12: this adds a full turn to the rotation
      r.roll += a[0][1] > 0 ? T(std::numbers::pi) : -T(std::numbers::pi);
      r.yaw += a[2][0] > 0 ? T(std::numbers::pi) : -T(std::numbers::pi);
    }
    return r;
  }
  const T level = std::hypot(a[0][1], a[1][1]);
  r.pitch = std::atan2(-a[2][1], level);
  if (method == SeedMethod::kEulerLock && level <= (sizeof(T) == 4 ? T(1e-7) : T(1e-9))) {
    r.yaw = 0;
    r.roll = std::atan2(-a[1][0], a[0][0]);
  }
  return r;
}

/// The arm during one trial.
template <class T>
struct Trial {
  Rotation<T> P[kLinks];
  Angles<T> angles[kLinks];  ///< kEulerState only
  Row<T> goal{};

  /// One step of at most `step` towards the goal; false if it is nearer than that.
  bool update(SeedMethod method, double step) {
    const Row<T> p = tip(P);
    T d[3], length = 0;
    for (int k = 0; k < 3; ++k) {
      d[k] = goal.x[k] - p.x[k];
      length += d[k] * d[k];
    }
    length = std::sqrt(length);
    if (length < step) return false;
    double dp[3], J[kUnknowns][3], du[kUnknowns];
    for (int k = 0; k < 3; ++k) dp[k] = T(d[k] * T(step / length));
    Row<T> u[kLinks];
    for (int j = 0; j < kLinks; ++j) rows(method, j, u, J);
    least_norm(J, dp, du);
    for (int j = 0; j < kLinks; ++j) apply(method, j, u[j], du + 3 * j);
    return true;
  }

 private:
  void rows(SeedMethod method, int j, Row<T>* u, double (&J)[kUnknowns][3]) {
    if (method == SeedMethod::kTangent) return tangent_rows(j, J);
    Rotation<T> D[3];
    if (method == SeedMethod::kLogQuaternion) {
      const Quat<T> q = to_quat(P[j]);
      u[j] = log(q);
      for (int i = 0; i < 3; ++i) D[i] = log_quaternion_rate(q, u[j], i);
    } else {
      if (method != SeedMethod::kEulerState) angles[j] = angles_of(P[j], method);
      const Angles<T>& a = angles[j];
      const Rotation<T> Z = turn_z(a.roll), X = turn_x(a.pitch), Y = turn_y(a.yaw);
      D[0] = turn_z_rate(a.roll) * X * Y;
      D[1] = Z * turn_x_rate(a.pitch) * Y;
      D[2] = Z * X * turn_y_rate(a.yaw);
    }
    for (int i = 0; i < 3; ++i) {
      const Row<T> rate = tip_rate(P, j, D[i]);
      for (int k = 0; k < 3; ++k) J[3 * j + i][k] = rate.x[k];
    }
  }
  /// v·R·Exp(w): the tip seen from joint j, turned by unit vectors.
  void tangent_rows(int j, double (&J)[kUnknowns][3]) const {
    Row<T> v{{0, 0, 0}};
    for (int i = kLinks - 1; i >= j; --i) {
      v.x[2] += 1;
      v = v * P[i];
    }
    const Row<T> turned[3] = {{{0, -v.x[2], v.x[1]}}, {{v.x[2], 0, -v.x[0]}}, {{-v.x[1], v.x[0], 0}}};
    for (int i = 0; i < 3; ++i) {
      Row<T> rate = turned[i];
      for (int k = j - 1; k >= 0; --k) rate = rate * P[k];
      for (int k = 0; k < 3; ++k) J[3 * j + i][k] = rate.x[k];
    }
  }
  void apply(SeedMethod method, int j, const Row<T>& u, const double* du) {
    if (method == SeedMethod::kLogQuaternion) {
      P[j] = to_rotation(exp(Row<T>{{u.x[0] + T(du[0]), u.x[1] + T(du[1]), u.x[2] + T(du[2])}}));
    } else if (method == SeedMethod::kTangent) {
      P[j] = P[j] * to_rotation(exp(Row<T>{{T(du[0] / 2), T(du[1] / 2), T(du[2] / 2)}}));
      Quat<T> q = to_quat(P[j]);
      const T n = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
      P[j] = to_rotation(Quat<T>{q.x / n, q.y / n, q.z / n, q.w / n});
    } else {
      angles[j].roll += T(du[0]);
      angles[j].pitch += T(du[1]);
      angles[j].yaw += T(du[2]);
      P[j] = to_rotation(angles[j]);
    }
  }
};

/// Microsoft's rand() from its first state on.
class Generator {
 public:
  int next() {
    state_ = state_ * 214013u + 2531011u;
    return int(state_ >> 16 & 0x7fff);
  }

 private:
  unsigned state_ = 1;
};

/// Random angles, three to a joint, the last argument drawn first (erratum A16); the goal is the opposite of the tip.
template <class T>
Trial<T> draw(Generator& random) {
  Trial<T> trial;
  for (int i = 0; i < kLinks; ++i) {
    T a[3];
    for (T& x : a) x = T(std::numbers::pi) * T(random.next()) / T(32767);
    trial.angles[i] = {a[0], a[1], a[2]};
    trial.P[i] = to_rotation(trial.angles[i]);
  }
  trial.goal = tip(trial.P);
  for (T& x : trial.goal.x) x = -x;
  return trial;
}

constexpr int kTrials = 300, kMostSteps = 10000;

template <class T>
std::vector<SeedTrial> trials(SeedMethod method, double step) {
  Generator random;
  std::vector<SeedTrial> all;
  for (int i = 0; i < kTrials; ++i) {
    Trial<T> trial = draw<T>(random);
    double square = 0;
    for (const T x : trial.goal.x) square += double(x) * double(x);
    int count = 0;
    while (count < kMostSteps && trial.update(method, step)) ++count;
    all.push_back({std::sqrt(square), count});
  }
  return all;
}

template <class T>
double time_per_update(SeedMethod method) {
  Generator random;
  const Trial<T> start = draw<T>(random);
  double best = 1e9;
  for (int repeat = 0; repeat < 10; ++repeat) {
    Trial<T> trial = start;
    constexpr int kUpdates = 1000;
    int done = 0;
    const auto begin = std::chrono::steady_clock::now();
    while (done < kUpdates && trial.update(method, 0.001f)) ++done;
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    if (done > 0) best = std::min(best, time.count() / done);
  }
  return best;
}

template <class T>
void fill(SeedRow& row) {
  const std::vector<SeedTrial> all = trials<T>(row.method, 0.001f);
  const bool euler = row.method != SeedMethod::kLogQuaternion && row.method != SeedMethod::kTangent;
  for (size_t run = 0; run < 3; ++run) {
    double seed = 0, fair = 0;
    for (size_t i = 0; i < 100; ++i) {
      const SeedTrial& t = all[100 * run + i];
      const int ideal = int(T(t.distance) * T(2) / T(0.001f));
      const double from_ideal = t.count - ideal, as_seed = from_ideal + (euler ? 1 : 0) - 1;
      fair += from_ideal * from_ideal;
      seed += as_seed * as_seed;
    }
    row.seed_rms[run] = std::sqrt(seed / 100);
    row.fair_rms[run] = std::sqrt(fair / 100);
  }
  row.us_per_update = time_per_update<T>(row.method);
}

}  // namespace
}  // namespace seed

std::vector<SeedTrial> seed_trials(SeedMethod method, bool single) {
  return single ? seed::trials<float>(method, 0.001f) : seed::trials<double>(method, 0.001);
}

std::vector<SeedRow> seed_experiment() {
  std::vector<SeedRow> rows{{"log quaternion, single (seed)", SeedMethod::kLogQuaternion, true},
                            {"Euler, single (seed)", SeedMethod::kEuler, true},
                            {"Euler, double", SeedMethod::kEuler, false},
                            {"Euler, single, pitch by atan2", SeedMethod::kEulerAtan2, true},
                            {"Euler, single, angles kept", SeedMethod::kEulerState, true},
                            {"log quaternion, double", SeedMethod::kLogQuaternion, false},
                            {"tangent, single", SeedMethod::kTangent, true},
                            {"tangent, double", SeedMethod::kTangent, false}};
  for (SeedRow& row : rows) row.single ? seed::fill<float>(row) : seed::fill<double>(row);
  return rows;
}

}  // namespace kansetsu::ik
