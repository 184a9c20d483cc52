#pragma once

#include <random>

#include "contact_support.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::test {

/// human28 on two soles with bent knees: rows from jacobian(), the mass matrix from crba().
class StandingHuman {
 public:
  explicit StandingHuman(double bend = 0.2) : model(with_gravity(human28(), {0, 0, -kG})), state(model) {
    for (const char* side : {"L", "R"}) {
      set(std::string("hip") + side + "_y", -bend);
      set(std::string("knee") + side + "_y", 2 * bend);
      set(std::string("ankle") + side + "_y", -bend);
    }
    state.q[2] = 0.08 + 0.8 * std::cos(bend);
    M_inverse = crba(model, state.q).inverse();
    Workspace work(model);
    c = Vector::Zero(model.nv());
    bias(model, state, work, c);
    J = Matrix::Zero(12, model.nv());
    int row = 0;
    for (const char* name : {"FootL", "FootR"}) {
      const auto V = jacobian(model, state.q, model.link_id(name), {.p = {0, 0, -0.08}});
      J.middleRows(row, 3) = V.bottomRows(3);
      J.middleRows(row + 3, 3) = V.topRows(3);
      row += 6;
    }
    // Torques that hold the posture with the forces of least norm.
    const Vector lambda = Matrix(J.leftCols(6).transpose()).completeOrthogonalDecomposition().solve(c.head(6));
    hold = c - J.transpose() * lambda;
    hold.head(6).setZero();
  }
  /// Joint torques on top of those that hold.
  Case load(const Vector& torque) const {
    Case k;
    k.G = J * M_inverse * J.transpose();
    k.G = 0.5 * (k.G + k.G.transpose().eval());
    k.a = J * (M_inverse * (hold + torque - c));
    k.u = Vector::Zero(12);
    for (int i = 0; i < 2; ++i) {
      ContactPatch p = rectangle(0.19, 0.12, 0.8, 0.6);
      p.row = 6 * i;
      for (int v = 0; v < 4; ++v) p.vertices[size_t(v)].x += 0.045;
      k.patches.push_back(p);
    }
    return k;
  }
  Vector noise(std::mt19937_64& random, double sigma) const {
    std::normal_distribution<double> normal(0, sigma);
    Vector t = Vector::Zero(model.nv());
    for (int i = 6; i < model.nv(); ++i) t[i] = normal(random);
    return t;
  }

  Model model;
  State state;
  Eigen::MatrixXd M_inverse;
  Matrix J;
  Vector c, hold;

 private:
  void set(const std::string& joint, double angle) {
    for (int i = 0; i < model.nv(); ++i) {
      if (model.dof_names()[size_t(i)] == joint) state.q[i + 1] = angle;  // nq = nv + 1, all joints are hinges
    }
  }
};

}  // namespace kansetsu::test
