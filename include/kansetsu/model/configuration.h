#pragma once

#include <Eigen/Core>
#include <random>

#include "kansetsu/model/model.h"

/// The configuration space: positions q live on a manifold (quaternions), velocities v in its tangent space.
namespace kansetsu {

using VectorRef = Eigen::Ref<const Eigen::VectorXd>;

Eigen::VectorXd neutral(const Model& model);
/// Uniform within the position limits (±π or ±1 m where there is none up to 1e6); orientations uniform on SO(3), those of balls
/// within their swing and twist limits.
Eigen::VectorXd random_configuration(const Model& model, std::mt19937_64& rng);
/// q ⊕ v: the configuration reached from q by the constant velocity v in unit time.
void integrate(const Model& model, const VectorRef& q, const VectorRef& v, Eigen::Ref<Eigen::VectorXd> out);
Eigen::VectorXd integrate(const Model& model, const VectorRef& q, const VectorRef& v);
/// b ⊖ a: the velocity with integrate(a, v) = b.
void difference(const Model& model, const VectorRef& a, const VectorRef& b, Eigen::Ref<Eigen::VectorXd> out);
Eigen::VectorXd difference(const Model& model, const VectorRef& a, const VectorRef& b);
/// a ⊕ s·(b ⊖ a)
Eigen::VectorXd interpolate(const Model& model, const VectorRef& a, const VectorRef& b, double s);
/// Quaternions scaled to unit length; zero quaternions become the identity.
void normalise(const Model& model, Eigen::Ref<Eigen::VectorXd> q);
/// Time derivative of the stored q for the velocity v (a quaternion's four numbers included).
void position_rate(const Model& model, const VectorRef& q, const VectorRef& v, Eigen::Ref<Eigen::VectorXd> rate);
Eigen::VectorXd position_rate(const Model& model, const VectorRef& q, const VectorRef& v);
/// How far a quaternion's length may be from 1: rounding to single precision leaves 1e-7, to six digits 1e-6.
inline constexpr double kUnitQuaternion = 1e-6;
/// Whether q holds finite numbers and quaternions of unit length within kUnitQuaternion; the reason if not.
std::optional<std::string> configuration_problem(const Model& model, const VectorRef& q);

}  // namespace kansetsu
