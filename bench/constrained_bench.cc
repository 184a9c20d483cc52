/// Forward dynamics under constraints and its derivatives, compared with a peer in the same process: usage
///   bench_constrained [PEER.so]
/// Both get the same models, states and contacts, their results are compared, and they alternate; times are processor time per
/// call, the minimum of the repetitions, which other load disturbs least.
#include <dlfcn.h>
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>

#include "constrained_peer.h"
#include "kansetsu/base/cpu.h"
#include "kansetsu/constraint/constrained.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu_models.h"

namespace kansetsu::bench {
namespace {

constexpr int kStates = 32, kRepetitions = 40, kRounds = 4;
constexpr std::uint64_t kSeed = 1;

struct Held {
  const char *link, *to;  ///< to: null for the world
  int rows;
};
struct Problem {
  const char *name, *model;
  std::vector<Held> held;
};
const Problem kProblems[] = {
    {"human28, two soles, 12 rows", "human28", {{"FootL", nullptr, 6}, {"FootR", nullptr, 6}}},
    {"human28, two points, 6 rows", "human28", {{"FootL", nullptr, 3}, {"FootR", nullptr, 3}}},
    {"human28, soles and hands joined, 18 rows",
     "human28",
     {{"FootL", nullptr, 6}, {"FootR", nullptr, 6}, {"LowerArmL", "LowerArmR", 6}}},
    {"anymal_c, four feet, 12 rows",
     "anymal_c",
     {{"LF_SHANK", nullptr, 3}, {"RF_SHANK", nullptr, 3}, {"LH_SHANK", nullptr, 3}, {"RH_SHANK", nullptr, 3}}},
    {"atlas, two feet, 12 rows", "atlas", {{"l_foot", nullptr, 6}, {"r_foot", nullptr, 6}}},
};

void copy(const Transform<>& X, double* R, double* p) {
  for (const Vec3<>& row : {X.R.x, X.R.y, X.R.z}) *R++ = row.x, *R++ = row.y, *R++ = row.z;
  p[0] = X.p.x, p[1] = X.p.y, p[2] = X.p.z;
}

Constraints constraints_of(const Problem& problem, const Model& model) {
  Constraints out;
  for (const Held& held : problem.held) {
    FrameConstraint c{.b = model.link_id(held.link), .point = {0.02, 0.01, -0.05}};
    c.mask = held.rows == 6 ? kWeldMask : kPointMask;
    if (held.to) c.a = model.link_id(held.to);
    out.frames.push_back(c);
  }
  return out;
}

/// States in which constrained frames are at rest: at others libraries define different accelerations.
std::vector<State> states_of(const Model& model, const Constraints& constraints) {
  std::mt19937_64 rng(kSeed);
  std::normal_distribution<double> normal;
  std::vector<State> out;
  for (int i = 0; i < kStates; ++i) {
    State& state = out.emplace_back(model);
    state.q = random_configuration(model, rng);
    for (double& x : state.v) x = normal(rng);
    state.v = constrained_impulse(model, state, constraints).v;
  }
  return out;
}

/// A frame on a link, in the frame of the peer's body.
Transform<> on_body(const ExportedModel& exported, LinkId link, const Transform<>& X_LF, int& body) {
  body = int(std::ranges::find(exported.links, link) - exported.links.begin());
  return inverse(exported.X_LB[size_t(body)]) * X_LF;
}

double processor_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * double(t.tv_sec) + double(t.tv_nsec);
}
double nanoseconds(const std::function<double(int)>& call) {
  double sum = 0;
  const double start = processor_time();
  for (int r = 0; r < kRounds; ++r) {
    for (int i = 0; i < kStates; ++i) sum += call(i);
  }
  asm volatile("" : : "r"(&sum) : "memory");
  return (processor_time() - start) / (kRounds * kStates);
}
double least(const std::vector<double>& x) { return *std::ranges::min_element(x); }

void run(const Problem& problem, const ConstrainedPeer* peer) {
  const auto model = find_model(problem.model);
  if (!model) return fmt::print("{}: its file is not in KANSETSU_DATA_DIR\n", problem.name);
  const Constraints constraints = constraints_of(problem, *model);
  const std::vector<State> states = states_of(*model, constraints);
  const int nv = model->nv();
  std::mt19937_64 rng(kSeed + 1);
  std::normal_distribution<double> normal;
  std::vector<double> q, v, tau;
  for (const State& s : states) {
    q.insert(q.end(), s.q.begin(), s.q.end());
    v.insert(v.end(), s.v.begin(), s.v.end());
    for (int k = 0; k < nv; ++k) tau.push_back(normal(rng));
  }
  const auto torque = [&](int i) { return Eigen::Map<const Eigen::VectorXd>(tau.data() + i * nv, nv); };

  ConstrainedWorkspace work(*model, constraints);
  ConstrainedMotion motion(*model, constraints);
  ConstrainedDerivatives derivatives(*model, constraints);
  std::vector<std::function<double(int)>> calls{
      [&](int i) {
        constrained_aba(*model, states[size_t(i)], torque(i), constraints, work, motion);
        return motion.vdot[0];
      },
      [&](int i) {
        constrained_aba_derivatives(*model, states[size_t(i)], torque(i), constraints, work, derivatives);
        return derivatives.vdot_dq(0, 0);
      }};

  ExportedModel exported;
  export_model(*model, problem.model, exported);
  std::vector<ContactData> contacts;
  const LinkPoses poses = fk(*model, states[0].q);
  for (const FrameConstraint& c : constraints.frames) {
    ContactData& d = contacts.emplace_back();
    const Transform<> X_LF{Mat3<>::identity(), c.point}, X_WF = poses[c.b] * X_LF;
    copy(on_body(exported, c.b, X_LF, d.b), d.R_b, d.p_b);
    d.a = -1;
    copy(c.a ? on_body(exported, *c.a, inverse(poses[*c.a]) * X_WF, d.a) : X_WF, d.R_a, d.p_a);
    d.rows = c.mask == kWeldMask ? 6 : 3;
  }
  const StateData data{kStates, q.data(), v.data(), tau.data(), tau.data()};
  void* instance = peer ? peer->create(&exported.data, &data, contacts.data(), int(contacts.size())) : nullptr;
  double difference = 0;
  if (instance) {
    calls.push_back([&](int i) { return peer->forward(instance, i); });
    calls.push_back([&](int i) { return peer->derivatives(instance, i); });
    std::vector<double> theirs(size_t(nv + 3 * nv * nv));
    // The frame in a is that of the first state; a peer that holds its own place takes the others as they are.
    calls[1](0);
    calls[3](0);
    peer->result(instance, theirs.data());
    const auto compare = [&](const double* a, const double* b, long n) {
      const auto A = Eigen::Map<const Eigen::VectorXd>(a, n), B = Eigen::Map<const Eigen::VectorXd>(b, n);
      difference = std::max(difference, (A - B).cwiseAbs().maxCoeff() / (1 + A.cwiseAbs().maxCoeff()));
    };
    const long square = long(nv) * nv;
    compare(derivatives.forward.vdot.data(), theirs.data(), nv);
    compare(derivatives.vdot_dq.data(), theirs.data() + nv, square);
    compare(derivatives.vdot_dv.data(), theirs.data() + nv + square, square);
    compare(derivatives.vdot_dtau.data(), theirs.data() + nv + 2 * square, square);
  }
  std::vector<std::vector<double>> times(calls.size());
  for (const auto& call : calls) nanoseconds(call);  // warm
  for (int r = 0; r < kRepetitions; ++r) {
    for (size_t k = 0; k < calls.size(); ++k) times[k].push_back(nanoseconds(calls[k]));
  }
  const double forward = least(times[0]), linear = least(times[1]);
  if (!instance) return fmt::print("| {} | {:.0f} | {:.0f} |\n", problem.name, forward, linear);
  const double their_forward = least(times[2]), their_linear = least(times[3]);
  fmt::print("| {} | {:.0f} | {:.0f} | {:.2f} | {:.0f} | {:.0f} | {:.2f} | {:.0e} |\n", problem.name, forward,
             their_forward, their_forward / forward, linear, their_linear, their_linear / linear, difference);
  peer->destroy(instance);
}

}  // namespace
}  // namespace kansetsu::bench

int main(int argc, char** argv) {
  using namespace kansetsu::bench;
  const ConstrainedPeer* peer = nullptr;
  if (argc > 1) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    auto* make = library ? reinterpret_cast<ConstrainedPeerFunction*>(dlsym(library, "bench_constrained")) : nullptr;
    if (!make) return fmt::print(stderr, "error: {}\n", dlerror()), 1;
    peer = make();
    fmt::print("{} {} ({})\n", peer->library, peer->version, peer->flags);
  }
  fmt::print("kansetsu, {}; seed {}\n\n", kansetsu::to_string(kansetsu::instruction_set()), kSeed);
  std::fputs(peer ? "| ns per call | aba | peer | ratio | derivatives | peer | ratio | difference |\n"
                    "|---|--:|--:|--:|--:|--:|--:|--:|\n"
                  : "| ns per call | aba | derivatives |\n|---|--:|--:|\n",
             stdout);
  for (const Problem& problem : kProblems) run(problem, peer);
}
