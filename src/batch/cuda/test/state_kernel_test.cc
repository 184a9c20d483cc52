#include "batch/cuda/dense_kernel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

#include "dynamics/lean_limb_kernel.h"
#include "kansetsu/dynamics/derivatives.h"
#include "random_models.h"

/// What a thread of the CUDA back end does, done on the host: the same functions, checked against those for one state.
using namespace kansetsu;
using namespace kansetsu::test;
namespace cuda = kansetsu::batch::cuda;

namespace {

/// Some states side by side in field-major arrays; all results start as NaN.
template <class Real>
class Threads {
 public:
  static constexpr int kStates = 3;

  Threads(const Model& model, std::uint64_t seed)
      : model_(model), image_(cuda::make_tree_image<Real>(model.tree())), rng_(seed) {
    for (int s = 0; s < kStates; ++s) {
      State state = regular_state(model, rng_);
      Eigen::VectorXd x = random_vector(model.nv(), rng_);
      round(state.q), round(state.v), round(x);
      states.push_back(state);
      extra.push_back(x);
    }
  }

  cuda::Fields<const Real> in(const std::function<const Eigen::VectorXd&(int)>& of, long width) {
    std::vector<Real>& memory = make(width);
    for (int s = 0; s < kStates; ++s) {
      for (long i = 0; i < width; ++i) memory[size_t(i * kStates + s)] = Real(of(s)[i]);
    }
    return {memory.data(), kStates};
  }
  cuda::Fields<const Real> q() {
    return in([&](int s) -> const Eigen::VectorXd& { return states[size_t(s)].q; }, model_.nq());
  }
  cuda::Fields<const Real> v() {
    return in([&](int s) -> const Eigen::VectorXd& { return states[size_t(s)].v; }, model_.nv());
  }
  cuda::Fields<const Real> x() {
    return in([&](int s) -> const Eigen::VectorXd& { return extra[size_t(s)]; }, model_.nv());
  }
  cuda::Fields<Real> out(long width) { return {make(width).data(), kStates}; }

  /// Runs an algorithm for all states in scratch memory of the promised size, and looks whether it was enough.
  template <template <class> class Algorithm>
  void run(const Algorithm<Real>& algorithm) {
    const cuda::ModelViewOf<Real> model = image_.view();
    const std::size_t promised = Algorithm<Real>::scratch(model);
    constexpr std::byte kGuard{0xa5};
    std::vector<std::byte> memory(promised + 64 + 4096, kGuard);
    void* scratch = memory.data();
    std::size_t space = memory.size();
    std::align(64, promised, scratch, space);
    const auto* end = static_cast<const std::byte*>(scratch) + promised;
    for (int s = 0; s < kStates; ++s) algorithm.run(model, s, scratch);
    const std::byte* memory_end = memory.data() + memory.size();
    CHECK(std::all_of(end, memory_end, [&](std::byte b) { return b == kGuard; }));
  }

  /// Relative to the largest number of the expected result.
  void check(const char* what, int s, const cuda::Fields<Real>& got, const Eigen::VectorXd& expected,
             double tolerance) {
    CAPTURE(what);
    double error = 0;
    for (long i = 0; i < expected.size(); ++i) {
      error = std::max(error, std::abs(double(got.at(s, int(i))) - expected[i]));
      if (std::isnan(double(got.at(s, int(i))))) error = std::numeric_limits<double>::infinity();
    }
    CHECK(error <= tolerance * std::max(1.0, expected.lpNorm<Eigen::Infinity>()));
  }
  void check_matrix(const char* what, int s, const cuda::Fields<Real>& got, const Eigen::MatrixXd& expected,
                    double tolerance) {
    const Eigen::MatrixXd rows = expected.transpose();
    check(what, s, got, Eigen::Map<const Eigen::VectorXd>(rows.data(), rows.size()), tolerance);
  }

  const cuda::TreeImage<Real>& image() const { return image_; }

