#pragma once

#include "batch/cuda/tree_image.h"
#include "dynamics/general_kernel.h"
#include "dynamics/lean_aba_kernel.h"
#include "dynamics/product_kernel.h"
#include "dynamics/response_kernel.h"

/// The work of one thread for one state: the kernels of kinematics and dynamics on arrays of a batch. Host code can call it,
/// too; tests do.
///
/// Arrays of a batch are field-major here: number f of state s is data[f·stride + s], so that neighbouring threads touch
/// neighbouring numbers. Every algorithm is a struct that holds its arrays, with
///   static scratch(model)         bytes of scratch memory per state
///   run(model, state, scratch)    for one state; copies in scratch memory have names that end with _s
namespace kansetsu::batch::cuda {

template <class Real>
struct Fields {
  Real* data = nullptr;
  std::ptrdiff_t stride = 0;

  KANSETSU_HD Real& at(std::ptrdiff_t state, int field) const { return data[field * stride + state]; }
};

/// The numbers of one state in a batch.
template <class Real>
struct StateOf {
  Real* data;
  std::ptrdiff_t stride;

  KANSETSU_HD StateOf(const Fields<Real>& fields, std::ptrdiff_t state)
      : data(fields.data ? fields.data + state : nullptr), stride(fields.stride) {}
  KANSETSU_HD Real& operator[](int field) const { return data[field * stride]; }
};
/// The same, all set to zero first.
template <class Real>
KANSETSU_HD StateOf<Real> zeroed_state(const Fields<Real>& fields, std::ptrdiff_t state, int count) {
  const StateOf<Real> out(fields, state);
  for (int i = 0; i < count; ++i) out[i] = Real(0);
  return out;
}

/// Takes fields from scratch memory, copies them in, and out again.
template <class Real>
struct Local {
  Carver<Real> carver;
  std::ptrdiff_t state;

