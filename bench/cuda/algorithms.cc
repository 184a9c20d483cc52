#include "algorithms.h"

namespace kansetsu::bench {

std::vector<Algorithm> algorithms(const Model& m) {
  const int nq = m.nq(), nv = m.nv(), square = nv * nv;
  constexpr long kVectors = 1 << 20, kPoses = 1 << 18, kMatrices = 1 << 16;
  return {{"fk", false, kPoses, {nq}, {12 * m.link_count()}},
          {"rnea", false, kVectors, {nq, nv, nv}, {nv}},
          {"aba", false, kVectors, {nq, nv, nv}, {nv}},
          {"crba", true, kMatrices, {nq}, {square}},
          {"mass_matrix_inverse", true, kMatrices, {nq}, {square}},
          {"rnea_derivatives", true, kMatrices, {nq, nv, nv}, {square, square, square}},
          {"aba_derivatives", true, kMatrices, {nq, nv, nv}, {nv, square, square, square}}};
}

}  // namespace kansetsu::bench
