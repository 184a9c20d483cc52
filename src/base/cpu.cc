#include "kansetsu/base/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace kansetsu {
namespace {

InstructionSet supported() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx512) return InstructionSet::kAvx512;
  if (avx2) return InstructionSet::kAvx2;
#endif
  return InstructionSet::kBaseline;
}

InstructionSet wanted() {
  const char* text = std::getenv("KANSETSU_ISA");
  const std::string_view name = text ? text : "";
  for (InstructionSet isa : {InstructionSet::kBaseline, InstructionSet::kAvx2}) {
    if (name == to_string(isa)) return isa;
  }
  return InstructionSet::kAvx512;
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet isa = std::min(supported(), wanted());
  return isa;
}

const char* to_string(InstructionSet isa) {
  switch (isa) {
    case InstructionSet::kBaseline:
      return "baseline";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kAvx512:
      return "avx512";
  }
  return "?";
}

}  // namespace kansetsu