  KANSETSU_HD Local(void* scratch, std::ptrdiff_t state_) : carver(scratch), state(state_) {}
  KANSETSU_HD Real* take(int n) { return carver.template take<Real>(n); }
  KANSETSU_HD Real* load(const Fields<const Real>& from, int n) {
    Real* x = take(n);
    for (int i = 0; i < n; ++i) x[i] = from.at(state, i);
    return x;
  }
  KANSETSU_HD void store(const Real* x, int n, const Fields<Real>& to) const {
    for (int i = 0; i < n; ++i) to.at(state, i) = x[i];
  }
};

/// Counts the bytes that a Carver takes.
template <class Real>
class ScratchCount {
 public:
  ScratchCount& add(int count, int numbers = 1) {
    bytes_ += (std::size_t(count) * std::size_t(numbers) * sizeof(Real) + 63) / 64 * 64;
    return *this;
  }
  ScratchCount& posture(const TreeViewOf<Real>& tree) {
    return add(tree.body_count).add(tree.body_count).add(tree.body_count, 12);
  }
  ScratchCount& articulated(const TreeViewOf<Real>& tree) {
    constexpr int kNumbers = sizeof(ArticulatedInertia<Real>) / sizeof(Real);
    return add(tree.body_count, kNumbers)
        .add(tree.body_count, 6)
        .add(tree.body_count, sizeof(kernel::HingeFactor<Real>) / sizeof(Real))
        .add(tree.group_scratch)
        .add(1, sizeof(Ldlt<Real, 6>) / sizeof(Real))
        .add(tree.nv);
  }
  ScratchCount& aba(const TreeViewOf<Real>& tree) {
    return posture(tree).add(tree.nu).add(tree.body_count, 6).add(tree.body_count, 6).articulated(tree);
  }
  ScratchCount& inverse(const TreeViewOf<Real>& tree) {
    constexpr int kColumns = kHasPacks ? kRegisterBytes / int(sizeof(Real)) : 1;  // at a time
    posture(tree).articulated(tree).add(tree.body_count, 6).add(tree.nu).add(tree.nv).add(tree.nv).add(tree.step_count);
    for (int numbers : {6, 6}) add(tree.body_count, numbers * kColumns);
    return add(tree.nv, kColumns).add(tree.nv, kColumns);
  }
  ScratchCount& rnea_derivatives(const TreeViewOf<Real>& tree) {
    posture(tree).add(tree.nu).add(tree.nu);
    for (int numbers : {12, 6, 6, 10, 12, 12, 6}) add(tree.body_count, numbers);
    for (int k = 0; k < 4; ++k) add(tree.nu, 6);
    return *this;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// Poses of all links: 12 numbers each, R_WL row by row, then p_WL.
template <class Real>
struct Fk {
  Fields<const Real> q;
  Fields<Real> X_WL;

  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    return ScratchCount<Real>().add(tree.nq).add(tree.body_count, 12).posture(tree).bytes();
  }
  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q_s = local.load(q, tree.nq);
    Transform<Real>* X = local.carver.template take<Transform<Real>>(tree.body_count);
    kernel::Frame<Real> frame(tree, q_s, local.carver.rest());
    kernel::poses(tree, frame.posture, false, X);
    for (int l = 0; l < model.link_count; ++l) {
      const Transform<Real> X_BL = model.links[l].X_BL;
      const Transform<Real> pose = model.links[l].body < 0 ? X_BL : X[model.links[l].body] * X_BL;
      const Mat3<Real>& R = pose.R;
      const Real numbers[12] = {R.x.x, R.x.y, R.x.z, R.y.x,    R.y.y,    R.y.z,
                                R.z.x, R.z.y, R.z.z, pose.p.x, pose.p.y, pose.p.z};
      for (int i = 0; i < 12; ++i) X_WL.at(state, 12 * l + i) = numbers[i];
    }
  }
};

template <class Real>
struct Rnea {
  Fields<const Real> q, v, vdot;
  Fields<Real> tau;

  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    ScratchCount<Real> count;
    count.add(tree.nq).add(tree.nv).add(tree.nv).add(tree.nv).posture(tree).add(tree.nu).add(tree.nu).add(tree.nu);
    for (int k = 0; k < 3; ++k) count.add(tree.body_count, 6);
    return count.bytes();
  }
  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real *q_s = local.load(q, tree.nq), *v_s = local.load(v, tree.nv), *vdot_s = local.load(vdot, tree.nv);
    Real* tau_s = local.take(tree.nv);
    kernel::general_rnea<Real>(tree, q_s, v_s, vdot_s, static_cast<const Force<Real>*>(nullptr), local.carver.rest(),
                               tau_s, static_cast<Real*>(nullptr));
    local.store(tau_s, tree.nv, tau);
  }
};

template <class Real>
struct Crba {
  Fields<const Real> q;
  Fields<Real> M;

  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    return ScratchCount<Real>().add(tree.nq).posture(tree).add(tree.body_count, 10).bytes();
  }
  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q_s = local.load(q, tree.nq);
    kernel::general_crba<Real>(tree, q_s, local.carver.rest(), zeroed_state(M, state, tree.nv * tree.nv));
  }
};

/// The arrays of forward dynamics, by whichever plan.
template <class Real>
struct AbaArrays {
  Fields<const Real> q, v, tau;
  Fields<Real> vdot;
  Fields<Real> singular;  ///< may be null
};

template <class Real>
struct Aba : AbaArrays<Real> {
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    ScratchCount<Real> count;
    count.add(tree.nq);
    for (int k = 0; k < 4; ++k) count.add(tree.nv);
    return count.aba(tree).bytes();
  }
  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const TreeViewOf<Real>& tree = model.tree;
    const int nv = tree.nv;
    Local<Real> local(scratch, state);
    const Real *q_s = local.load(this->q, tree.nq), *v_s = local.load(this->v, nv), *tau_s = local.load(this->tau, nv);
    Real *vdot_s = local.take(nv), *singular_s = local.take(nv);
    kernel::general_aba<Real>(tree, q_s, v_s, tau_s, static_cast<const Force<Real>*>(nullptr), local.carver.rest(),
                              vdot_s, singular_s);
    local.store(vdot_s, nv, this->vdot);
    if (this->singular.data) local.store(singular_s, nv, this->singular);
  }
};

