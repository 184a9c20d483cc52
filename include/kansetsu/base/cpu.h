#pragma once

#include <optional>
#include <string_view>

namespace kansetsu {

/// Instruction sets that the kernels are compiled for.
enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

/// The best one that this processor and this build support, found once. The environment variable KANSETSU_ISA (baseline,
/// avx2, avx512) selects a lesser one, for tests and for the same bits on different machines.
/// @throws Error if KANSETSU_ISA is set to anything else
InstructionSet instruction_set();
const char* to_string(InstructionSet isa);
std::optional<InstructionSet> find_instruction_set(std::string_view name);

}  // namespace kansetsu
