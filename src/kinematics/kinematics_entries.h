#pragma once

#include "kinematics/centroidal_kernel.h"
#include "kinematics/entry.h"
#include "kinematics/fk_kernel.h"
#include "kinematics/jacobian_kernel.h"
#include "kinematics/kernel_table.h"
#include "kinematics/velocity_kernel.h"

/// The kinematic kernels as entry points of one instruction set. Included by the files that instantiate them.
namespace kansetsu::kernel {
inline namespace KANSETSU_ISA {
namespace {

template <class T, class Const>
void poses_entry(const TreeViewOf<Const>& tree, const Const* q, void* scratch, Const* X) {
  Frame<T> frame(tree, q, scratch);
  poses(tree, frame.posture, false, as<Transform<T>>(X));
}

template <class T, class Const>
void fk_entry(const TreeViewOf<Const>& tree, const LinkPlacement* links, int link_count, const Const* q, void* scratch,
              Const* out) {
  Frame<T> frame(tree, q, scratch);
  if constexpr (std::is_same_v<T, double>) {
    ColumnPose* X = frame.template take<ColumnPose>(tree.body_count);
    column_poses(tree, frame.posture, X);
    const ColumnPose ground = ColumnPose::from({});
    for (int i = 0; i < link_count; ++i) {
      const ColumnPose& at = links[i].body < 0 ? ground : X[links[i].body];
      (links[i].at_body ? at : at * links[i].X_BL).store(out + 12 * i);
    }
  } else {
    Transform<T>* X = frame.template take<Transform<T>>(tree.body_count);
    poses(tree, frame.posture, false, X);
    for (int i = 0; i < link_count; ++i) {
      const Transform<T> at = links[i].body < 0 ? Transform<T>{} : X[links[i].body];
      as<Transform<T>>(out)[i] = links[i].at_body ? at : at * lift<T>(links[i].X_BL);
    }
  }
}

template <class T, class Const>
void motions_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, const Const* a, void* scratch,
                   Const* X, Const* V, Const* A) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  const T* a_tree = a ? frame.expanded(tree, a) : nullptr;
  const Vec3<T> zero{T(0), T(0), T(0)};
  poses(tree, frame.posture, false, as<Transform<T>>(X));
  velocities(tree, frame.posture, u, as<Motion<T>>(V));
  accelerations(tree, frame.posture, u, a_tree, as<Motion<T>>(V), {zero, zero}, as<Motion<T>>(A));
}

template <class T, class Const>
void jacobian_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, int body, const Transform<>& X_BF,
                    Axes axes, void* scratch, Const* J, Const* J_dot) {
  Frame<T> frame(tree, q, scratch);
  const WorldFrame<T> world(tree, frame, v);
  jacobian(tree, world.X, world.S, world.V, world.O, body, X_BF, axes, as<Motion<T>>(J), as<Motion<T>>(J_dot));
}

template <class T, class Const>
void subspaces_entry(const TreeViewOf<Const>& tree, const Const* q, void* scratch, Const* out) {
  Frame<T> frame(tree, q, scratch);
  if constexpr (std::is_same_v<T, double>) {
    if (tree.simple) {
      ColumnPose* X = frame.template take<ColumnPose>(tree.body_count);
      column_poses(tree, frame.posture, X);
      column_axes(tree, X, [&](int k, const ColumnPose::Column& w, const ColumnPose::Column& v) {
        const CoordinateTermOf<Const>& term = tree.terms[k];
        const ColumnPose::Column sign(term.ratio), angular = sign * w, linear = sign * v;
        double* column = out + 6 * term.column;
        std::memcpy(column, &angular, sizeof(angular));  // one number too many, which the next line overwrites
        column[3] = linear[0], column[4] = linear[1], column[5] = linear[2];
      });
      return;
    }
  }
  const WorldFrame<T> world(tree, frame, nullptr);
  Motion<T>* S = as<Motion<T>>(out);
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int k = 0; k < tree.nv; ++k) S[k] = {zero, zero};
  for (int k = 0; k < tree.nu; ++k) {
    const Motion<T> column{world.S[k].w, add_cross(world.S[k].v, world.O, world.S[k].w)};
    for (int t = tree.rows[k].begin; t < tree.rows[k].end; ++t) {
      const CoordinateTermOf<Const>& term = tree.terms[t];
      S[term.column] = madd(T(term.ratio), column, S[term.column]);
    }
  }
}