/// Aba for trees of hinges, with a fraction of the memory.
template <class Real>
struct LeanAba : AbaArrays<Real> {
  static std::size_t scratch(const ModelViewOf<Real>& model) { return kernel::LeanMemory<Real>::bytes(model.lean); }
  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const StateOf<const Real> q_s(this->q, state), v_s(this->v, state), tau_s(this->tau, state);
    const StateOf<Real> vdot_s(this->vdot, state);
    if (this->singular.data)
      kernel::lean_aba<Real>(model.lean, q_s, v_s, tau_s, scratch, vdot_s, StateOf<Real>(this->singular, state));
    else
      kernel::lean_aba<Real>(model.lean, q_s, v_s, tau_s, scratch, vdot_s, kernel::Unwanted{});
  }
};

template <class Real>
struct MassMatrixInverse {
  Fields<const Real> q;
  Fields<Real> M_inv;

  static std::size_t scratch(const ModelViewOf<Real>& model) {
    return ScratchCount<Real>().add(model.tree.nq).inverse(model.tree).bytes();
  }
  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q_s = local.load(q, tree.nq);
    kernel::Factor<Real> f(tree, local.carver.rest());
    kernel::load_posture(tree, q_s, f.posture);
    kernel::factorise(tree, f.posture, f.art, f.A, f.u, f.r);
    kernel::mass_matrix_inverse(tree, f.posture, f.art, f.carver, StateOf<Real>(M_inv, state));
  }
};

template <class Real>
struct RneaDerivatives {
  Fields<const Real> q, v, vdot;
  Fields<Real> dq, dv;
  Fields<Real> da;  ///< may be null

  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    return ScratchCount<Real>().add(tree.nq).add(tree.nv).add(tree.nv).rnea_derivatives(tree).bytes();
  }
  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real *q_s = local.load(q, tree.nq), *v_s = local.load(v, tree.nv), *vdot_s = local.load(vdot, tree.nv);
    const int count = tree.nv * tree.nv;
    const StateOf<Real> dq_s = zeroed_state(dq, state, count), dv_s = zeroed_state(dv, state, count);
    const StateOf<Real> da_s = da.data ? zeroed_state(da, state, count) : StateOf<Real>(da, state);
    kernel::general_rnea_derivatives<Real>(
        tree, q_s, v_s, vdot_s, static_cast<const kernel::ExternalWrench<Real>*>(nullptr), local.carver.rest(),
        [&](int row, int column, const Real& value) { kernel::add_reduced(tree, column, row, value, dq_s); },
        [&](int row, int column, const Real& value) { kernel::add_reduced(tree, column, row, value, dv_s); },
        [&](int row, int column, const Real& value) {
          if (!da_s.data) return;
          kernel::add_reduced(tree, row, column, value, da_s);
          if (row != column) kernel::add_reduced(tree, column, row, value, da_s);
        });
  }
};

/// The chain rule: derivatives of inverse dynamics at v̇, times −M⁻¹.
template <class Real>
struct ApplyInverse {
  Fields<const Real> M_inv;
  Fields<Real> dq, dv;  ///< in: of inverse dynamics; out: of forward dynamics

  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const int n = model.tree.nv;
    return ScratchCount<Real>().add(n * n).add(n * n).add(kernel::kTileColumns * n).bytes();
  }
  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const int n = model.tree.nv;
    Local<Real> local(scratch, state);
    const Real* M_inv_s = local.load(M_inv, n * n);  // symmetric: rows are columns
    Real *X = local.take(n * n), *tile = local.take(kernel::kTileColumns * n);
    const Fields<Real> matrices[] = {dq, dv};
    for (const Fields<Real>& matrix : matrices) {
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) X[c * n + r] = matrix.at(state, r * n + c);
      }
      kernel::multiply_in_place(M_inv_s, n, X, tile);
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < n; ++c) matrix.at(state, r * n + c) = X[c * n + r];
      }
    }
  }
};

}  // namespace kansetsu::batch::cuda
