# kansetsu_target_options(<target>)
#
# Language level, warnings and floating point rules for one of our own targets. All PRIVATE: a user of the libraries
# gets include paths and the language level from us, never compiler flags.
function(kansetsu_target_options target)
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20
    CXX_STANDARD_REQUIRED ON
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)

  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    # Packs wider than the baseline's registers are returned by value. They never cross a library boundary, so the
    # remark that their calling convention depends on the instruction set does not concern us.
    -Wno-psabi
    # gcc 12 sees overlapping copies in std::string operator+ that are not there (gcc bug 105329).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # libstdc++ 12 calls its own deprecated get_temporary_buffer() in std::stable_sort; gcc knows to keep silent.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
    $<$<BOOL:${KANSETSU_WERROR}>:-Werror>
    # Same bits on every path: a multiplication and an addition fuse only where madd() says so. Never -ffast-math.
    -ffp-contract=off)

  if(KANSETSU_SANITIZE)
    set(sanitize "-fsanitize=${KANSETSU_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(${target} PRIVATE ${sanitize})
    target_link_options(${target} PRIVATE ${sanitize})
  endif()
endfunction()

# kansetsu_unity(<target>)
#
# With KANSETSU_UNITY, compiles the files of a target two dozen at a time: reading headers takes more than half of a full build. For
# all files to fit, names in their anonymous namespaces must differ, and types of members must not come from there.
function(kansetsu_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${KANSETSU_UNITY} UNITY_BUILD_BATCH_SIZE 24)
endfunction()

# kansetsu_quick_to_compile(<target>)
#
# For targets of many files that wait for files, people and the libraries: release builds optimise them less, which takes a
# quarter less time to compile.
function(kansetsu_quick_to_compile target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Instruction sets for files in src/<module>/isa/, each compiled once per entry with -DKANSETSU_ISA=<entry>.
# KANSETSU_ISA_FLAGS_<entry> holds the compiler flags of an entry.
set(KANSETSU_ISAS baseline)
set(KANSETSU_ISA_FLAGS_baseline "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  list(APPEND KANSETSU_ISAS avx2 avx512)
  # For processors of before 2013, and a quarter of the time that kernels take to compile: -O3 would gain 4 % there, -O1 lose a quarter.
  set(KANSETSU_ISA_FLAGS_baseline $<$<CONFIG:Release>:-O2>)
  set(KANSETSU_ISA_FLAGS_avx2 -mavx2 -mfma)
  set(KANSETSU_ISA_FLAGS_avx512 -mavx512f -mavx512dq -mavx512vl -mavx2 -mfma)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc otherwise splits 512-bit operations in two halves, and orders them without an eye on how many registers there are:
    # packs of the articulated-body algorithm take 8 % longer, with AVX2 5 %.
    list(APPEND KANSETSU_ISA_FLAGS_avx2 -fschedule-insns -fsched-pressure)
    list(APPEND KANSETSU_ISA_FLAGS_avx512 -mprefer-vector-width=512 -fschedule-insns -fsched-pressure)
  endif()
  if(KANSETSU_SANITIZE)  # the kernels take minutes each with sanitizers, and AVX-512 is the same source once more
    list(REMOVE_ITEM KANSETSU_ISAS avx512)
  endif()
endif()
