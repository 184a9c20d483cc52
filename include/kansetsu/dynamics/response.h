#pragma once

#include "kansetsu/base/owner.h"
#include "kansetsu/dynamics/dynamics.h"

namespace kansetsu {

using Matrix6 = Eigen::Matrix<double, 6, 6>;

/// Response of a mechanism to forces: the inverse inertia between any two bodies of a tree, gears included, without the mass matrix.
/// [Tazz13] §2.8, docs/theory/response.md. Made once from a model; update() factorises a posture, after that a query costs one pass
/// along the paths of its links and never allocates. Queries use scratch memory of the object: one per thread.
class Response {
 public:
  explicit Response(const Model& model);

  Status update(const VectorRef& q);
  const Eigen::VectorXd& singular() const;  ///< as in AbaResult

  /// Λ(j, i): change of the spatial acceleration of link j per wrench on link i; both at the link's origin, in its axes.
  /// Λ(j, i) = J_j·M⁻¹·J_iᵀ = Λ(i, j)ᵀ.
  Matrix6 link_response(LinkId j, LinkId i) const;
  /// The same at the links' origins in world axes.
  Matrix6 link_response_world(LinkId j, LinkId i) const;
  /// Change of v̇ and of all link accelerations (own axes) for a wrench on link i (own axes).
  void apply_wrench(LinkId i, const Force<>& F, Eigen::Ref<Eigen::VectorXd> vdot, std::vector<Motion<>>& A) const;
  /// The same for joint torques: vdot = M⁻¹·τ.
  void apply_torque(const VectorRef& tau, Eigen::Ref<Eigen::VectorXd> vdot, std::vector<Motion<>>& A) const;

  /// The operators of one coupling group (an ordinary joint is a group of one), in the axes of its links.
  struct Group {
    LinkId parent{0};             ///< link that carries the group
    bool grounded = false;        ///< that link is fixed to the world
    std::vector<LinkId> members;  ///< links moved directly by the group's coordinates
    std::vector<int> columns;     ///< the coordinates y = v[columns]
    Eigen::MatrixXd D_inv;
    std::vector<Eigen::Matrix<double, 6, Eigen::Dynamic>> J;  ///< per member: acceleration per ÿ
    std::vector<Matrix6> X;                                   ///< per member: motion transform parent → member
    std::vector<Matrix6> T;                                   ///< per member: propagation of the parent's acceleration
    std::vector<Matrix6> S;                                   ///< per pair a·n + b: J_a·D⁻¹·J_bᵀ
    std::vector<Matrix6> Theta;  ///< per pair a·n + b: Θ_ab; −Θ_aa: acceleration of member a per wrench on it
  };
  std::vector<Group> groups() const;  ///< base to tips; allocates
  Matrix6 base_theta() const;         ///< Θ of the root link: −P̂⁻¹ with a free base, zero with a fixed one

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu
