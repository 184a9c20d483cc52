#pragma once

#include <Eigen/Core>

/// Compiler flags determine how Eigen's vectors are allocated, aligned and freed: with different -mavx, -march=native or
/// EIGEN_MAX_ALIGN_BYTES, program and library crash at the first vector that one allocates and the other frees. Files that
/// include Eigen's vectors through our headers therefore refer to a symbol that the library defines for its own alignment
/// only. If the linker reports it as undefined, compile library and program with the same flags.
namespace kansetsu::detail {

template <int kAlignBytes>
struct LibraryWasBuiltWithAnotherEigenAlignmentThan {
  static const char symbol;
};

#if defined(__GNUC__) && !defined(__CUDACC__)
[[gnu::used]] static const char* const eigen_alignment =
    &LibraryWasBuiltWithAnotherEigenAlignmentThan<EIGEN_DEFAULT_ALIGN_BYTES>::symbol;
#endif

}  // namespace kansetsu::detail
