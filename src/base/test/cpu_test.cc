#include "kansetsu/base/cpu.h"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace kansetsu;

TEST_CASE("instruction sets are found by the names they print") {
  for (InstructionSet isa : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    CHECK(find_instruction_set(to_string(isa)) == isa);
  }
  for (const char* name : {"", "AVX2", "avx", "avx512f", "native"}) CHECK(!find_instruction_set(name));
}

#if defined(__x86_64__)
TEST_CASE("a processor without AVX2 gets the baseline") {  // ctest runs this on an emulated one, too
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!avx2) CHECK(instruction_set() == InstructionSet::kBaseline);
  if (avx2 && !std::getenv("KANSETSU_ISA")) CHECK(instruction_set() >= InstructionSet::kAvx2);
}
#endif
