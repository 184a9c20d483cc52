# The libraries that Kansetsu links, all of them Debian 12 packages. Missing ones are reported together, with the names of their packages.
set(missing "")

# kansetsu_require(PACKAGE DEBIAN_PACKAGE [arguments of find_package])
macro(kansetsu_require name package)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND missing ${package})
  endif()
endmacro()

kansetsu_require(Eigen3 libeigen3-dev 3.4 NO_MODULE)
kansetsu_require(fmt libfmt-dev)
kansetsu_require(tinyxml2 libtinyxml2-dev)
kansetsu_require(ZLIB zlib1g-dev)
kansetsu_require(nlohmann_json nlohmann-json3-dev)
find_package(Threads REQUIRED)
find_path(KANSETSU_TOMLPLUSPLUS toml++/toml.h)  # header only; its package would link a library built otherwise
if(NOT KANSETSU_TOMLPLUSPLUS)
  list(APPEND missing libtomlplusplus-dev)
endif()
foreach(codec lz4 zstd)
  find_path(KANSETSU_${codec}_INCLUDE_DIR ${codec}.h)  # as KansetsuCodecs looks for it
  if(NOT KANSETSU_${codec}_INCLUDE_DIR)
    list(APPEND missing lib${codec}-dev)
  endif()
endforeach()
if(KANSETSU_APPS)
  kansetsu_require(Boost libboost-dev 1.74)
  kansetsu_require(CLI11 libcli11-dev)
endif()

if(missing)
  list(JOIN missing " " missing)
  message(FATAL_ERROR "Libraries that Kansetsu needs are missing. On Debian or Ubuntu: 'script/bootstrap build', or\n"
                      "  apt-get install ${missing}\n"
                      "Elsewhere install what these packages hold.")
endif()
