# kansetsu_module(NAME <name> [DEPENDS <module>...] [LIBS <target>...] [HEADER_LIBS <target>...])
#
# Declares the module src/<name> with its public headers in include/kansetsu/<name>:
#
#   src/<name>/*.cc            static library kansetsu_<name>, alias kansetsu::<name>; INTERFACE if there is none
#   src/<name>/<part>/*.cc     the same, in folders (io has one per format)
#   src/<name>/isa/*.cc        compiled once per instruction set with -DKANSETSU_ISA=baseline|avx2|avx512 and added to
#                              the library, which sees KANSETSU_HAVE_AVX2 and KANSETSU_HAVE_AVX512 where they exist
#   src/<name>/test/*_test.cc  doctest executable test_<name>, registered with ctest
#
# and, where there are isa/ files, the tests isa_symbols_<name>_<isa> that they lend no code to the baseline.
#
# DEPENDS      modules of lower layers; public.
# LIBS         external libraries to link; private. A static library passes them on to whoever links it, so each needs a
#              find_dependency() in cmake/kansetsuConfig.cmake.in.
# HEADER_LIBS  external header-only libraries used in .cc files; private, and unknown to the installed package.
function(kansetsu_module)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "DEPENDS;LIBS;HEADER_LIBS")
  if(NOT arg_NAME OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kansetsu_module: NAME is missing, or unknown arguments: '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  set(target kansetsu_${arg_NAME})
  set(dir "${PROJECT_SOURCE_DIR}/src/${arg_NAME}")
  file(GLOB sources CONFIGURE_DEPENDS "${dir}/*.cc" "${dir}/*/*.cc")
  list(FILTER sources EXCLUDE REGEX "/(isa|test|cuda)/[^/]*$")
  file(GLOB isa_sources CONFIGURE_DEPENDS "${dir}/isa/*.cc")
  list(TRANSFORM arg_DEPENDS PREPEND kansetsu_)

  if(sources OR isa_sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    _kansetsu_module_private(${target})
    if(KANSETSU_FUZZ AND arg_NAME IN_LIST KANSETSU_FUZZED_MODULES AND NOT KANSETSU_SANITIZE MATCHES fuzzer)
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    target_link_libraries(${target} PRIVATE ${arg_LIBS})
    foreach(lib IN LISTS arg_HEADER_LIBS)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${lib}>)
    endforeach()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(kansetsu::${arg_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${arg_NAME})

  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} Eigen3::Eigen)

  if(isa_sources)
    foreach(isa IN LISTS KANSETSU_ISAS)
      set(objects ${target}_${isa})
      add_library(${objects} OBJECT ${isa_sources})
      _kansetsu_module_private(${objects})
      target_include_directories(${objects} PRIVATE "${PROJECT_SOURCE_DIR}/include")
      target_link_libraries(${objects} PRIVATE ${arg_DEPENDS} Eigen3::Eigen)
      target_compile_definitions(${objects} PRIVATE KANSETSU_ISA=${isa})
      # gcc copies structs of packs through memory unless told that they are worth splitting up: twice the stores in the
      # articulated-body recursion.
      target_compile_options(${objects} PRIVATE ${KANSETSU_ISA_FLAGS_${isa}}
        $<$<CXX_COMPILER_ID:GNU>:--param=sra-max-scalarization-size-Ospeed=8192>)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
      if(NOT isa STREQUAL "baseline")
        string(TOUPPER ${isa} isa_upper)
        target_compile_definitions(${target} PRIVATE KANSETSU_HAVE_${isa_upper}=1)
        _kansetsu_test_isa_symbols(${arg_NAME} ${isa})
      endif()
    endforeach()
  endif()

  if(KANSETSU_TESTS)
    kansetsu_add_test(NAME test_${arg_NAME} DIRECTORY "${dir}/test" LIBS ${target} ${arg_LIBS} ${arg_HEADER_LIBS})
  endif()
endfunction()

# What the library and its per-instruction-set objects have in common: our flags, how files are put together, and private
# headers as "<module>/x.h".
function(_kansetsu_module_private target)
  kansetsu_target_options(${target})
  kansetsu_unity(${target})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
endfunction()

# Registers tools/check_isa_symbols.py. Only optimised builds inline what must be inlined.
function(_kansetsu_test_isa_symbols module isa)
  if(KANSETSU_TESTS AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT KANSETSU_SANITIZE)
    add_test(NAME isa_symbols_${module}_${isa}
             COMMAND python3 "${PROJECT_SOURCE_DIR}/tools/check_isa_symbols.py" ${isa}
                     $<TARGET_OBJECTS:kansetsu_${module}_${isa}>
             COMMAND_EXPAND_LISTS)
  endif()
endfunction()

# kansetsu_add_test(NAME <name> DIRECTORY <dir> [LIBS <target>...])
#
# One doctest executable from <dir>/*_test.cc, registered with ctest; nothing if there is no such file.
function(kansetsu_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;DIRECTORY" "LIBS")
  file(GLOB sources CONFIGURE_DEPENDS "${arg_DIRECTORY}/*_test.cc")
  if(NOT sources)
    return()
  endif()
  add_executable(${arg_NAME} ${sources})
  kansetsu_target_options(${arg_NAME})
  # Test code itself need not be fast, only quick to compile; what it tests is built as shipped. gcc 12 takes unset members
  # of designated initialisers for uninitialised strings.
  target_compile_options(${arg_NAME} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_include_directories(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${arg_NAME} PRIVATE kansetsu_test_support ${arg_LIBS})
  target_compile_definitions(${arg_NAME} PRIVATE "KANSETSU_TEST_VECTORS=\"${PROJECT_SOURCE_DIR}/tests/vectors\"")
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
  set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT 600)
endfunction()
