#pragma once

#include "batch/cuda/state_kernel.h"

/// The first half of the derivatives of forward dynamics, by one thread per state: the factors of the entries of the matrices.
/// Every entry is a product of numbers of its row and its column (derivatives_kernel.h, whose symbols are used here), so that
/// 42 numbers per column represent three matrices; dense_kernel.h computes the entries. Trees without gears only.
namespace kansetsu::batch::cuda {

/// Numbers of a column, in this order; those of the rows first.
///   S   M·S   2Bᵀ·S     for rows
///   2B·Ψ̇ + M·Ψ̈ + S×*F   Ψ̈   Ψ̇ (angular)
///   2B·S + M·Σ          Σ = Ψ̇ + Ṡ
inline constexpr int kRowNumbers = 15, kByQ = 15, kByV = 30, kColumnNumbers = 42;

/// Writes numbers one after the other.
template <class Real>
struct NumberWriter {
  Fields<Real> out;
  std::ptrdiff_t state;
  int next;

  KANSETSU_HD void operator()(const Vec3<Real>& a) {
    out.at(state, next) = a.x, out.at(state, next + 1) = a.y, out.at(state, next + 2) = a.z;
    next += 3;
  }
  KANSETSU_HD void operator()(const Motion<Real>& a) { (*this)(a.w), (*this)(a.v); }
  KANSETSU_HD void operator()(const Force<Real>& a) { (*this)(a.t), (*this)(a.f); }
};

template <class Real>
struct DerivativeColumns {
  Fields<const Real> q, v, vdot;
  Fields<Real> columns;  ///< kColumnNumbers of each tree coordinate

  /// Inertia, 2B and wrench of a subtree.
  struct Subtree {
    Inertia<Real> M;
    CoriolisInertia<Real> B;
    Force<Real> F;

    KANSETSU_HD Subtree operator+(const Subtree& b) const { return {M + b.M, B + b.B, F + b.F}; }
  };
  struct Moving {
    Transform<Real> X;
    Motion<Real> V, A;
  };
  struct Memory {
    Moving* bodies;
    Subtree* parks;  ///< sum over the children of bodies with several, without the first child
    Real* parked;    ///< number of children in it
  };

  static std::size_t scratch(const ModelViewOf<Real>& model) {
    const TreeViewOf<Real>& tree = model.tree;
    ScratchCount<Real> count;
    count.add(tree.nq).add(tree.nv).add(tree.nv).posture(tree).add(tree.nu).add(tree.nu);
    return count.add(tree.body_count, sizeof(Moving) / sizeof(Real))
        .add(tree.body_count, sizeof(Subtree) / sizeof(Real))
        .add(tree.body_count)
        .bytes();
  }

  KANSETSU_HD void run(const ModelViewOf<Real>& model, std::ptrdiff_t state, void* scratch) const {
    const TreeViewOf<Real>& tree = model.tree;
    Local<Real> local(scratch, state);
    const Real *q_s = local.load(q, tree.nq), *v_s = local.load(v, tree.nv), *vdot_s = local.load(vdot, tree.nv);
    kernel::Frame<Real> frame(tree, q_s, local.carver.rest());
    const Real* u = frame.expanded(tree, v_s);
    const Real* u_dot = frame.expanded(tree, vdot_s);
    Memory memory;
    memory.bodies = frame.template take<Moving>(tree.body_count);
    memory.parks = frame.template take<Subtree>(tree.body_count);
    memory.parked = frame.template take<Real>(tree.body_count);
    outward(tree, frame.posture, u, u_dot, memory);
    inward(tree, memory, NumberWriter<Real>{columns, state, 0});
  }

 private:
  KANSETSU_HD static Moving ground(const TreeViewOf<Real>& tree) {
    const Vec3<Real> zero{Real(0), Real(0), Real(0)};
    return {{}, {zero, zero}, {zero, -tree.gravity}};
  }

