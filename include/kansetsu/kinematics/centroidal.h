#pragma once

#include "kansetsu/kinematics/kinematics.h"

/// Quantities of the whole mechanism, without links fixed to the world.
namespace kansetsu {

struct Energy {
  double kinetic = 0;    ///< rotors included [J]
  double potential = 0;  ///< of gravity, zero at the world's origin [J]
};
Energy energy(const Model& model, const State& state, Workspace& work);
Energy energy(const Model& model, const State& state);

/// Momentum about the centre of mass in world axes: h = A·v, ḣ = A·v̇ + Ȧ·v. Rows [angular; linear].
struct Centroidal {
  explicit Centroidal(const Model& model);
  double mass = 0;      ///< of the moving links
  Vec3<> com;           ///< centre of mass [m]
  Vec3<> com_velocity;  ///< [m/s]
  Force<> h;            ///< [N·m·s; N·s]
  Eigen::Matrix<double, 6, Eigen::Dynamic> A, A_dot;
};
void centroidal(const Model& model, const State& state, Workspace& work, Centroidal& out);
Centroidal centroidal(const Model& model, const State& state);

Vec3<> center_of_mass(const Model& model, const VectorRef& q, Workspace& work);
Vec3<> center_of_mass(const Model& model, const VectorRef& q);

}  // namespace kansetsu
