#include "kansetsu/base/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "kansetsu/base/error.h"

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
  const char* name = std::getenv("KANSETSU_ISA");
  if (!name || !*name) return InstructionSet::kAvx512;
  if (const auto isa = find_instruction_set(name)) return *isa;
  throw Error(fmt::format("KANSETSU_ISA is '{}', expected baseline, avx2 or avx512", name));
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet isa = std::min(supported(), wanted());
  return isa;
}

std::optional<InstructionSet> find_instruction_set(std::string_view name) {
  for (InstructionSet isa : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (name == to_string(isa)) return isa;
  }
  return std::nullopt;
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
