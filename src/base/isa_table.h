#pragma once

#include "kansetsu/base/cpu.h"

/// How a module with isa/ files finds the tables of this processor. For .cc files of that module only: they see
/// KANSETSU_HAVE_AVX2 and KANSETSU_HAVE_AVX512.
///
///   KANSETSU_TABLE(Type, function, table)       const Type& function() returns the processor's own, e.g. avx2::table
///   KANSETSU_PACK_TABLE(Type, function, table)  the same for a specialisation, function<Real>
#if defined(KANSETSU_HAVE_AVX512)
#define KANSETSU_CASE_AVX512(table) \
  case InstructionSet::kAvx512:     \
    return avx512::table;
#define KANSETSU_DECLARE_AVX512(Type, table) \
  namespace avx512 {                         \
  extern const Type table;                   \
  }
#else
#define KANSETSU_CASE_AVX512(table)
#define KANSETSU_DECLARE_AVX512(Type, table)
#endif
#if defined(KANSETSU_HAVE_AVX2)
#define KANSETSU_CASE_AVX2(table) \
  case InstructionSet::kAvx2:     \
    return avx2::table;
#define KANSETSU_DECLARE_AVX2(Type, table) \
  namespace avx2 {                         \
  extern const Type table;                 \
  }
#else
#define KANSETSU_CASE_AVX2(table)
#define KANSETSU_DECLARE_AVX2(Type, table)
#endif

#define KANSETSU_DEFINE_TABLE(prefix, Type, function, table) \
  namespace baseline {                                       \
  extern const Type table;                                   \
  }                                                          \
  KANSETSU_DECLARE_AVX2(Type, table)                         \
  KANSETSU_DECLARE_AVX512(Type, table)                       \
  prefix const Type& function() {                            \
    switch (instruction_set()) {                             \
      KANSETSU_CASE_AVX512(table)                            \
      KANSETSU_CASE_AVX2(table)                              \
      default:                                               \
        return baseline::table;                              \
    }                                                        \
  }
#define KANSETSU_TABLE(Type, function, table) KANSETSU_DEFINE_TABLE(, Type, function, table)
#define KANSETSU_PACK_TABLE(Type, function, table) KANSETSU_DEFINE_TABLE(template <>, Type, function, table)
