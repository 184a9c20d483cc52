#pragma once

#include <Eigen/Core>

/// Eigen's vectors are allocated, aligned and freed as compiler flags say: with -mavx, -march=native or EIGEN_MAX_ALIGN_BYTES
/// a program and a library that were compiled differently crash at the first vector that one makes and the other frees. Files
/// that see vectors of Eigen in our headers therefore ask the linker for a symbol that the library has for its own alignment
/// only. Whoever meets it as undefined compiles the library and the program with the same flags.
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
