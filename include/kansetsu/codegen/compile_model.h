#pragma once

#include <string>

#include "kansetsu/model/model.h"

namespace kansetsu {

/// Dynamics of one model as C++ source that needs only a compiler: the kernels run once, on numbers that record each
/// operation, and the operations that remain after folding the model's constants are written out.
struct CompiledModel {
  std::string name;  ///< of the namespace and the file
  std::string text;  ///< of the file
  /// Additions, multiplications, fused or not, and so on, per state; sines and cosines apart
  int rnea_operations = 0, crba_operations = 0, aba_operations = 0;
  int angles = 0;  ///< of which sines and cosines are taken
};

/// The header NAME.h with nq, nv and
///
///     NAME::rnea(q, v, vdot, tau), NAME::crba(q, M), NAME::aba(q, v, tau, vdot)               one state
///     NAME::batch::rnea(count, q, v, vdot, tau), crba(count, q, M), aba(count, q, v, tau, vdot)  rows of states, in packs
///
/// for pointers to double or float; M is nv × nv, both triangles. Results are those of rnea(), crba() and aba() within rounding, gears
/// and singular joints included. gcc takes some seconds for a figure of thirty joints.
/// @param name  an identifier; empty: the model's name and _model, with _ where it has other characters
/// @throws Error if the name is not an identifier, or the model has more than kMostCompiledColumns velocities
CompiledModel compile_model(const Model& model, std::string name = {});

inline constexpr int kMostCompiledColumns = 100;

}  // namespace kansetsu
