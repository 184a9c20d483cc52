# lz4::lz4 and zstd::zstd, for recordings. Debian's packages of both bring no CMake files; installed with the package, where a
# consumer needs them too.
foreach(codec lz4 zstd)
  if(TARGET ${codec}::${codec})
    continue()
  endif()
  find_path(KANSETSU_${codec}_INCLUDE_DIR ${codec}.h)
  find_library(KANSETSU_${codec}_LIBRARY ${codec})
  mark_as_advanced(KANSETSU_${codec}_INCLUDE_DIR KANSETSU_${codec}_LIBRARY)
  if(NOT KANSETSU_${codec}_INCLUDE_DIR OR NOT KANSETSU_${codec}_LIBRARY)
    message(FATAL_ERROR "${codec} is missing: install lib${codec}-dev (script/bootstrap does)")
  endif()
  add_library(${codec}::${codec} UNKNOWN IMPORTED)
  set_target_properties(${codec}::${codec} PROPERTIES IMPORTED_LOCATION "${KANSETSU_${codec}_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${KANSETSU_${codec}_INCLUDE_DIR}")
endforeach()
