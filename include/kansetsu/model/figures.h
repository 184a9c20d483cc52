#pragma once

#include <cstdint>

#include "kansetsu/model/model.h"

/// Built-in mechanisms. `human28` is the figure of every benchmark.
namespace kansetsu {

/// The 13-link human figure with 28 hinges (massless links between concurrent ones) and a free base: nv = 34, 69 kg.
/// Joints waist_z waist_x waist_y neck_… hipL_z … ; frames soleL, soleR, gripL, gripR.
Model human28();
/// The same figure with a ball joint for each hinge triple.
Model human28_ball();
/// `links` thin rods of unit length and mass (inertia 1/12 about their middle), hinged about y, hanging from the ground.
Model pendulum(int links = 1);
/// A serial chain of `links` rods (0.3 m, 1 kg) with revolute joints about axes in turn x, y, z. A fixed base is a massless
/// link "ground" before the first rod (nv = links), a free base is the first rod itself (nv = links + 5).
Model chain(int links, Base base = Base::kFixed);

/// The rods of a chain, each attached to one of the sixteen before it, chosen pseudo-randomly: a deep tree with many branches.
Model long_tree(int links);

/// A rope of `links` rods with hinges across it in turn, a free base, and a little damping. In its neutral configuration it is an arc
/// in the plane x = 0 that hangs from the origin, where its first link begins, to (0, −chord, 0), where the frame "end" is.
struct RopeOptions {
  double length = 2;      ///< [m]
  double chord = 1.62;    ///< [m], less than the length
  double mass = 0.2;      ///< [kg]
  double damping = 2e-7;  ///< [N·m·s] of each hinge
};
Model rope(int links, const RopeOptions& options = {});

/// Random trees for tests, determined by the seed alone.
struct RandomTreeOptions {
  int links = 12;  ///< the root included
  Base base = Base::kFree;
  std::vector<JointType> types{};  ///< drawn from these; empty: the whole joint table
  double branching = 0.5;          ///< 0: a chain, 1: every parent equally likely
  bool rotors = true;
  int gears = 0;         ///< couplings between random 1-DOF joints, as many as there can be
  bool aligned = false;  ///< axis-aligned frames only
};
Model random_tree(std::uint64_t seed, const RandomTreeOptions& options = {});

/// Built-in figure by name ("human28", "human28_ball", "pendulum", "chain8", "rope100", …), or none.
std::optional<Model> find_figure(std::string_view name);
std::vector<std::string> figure_names();

}  // namespace kansetsu