template <class T, class Const>
void energy_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, void* scratch, Const* out) {
  Frame<T> frame(tree, q, scratch);
  const T* u = frame.expanded(tree, v);
  Transform<T>* X = frame.template take<Transform<T>>(tree.body_count);
  Motion<T>* V = frame.template take<Motion<T>>(tree.body_count);
  poses(tree, frame.posture, false, X);
  velocities(tree, frame.posture, u, V);
  T kinetic = T(0), potential = T(0);
  const Vec3<T> g = lift<T>(tree.gravity);
  const T half = T(scalar_t<T>(0.5));
  for (int i = 0; i < tree.body_count; ++i) {
    const Inertia<T> M = lift<T>(tree.bodies[i].M_B);
    kinetic = madd(half, dot(V[i], M * V[i]), kinetic);
    potential = potential - dot(g, madd(M.m, X[i].p, X[i].R * M.h));
    for (int k = tree.bodies[i].u; k < tree.bodies[i].u + tree.bodies[i].nu; ++k) {
      kinetic = madd(half * T(tree.rotor_inertia[k]) * u[k], u[k], kinetic);
    }
  }
  as<T>(out)[0] = kinetic;
  as<T>(out)[1] = potential;
}

/// Columns of tree coordinates summed into columns of v.
template <class T, class Const>
void reduce_columns(const TreeViewOf<Const>& tree, const Force<T>* from, Force<T>* to) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  for (int k = 0; k < tree.nv; ++k) to[k] = {zero, zero};
  for (int k = 0; k < tree.nu; ++k) {
    for (int t = tree.rows[k].begin; t < tree.rows[k].end; ++t) {
      const CoordinateTermOf<Const>& term = tree.terms[t];
      to[term.column] = madd(T(term.ratio), from[k], to[term.column]);
    }
  }
}

template <class T, class Const>
void centroidal_entry(const TreeViewOf<Const>& tree, const Const* q, const Const* v, void* scratch, Const* out,
                      Const* A, Const* A_dot) {
  Frame<T> frame(tree, q, scratch);
  const WorldFrame<T> world(tree, frame, v);
  Inertia<T>* C = frame.template take<Inertia<T>>(tree.body_count);
  ArticulatedInertia<T>* C_dot = frame.template take<ArticulatedInertia<T>>(tree.body_count);
  Force<T>* columns = frame.template take<Force<T>>(tree.nu);
  Force<T>* rates = frame.template take<Force<T>>(tree.nu);
  T mass;
  Vec3<T> com;
  centroidal(tree, world.X, world.S, world.V, C, C_dot, mass, com, columns, A_dot ? rates : nullptr);
  if (A) reduce_columns(tree, columns, as<Force<T>>(A));
  if (A_dot) reduce_columns(tree, rates, as<Force<T>>(A_dot));
  const Vec3<T> zero{T(0), T(0), T(0)};
  Force<T> h{zero, zero};
  if (v) {
    const T* u = frame.expanded(tree, v);
    for (int k = 0; k < tree.nu; ++k) h = madd(u[k], columns[k], h);
  }
  const T mass_inv = select(mass > T(0), T(1) / mass, T(0));
  const Vec3<T> c = com + world.O, rate = mass_inv * h.f;
  const T values[] = {mass, c.x, c.y, c.z, rate.x, rate.y, rate.z, h.t.x, h.t.y, h.t.z, h.f.x, h.f.y, h.f.z};
  for (int i = 0; i < 13; ++i) as<T>(out)[i] = values[i];
}

template <class T>
constexpr KinematicsKernels<scalar_t<T>> make_table(int width) {
  return {width,
          poses_entry<T, scalar_t<T>>,
          fk_entry<T, scalar_t<T>>,
          motions_entry<T, scalar_t<T>>,
          jacobian_entry<T, scalar_t<T>>,
          subspaces_entry<T, scalar_t<T>>,
          energy_entry<T, scalar_t<T>>,
          centroidal_entry<T, scalar_t<T>>};
}

}  // namespace
}  // namespace KANSETSU_ISA
}  // namespace kansetsu::kernel
