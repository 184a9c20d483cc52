#pragma once

#include "kansetsu/base/cpu.h"

/// How a module with isa/ files finds the tables of this processor. For .cc files of that module only: they see
/// KANSETSU_HAVE_AVX2 and KANSETSU_HAVE_AVX512.
///
///   KANSETSU_FOR_EACH_ISA(DECLARE)   DECLARE(baseline), and the others that were compiled
///   KANSETSU_PICK(table)             body of a function that returns the processor's own, e.g. avx2::table
#if defined(KANSETSU_HAVE_AVX512)
#define KANSETSU_CASE_AVX512(table) \
  case InstructionSet::kAvx512:     \
    return avx512::table;
#define KANSETSU_IF_AVX512(macro) macro(avx512)
#else
#define KANSETSU_CASE_AVX512(table)
#define KANSETSU_IF_AVX512(macro)
#endif
#if defined(KANSETSU_HAVE_AVX2)
#define KANSETSU_CASE_AVX2(table) \
  case InstructionSet::kAvx2:     \
    return avx2::table;
#define KANSETSU_IF_AVX2(macro) macro(avx2)
#else
#define KANSETSU_CASE_AVX2(table)
#define KANSETSU_IF_AVX2(macro)
#endif

#define KANSETSU_FOR_EACH_ISA(macro) macro(baseline) KANSETSU_IF_AVX2(macro) KANSETSU_IF_AVX512(macro)
#define KANSETSU_PICK(table)    \
  switch (instruction_set()) {  \
    KANSETSU_CASE_AVX512(table) \
    KANSETSU_CASE_AVX2(table)   \
    default:                    \
      return baseline::table;   \
  }
