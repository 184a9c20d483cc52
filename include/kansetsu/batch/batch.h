#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include "kansetsu/base/owner.h"
#include "kansetsu/kinematics/jacobian.h"

/// Many states at once. Arrays have one row per state, as in NumPy; inside, the lanes of a register hold the numbers of
/// several states, and blocks of states are distributed over threads.
///
///     batch::Batch<double> batch(model, {.threads = 4});  // memory and threads, once
///     batch.aba(count, q, v, tau, vdot);                  // q: count × nq, the others count × nv; never allocates
///
/// A state's result depends on that state alone: not on its row, the count or the number of threads. In double
/// it agrees with the function of the same name for one state within 1e-12 of the result's largest number (M⁻¹ and
/// derivatives of forward dynamics: as far as the condition of M allows).
namespace kansetsu::batch {

/// One row of numbers per state. Row i begins at data + i·stride and is contiguous; matrices in a row are
/// row-major. Made from a pointer, rows follow each other. An input of stride 0 gives all states the same row.
template <class T>
struct Rows {
  static constexpr std::ptrdiff_t kContiguous = std::numeric_limits<std::ptrdiff_t>::min();

  T* data = nullptr;
  std::ptrdiff_t stride = kContiguous;  ///< in numbers, as DLPack counts

  Rows() = default;
  Rows(T* first, std::ptrdiff_t row_stride = kContiguous) : data(first), stride(row_stride) {}
  /// A view to read from.
  operator Rows<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, stride};
  }
};

/// The reaction to a number that is not finite (NaN, ∞) in an input, and to a quaternion that is not a rotation (is_rotation()), such as
/// zero. Other states are not affected.
enum class NonFinite {
  kThrow,  ///< an Error that names the first such state, after all states have been computed
  kAllow,  ///< no check; that state's result is not finite either
};

struct Options {
  int threads = 0;  ///< the caller's included; 0: as many as there are cores
  NonFinite non_finite = NonFinite::kThrow;
  /// Deepest tree, in joints from the base, for which Batch<float> computes forward dynamics; beyond, the mass matrix of a
  /// stretched chain is singular to single precision. See docs/theory/single_precision.md.
  int single_depth = 32;
};

/// Optional inputs of dynamics in addition to the state.
template <class Real>
struct Extras {
  /// 6 per link: [τ; f] at the link's origin, in world axes, as ExternalForces. Default: none.
  Rows<const Real> wrenches{};
  /// 10 per link, in the order of inertial_parameters(): [m, m·c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about and in the link's
  /// frame. Default: those of the model. Links without inertia in the model must have none here (all ten zero).
  Rows<const Real> inertias{};
};

/// Functions of many states of one model. Real is double or float.
/// Every function takes the number of states first and its outputs last. It throws Error if the count is negative, a
/// pointer is null or rows overlap. Results may overwrite inputs of the same rows. One call at a time: a Batch holds
/// scratch memory.
template <class Real>
class Batch {
 public:
  using In = Rows<const Real>;
  using Out = Rows<Real>;

  explicit Batch(const Model& model, const Options& options = {});

  const Model& model() const;
  int threads() const;

  /// Poses of all links. @param X_WL  out, 12·links: R row by row, then p
  void fk(std::ptrdiff_t count, In q, Out X_WL);
  /// As joint_axes() of one state. @param S  out, 6 × nv
  void joint_axes(std::ptrdiff_t count, In q, Out S);
  /// Jacobian of the frame at X_LF on a link. @param J  out, 6 × nv
  void jacobian(std::ptrdiff_t count, In q, LinkId link, const Transform<>& X_LF, JacobianAxes axes, Out J);

  /// Inverse dynamics. @param tau  out, nv
  void rnea(std::ptrdiff_t count, In q, In v, In vdot, Out tau, const Extras<Real>& extras = {});
  /// c(q, v): the torque that holds v̇ = 0. @param c  out, nv
  void bias(std::ptrdiff_t count, In q, In v, Out c, const Extras<Real>& extras = {});
  /// Mass matrix. @param M  out, nv × nv, both triangles   @param inertias  as in Extras
  void crba(std::ptrdiff_t count, In q, Out M, In inertias = {});
  /// Forward dynamics. @param vdot  out, nv
  /// @param singular  out, nv, may be left out: non-zero where the projected inertia of a coordinate vanishes; its v̇ is zero
  /// @return  whether some v̇ is exactly zero; if not, no state is singular
  bool aba(std::ptrdiff_t count, In q, In v, In tau, Out vdot, const Extras<Real>& extras = {}, Out singular = {});
  /// M⁻¹. @param out  nv × nv
  void mass_matrix_inverse(std::ptrdiff_t count, In q, Out out);

  /// Derivatives of inverse dynamics by q (in the tangent space), v and v̇. @param dq,dv,da  out, nv × nv; da = M may be left out
  void rnea_derivatives(std::ptrdiff_t count, In q, In v, In vdot, Out dq, Out dv, Out da = {});
  /// Derivatives of forward dynamics by q, v and τ. @param dq,dv,dtau  out, nv × nv; dtau = M⁻¹ may be left out
  /// @param vdot  out, nv, may be left out: the value itself
  void aba_derivatives(std::ptrdiff_t count, In q, In v, In tau, Out dq, Out dv, Out dtau = {}, Out vdot = {});

  /// q ⊕ dt·v: the configuration reached by the constant velocity v after the time dt. @param out  nq
  void integrate(std::ptrdiff_t count, In q, In v, Real dt, Out out);
  /// A semi-implicit Euler step: v_next = v + dt·v̇, q_next = q ⊕ dt·v_next.
  void step(std::ptrdiff_t count, In q, In v, In vdot, Real dt, Out q_next, Out v_next);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

extern template class Batch<double>;
extern template class Batch<float>;

}  // namespace kansetsu::batch
