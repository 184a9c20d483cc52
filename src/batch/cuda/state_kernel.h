#pragma once

#include "batch/cuda/tree_image.h"
#include "dynamics/general_kernel.h"
#include "dynamics/lean_aba_kernel.h"
#include "dynamics/product_kernel.h"
#include "dynamics/response_kernel.h"

/// What one thread does for one state: the kernels of kinematics and dynamics between arrays of a batch. Host code can call
/// it too, and tests do.
///
/// Arrays of a batch are field-major here: number f of state s is data[f·stride + s], so that neighbouring threads touch
/// neighbouring numbers. Every algorithm is a struct with
///   Arguments<Real>                        its arrays
///   static scratch(model)                  bytes of scratch memory per state
///   static run(model, arguments, state, scratch)
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

/// Counts what a Carver takes.
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
struct Fk {
  template <class Real>
  struct Arguments {
    Fields<const Real> q;
    Fields<Real> X_WL;
  };
  template <class Real>
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    return ScratchCount<Real>().add(tree.nq).add(tree.body_count, 12).posture(tree).bytes();
  }
  template <class Real>
  KANSETSU_HD static void run(const ModelViewOf<Real>& model, const Arguments<Real>& a, std::ptrdiff_t state,
                              void* scratch) {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q = local.load(a.q, tree.nq);
    Transform<Real>* X = local.carver.template take<Transform<Real>>(tree.body_count);
    kernel::Frame<Real> frame(tree, q, local.carver.rest());
    kernel::poses(tree, frame.posture, false, X);
    for (int l = 0; l < model.link_count; ++l) {
      const Transform<Real> X_BL = model.links[l].X_BL;
      const Transform<Real> X_WL = model.links[l].body < 0 ? X_BL : X[model.links[l].body] * X_BL;
      const Mat3<Real>& R = X_WL.R;
      const Real numbers[12] = {R.x.x, R.x.y, R.x.z, R.y.x,    R.y.y,    R.y.z,
                                R.z.x, R.z.y, R.z.z, X_WL.p.x, X_WL.p.y, X_WL.p.z};
      for (int i = 0; i < 12; ++i) a.X_WL.at(state, 12 * l + i) = numbers[i];
    }
  }
};

struct Rnea {
  template <class Real>
  struct Arguments {
    Fields<const Real> q, v, vdot;
    Fields<Real> tau;
  };
  template <class Real>
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    ScratchCount<Real> count;
    count.add(tree.nq).add(tree.nv).add(tree.nv).add(tree.nv).posture(tree).add(tree.nu).add(tree.nu).add(tree.nu);
    for (int k = 0; k < 3; ++k) count.add(tree.body_count, 6);
    return count.bytes();
  }
  template <class Real>
  KANSETSU_HD static void run(const ModelViewOf<Real>& model, const Arguments<Real>& a, std::ptrdiff_t state,
                              void* scratch) {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q = local.load(a.q, tree.nq);
    const Real* v = local.load(a.v, tree.nv);
    const Real* vdot = local.load(a.vdot, tree.nv);
    Real* tau = local.take(tree.nv);
    kernel::general_rnea<Real>(tree, q, v, vdot, static_cast<const Force<Real>*>(nullptr), local.carver.rest(), tau,
                               static_cast<Real*>(nullptr));
    local.store(tau, tree.nv, a.tau);
  }
};

struct Crba {
  template <class Real>
  struct Arguments {
    Fields<const Real> q;
    Fields<Real> M;
  };
  template <class Real>
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    return ScratchCount<Real>().add(tree.nq).posture(tree).add(tree.body_count, 10).bytes();
  }
  template <class Real>
  KANSETSU_HD static void run(const ModelViewOf<Real>& model, const Arguments<Real>& a, std::ptrdiff_t state,
                              void* scratch) {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q = local.load(a.q, tree.nq);
    kernel::general_crba<Real>(tree, q, local.carver.rest(), zeroed_state(a.M, state, tree.nv * tree.nv));
  }
};

struct Aba {
  template <class Real>
  struct Arguments {
    Fields<const Real> q, v, tau;
    Fields<Real> vdot;
    Fields<Real> singular;  ///< may be null
  };
  template <class Real>
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    ScratchCount<Real> count;
    count.add(tree.nq);
    for (int k = 0; k < 4; ++k) count.add(tree.nv);
    return count.aba(tree).bytes();
  }
  template <class Real>
  KANSETSU_HD static void run(const ModelViewOf<Real>& model, const Arguments<Real>& a, std::ptrdiff_t state,
                              void* scratch) {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q = local.load(a.q, tree.nq);
    const Real* v = local.load(a.v, tree.nv);
    const Real* tau = local.load(a.tau, tree.nv);
    Real* vdot = local.take(tree.nv);
    Real* singular = local.take(tree.nv);
    kernel::general_aba<Real>(tree, q, v, tau, static_cast<const Force<Real>*>(nullptr), local.carver.rest(), vdot,
                              singular);
    local.store(vdot, tree.nv, a.vdot);
    if (a.singular.data) local.store(singular, tree.nv, a.singular);
  }
};