  /// Poses, velocities and accelerations, all in O.
  KANSETSU_HD static void outward(const TreeViewOf<Real>& tree, const kernel::Posture<Real>& posture, const Real* u,
                                  const Real* u_dot, const Memory& memory) {
    Moving now = ground(tree);
    for (int i = 0; i < tree.body_count; ++i) {
      const BodyOf<Real>& b = tree.bodies[i];
      memory.parked[i] = Real(0);
      if (b.parent != i - 1) now = b.parent < 0 ? ground(tree) : memory.bodies[b.parent];
      const Transform<Real> X_P = now.X;
      kernel::with_joint(b, posture, i, [&](const auto& joint) {
        now.X = b.concurrent ? joint.compose_in_place(X_P) : joint.compose(X_P);
      });
      if (i == 0 && tree.free_base) now.X.p = {Real(0), Real(0), Real(0)};
      Motion<Real> rate{{Real(0), Real(0), Real(0)}, {Real(0), Real(0), Real(0)}};
      for (int k = 0; k < b.nu; ++k) {
        const Motion<Real> S = now.X * kernel::subspace<Real>(b, k);
        rate = madd(u[b.u + k], S, rate);
        now.A = madd(u_dot[b.u + k], S, now.A);
      }
      now.V = now.V + rate;
      now.A = now.A + cross(now.V, rate);
      memory.bodies[i] = now;
    }
  }

  /// Subtrees, and the columns of their roots. The subtree of a body's first child is still in registers: it was the last one.
  KANSETSU_HD static void inward(const TreeViewOf<Real>& tree, const Memory& memory, NumberWriter<Real> write) {
    const Vec3<Real> zero{Real(0), Real(0), Real(0)};
    const Subtree none{{Real(0), zero, {Real(0), Real(0), Real(0), Real(0), Real(0), Real(0)}},
                       {{zero, zero, zero}, zero},
                       {zero, zero}};
    Subtree sum = none;
    for (int i = tree.body_count - 1; i >= 0; --i) {
      const BodyOf<Real>& b = tree.bodies[i];
      const Moving body = memory.bodies[i];
      if (i + 1 == tree.body_count || tree.bodies[i + 1].parent != i) sum = none;
      if (memory.parked[i] > Real(0)) sum = sum + memory.parks[i];
      if (!b.massless) {
        const Inertia<Real> M = body.X * b.M_B;
        sum = sum + Subtree{M, twice_coriolis_inertia(M, body.V), M * body.A + cross(body.V, M * body.V)};
      }
      const Moving before = b.parent < 0 ? ground(tree) : memory.bodies[b.parent];
      for (int k = 0; k < b.nu; ++k) {
        const Motion<Real> S = tree.terms[b.u + k].ratio * (body.X * kernel::subspace<Real>(b, k));
        write.next = kColumnNumbers * (b.u + k);
        put_column(S, body.V, before, sum, write);
      }
      if (b.parent < 0 || b.parent == i - 1) continue;
      Subtree& park = memory.parks[b.parent];
      park = memory.parked[b.parent] > Real(0) ? park + sum : sum;
      memory.parked[b.parent] += Real(1);
    }
  }

  KANSETSU_HD static void put_column(const Motion<Real>& S, const Motion<Real>& V, const Moving& before,
                                     const Subtree& subtree, NumberWriter<Real>& write) {
    const Motion<Real> Psi_dot = cross(before.V, S);
    const Motion<Real> Psi_ddot = cross(before.A, S) + cross(before.V, Psi_dot);
    const Motion<Real> sum = Psi_dot + cross(V, S);
    write(S);
    write(subtree.M * S);
    write(transpose_times(subtree.B, S));
    write(subtree.B * Psi_dot + subtree.M * Psi_ddot + cross(S, subtree.F));
    write(Psi_ddot);
    write(Psi_dot.w);
    write(subtree.B * S + subtree.M * sum);
    write(sum);
  }
};

}  // namespace kansetsu::batch::cuda
