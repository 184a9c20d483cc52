#pragma once

#include "kansetsu/dynamics/dynamics.h"

/// Analytic derivatives. Derivatives by q are in the tangent space: of integrate(q, δ) at δ = 0, so the base and balls rotate about
/// and move along their own axes.
namespace kansetsu {

struct RneaDerivatives {
  explicit RneaDerivatives(const Model& model);
  Eigen::MatrixXd dq, dv;  ///< ∂τ/∂q, ∂τ/∂v
  Eigen::MatrixXd da;      ///< ∂τ/∂v̇ = M
};
void rnea_derivatives(const Model& model, const State& state, const VectorRef& vdot, Workspace& work,
                      RneaDerivatives& out, const ExternalForces* external = nullptr);

struct AbaDerivatives {
  explicit AbaDerivatives(const Model& model);
  AbaResult forward;       ///< v̇ itself
  Eigen::MatrixXd dq, dv;  ///< ∂v̇/∂q, ∂v̇/∂v
  Eigen::MatrixXd dtau;    ///< ∂v̇/∂τ = M⁻¹
};
void aba_derivatives(const Model& model, const State& state, const VectorRef& tau, Workspace& work, AbaDerivatives& out,
                     const ExternalForces* external = nullptr);

/// M⁻¹ without forming M. @param out  nv × nv
void mass_matrix_inverse(const Model& model, const VectorRef& q, Workspace& work, Eigen::Ref<Eigen::MatrixXd> out);

}  // namespace kansetsu
