# What can be chosen at configure time, and the defaults.

# As a subproject Kansetsu builds its libraries only.
option(KANSETSU_APPS "Build the kansetsu command" ${PROJECT_IS_TOP_LEVEL})
option(KANSETSU_VIEWER "Ship the viewer inside the command (needs Node 18; off where it is missing)" ON)
option(KANSETSU_EXAMPLES "Build the C++ examples" ${PROJECT_IS_TOP_LEVEL})
# Who only wants the product need not install the test frameworks. Asked for by name, missing ones are an error.
set(tests_by_default ${PROJECT_IS_TOP_LEVEL})
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED KANSETSU_TESTS)
  find_package(doctest QUIET)
  find_package(rapidcheck QUIET)
  if(NOT doctest_FOUND OR NOT rapidcheck_FOUND)
    set(tests_by_default OFF)
    message(STATUS "Tests are not built: doctest or RapidCheck is not installed (script/bootstrap test)")
  endif()
endif()
option(KANSETSU_TESTS "Build the tests (needs doctest and RapidCheck)" ${tests_by_default})
option(KANSETSU_PYTHON "Build the Python package (needs nanobind and NumPy; with KANSETSU_APPS)" OFF)
option(KANSETSU_BENCH "Build the benchmarks (needs Google Benchmark)" OFF)
option(KANSETSU_MPI "kansetsu dynamics --processes (needs MPI, e.g. libopenmpi-dev)" OFF)
option(KANSETSU_FUZZ "Fuzz targets (needs clang; script/fuzz)" OFF)
set(KANSETSU_FUZZED_MODULES base spatial geometry model scene io)  # what readers use: counts where a fuzzer's inputs lead
option(KANSETSU_UNITY "Compile the files of a module together: half the time from nothing, more after a change" ON)
option(KANSETSU_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
set(KANSETSU_CUDA AUTO CACHE STRING "The CUDA back end: ON, OFF, or AUTO (if there is a toolkit)")
set_property(CACHE KANSETSU_CUDA PROPERTY STRINGS AUTO ON OFF)
set(KANSETSU_CUDA_ARCHITECTURES "80;90" CACHE STRING "Devices to compile for, as CUDA_ARCHITECTURES")
set(KANSETSU_SANITIZE "" CACHE STRING "Sanitizers for all our code, e.g. address,undefined or thread (empty: none)")

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)  # clang-tidy and editors read it

  find_program(CCACHE_PROGRAM ccache)
  mark_as_advanced(CCACHE_PROGRAM)
  if(CCACHE_PROGRAM AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  endif()
endif()

include(GNUInstallDirs)
