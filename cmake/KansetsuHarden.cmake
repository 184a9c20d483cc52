# kansetsu_harden(target): what is read by these parts comes from anywhere. Stack protection, checked containers and library functions, and
# for programs read-only relocations and addresses chosen at start.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

function(kansetsu_harden target)
  if(KANSETSU_SANITIZE)
    return()  # the sanitizers see more
  endif()
  target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
  target_compile_options(${target} PRIVATE -fstack-protector-strong)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  endif()
endfunction()
