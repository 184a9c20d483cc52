#pragma once

#include "kansetsu/kinematics/kinematics.h"

/// Inverse and forward dynamics of a tree with gears and rotors: M(q)·v̇ + c(q, v) = τ + Jᵀ·f.
/// Limits, damping, springs and joint friction are data of the model and left out here.
/// All functions throw Error if a vector has the wrong size. The forms with a Workspace never allocate.
namespace kansetsu {

/// Wrenches on links: [τ; f] at each link's origin, in world axes. The origins move with the links, the axes do not turn.
class ExternalForces {
 public:
  explicit ExternalForces(const Model& model);
  void set_zero();
  Force<>& operator[](LinkId link) { return wrenches_[size_t(link.value())]; }
  const Force<>& operator[](LinkId link) const { return wrenches_[size_t(link.value())]; }
  const std::vector<Force<>>& wrenches() const { return wrenches_; }

 private:
  std::vector<Force<>> wrenches_;
};

/// kNotFinite: the result is not finite, because the state, the torques or the forces are not, or a quaternion is zero.
enum class Status { kOk, kSingular, kNotFinite };

/// Inverse dynamics, τ = M·v̇ + c − Jᵀ·f, by the recursive Newton–Euler algorithm. @param tau  out, size nv
void rnea(const Model& model, const State& state, const VectorRef& vdot, Workspace& work,
          Eigen::Ref<Eigen::VectorXd> tau, const ExternalForces* external = nullptr);
Eigen::VectorXd rnea(const Model& model, const State& state, const VectorRef& vdot,
                     const ExternalForces* external = nullptr);
/// c(q, v): the torque for v̇ = 0.
void bias(const Model& model, const State& state, Workspace& work, Eigen::Ref<Eigen::VectorXd> out);
Eigen::VectorXd bias(const Model& model, const State& state);
/// The torque that holds the configuration at rest: gravity compensation.
void gravity_torque(const Model& model, const VectorRef& q, Workspace& work, Eigen::Ref<Eigen::VectorXd> out);
Eigen::VectorXd gravity_torque(const Model& model, const VectorRef& q);
/// C(q, v) with C·v = c − gravity_torque and Ṁ − 2C skew. @param C  out, nv × nv
void coriolis_matrix(const Model& model, const State& state, Workspace& work, Eigen::Ref<Eigen::MatrixXd> C);

/// Mass matrix by the composite-rigid-body algorithm. @param M  out, nv × nv, both triangles
void crba(const Model& model, const VectorRef& q, Workspace& work, Eigen::Ref<Eigen::MatrixXd> M);
Eigen::MatrixXd crba(const Model& model, const VectorRef& q);

/// Mass matrix in compressed rows: only pairs of coordinates on one path to the base are stored, lower triangle. The
/// pattern depends on the model alone. Models with gears across branches store every pair that a gear links.
struct SparseMassMatrix {
  explicit SparseMassMatrix(const Model& model);
  std::vector<int> row_start, column;  ///< nv + 1, and one per value; columns ascend within a row, the diagonal is last
  std::vector<double> value;

 private:
  friend void crba(const Model& model, const VectorRef& q, Workspace& work, SparseMassMatrix& out);
  friend const std::vector<int>& slots_of(const SparseMassMatrix& matrix);
  std::vector<int> slot_;  ///< index in `value` of the n-th entry that the algorithm computes
  const Tree* tree_;       ///< identity of the model it was made for
};
void crba(const Model& model, const VectorRef& q, Workspace& work, SparseMassMatrix& out);

struct AbaResult {
  explicit AbaResult(const Model& model);
  Eigen::VectorXd vdot;
  Status status = Status::kOk;
  /// Per coordinate: non-zero where its projected inertia vanishes, so that v̇ is not determined; vdot is zero there.
  Eigen::VectorXd singular;
};
/// Forward dynamics by the articulated-body algorithm: v̇ for given τ, gears exact, O(n). @param tau  size nv
void aba(const Model& model, const State& state, const VectorRef& tau, Workspace& work, AbaResult& out,
         const ExternalForces* external = nullptr);
AbaResult aba(const Model& model, const State& state, const VectorRef& tau, const ExternalForces* external = nullptr);
/// Names of the joints with singular coordinates, e.g. for a message.
std::vector<std::string> singular_joints(const Model& model, const Eigen::VectorXd& singular);

/// M⁻¹·x in O(n), without M.
void solve_mass_matrix(const Model& model, const VectorRef& q, const VectorRef& x, Workspace& work, AbaResult& out);

/// Wrenches and torques of the joints, in the frame of the child link.
struct Reactions {
  explicit Reactions(const Model& model);
  /// Per link: the whole wrench that its parent exerts on it through the joint; for the root, that of the world.
  std::vector<Force<>> wrench;
  /// Per joint coordinate (joint by joint, dependent ones included): the torque the joint must deliver, i.e. Sᵀ·wrench plus
  /// the torque of its rotor. For a geared joint without a motor this is the torque that its gear transmits.
  Eigen::VectorXd torque;
  std::vector<int> torque_start;  ///< first coordinate of each joint in `torque`
};
void reactions(const Model& model, const State& state, const VectorRef& vdot, Workspace& work, Reactions& out,
               const ExternalForces* external = nullptr);

/// Y with rnea(state, v̇) = Y·π (rotors apart): nv × 10·links, π of a link = [m, m·c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about and in its frame.
void regressor(const Model& model, const State& state, const VectorRef& vdot, Workspace& work,
               Eigen::Ref<Eigen::MatrixXd> Y);
Eigen::VectorXd inertial_parameters(const Model& model);

}  // namespace kansetsu