  std::vector<State> states;
  std::vector<Eigen::VectorXd> extra;

 private:
  std::vector<Real>& make(long width) {
    memory_.push_back(
        std::make_unique<std::vector<Real>>(size_t(width) * kStates, std::numeric_limits<Real>::quiet_NaN()));
    return *memory_.back();
  }
  static void round(Eigen::VectorXd& x) {
    for (double& value : x) value = double(Real(value));
  }

  const Model& model_;
  cuda::TreeImage<Real> image_;
  std::mt19937_64 rng_;
  std::vector<std::unique_ptr<std::vector<Real>>> memory_;
};

/// A block of the dense kernel, its threads one after the other in every phase.
template <bool kColumns, int kFours, class Real>
void play_block(const cuda::DenseShape& shape, const cuda::DenseArguments<Real>& a, int states) {
  std::vector<cuda::Four<Real>> memory(shape.numbers() / 4 + 1);
  for (cuda::Four<Real>& four : memory) std::fill_n(four.v, 4, std::numeric_limits<Real>::quiet_NaN());
  for (int first = 0; first < states; first += shape.states) {
    cuda::dense_run<kColumns, kFours>(shape.n, a, [&](auto&& phase) {
      for (int thread = 0; thread < shape.threads(); ++thread) {
        const cuda::DenseThread<Real> t(shape, memory[0].v, thread);
        const bool inside = first + t.local_state < states;
        phase(t, inside ? first + t.local_state : states - 1, inside);
      }
    });
  }
}

/// Forward dynamics with four threads per state.
template <class Real>
void play_limbs(const LeanLimbsImage<Real>& image, const cuda::AbaArrays<Real>& a, int states) {
  const LeanLimbsOf<Real>& limbs = image.limbs;
  const std::size_t promised = kernel::LeanStages<Real, Real>::bytes(limbs);
  for (int s = 0; s < states; ++s) {
    std::vector<Real> exchange(size_t((limbs.stage_count - 1) * kernel::LeanExchange<Real>::kNumbers * kLeanLanes));
    std::barrier together(kLeanLanes);
    std::vector<std::thread> threads;
    for (int lane = 0; lane < kLeanLanes; ++lane) {
      threads.emplace_back([&, lane] {
        std::vector<cuda::Four<Real>> scratch(promised / sizeof(cuda::Four<Real>) + 1);
        const cuda::StateOf<const Real> q(a.q, s), v(a.v, s), tau(a.tau, s);
        const auto meet = [&] { together.arrive_and_wait(); };
        kernel::lean_limb_aba<Real>(limbs, image.nodes.data(), lane, q, v, tau, scratch.data(),
                                    kernel::LeanExchange<Real>{exchange.data(), kLeanLanes}, true,
                                    cuda::StateOf<Real>(a.vdot, s), cuda::StateOf<Real>(a.singular, s), meet);
      });
    }
    for (std::thread& t : threads) t.join();
  }
}

/// @param rounding  what a well-conditioned result may be off   @param solving  the same after a solve with M
template <class Real>
void check_all(const Model& model, std::uint64_t seed, double rounding, double solving) {
  Threads<Real> t(model, seed);
  const int nv = model.nv(), square = nv * nv;
  const auto X = t.out(12 * model.link_count());
  const auto tau = t.out(nv), vdot = t.out(nv), singular = t.out(nv), M = t.out(square), M_inv = t.out(square);
  auto lean = t.out(nv), lean_singular = t.out(nv);
  const auto tau_q = t.out(square), tau_v = t.out(square), tau_a = t.out(square);
  const auto vdot_q = t.out(square), vdot_v = t.out(square);
  t.template run<cuda::Fk>({t.q(), X});
  t.template run<cuda::Rnea>({t.q(), t.v(), t.x(), tau});
  t.template run<cuda::Aba>({{t.q(), t.v(), t.x(), vdot, singular}});
  if (make_lean_tree<Real>(model.tree())) {
    t.template run<cuda::LeanAba>({{t.q(), t.v(), t.x(), lean, lean_singular}});
    t.template run<cuda::LeanAba>({{t.q(), t.v(), t.x(), lean, {}}});
  } else {
    lean = vdot, lean_singular = singular;
  }
  t.template run<cuda::Crba>({t.q(), M});
  t.template run<cuda::MassMatrixInverse>({t.q(), M_inv});
  t.template run<cuda::RneaDerivatives>({t.q(), t.v(), t.x(), tau_q, tau_v, tau_a});
  t.template run<cuda::RneaDerivatives>({t.q(), t.v(), {vdot.data, vdot.stride}, vdot_q, vdot_v, {}});
  t.template run<cuda::ApplyInverse>({{M_inv.data, M_inv.stride}, vdot_q, vdot_v});

  const auto dense_inv = t.out(square), dense_q = t.out(square), dense_v = t.out(square);
  t.template run<cuda::RneaDerivatives>({t.q(), t.v(), {vdot.data, vdot.stride}, dense_q, dense_v, dense_inv});
  const cuda::DenseShape shape = cuda::dense_shape<Real>(nv, 200 * 1024);
  const bool fits = shape.states > 0;
  auto column_inv = t.out(square), column_q = t.out(square), column_v = t.out(square);
  if (fits) {
    CHECK(shape.state_stride % 32 == 4);
    using Arguments = cuda::DenseArguments<Real>;
    const auto read = [](const cuda::Fields<Real>& f) { return cuda::Fields<const Real>{f.data, f.stride}; };
    constexpr int kStates = Threads<Real>::kStates;
    play_block<false, 3, Real>(shape, Arguments::of_matrices(read(dense_inv), dense_inv, dense_q, dense_v), kStates);
    const auto columns = t.out(cuda::kColumnNumbers * nv);
    const auto& tree = t.image().columns;
    if (!tree.empty()) {
      t.template run<cuda::DerivativeColumns>({t.q(), t.v(), read(vdot), columns});
      play_block<true, 9, Real>(
          shape, Arguments::of_columns(tree.data(), read(columns), column_inv, column_q, column_v), kStates);
    } else {
      column_inv = dense_inv, column_q = dense_q, column_v = dense_v;
    }
  }
  auto limb = t.out(nv), limb_singular = t.out(nv);
  if (t.image().limbs) {
    play_limbs<Real>(*t.image().limbs, {t.q(), t.v(), t.x(), limb, limb_singular}, Threads<Real>::kStates);
  } else {
    limb = vdot, limb_singular = singular;
  }

  Workspace work(model);
  LinkPoses poses(model);
  AbaDerivatives aba_d(model);
  RneaDerivatives rnea_d(model);
  for (int s = 0; s < Threads<Real>::kStates; ++s) {
    const State& state = t.states[size_t(s)];
    const Eigen::VectorXd& x = t.extra[size_t(s)];
    fk(model, state.q, work, poses);
    Eigen::VectorXd numbers(12 * model.link_count());
    for (int l = 0; l < model.link_count(); ++l)
      std::memcpy(&numbers[12 * l], &poses[LinkId(l)].R.x.x, 12 * sizeof(double));
    t.check("fk", s, X, numbers, rounding);
    t.check("rnea", s, tau, rnea(model, state, x), rounding);
    t.check_matrix("crba", s, M, crba(model, state.q), rounding);
    rnea_derivatives(model, state, x, work, rnea_d);
    t.check_matrix("∂τ/∂q", s, tau_q, rnea_d.dq, rounding);
    t.check_matrix("∂τ/∂v", s, tau_v, rnea_d.dv, rounding);
    t.check_matrix("∂τ/∂v̇", s, tau_a, rnea_d.da, rounding);
    aba_derivatives(model, state, x, work, aba_d);
    t.check("aba", s, vdot, aba_d.forward.vdot, solving);
    t.check("singular", s, singular, aba_d.forward.singular, 0);
    t.check("lean aba", s, lean, aba_d.forward.vdot, solving);
    t.check("lean singular", s, lean_singular, aba_d.forward.singular, 0);
    t.check("limb aba", s, limb, aba_d.forward.vdot, solving);
    t.check("limb singular", s, limb_singular, aba_d.forward.singular, 0);
    t.check_matrix("M⁻¹", s, M_inv, aba_d.dtau, solving);
    t.check_matrix("∂v̇/∂q", s, vdot_q, aba_d.dq, solving);
    t.check_matrix("∂v̇/∂v", s, vdot_v, aba_d.dv, solving);
    if (!fits) continue;
    t.check_matrix("M⁻¹ by a block", s, dense_inv, aba_d.dtau, solving);
    t.check_matrix("∂v̇/∂q by a block", s, dense_q, aba_d.dq, solving);
    t.check_matrix("∂v̇/∂v by a block", s, dense_v, aba_d.dv, solving);
    t.check_matrix("M⁻¹ of columns", s, column_inv, aba_d.dtau, solving);
    t.check_matrix("∂v̇/∂q of columns", s, column_q, aba_d.dq, solving);
    t.check_matrix("∂v̇/∂v of columns", s, column_v, aba_d.dv, solving);
  }
}

}  // namespace

