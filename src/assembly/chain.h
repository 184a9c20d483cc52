#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assembly/chain_kernel.h"
#include "kansetsu/assembly/assembly.h"
#include "kansetsu/model/model.h"
#include "kansetsu/spatial/quaternion.h"

namespace kansetsu {

/// A model that is one chain of 1-DOF joints, for the kernels of chain_kernel.h.
struct Chain {
  std::vector<ChainLink> links;
  bool free_base = false, in_order = true;
  Vec3<> gravity;
  int nq = 0, nv = 0;
  ChainClosure closure{};

  ChainView view(int pieces, int group) const {
    return {links.data(), int(links.size()), pieces, group, free_base, in_order, gravity, closure};
  }
};

/// Why the kernels for 1-DOF joints do not support a model (gears, rotors, joints of several coordinates, massless links), or none.
std::optional<std::string> simple_joints_problem(const Model& model);
/// The links of such a model, in the order of its bodies.
std::vector<ChainLink> make_chain_links(const Model& model);
/// Why a model is not such a chain (branches, gears, rotors, joints of several coordinates, massless links), or none.
std::optional<std::string> chain_problem(const Model& model);
/// Why a closure does not make a ring of such a chain, or none: it must hold the last link to the world, or to the first link of a free
/// chain by at most five rows.
std::optional<std::string> ring_problem(const Model& model, const Closure& closure);
/// Throws Error with the problem.
Chain make_chain(const Model& model, const std::optional<Closure>& closure = {});
/// The best number of pieces of a chain for `blocks` processors.
int chain_pieces(int links, int blocks);
/// The number of pieces in a group, see ChainView.
int chain_group(int pieces);

}  // namespace kansetsu