/// Aba for trees of hinges, in a fraction of the memory.
struct LeanAba {
  template <class Real>
  using Arguments = Aba::Arguments<Real>;

  template <class Real>
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    return kernel::LeanMemory<Real>::bytes(model.lean);
  }
  template <class Real>
  KANSETSU_HD static void run(const ModelViewOf<Real>& model, const Arguments<Real>& a, std::ptrdiff_t state,
                              void* scratch) {
    const StateOf<const Real> q(a.q, state), v(a.v, state), tau(a.tau, state);
    const StateOf<Real> vdot(a.vdot, state);
    if (a.singular.data)
      kernel::lean_aba<Real>(model.lean, q, v, tau, scratch, vdot, StateOf<Real>(a.singular, state));
    else
      kernel::lean_aba<Real>(model.lean, q, v, tau, scratch, vdot, kernel::Unwanted{});
  }
};

struct MassMatrixInverse {
  template <class Real>
  struct Arguments {
    Fields<const Real> q;
    Fields<Real> M_inv;
  };
  template <class Real>
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    return ScratchCount<Real>().add(tree.nq).inverse(tree).bytes();
  }
  template <class Real>
  KANSETSU_HD static void run(const ModelViewOf<Real>& model, const Arguments<Real>& a, std::ptrdiff_t state,
                              void* scratch) {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q = local.load(a.q, tree.nq);
    kernel::Factor<Real> f(tree, local.carver.rest());
    kernel::load_posture(tree, q, f.posture);
    kernel::factorise(tree, f.posture, f.art, f.A, f.u, f.r);
    kernel::mass_matrix_inverse(tree, f.posture, f.art, f.carver, StateOf<Real>(a.M_inv, state));
  }
};

struct RneaDerivatives {
  template <class Real>
  struct Arguments {
    Fields<const Real> q, v, vdot;
    Fields<Real> dq, dv;
    Fields<Real> da;  ///< may be null
  };
  template <class Real>
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    return ScratchCount<Real>().add(tree.nq).add(tree.nv).add(tree.nv).rnea_derivatives(tree).bytes();
  }
  template <class Real>
  KANSETSU_HD static void run(const ModelViewOf<Real>& model, const Arguments<Real>& a, std::ptrdiff_t state,
                              void* scratch) {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real* q = local.load(a.q, tree.nq);
    const Real* v = local.load(a.v, tree.nv);
    const Real* vdot = local.load(a.vdot, tree.nv);
    const int count = tree.nv * tree.nv;
    const StateOf<Real> dq = zeroed_state(a.dq, state, count), dv = zeroed_state(a.dv, state, count);
    const StateOf<Real> da = a.da.data ? zeroed_state(a.da, state, count) : StateOf<Real>(a.da, state);
    kernel::general_rnea_derivatives<Real>(
        tree, q, v, vdot, static_cast<const kernel::ExternalWrench<Real>*>(nullptr), local.carver.rest(),
        [&](int row, int column, const Real& value) { kernel::add_reduced(tree, column, row, value, dq); },
        [&](int row, int column, const Real& value) { kernel::add_reduced(tree, column, row, value, dv); },
        [&](int row, int column, const Real& value) {
          if (!a.da.data) return;
          kernel::add_reduced(tree, row, column, value, da);
          if (row != column) kernel::add_reduced(tree, column, row, value, da);
        });
  }
};

/// The chain rule: derivatives of inverse dynamics at v̇, times −M⁻¹.
struct ApplyInverse {
  template <class Real>
  struct Arguments {
    Fields<const Real> M_inv;
    Fields<Real> dq, dv;  ///< in: of inverse dynamics; out: of forward dynamics
  };
  template <class Real>
  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    ScratchCount<Real> count;
    for (int k = 0; k < 3; ++k) count.add(tree.nv * tree.nv);
    return count.add(kernel::kTileColumns * tree.nv).bytes();
  }
  template <class Real>
  KANSETSU_HD static void run(const ModelViewOf<Real>& model, const Arguments<Real>& a, std::ptrdiff_t state,
                              void* scratch) {
    const TreeViewOf<Real>& tree = model.tree;
    const int n = tree.nv;
    Local<Real> local(scratch, state);
    const Real* M_inv = local.load(a.M_inv, n * n);  // symmetric: rows are columns
    Real *dq = local.take(n * n), *dv = local.take(n * n);
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) {
        dq[c * n + r] = a.dq.at(state, r * n + c);
        dv[c * n + r] = a.dv.at(state, r * n + c);
      }
    }
    Real* tile = local.take(kernel::kTileColumns * n);
    kernel::multiply_in_place(M_inv, n, dq, tile);
    kernel::multiply_in_place(M_inv, n, dv, tile);
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) {
        a.dq.at(state, r * n + c) = dq[c * n + r];
        a.dv.at(state, r * n + c) = dv[c * n + r];
      }
    }
  }
};

}  // namespace kansetsu::batch::cuda