TEST_CASE("a thread's double results are those for one state") {
  for (const auto& [seed, model] : invariant_models()) {
    CAPTURE(seed);
    CAPTURE(model.name());
    // The same kernels in the same order; the CPU may fuse multiplications and additions, which trees of 60 links amplify.
    check_all<double>(model, seed, 1e-11, 1e-8);
  }
}

TEST_CASE("a thread's float results are those for one state within their precision") {
  for (const auto& [seed, model] :
       {SeededModel{1, human28()}, SeededModel{2, human28_ball()}, SeededModel{3, chain(8)}}) {
    CAPTURE(model.name());
    check_all<float>(model, seed, 2e-5, 2e-2);  // the mass matrix of human28 has a condition number near 1e4
  }
}

TEST_CASE("legs and arms of a figure are limbs side by side") {
  const auto image = cuda::make_tree_image<double>(human28().tree());
  REQUIRE(image.limbs);
  const LeanLimbsOf<double>& limbs = image.limbs->limbs;
  CHECK(limbs.trunk().node_count == 7);  // base, waist and neck
  REQUIRE(limbs.stage_count == 2);
  CHECK(limbs.stages[1].tree.node_count == 7);
  CHECK(limbs.stages[1].carrier[0] != limbs.stages[1].carrier[2]);  // pelvis and chest
  for (int lane = 1; lane < kLeanLanes; ++lane) {
    const std::byte* nodes = image.limbs->nodes.data();
    const LeanTreeViewOf<double> first = limbs.tree(1, 0, nodes), other = limbs.tree(1, lane, nodes);
    for (int i = 0; i < first.node_count; ++i) CHECK(first.nodes[i].kind == other.nodes[i].kind);
  }
  CHECK(!cuda::make_tree_image<double>(chain(8).tree()).limbs);
}

TEST_CASE("an image holds the tree") {
  const Model model = random_tree(3, {.links = 9, .gears = 2});
  const cuda::TreeImage<double> image = cuda::make_tree_image<double>(model.tree());
  const TreeView a = model.tree().view(), b = image.view().tree;
  CHECK(a.body_count == b.body_count);
  CHECK(a.step_count == b.step_count);
  CHECK(a.group_scratch == b.group_scratch);
  for (int i = 0; i < a.body_count; ++i) {
    CHECK(a.bodies[i].parent == b.bodies[i].parent);
    CHECK(a.bodies[i].X_PJ == b.bodies[i].X_PJ);
    CHECK(a.bodies[i].M_B == b.bodies[i].M_B);
  }
  for (int k = 0; k < a.nu; ++k) CHECK(a.rotor_inertia[k] == b.rotor_inertia[k]);
}
